import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BLOCK_BYTES, GapFinder } from "../../../src/formats/gaps.ts";
import { zerosOf } from "./zeros.ts";
import { titled } from "./titled.ts";

const B = BLOCK_BYTES;
/** Ones, with zeros from one place to another. */
const zeros = (size: number, from: number, to: number): Buffer =>
  Buffer.alloc(size, 1).fill(0, from, to);

test.for(
  titled<[string, Buffer, [number, number, boolean][], string]>([
    ["a block", zeros(3 * B, B, 2 * B), [[B, 2 * B, true]], "it was not written"],
    ["less", zeros(3 * B, B, 2 * B - 1), [], "no block is missing"],
    ["as much, elsewhere", zeros(4 * B, B + 1, 3 * B + 1), [], "a content's own begin anywhere"],
    [
      "a ragged begin",
      zeros(4 * B, B - 7, 3 * B),
      [[B, 3 * B, false]],
      "a download's rest ends so",
    ],
    ["a ragged end", zeros(4 * B, B, 3 * B + 7), [[B, 3 * B, true]], "what is written ends so"],
    ["the end", zeros(2 * B + 9, B, 2 * B + 9), [[B, 2 * B + 9, true]], "space set aside"],
    ["the end, raggedly", zeros(2 * B + 9, B - 1, 2 * B + 9), [], "a content's own"],
    ["all", Buffer.alloc(B + 1), [[0, B + 1, true]], "nothing is there"],
    ["none", Buffer.alloc(2 * B, 1), [], "all is there"],
  ]),
)("zeros: %s", ([, [, bytes, expected]]) => {
  expect(zerosOf(bytes).gaps.map(({ from, to, begins }) => [from, to, begins])).toEqual(expected);
});

test("in pieces of whole blocks the same is found as at once", () => {
  const block = { zero: [0, B], one: [0, 0], begun: [5, B], ended: [0, B - 5] } as const;
  const kind = fc.constantFrom<keyof typeof block>("zero", "one", "begun", "ended");
  const blocks = fc.array(kind, { maxLength: 12 });
  fc.assert(
    fc.property(
      blocks,
      fc.nat(B),
      fc.array(fc.integer({ min: 1, max: 3 })),
      (kinds, cut, sizes) => {
        const whole = Buffer.concat(kinds.map((each) => zeros(B, block[each][0], block[each][1])));
        const bytes = whole.subarray(0, Math.max(0, whole.length - cut));
        const finder = new GapFinder();
        let at = 0;
        for (const size of [...sizes, kinds.length]) {
          finder.add(bytes.subarray(at, at + size * B));
          at += size * B;
        }
        expect(finder.end()).toMatchObject(zerosOf(bytes));
      },
    ),
  );
});
