import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { Channel } from "../../../src/notify/channel.ts";
import type { MessageBody } from "../../../src/notify/message.ts";
import { Outlet, sendWithin } from "../../../src/notify/outlet.ts";
import { silentLog } from "../../../src/std/log.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** An outlet to a receiver that takes what `takes` says. */
class Post implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly got: string[] = [];
  takes: (id: string) => boolean = () => true;
  readonly outlet: Outlet;
  readonly #life = new AbortController();
  readonly #running: Promise<unknown>;

  constructor() {
    const send: Channel["send"] = async ({ id }) => {
      if (!this.takes(id)) throw new Error("refused");
      this.got.push(id);
      return undefined;
    };
    this.outlet = new Outlet({
      channel: { name: "post", send },
      queue: [],
      bodyOf: async ({ id, at }) => bodyOf(id, at),
      changed: async () => {},
      timeoutMs: 30_000,
      clock: this.clock,
      random: () => 0.5,
      log: silentLog,
    });
    this.#running = this.outlet.run(this.#life.signal).catch(() => {});
  }

  async add(...ids: string[]): Promise<void> {
    for (const id of ids) this.outlet.add({ id, at: this.clock.now(), notifications: [] });
    await this.clock.advance(1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life.abort(new Error("the end"));
    await this.#running;
  }
}

function bodyOf(id: string, at: number): MessageBody {
  return { id, at, host: "here", version: "1", subject: "", text: "", events: [] };
}

test("one that is refused for what it says keeps those behind it waiting for a quarter of an hour", async () => {
  await using post = new Post();
  post.takes = (id) => id !== "poison";
  await post.add("poison", "b", "c");
  await post.clock.advance(5 * MINUTE);
  expect(post.got, "the receiver may be fixed").toEqual([]);
  await post.clock.advance(11 * MINUTE);
  expect(post.got).toEqual(["b", "c"]);
});

test("what comes later waits for a try or two of it, and it is given up after a day", async () => {
  await using post = new Post();
  post.takes = (id) => id !== "poison";
  await post.add("poison", "b");
  await post.clock.advance(HOUR);
  await post.add("c");
  await post.clock.advance(31 * MINUTE);
  expect(post.got).toEqual(["b", "c"]);
  await post.clock.advance(24 * HOUR);
  expect(post.outlet.report).toMatchObject({ sent: 2, dropped: 1, waiting: 0 });
});

test("after an outage they come in their order, but for the one that was being tried", async () => {
  await using post = new Post();
  post.takes = () => false;
  await post.add("a", "b", "c", "d");
  await post.clock.advance(HOUR);
  post.takes = () => true;
  await post.clock.advance(31 * MINUTE);
  expect(post.got).toEqual(["b", "a", "c", "d"]);
});

test("after a short outage they come in their order", async () => {
  await using post = new Post();
  post.takes = () => false;
  await post.add("a", "b", "c");
  await post.clock.advance(5 * MINUTE);
  post.takes = () => true;
  await post.clock.advance(10 * MINUTE);
  expect(post.got).toEqual(["a", "b", "c"]);
});

test.for<readonly [string, () => Promise<undefined>]>([
  ["taken", async () => undefined],
  ["refused", () => Promise.reject(new Error("refused"))],
])("nothing is left of a message that was %s", async ([, answer]) => {
  let heeded: AbortSignal | undefined;
  const send: Channel["send"] = (_, signal) => {
    heeded = signal;
    return answer();
  };
  const stopping = new AbortController().signal;
  const body = bodyOf("a", 0);
  const sent = sendWithin({ name: "post", send }, body, MINUTE, new ManualClock(), stopping);
  await sent.catch(() => {});
  // Node keeps what is composed of a signal that lives on for as long as someone listens to it.
  expect(getEventListeners(heeded ?? stopping, "abort")).toEqual([]);
  expect(getEventListeners(stopping, "abort")).toEqual([]);
});

test("a channel that hangs is given up after its time, and the key of that time is named", async () => {
  const clock = new ManualClock();
  const channel = { name: "post", send: () => new Promise<never>(() => {}) };
  const sent = sendWithin(channel, bodyOf("a", 0), 2_000, clock, new AbortController().signal);
  sent.catch(() => {});
  await clock.advance(2_000);
  await expect(sent).rejects.toThrow("did not finish within 2 s (`notify.timeout`)");
});
