import { expect, test } from "vitest";
import { type HostClock, hostClock, leftOf, untilIn } from "../../../src/std/time-left.ts";

/** Clocks that a test sets. */
function clocks() {
  const at = { monotonic: 1_000, wall: 500_000 };
  const clock: HostClock = { monotonic: () => at.monotonic, wall: () => at.wall };
  const pass = (ms: number) => {
    at.monotonic += ms;
    at.wall += ms;
  };
  return { at, clock, pass };
}

test("it is over after as long as was told, also where that is learnt late", () => {
  const { clock, pass } = clocks();
  const until = untilIn(() => 10_000, clock);
  pass(9_999);
  expect(leftOf(until, clock)).toBe(1);
  pass(60_000);
  expect(leftOf(until, clock)).toBeLessThan(0);
});

test.for([
  ["set back", { wall: -3_600_000 }, "the monotonic clock tells it"],
  ["running while the monotonic one stands still", { monotonic: -20_000 }, "the host slept"],
] as const)("a wall clock that was %s hides nothing: %s", ([, set]) => {
  const { at, clock, pass } = clocks();
  const until = untilIn(() => 10_000, clock);
  pass(20_000);
  at.wall += "wall" in set ? set.wall : 0;
  at.monotonic += "monotonic" in set ? set.monotonic : 0;
  expect(leftOf(until, clock)).toBeLessThanOrEqual(0);
});

test("a wall clock that was set forward ends it early, and never late", () => {
  const { at, clock } = clocks();
  const until = untilIn(() => 10_000, clock);
  at.wall += 60_000;
  expect(leftOf(until, clock)).toBe(-50_000);
});

test("whoever is stopped while it asks says too little, not too much", () => {
  const { clock, pass } = clocks();
  const until = untilIn(() => {
    pass(60_000);
    return 10_000;
  }, clock);
  expect(leftOf(until, clock)).toBe(-50_000);
});

test("time without an end has none", () => {
  expect(leftOf(untilIn(() => Number.POSITIVE_INFINITY))).toBe(Number.POSITIVE_INFINITY);
});

test("the host's clocks go on together", () => {
  const [monotonic, wall] = [hostClock.monotonic(), hostClock.wall()];
  expect(hostClock.monotonic()).toBeGreaterThanOrEqual(monotonic);
  expect(Math.abs(hostClock.wall() - wall)).toBeLessThan(5_000);
});
