import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BURST_MS, Bucket } from "../../../src/domain/allowance.ts";

const RATE = 1_000_000;

/** When each piece leaves, and how large it is: asked for after `idleMs` of the one before. */
function flow(pieces: readonly { bytes: number; idleMs: number }[]) {
  const bucket = new Bucket(RATE);
  let now = 0;
  return pieces.map(({ bytes, idleMs }) => {
    now += idleMs;
    return { at: now + bucket.reserve(bytes, now), bytes, askedAt: now };
  });
}

const piece = fc.record({
  bytes: fc.integer({ min: 1, max: 256 * 1024 }),
  idleMs: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 40 }),
    fc.integer({ max: 5_000, min: 0 }),
  ),
});

test("in no stretch of time does more flow than the rate, half a second and a piece", () => {
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 60 }), (pieces) => {
      const left = flow(pieces);
      for (const [from, { at: start }] of left.entries()) {
        let bytes = 0;
        for (const { at, bytes: more } of left.slice(from)) {
          bytes += more;
          const allowed = (RATE * (at - start + BURST_MS)) / 1_000 + more;
          expect(bytes).toBeLessThanOrEqual(allowed + 1);
        }
      }
    }),
  );
});

test("who asks first is served first, and nobody waits for more than what was asked before", () => {
  fc.assert(
    fc.property(fc.array(piece, { minLength: 2, maxLength: 60 }), (pieces) => {
      const left = flow(pieces);
      let before = 0;
      for (const [index, { at, askedAt, bytes }] of left.entries()) {
        expect(at).toBeGreaterThanOrEqual(left[index - 1]?.at ?? 0);
        expect(at - askedAt).toBeLessThanOrEqual((before / RATE) * 1_000 + 1e-6);
        before += bytes;
      }
    }),
  );
});

test("while more is asked for than flows, exactly the rate flows", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1_000, max: 100_000 }), { minLength: 50 }), (sizes) => {
      const left = flow(sizes.map((bytes) => ({ bytes, idleMs: 0 })));
      const last = left.at(-1);
      const bytes = sizes.slice(0, -1).reduce((sum, each) => sum + each, 0);
      // What had gathered at the start is all that it may be ahead.
      expect(last?.at).toBeCloseTo(Math.max(0, (bytes / RATE) * 1_000 - BURST_MS), 3);
    }),
  );
});
