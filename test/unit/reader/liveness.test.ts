import { expect, test } from "vitest";
import { watchLiveness } from "../../../src/reader/liveness.ts";
import { Wakeup } from "../../../src/std/wakeup.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";

const LIVENESS_LIMITS = { everyMs: 500, idleMs: 2_000, silentMs: 500, patienceMs: 30_000 };

/** A process that answers as long as `isWell`, and when it was asked and said to be silent or not. */
function watch({ isAwaited }: { isAwaited: boolean }) {
  const clock = new ManualClock();
  const process = { isUp: true, isWell: true, isAwaited };
  const called = new Wakeup();
  const [asked, hushed]: [number[], [number, boolean][]] = [[], []];
  const watched = {
    isUp: () => process.isUp,
    isAwaited: () => process.isAwaited,
    called,
    ask: () => {
      called.notify(); // as any call does
      asked.push(clock.monotonic());
      return process.isWell ? Promise.resolve() : new Promise<void>(() => {});
    },
    markUnresponsive: (silent: boolean) => void hushed.push([clock.monotonic(), silent]),
  };
  let endedAt: number | undefined;
  const signal = new AbortController().signal;
  void watchLiveness(watched, LIVENESS_LIMITS, clock, signal).then(
    () => (endedAt = clock.monotonic()),
  );
  return { clock, process, called, asked, hushed, ended: () => endedAt };
}

test("whom nobody waits for is asked every two seconds", async () => {
  const { clock, asked } = watch({ isAwaited: false });
  await clock.advance(6_400);
  expect(asked).toEqual([2_000, 4_000, 6_000]);
});

test("whom someone begins to wait for is asked half a second later, and twice a second", async () => {
  const { clock, process, called, asked } = watch({ isAwaited: false });
  await clock.advance(2_600);
  process.isAwaited = true;
  called.notify();
  await clock.advance(1_000);
  expect(asked).toEqual([2_000, 3_100, 3_600]);
});

test("whom someone called who has the answer is asked once for it", async () => {
  const { clock, called, asked } = watch({ isAwaited: false });
  await clock.advance(2_100);
  called.notify();
  await clock.advance(4_000);
  expect(asked).toEqual([2_000, 2_600, 4_600]);
});

test.each([
  [true, 1_000, 30_500, "what waits for it is dear"],
  [false, 2_500, 32_000, "nobody waits for it"],
])("awaited %s: silent after %i ms, given up after %i, for %s", async (isAwaited, silent, end) => {
  const { clock, process, hushed, ended } = watch({ isAwaited });
  process.isWell = false;
  await clock.advance(60_000);
  expect(hushed).toEqual([[silent, true]]);
  expect(ended()).toBe(end);
});

test("one that has ended is not asked", async () => {
  const { clock, process, asked, ended } = watch({ isAwaited: true });
  process.isUp = false;
  await clock.advance(5_000);
  expect(asked.length).toBeLessThanOrEqual(1);
  expect(ended()).toBe(500);
});
