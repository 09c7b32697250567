/** Whether a file may be sent by its size and its age, to the byte and the millisecond. */
import { describe, expect, test } from "vitest";
import { ripeness, unfitSize } from "../../../src/domain/settle.ts";

const seen = (sizeBytes: number, modifiedAt = 0) => ({ sizeBytes, modifiedAt, stamp: "a" });

describe("a file's size", () => {
  const bounds = { minBytes: 10, maxBytes: 100 };

  test.for([
    [0, undefined, "an empty one tells of itself"],
    [9, "FILE_TOO_SMALL", "a byte below"],
    [10, undefined, "the least"],
    [100, undefined, "the most"],
    [101, "FILE_TOO_LARGE", "a byte above"],
  ] as const)("%i bytes: %s, because %s", ([bytes, code]) => {
    expect(unfitSize(seen(bytes), bounds)?.code).toBe(code);
  });

  test("is told beside what is allowed", () => {
    expect(unfitSize(seen(9), bounds)?.message).toBe("the file has 9 bytes, 10 are asked for");
    expect(unfitSize(seen(101), bounds)?.message).toBe("the file has 101 bytes, 100 are allowed");
  });
});

describe("a file's age", () => {
  const NOW = 100_000;
  const young = { code: "FILE_YOUNG", message: "is not as old as `minAge` asks" };
  const quiet = { now: NOW, changedAt: NOW, settleMs: 0, incompleteMs: 0 };

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
    expect(ripe).toEqual({ kind: "wait", dueAt: NOW + 3_000, trouble: young });
  });

  test("counts from when the clock was set forward, where that was later", () => {
    const asked = { ...quiet, minAgeMs: 5_000, clockSetAt: NOW - 1_000 };
    expect(ripeness(seen(1, 1), "complete", asked)).toMatchObject({ dueAt: NOW + 4_000 });
    const before = { ...quiet, minAgeMs: 5_000, clockSetAt: null };
    expect(ripeness(seen(1, 1), "complete", before).kind).toBe("ripe");
  });
});
