/** A year of schedules, by a clock that is moved by hand and in zones that are not. */
import { getTasks } from "node-cron";
import { afterEach, describe, expect, test } from "vitest";
import { Schedule } from "../../../src/daemon/schedule.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const home = process.env["TZ"];

afterEach(() => {
  if (home === undefined) delete process.env["TZ"];
  else process.env["TZ"] = home;
});

/** When `expression` came from `start` on, as the wall clock of the zone shows it. */
async function follow(expression: string, zone: string, start: string, play: Play) {
  process.env["TZ"] = zone;
  const clock = new ManualClock(new Date(start).getTime());
  const came: number[] = [];
  using _ = Schedule.start(expression, () => void came.push(clock.now()), clock);
  await play(clock);
  return came;
}

type Play = (clock: ManualClock) => Promise<void>;

const shown = (at: number) => new Date(at).toString().slice(4, 21);

describe("a leap year, every moment of it", () => {
  // Tallinn and New York move by an hour, Lord Howe by half of one, Kathmandu never.
  test.for<[string, string, number, string]>([
    ["*/10 * * * *", "Europe/Tallinn", 366 * 144, "ten minutes are ten minutes, whatever is shown"],
    ["*/10 * * * *", "America/New_York", 366 * 144, "the other hemisphere's hours differ"],
    ["*/10 * * * *", "Australia/Lord_Howe", 366 * 144, "half an hour is skipped and repeated"],
    ["*/10 * * * *", "Asia/Kathmandu", 366 * 144, "its hours begin at a quarter to ours"],
    ["30 3 * * *", "Europe/Tallinn", 366, "half past three is once skipped and once shown twice"],
    ["30 2 * * *", "America/New_York", 366, "half past two likewise"],
    ["45 1 * * *", "Australia/Lord_Howe", 366, "a quarter to two is shown twice"],
    ["5 6 1 * *", "Europe/Tallinn", 12, "each month has a first"],
    ["0 0 31 * *", "Europe/Tallinn", 7, "seven months have a 31st"],
    ["0 12 29 2 *", "America/New_York", 1, "it is a leap year"],
    ["59 23 L * *", "Asia/Kathmandu", 12, "each month has a last day"],
    ["0 4 * * 1", "Europe/Tallinn", 52, "its Mondays"],
    ["0 0 1 1 *", "Europe/Tallinn", 1, "midnight of the new year to come"],
  ])("%s in %s comes %i times, because %s", async ([expression, zone, times]) => {
    const came = await follow(expression, zone, "2028-01-01T00:00:00", (clock) =>
      clock.advance(new Date("2029-01-01T00:00:00").getTime() - clock.now()),
    );
    expect(came).toHaveLength(times);
    expect(new Set(came).size).toBe(times);
  });
});

describe("nights on which the clock changes", () => {
  test.for<[string, string, string, string[], string]>([
    [
      "30 3 * * *",
      "Europe/Tallinn",
      "2026-03-28T12:00",
      ["Mar 29 2026 04:00", "Mar 30 2026 03:30"],
      "at the end of the gap",
    ],
    [
      "30 3 * * *",
      "Europe/Tallinn",
      "2026-10-24T12:00",
      ["Oct 25 2026 03:30", "Oct 26 2026 03:30"],
      "the first of the two",
    ],
    [
      "0 */2 * * *",
      "America/New_York",
      "2026-10-31T23:30",
      ["Nov 01 2026 00:00", "Nov 01 2026 02:00", "Nov 01 2026 04:00"],
      "one o'clock comes twice",
    ],
    [
      "40 1 * * *",
      "Australia/Lord_Howe",
      "2026-04-04T12:00",
      ["Apr 05 2026 01:40"],
      "half an hour comes twice",
    ],
    [
      "15 2 * * *",
      "Australia/Lord_Howe",
      "2026-10-03T12:00",
      ["Oct 04 2026 02:30"],
      "half an hour is skipped",
    ],
  ])("%s in %s from %s comes at %j: %s", async ([expression, zone, start, expected]) => {
    const came = await follow(expression, zone, start, (clock) => clock.advance(2 * DAY));
    expect(came.map(shown).slice(0, expected.length)).toEqual(expected);
  });
});

describe("a clock that is set", () => {
  const by =
    (ms: number): Play =>
    async (clock) => {
      await clock.advance(65 * MINUTE);
      clock.jump(ms);
      await clock.advance(DAY - 65 * MINUTE);
    };

  test.for<[string, number, number, string]>([
    ["*/10 * * * *", 0, 144, "nothing happens"],
    ["*/10 * * * *", -SECOND, 144, "a leap second is a second of waiting"],
    ["*/10 * * * *", SECOND, 144, "one that is left out is nothing"],
    ["*/10 * * * *", -HOUR, 144, "time goes on by what is shown now"],
    ["*/10 * * * *", HOUR, 144, "what was missed comes once"],
    ["*/10 * * * *", -400 * DAY, 144, "a wrong year does not silence it"],
    ["*/10 * * * *", 400 * DAY, 144, "nor does it let loose a year's worth"],
    ["0 1 * * *", -HOUR, 1, "it has been, and is not repeated"],
    ["0 2 * * *", HOUR, 1, "it is not lost, but late"],
    ["0 4 * * *", 3 * HOUR, 1, "nor when the clock is set just past it"],
    ["30 * * * * *", -SECOND, 1_440, "half a minute past, by the second"],
  ])("%s, by %i ms: %i times in a day, because %s", async ([expression, ms, times]) => {
    const came = await follow(expression, "Europe/Tallinn", "2026-11-20T00:00:00.500", by(ms));
    expect(came.length).toBeGreaterThanOrEqual(times - 1);
    expect(came.length).toBeLessThanOrEqual(times + 1);
    if (times === 1) expect(came).toHaveLength(1);
  });

  test("a second set back just after a moment does not repeat it", async () => {
    const came = await follow("0 0 * * *", "UTC", "2026-12-31T23:59:58Z", async (clock) => {
      await clock.advance(2_400);
      clock.jump(-SECOND);
      await clock.advance(HOUR);
    });
    expect(came).toHaveLength(1);
  });

  test("a host that slept over it makes up for it when it wakes, once", async () => {
    const came = await follow("0 4 * * *", "UTC", "2026-11-20T03:00:00Z", async (clock) => {
      clock.jump(7 * HOUR);
      await clock.advance(HOUR);
    });
    expect(came).toHaveLength(1);
  });

  test("once disposed, it never comes again", async () => {
    const clock = new ManualClock();
    let came = 0;
    const schedule = Schedule.start("* * * * *", () => void (came += 1), clock);
    await clock.advance(10 * MINUTE);
    schedule[Symbol.dispose]();
    await clock.advance(HOUR);
    expect(came).toBe(10);
  });
});

test("nothing is kept of a schedule that has ended: each reload makes another", () => {
  const before = getTasks().size;
  for (let reload = 0; reload < 20; reload++) new Schedule("0 3 * * *")[Symbol.dispose]();
  expect(getTasks().size).toBe(before);
});

describe("the next moment", () => {
  test.for<[string, string, string, string | null, string]>([
    ["5 6 1 * *", "Europe/Tallinn", "2026-11-20T12:00", "2026-12-01T06:05", "next month's first"],
    ["5 6 1 * *", "Europe/Tallinn", "2026-12-01T06:04", "2026-12-01T06:05", "it is today"],
    ["5 6 1 * *", "Europe/Tallinn", "2026-12-01T06:05", "2027-01-01T06:05", "it is past"],
    ["0 0 31 * *", "America/New_York", "2027-01-31T00:00", "2027-03-31T00:00", "February has none"],
    ["0 0 29 2 *", "UTC", "2026-11-20T00:00", "2028-02-29T00:00", "the next leap year"],
    ["30 3 * * *", "Europe/Tallinn", "2026-03-29T02:00", "2026-03-29T04:30", "skipped, so later"],
    ["0 30 5 * * 1", "Asia/Kathmandu", "2026-11-20T00:00", "2026-11-23T05:30", "a Monday"],
    ["0 0 29 2 1", "UTC", "2026-11-20T00:00", null, "a leap day on a Monday is too far off"],
  ])("of %s in %s after %s is %s: %s", ([expression, zone, at, expected]) => {
    process.env["TZ"] = zone;
    const next = new Schedule(expression).next(new Date(at).getTime());
    expect(next).toBe(expected === null ? null : new Date(expected).getTime());
  });

  test("in an hour that is shown twice it is never in the past", () => {
    process.env["TZ"] = "Europe/Tallinn";
    const schedule = new Schedule("*/10 * * * *");
    const start = Date.UTC(2026, 9, 24, 23);
    for (let at = start; at < start + 4 * HOUR; at += MINUTE) {
      const next = schedule.next(at) ?? 0;
      expect(next).toBeGreaterThan(at);
      expect(next - at).toBeLessThanOrEqual(70 * MINUTE);
    }
  });
});
