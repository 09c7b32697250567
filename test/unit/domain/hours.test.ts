import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type Hours, hoursChangeAt, isWithinHours, opensAt } from "../../../src/domain/calendar.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const zone = process.env["TZ"];

afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

const night: Hours = [{ from: 18 * 60, to: 7 * 60 }];
const noon: Hours = [{ from: 12 * 60, to: 13 * 60 }];

test.for([
  [night, "2026-03-10T17:59:59", false, "not yet"],
  [night, "2026-03-10T18:00:00", true, "from the minute on"],
  [night, "2026-03-10T23:59:59", true, "up to midnight"],
  [night, "2026-03-11T00:00:00", true, "and past it"],
  [night, "2026-03-11T06:59:59", true, "to the last second"],
  [night, "2026-03-11T07:00:00", false, "the end is not within"],
  [[...night, ...noon], "2026-03-10T12:30:00", true, "another window"],
  [[{ from: 0, to: 1440 }], "2026-03-10T23:59:59", true, "the whole day"],
] as const)("%o at %s: %s (%s)", ([hours, local, within]) => {
  process.env["TZ"] = "Europe/Riga";
  expect(isWithinHours(hours, new Date(local).getTime())).toBe(within);
});

describe("days that are set forward or back (Riga, 2026: 29 March 3:00, 25 October 4:00)", () => {
  test.for([
    [night, "2026-03-28T15:00:00Z", "2026-03-28T16:00:00Z", "18:00 in winter is 16:00 UTC"],
    [night, "2026-03-29T14:30:00Z", "2026-03-29T15:00:00Z", "18:00 in summer is 15:00 UTC"],
    [
      [{ from: 200, to: 230 }],
      "2026-03-28T22:00:00Z",
      "2026-03-30T00:20:00Z",
      "a window in the hour that is left out opens the day after",
    ],
    [
      [{ from: 210, to: 300 }],
      "2026-03-29T00:30:00Z",
      "2026-03-29T01:00:00Z",
      "a window that the hour cuts into opens when the clock is past its beginning",
    ],
    [
      [{ from: 200, to: 230 }],
      "2026-10-25T00:55:00Z",
      "2026-10-25T01:20:00Z",
      "in the hour that comes twice it opens twice",
    ],
  ] as const)("%o after %s opens %s: %s", ([hours, from, opens]) => {
    process.env["TZ"] = "Europe/Riga";
    expect(opensAt(hours, Date.parse(from))).toBe(Date.parse(opens));
  });

  test("a night that is set forward is an hour shorter, one that is set back an hour longer", () => {
    process.env["TZ"] = "Europe/Riga";
    const lengthOf = (evening: string) => {
      const at = Date.parse(evening);
      return ((hoursChangeAt(night, at) ?? 0) - at) / HOUR;
    };
    expect(lengthOf("2026-03-10T16:00:00Z")).toBe(13);
    expect(lengthOf("2026-03-28T16:00:00Z")).toBe(12);
    expect(lengthOf("2026-10-24T15:00:00Z")).toBe(14);
  });
});

test("nothing changes where all hours are within", () => {
  expect(hoursChangeAt([{ from: 0, to: 1440 }], 0)).toBeNull();
  expect(
    opensAt(
      [
        { from: 0, to: 720 },
        { from: 720, to: 1440 },
      ],
      5 * HOUR,
    ),
  ).toBeNull();
  expect(opensAt(undefined, 5 * HOUR)).toBeNull();
});

test("the next change is the first minute at which the answer is another", () => {
  const minute = fc.integer({ min: 0, max: 1439 });
  const window = fc
    .tuple(minute, fc.integer({ min: 0, max: 1440 }))
    .filter(([from, to]) => from !== to)
    .map(([from, to]) => ({ from, to }));
  const zones = fc.constantFrom("Europe/Riga", "America/St_Johns", "Australia/Lord_Howe", "UTC");
  // Two years around changes of every zone, at any millisecond.
  const moments = fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2027, 0) });
  fc.assert(
    fc.property(
      fc.array(window, { minLength: 1, maxLength: 3 }),
      zones,
      moments,
      (hours, tz, at) => {
        process.env["TZ"] = tz;
        const now = isWithinHours(hours, at);
        const next = hoursChangeAt(hours, at);
        if (next === null) return;
        expect(next).toBeGreaterThan(at);
        expect(isWithinHours(hours, next)).toBe(!now);
        for (let t = at; t < next; t += 7 * MINUTE) expect(isWithinHours(hours, t)).toBe(now);
        expect(isWithinHours(hours, next - 1)).toBe(now);
      },
    ),
  );
});
