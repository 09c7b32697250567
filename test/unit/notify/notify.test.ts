import { describe, expect, test } from "vitest";
import type { ChannelConfig, NotifyConfig } from "../../../src/config/notify-section.ts";
import { type EventKind, USUAL_EVENTS } from "../../../src/domain/event.ts";
import type { Channel } from "../../../src/notify/channel.ts";
import type { MessageBody } from "../../../src/notify/message.ts";
import { Notify, type NotifyOptions } from "../../../src/notify/notify.ts";
import { QUEUE_MAX } from "../../../src/notify/outlet.ts";
import type { Sight } from "../../../src/notify/alerts.ts";
import type { Log } from "../../../src/std/log.ts";
import { silentLog } from "../../../src/std/log.ts";
import { aNotify } from "../../fixtures/a-config.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { Desk, events } from "../../contract/journal-desk.ts";
import { aSight, closedFor } from "./a-sight.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const NEVER = new Promise<never>(() => {});

/** A channel that does what the test says. */
class ScriptedChannel implements Channel {
  readonly name: string;
  readonly got: MessageBody[] = [];
  mood: "well" | "fails" | "hangs" = "well";
  tries = 0;

  constructor(name: string) {
    this.name = name;
  }

  async send(body: MessageBody): Promise<undefined> {
    this.tries += 1;
    if (this.mood === "hangs") await NEVER;
    if (this.mood === "fails") throw new Error("refused");
    this.got.push(body);
  }

  get titles(): string[] {
    return this.got.flatMap((body) => body.events.map(({ what, title }) => `${what}: ${title}`));
  }
}

/** A daemon's world for notification: one life after another over the same journal. */
class Notification {
  readonly journal = new MemoryJournal();
  readonly clock = new ManualClock();
  readonly lines: string[] = [];
  readonly channels = new Map<string, ScriptedChannel>();
  sight: Sight = aSight();
  notify: Notify | undefined;
  #life = new AbortController();
  #running: Promise<void> | undefined;
  #ids = 0;

  channel(name: string): ScriptedChannel {
    const channel = this.channels.get(name) ?? new ScriptedChannel(name);
    this.channels.set(name, channel);
    return channel;
  }

  async start(names = ["a"], extra: readonly EventKind[] = [], set: Partial<NotifyConfig> = {}) {
    const tell = (_: object, message: string) => void this.lines.push(message);
    const log: Log = { ...silentLog, warn: tell, error: tell, info: tell };
    const options: NotifyOptions = {
      config: { ...configOf(names, [...USUAL_EVENTS, ...extra]), ...set },
      journal: this.journal,
      sight: async () => this.sight,
      sender: { host: "here", version: "1" },
      batchQuietMs: 5 * SECOND,
      newId: () => `id-${++this.#ids}`,
      clock: this.clock,
      random: () => 0.5,
      log,
      open: async ({ name }) => this.channel(name),
      lookMs: 10 * SECOND,
    };
    this.notify = await Notify.open(options);
    this.#life = new AbortController();
    this.#running = this.notify.run(this.#life.signal);
    await this.clock.advance(1);
  }

  async stop() {
    this.#life.abort(new Error("the end"));
    await this.#running;
  }
}

function configOf(names: readonly string[], wanted: readonly EventKind[]): NotifyConfig {
  const channel = (name: string): ChannelConfig => ({
    by: "command",
    name,
    events: wanted,
    run: ["true"],
    cwd: "/",
  });
  return aNotify({ channels: names.map(channel) });
}

const CLOSED = aSight(closedFor("QUOTA_LIMIT"));
const BEGAN = "began: Sending has stopped: the page allowance is used up";
const OVER = "over: Sending continues: the archive accepts documents again";

test("told once, over a restart too; that it is over is told by the next life", async () => {
  const world = new Notification();
  world.sight = CLOSED;
  await world.start();
  await world.clock.advance(10 * MINUTE);
  await world.stop();
  await world.start();
  await world.clock.advance(10 * MINUTE);
  expect(world.channel("a").titles).toEqual([BEGAN]);
  await world.stop();
  world.sight = aSight();
  await world.start();
  await world.clock.advance(5 * MINUTE);
  expect(world.channel("a").titles).toEqual([BEGAN, OVER]);
  await world.stop();
});

test("a channel that hangs delays no other; what it missed it gets, over a restart too", async () => {
  const world = new Notification();
  world.channel("a").mood = "hangs";
  world.sight = CLOSED;
  await world.start(["a", "b"]);
  await world.clock.advance(2 * MINUTE);
  expect(world.channel("b").titles).toEqual([BEGAN]);
  expect(world.channel("a").tries).toBeGreaterThan(1);
  expect(world.lines).toEqual(["cannot send notifications by this channel; trying again"]);
  expect(world.notify?.reports).toMatchObject([
    { name: "a", waiting: 1 },
    { sent: 1, waiting: 0 },
  ]);
  await world.stop();
  world.channel("a").mood = "well";
  await world.start(["a", "b"]);
  await world.clock.advance(MINUTE);
  expect(world.channel("a").titles).toEqual([BEGAN]);
  expect(world.channel("b").titles).toEqual([BEGAN]);
  await world.stop();
});

test("tried ever more rarely, with the same id; given up after a day", async () => {
  const world = new Notification();
  world.channel("a").mood = "fails";
  world.sight = CLOSED;
  await world.start(["a"], [], { repeatMs: 0 });
  await world.clock.advance(HOUR);
  const tries = world.channel("a").tries;
  expect(tries).toBeGreaterThan(4);
  expect(tries).toBeLessThan(10);
  await world.clock.advance(24 * HOUR);
  expect(world.notify?.reports).toMatchObject([{ dropped: 1, waiting: 0, sent: 0 }]);
  expect(world.lines.filter((line) => line.startsWith("cannot send notifications"))).toHaveLength(
    1,
  );
  expect(world.lines).toContain("notifications dropped: the channel did not work for too long");
  await world.stop();
});

test("no more than a bounded number of messages waits", async () => {
  const world = new Notification();
  world.channel("a").mood = "fails";
  await world.start(["a"], [], { repeatMs: 0 });
  for (let n = 0; n < QUEUE_MAX + 7; n++) {
    world.notify?.happened({ kind: "reader", cause: `r${n}`, title: "t", detail: "", hint: "" });
    await world.clock.advance(10 * SECOND);
  }
  expect(world.notify?.reports).toMatchObject([{ waiting: QUEUE_MAX, dropped: 7 }]);
  await world.stop();
});

test("what is found at one look is one message", async () => {
  const world = new Notification();
  const health = { healthy: false, why: "nothing moves" };
  world.sight = aSight({ ...closedFor("QUOTA_LIMIT"), health });
  await world.start();
  const [body, ...more] = world.channel("a").got;
  expect(body?.subject).toBe("[scanferry here] Nothing is sent (and 1 more)");
  expect(body?.events.map(({ event }) => event)).toEqual(["stalled", "gate"]);
  expect(more).toEqual([]);
  await world.stop();
});

test("a look that fails is told to the log, and looking goes on", async () => {
  const world = new Notification();
  const well = CLOSED;
  Object.defineProperty(world, "sight", {
    configurable: true,
    get: () => {
      throw new Error("no journal");
    },
  });
  await world.start();
  await world.clock.advance(MINUTE);
  expect(world.lines).toEqual(["cannot read the status for notifications"]);
  Object.defineProperty(world, "sight", { value: well });
  await world.clock.advance(MINUTE);
  expect(world.channel("a").titles).toEqual([BEGAN]);
  await world.stop();
});

test("a digest says what was archived since the last one", async () => {
  const world = new Notification();
  const desk = await Desk.at(world.journal);
  const at = Math.floor(world.clock.now() / 900_000) * 900_000 - HOUR;
  const counts = {
    uploaded: 3,
    uploadedBytes: 9,
    converted: 3,
    pages: 12,
    charged: 12,
    saved: 0,
    failed: 0,
  };
  world.journal.store.tables.activity.add({ mirrorId: desk.mirrorId, at, ...counts });
  world.sight = CLOSED;
  await world.start();
  await world.notify?.digest();
  await world.clock.advance(1);
  await world.notify?.digest();
  await world.clock.advance(1);
  const digests = world
    .channel("a")
    .got.flatMap((body) => body.events.filter(({ event }) => event === "digest"));
  expect(digests.map(({ title }) => title)).toEqual([
    "3 documents archived, one thing is wrong",
    "0 documents archived, one thing is wrong",
  ]);
  expect(digests[0]?.detail).toContain("scans: 3 documents, 12 pages");
  expect(digests[0]?.detail).toContain("- Sending has stopped: the page allowance is used up.");
  await world.stop();
});

describe("batches", () => {
  const { settled, claimed, accepted, converted } = events;

  /** A document of a batch, up to CONVERTED where `whole`. */
  async function carry(desk: Desk, batch: string, id: number, whole = true) {
    const document = await desk.add(`${id}.pdf`);
    const steps = [settled(`d${id}`), claimed(), accepted(id), ...(whole ? [converted()] : [])];
    const ofBatch = steps.map((event) => ("batch" in event ? { ...event, batch } : event));
    return desk.after(document.id, ...ofBatch);
  }

  async function open(desk: Desk, id: string, joinedAt: number) {
    const batch = { id, mirrorId: desk.mirrorId, openedAt: joinedAt, joinedAt, documents: 1 };
    await desk.journal.apply([{ type: "batch", batch }]);
  }

  async function conclude(world: Notification, desk: Desk, id: number) {
    const event = converted();
    const applied = await desk.journal.apply([{ type: "event", id, event }]);
    world.notify?.journaled(applied);
  }

  const told = (world: Notification) =>
    world.channel("a").got.flatMap((body) => body.events.map(({ receipt }) => receipt?.batch));

  test("what is closed before anybody asks is no news; then each is told once", async () => {
    const world = new Notification();
    const desk = await Desk.at(world.journal);
    await open(desk, "old", 0);
    await carry(desk, "old", 1);
    await world.start(["a"], ["batch"]);
    await open(desk, "new", world.clock.now());
    await carry(desk, "new", 2);
    const last = await carry(desk, "new", 3, false);
    await world.clock.advance(MINUTE);
    expect(told(world)).toEqual([]);
    await conclude(world, desk, last.id);
    await world.clock.advance(MINUTE);
    expect(told(world)).toEqual(["new"]);
    const [body] = world.channel("a").got;
    expect(body?.events[0]).toMatchObject({
      title: "A batch of scans is archived: 2 documents, 6 pages",
      receipt: { mirror: "scans", pages: 6, documents: [{ path: "2.pdf", documentId: 2 }, {}] },
    });
    await world.stop();
    await world.start(["a"], ["batch"]);
    await world.clock.advance(MINUTE);
    expect(told(world)).toEqual(["new"]);
    await world.stop();
  });

  test("one that was closed while the daemon crashed learns about by the next life", async () => {
    const world = new Notification();
    const desk = await Desk.at(world.journal);
    await world.start(["a"], ["batch"]);
    await open(desk, "new", world.clock.now());
    await world.stop();
    await carry(desk, "new", 2);
    await world.start(["a"], ["batch"]);
    // A document may still join it.
    expect(told(world)).toEqual([]);
    await world.clock.advance(MINUTE);
    expect(told(world)).toEqual(["new"]);
    await world.stop();
  });

  test("what a night kept back is one message that a receiver still takes", async () => {
    const world = new Notification();
    const desk = await Desk.at(world.journal);
    await world.start(["a"], ["batch"]);
    const sizes = { first: 1_999, second: 1, third: 1 };
    let id = 0;
    for (const [batch, size] of Object.entries(sizes)) {
      await open(desk, batch, world.clock.now());
      for (let n = 1; n < size; n++) await carry(desk, batch, ++id);
      const last = await carry(desk, batch, ++id, false);
      await conclude(world, desk, last.id);
    }
    await world.clock.advance(MINUTE);
    expect(world.channel("a").got).toHaveLength(1);
    expect(told(world)).toEqual(["first", "second", undefined]);
    expect(world.channel("a").titles.at(-1)).toMatch(/A batch of scans is archived: 1 document,/);
    await world.stop();
  });

  test("nobody is told unless a channel asks for it", async () => {
    const world = new Notification();
    const desk = await Desk.at(world.journal);
    await world.start();
    await open(desk, "new", 0);
    const { id } = await carry(desk, "new", 2, false);
    await conclude(world, desk, id);
    await world.clock.advance(MINUTE);
    expect(world.channel("a").got).toEqual([]);
    await world.stop();
  });
});
