import { expect, test } from "vitest";
import { Heartbeats, type Service } from "../../../src/daemon/heartbeats.ts";
import type { Document, State } from "../../../src/domain/document.ts";
import type { Applied, Change } from "../../../src/journal/journal.ts";
import { loop } from "../../../src/sync/loop.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";

const MINUTE = 60_000;

test("a loop without work turns: idle is well, for however long", async () => {
  const clock = new ManualClock();
  const hearts = new Heartbeats(clock, 1_000);
  const stop = new AbortController();
  const running = loop(
    hearts.wakeup("polling"),
    { clock, maxSleepMs: 30_000 },
    stop.signal,
    async () => Infinity,
  );
  running.catch(() => {});
  await clock.advance(24 * 60 * MINUTE);
  expect(hearts.stuck()).toBeUndefined();
  stop.abort(new Error("over"));
});

test("a loop whose step never ends is stuck after half an hour, and is named", async () => {
  const clock = new ManualClock();
  const hearts = new Heartbeats(clock, 1_000);
  const stop = new AbortController();
  const never = () => new Promise<number>(() => {});
  void loop(hearts.wakeup("doubts"), { clock, maxSleepMs: 30_000 }, stop.signal, never);
  const well = loop(
    hearts.wakeup("held"),
    { clock, maxSleepMs: 30_000 },
    stop.signal,
    async () => 1_000,
  );
  well.catch(() => {});
  await clock.advance(29 * MINUTE);
  expect(hearts.stuck()).toBeUndefined();
  await clock.advance(2 * MINUTE);
  expect(hearts.stuck()).toBe('the loop "doubts" has not turned for 31 minutes');
  stop.abort(new Error("over"));
});

test.for([
  ["sending", 1_000, 31, "all that it asks is answered within the timeout"],
  ["sending", 10 * MINUTE, 101, "an archive that may take ten minutes a page is waited for"],
  ["settling:1", 1_000, 361, "hashing a huge file on a slow share takes hours"],
  ["after", 1_000, 361, "so does proving it once more"],
] as const)("%s with a timeout of %i ms is stuck after %i minutes, because %s", async (row) => {
  const [service, timeoutMs, minutes] = row;
  const clock = new ManualClock();
  const hearts = new Heartbeats(clock, timeoutMs);
  hearts.wakeup(service);
  await clock.advance((minutes - 1) * MINUTE);
  expect(hearts.stuck()).toBeUndefined();
  await clock.advance(MINUTE + 1);
  expect(hearts.stuck()).toContain(service);
});

test("while its reader is down a loop waits, for however long; after that it is to turn", async () => {
  const clock = new ManualClock();
  const hearts = new Heartbeats(clock, 1_000);
  let isDown = true;
  hearts.wakeup("settling:1", () => isDown);
  for (let hours = 0; hours < 72; hours++) {
    await clock.advance(60 * MINUTE);
    expect(hearts.stuck()).toBeUndefined();
  }
  isDown = false;
  await clock.advance(359 * MINUTE);
  expect(hearts.stuck()).toBeUndefined();
  await clock.advance(2 * MINUTE);
  expect(hearts.stuck()).toContain("settling:1");
});

const event = { type: "event", id: 1 } as unknown as Change;
const note = { type: "note", id: 1 } as unknown as Change;
const add = { type: "add" } as unknown as Change;

test.for([
  ["pending", event, "sending", "the sender claims what is pending"],
  ["uploading", event, "sending", "an outcome is its work too"],
  ["inDoubt", event, "doubts", "a look that found nothing is work as well"],
  ["uploaded", event, "polling", "an answer, CONVERTED or not"],
  ["held", event, "held", "what waits is looked at"],
  ["settling", event, "settling:7", "the lanes of that mirror"],
  ["converted", note, "after", "after-actions are notes"],
  [undefined, add, undefined, "a new row is the reader's work"],
  ["converted", event, undefined, "nobody is to move it on"],
] as const)("from %s, %o is a beat of %s: %s", async ([from, change, service]) => {
  const all: Service[] = ["sending", "doubts", "polling", "held", "settling:7", "settling:8"];
  all.push("after");
  for (const each of all) {
    const clock = new ManualClock();
    const hearts = new Heartbeats(clock, 1_000);
    hearts.wakeup(each);
    await clock.advance(7 * 60 * MINUTE);
    hearts.journaled([applied(change, from)]);
    expect(hearts.stuck() === undefined, each).toBe(each === service);
  }
});

test("what was skipped is nobody's work", async () => {
  const clock = new ManualClock();
  const hearts = new Heartbeats(clock, 1_000);
  hearts.wakeup("sending");
  await clock.advance(31 * MINUTE);
  hearts.journaled([{ ...applied(event, "pending"), skipped: true }]);
  expect(hearts.stuck()).toContain("sending");
});

function applied(change: Change, from: State | undefined): Applied {
  return { change, document: { mirrorId: 7 } as Document, from, skipped: false };
}
