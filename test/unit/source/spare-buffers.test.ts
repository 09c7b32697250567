import { array, assert, constant, integer, oneof, property } from "fast-check";
import { expect, test } from "vitest";
import { SpareBuffers } from "../../../src/source/spare-buffers.ts";

const MB = 1 << 20;

test("what was given back is lent again, to whoever it is large enough for", () => {
  const buffers = new SpareBuffers(4 * MB);
  const first = buffers.take(300_000);
  expect(first.length).toBe(512 * 1024);
  buffers.giveBack(first);
  const other = buffers.take(600_000);
  expect(other).not.toBe(first);
  expect(buffers.take(500_000)).toBe(first);
});

test("no buffer has two users, and no more is kept than was said", () => {
  const lengths = integer({ min: 0, max: 5 * MB });
  const steps = array(oneof(lengths, constant("back" as const)), { maxLength: 40 });
  assert(
    property(steps, (all) => {
      const keepMax = 4 * MB;
      const buffers = new SpareBuffers(keepMax);
      const lent = new Set<Buffer>();
      const known = new Set<Buffer>();
      for (const step of all) {
        if (step !== "back") {
          const buffer = buffers.take(step);
          expect(buffer.length).toBeGreaterThanOrEqual(step);
          expect(lent.has(buffer)).toBe(false);
          lent.add(buffer);
          known.add(buffer);
          continue;
        }
        const [oldest] = lent;
        if (!oldest) continue;
        lent.delete(oldest);
        buffers.giveBack(oldest);
      }
      for (const each of lent) buffers.giveBack(each);
      let kept = 0;
      for (let buffer = buffers.take(0); known.has(buffer); buffer = buffers.take(0))
        kept += buffer.length;
      expect(kept).toBeLessThanOrEqual(keepMax);
    }),
    { numRuns: 60 },
  );
});
