/** Whether a file may be sent by its size and its age, to the byte and the millisecond. */
import { describe, expect, test } from "vitest";
import type { ClockGap } from "../../../src/domain/clock-gaps.ts";
import { quietMsOf, ripeness, unfitSize } from "../../../src/domain/settle.ts";

const seen = (sizeBytes: number, modifiedAt = 0) => ({ sizeBytes, modifiedAt, stamp: "a" });

describe("a file's size", () => {
  const bounds = { minBytes: 10, maxBytes: 100 };

  test.for([
    [0, undefined, "an empty one tells of its own"],
    [9, "FILE_TOO_SMALL", "a byte below"],
    [10, undefined, "the least"],
    [100, undefined, "the most"],
    [101, "FILE_TOO_LARGE", "a byte above"],
  ] as const)("%i bytes: %s, because %s", ([bytes, code]) => {
    expect(unfitSize(seen(bytes), bounds)?.code).toBe(code);
  });

  test("is told next to what is allowed", () => {
    expect(unfitSize(seen(9), bounds)?.message).toBe("the file has 9 bytes, 10 are asked for");
    expect(unfitSize(seen(101), bounds)?.message).toBe("the file has 101 bytes, 100 are allowed");
  });
});

describe("a file's age", () => {
  const NOW = 100_000;
  const young = { code: "FILE_YOUNG", message: "is not as old as `minAge` asks" };
  const times = { now: NOW, changedAt: NOW, settleMs: 0, incompleteMs: 0 };
  const quiet = { ...times, stillIncomplete: "hold" as const };

  test.for([
    [undefined, 0, "ripe", "no age is asked for"],
    [5_000, 4_999, "wait", "a millisecond too young"],
    [5_000, 5_000, "ripe", "just old enough"],
  ] as const)("of %i ms, %i ms old: %s, because %s", ([minAgeMs, ageMs, kind]) => {
    const asked = minAgeMs === undefined ? quiet : { ...quiet, minAgeMs };
    expect(ripeness(seen(1, NOW - ageMs), "complete", asked).kind).toBe(kind);
  });

  test("is waited for, and why", () => {
    const ripe = ripeness(seen(1, NOW - 2_000), "complete", { ...quiet, minAgeMs: 5_000 });
    expect(ripe).toEqual({ kind: "wait", dueAt: NOW + 3_000, problem: young });
  });

  test.for<[number, ClockGap[], number, string]>([
    [10_000, [], 0, "it is old enough"],
    [10_000, [{ from: NOW - 9_000, to: NOW - 1_000 }], 3_000, "8 s of its 10 did not pass"],
    [5_000, [{ from: NOW - 9_000, to: NOW - 1_000 }], 4_000, "from a time that was skipped"],
    [800, [{ from: NOW - 9_000, to: NOW - 1_000 }], 4_200, "younger than that"],
    [99_999, [{ from: NOW - 9_000, to: NOW - 1_000 }], 0, "so old that it makes no difference"],
    [
      7_000,
      [
        { from: NOW - 6_000, to: NOW - 5_000 },
        { from: NOW - 3_000, to: NOW - 2_000 },
      ],
      0,
      "set forward again and again, 5 s have passed",
    ],
  ])("%i ms, of which the clock skipped %j: waits %i ms, %s", ([ageMs, skipped, waitMs]) => {
    const asked = { ...quiet, minAgeMs: 5_000, skipped };
    const ripe = ripeness(seen(1, NOW - ageMs), "complete", asked);
    expect(ripe.kind === "wait" ? ripe.dueAt - NOW : 0).toBe(waitMs);
  });

  test("seen by a clock that was set back since: it is not old, but old enough where none is asked", () => {
    const ahead = { ...quiet, changedAt: NOW + 1e9 };
    expect(ripeness(seen(1, NOW + 1e9), "complete", ahead).kind).toBe("ripe");
    const asked = { ...ahead, minAgeMs: 5_000 };
    expect(ripeness(seen(1, NOW + 1e9), "complete", asked)).toMatchObject({ dueAt: NOW + 5_000 });
  });
});

describe("how long a file has to be quiet", () => {
  test.for([
    [0, 10_000, "it came whole"],
    [200, 10_200, "a copy that took 200 ms"],
    [12_000, 22_000, "pages every 6 s: the next pause may be twice as long"],
    [20_000, 30_000, "three times `settle`"],
    [3_600_000, 30_000, "but no longer"],
    [-3_600_000, 10_000, "the clock was set back while it grew"],
  ] as const)("seen to grow for %i ms: %i ms, because %s", ([grewMs, quietMs]) => {
    expect(quietMsOf({ firstSeenAt: 5_000, changedAt: 5_000 + grewMs }, 10_000)).toBe(quietMs);
  });
});
