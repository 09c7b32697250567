import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Concurrency,
  GROW_AFTER,
  accepted,
  concurrencyOf,
  pressed,
} from "../../../src/domain/concurrency.ts";

test.for([
  [16, 8, "half"],
  [5, 2, "half, rounded down"],
  [2, 1, "half"],
  [1, 1, "one at a time is as few as there are"],
] as const)("of %i the archive's pressure leaves %i: %s", ([from, to]) => {
  expect(pressed(concurrencyOf(from), 0, 1).limit).toBe(to);
});

test("what was under way when it was halved does not halve it again", () => {
  const once = pressed(concurrencyOf(16), 100, 200);
  const crowd = [110, 150, 199].reduce((was, begunAt) => pressed(was, begunAt, 210), once);
  expect(crowd.limit).toBe(8);
  expect(pressed(crowd, 201, 300).limit).toBe(4);
});

test("what was under way when it was halved does not make it grow", () => {
  let was = pressed(concurrencyOf(4), 100, 200);
  for (let n = 0; n < 100; n++) was = accepted(was, 150, 4);
  expect(was.limit).toBe(2);
});

test("it grows by one with so many accepted, up to what is configured", () => {
  let was = pressed(concurrencyOf(4), 0, 0);
  const limits = [];
  for (let n = 1; n <= 5 * GROW_AFTER; n++) {
    was = accepted(was, 1, 4);
    if (n % GROW_AFTER === 0) limits.push(was.limit);
  }
  expect(limits).toEqual([3, 4, 4, 4, 4]);
});

const step = fc.record({
  what: fc.constantFrom("pressed", "accepted"),
  tookMs: fc.integer({ min: 0, max: 50 }),
  afterMs: fc.integer({ min: 0, max: 20 }),
});

test("whatever happens it stays within its bounds, and two cuts are a round trip apart", () => {
  const max = fc.integer({ min: 1, max: 64 });
  fc.assert(
    fc.property(max, fc.array(step, { maxLength: 300 }), (most, steps) => {
      let was: Concurrency = concurrencyOf(most);
      let now = 1_000;
      for (const { what, tookMs, afterMs } of steps) {
        now += afterMs;
        const begunAt = now - tookMs;
        const next = what === "pressed" ? pressed(was, begunAt, now) : accepted(was, begunAt, most);
        expect(next.limit).toBeGreaterThanOrEqual(1);
        expect(next.limit).toBeLessThanOrEqual(most);
        expect(next.limit - was.limit).toBeLessThanOrEqual(1);
        if (next.cutAt !== was.cutAt) expect(begunAt).toBeGreaterThan(was.cutAt);
        was = next;
      }
    }),
  );
});

test("it finds what an archive bears, and stays about there", () => {
  // An archive that answers 429 to whatever comes beyond so many at a time.
  for (const bears of [1, 3, 7, 20]) {
    let was = concurrencyOf(32);
    let sum = 0;
    for (let round = 0; round < 400; round++) {
      const running = was.limit;
      for (let n = 0; n < running; n++) {
        was = n < bears ? accepted(was, round, 32) : pressed(was, round, round + 0.5);
      }
      if (round >= 200) sum += Math.min(running, bears);
    }
    expect(sum / 200).toBeGreaterThan(bears * 0.6);
  }
});
