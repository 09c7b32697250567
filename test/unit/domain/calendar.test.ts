import * as fc from "fast-check";
import { expect, test } from "vitest";
import { periodOf } from "../../../src/domain/calendar.ts";

const at = (month: number, day: number, hour = 0) => new Date(2026, month - 1, day, hour).getTime();

test.for([
  // at, begins, from, to, because
  [at(11, 21, 12), 1, at(11, 1), at(12, 1), "a calendar month"],
  [at(12, 31, 23), 1, at(12, 1), at(13, 1), "over the end of the year"],
  [at(11, 21, 12), 15, at(11, 15), at(12, 15), "from the middle"],
  [at(11, 14, 23), 15, at(10, 15), at(11, 15), "the day before it begins"],
  [at(11, 15), 15, at(11, 15), at(12, 15), "the moment at which it begins"],
  [at(1, 3), 28, at(0, 28), at(1, 28), "over the beginning of the year"],
  [at(3, 1), 28, at(2, 28), at(3, 28), "every month has a 28th"],
] as const)("%i, begun on the %i: %i to %i, %s", ([now, begins, from, to]) => {
  expect(periodOf(now, begins)).toEqual({ from, to });
});

test("every moment is in its month, and one follows another", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4e12 }),
      fc.integer({ min: 1, max: 28 }),
      (now, begins) => {
        const { from, to } = periodOf(now, begins);
        expect(from).toBeLessThanOrEqual(now);
        expect(to).toBeGreaterThan(now);
        expect(periodOf(to, begins).from).toBe(to);
        expect(periodOf(from - 1, begins).to).toBe(from);
      },
    ),
  );
});
