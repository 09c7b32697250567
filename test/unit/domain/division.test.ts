import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isOwn, partOf } from "../../../src/domain/division.ts";
import { joinRaw, type RawPath, ROOT, rawOf, rawOfText } from "../../../src/std/raw-path.ts";

/** A name as bytes: whatever a file system takes. */
const name = fc
  .uint8Array({ min: 1, max: 255, minLength: 1, maxLength: 40 })
  .map((bytes) => rawOf(bytes.map((byte) => (byte === 0x2f ? 0x30 : byte))));
const below = fc.array(name, { maxLength: 4 });
const of = fc.integer({ min: 1, max: 64 });

test("each directory belongs to exactly one part, with all that is below it", () => {
  fc.assert(
    fc.property(name, below, of, (top, names, parts) => {
      const part = partOf(top, parts);
      expect(part).toBeGreaterThanOrEqual(1);
      expect(part).toBeLessThanOrEqual(parts);
      expect(partOf(names.reduce<RawPath>(joinRaw, top), parts)).toBe(part);
      const owners = Array.from({ length: parts }, (_, at) => at + 1).filter((own) =>
        isOwn({ of: parts, own: [own] }, top),
      );
      expect(owners).toEqual([part]);
    }),
  );
});

test("what lies in the source itself belongs to the first", () => {
  fc.assert(fc.property(of, (parts) => partOf(ROOT, parts) === 1));
  expect(isOwn({ of: 4, own: [2, 3] }, ROOT)).toBe(false);
});

test("who has all of a mirror has every directory, and who has no part of it none", () => {
  const dir = rawOfText("2026/may");
  expect(isOwn(undefined, dir)).toBe(true);
  expect(isOwn({ of: 2, own: [] }, dir)).toBe(false);
});

test("a directory's part is the same for every version of scanferry", () => {
  const parts = ["2026", "Kliendid", "Müük", "a b", "-"].map((top) => partOf(rawOfText(top), 8));
  expect(parts).toEqual([3, 3, 2, 3, 1]);
});

test("many directories are divided evenly", () => {
  const counts = new Map<number, number>();
  for (let n = 0; n < 8_000; n++) {
    const part = partOf(rawOfText(`client ${n}`), 8);
    counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  expect(counts.size).toBe(8);
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
