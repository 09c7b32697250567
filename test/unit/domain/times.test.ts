import * as fc from "fast-check";
import { expect, test, describe } from "vitest";
import { periodOf } from "../../../src/domain/calendar.ts";
import {
  type ClockGap,
  GAPS_MAX,
  skippedSince,
  withGap,
  withoutFuture,
} from "../../../src/domain/clock-gaps.ts";

describe("calendar", () => {
  const at = (month: number, day: number, hour = 0) =>
    new Date(2026, month - 1, day, hour).getTime();

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
});

describe("clock gaps", () => {
  const gaps: readonly ClockGap[] = [
    { from: 10, to: 20 },
    { from: 50, to: 55 },
  ];

  describe("what the clock skipped", () => {
    test.for([
      [0, 15, "both gaps lie behind it"],
      [10, 15, "the clock stood there as it was set"],
      [15, 10, "a time that never was, as another host's clock may tell"],
      [20, 5, "it was set to that"],
      [60, 0, "no gap since"],
    ] as const)("since %i: %i ms, because %s", ([at, ms]) => {
      expect(skippedSince(at, gaps)).toBe(ms);
    });

    test.for([
      [
        60,
        [
          [10, 20],
          [50, 55],
        ],
        "it is past both",
      ],
      [
        52,
        [
          [10, 20],
          [50, 52],
        ],
        "of the second a part is to come once more",
      ],
      [50, [[10, 20]], "all of the second is"],
      [5, [], "and all of both"],
    ] as const)("set back to %i: %j, because %s", ([now, left]) => {
      expect(withoutFuture(gaps, now).map(({ from, to }) => [from, to])).toEqual(left);
    });

    test("however often it was set, what is remembered has its bounds; before that, nothing passed", () => {
      const many = Array.from({ length: GAPS_MAX }, (_, n) => ({ from: n * 10, to: n * 10 + 3 }));
      expect(skippedSince(0, many)).toBe(3 * GAPS_MAX);
      const all = withGap(many, { from: GAPS_MAX * 10, to: GAPS_MAX * 10 + 3 });
      expect(all).toHaveLength(GAPS_MAX);
      expect(skippedSince(0, all)).toBe(3 * (GAPS_MAX + 1) + 7);
      expect(skippedSince(20, all), "of the latest each is known").toBe(3 * (GAPS_MAX - 1));
    });

    test("however the clock is set: what passed by it without the gaps did pass", () => {
      const setting = fc.record({
        passedMs: fc.nat(50),
        jumpedMs: fc.integer({ min: -100, max: 100 }),
      });
      fc.assert(
        fc.property(fc.array(setting, { maxLength: 20 }), (settings) => {
          let [now, monotonic] = [1_000, 0];
          let skipped: readonly ClockGap[] = [];
          const seen: { at: number; monotonic: number }[] = [];
          for (const { passedMs, jumpedMs } of settings) {
            seen.push({ at: now, monotonic });
            now += passedMs;
            monotonic += passedMs;
            seen.push({ at: now, monotonic });
            const before = now;
            now += jumpedMs;
            skipped = withoutFuture(skipped, now);
            if (jumpedMs > 0) skipped = withGap(skipped, { from: before, to: now });
          }
          for (const each of seen.filter(({ at }) => at <= now)) {
            const passedMs = now - each.at - skippedSince(each.at, skipped);
            expect(passedMs).toBeLessThanOrEqual(monotonic - each.monotonic);
          }
        }),
      );
    });
  });
});
