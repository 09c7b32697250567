import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isRecreated } from "../../../src/domain/stamp.ts";

/** A stamp of a local file that was written at a time (ns of the epoch). */
const stampOf = (ns: bigint, inode = "a1") => `sr.${ns.toString(36)}.${ns.toString(36)}.${inode}`;
const times = fc.bigInt({ min: 1_500_000_000_000_000_000n, max: 1_900_000_000_000_000_000n });

test("a file that was born in the moment in which it was last seen to change is that file, edited", () => {
  fc.assert(
    fc.property(times, fc.bigInt({ min: 1n, max: 10n ** 15n }), (then, later) => {
      const born = Number(then) / 1e6;
      expect(isRecreated(stampOf(then), stampOf(then + later), born)).toBe(false);
    }),
  );
});

test.for([
  [1_000_000n, undefined, "born a millisecond after it", true],
  [1_000_000n, "ctime", "renamed since it was written", false],
] as const)("born %d ns later (%s): %s", ([later, renamed, , isNew]) => {
  const then = 1_795_632_783_363_821_217n;
  const now = then + later;
  const [size, modified, changed, inode] = stampOf(now, "b2").split(".");
  const stamp = [size, modified, renamed ? `${changed}0` : changed, inode].join(".");
  expect(isRecreated(stampOf(then), stamp, Number(now) / 1e6)).toBe(isNew);
});
