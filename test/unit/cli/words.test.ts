import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cut, padded, table, widthOf } from "../../../src/cli/columns.ts";
import { listenAddress, moment, size } from "../../../src/cli/option-values.ts";
import { printable } from "../../../src/cli/printable.ts";
import { numberText, relativeText, sizeText } from "../../../src/cli/wording.ts";

describe("columns", () => {
  test.for([
    ["scan", 4, "a letter is a column"],
    ["für", 3, "composed"],
    ["fu\u0308r", 3, "a combining mark takes none"],
    ["请求", 4, "East Asian characters take two"],
    ["\u001b[31mred\u001b[39m", 3, "colours take none"],
  ] as const)("%j is %i wide: %s", ([text, width]) => {
    expect(widthOf(text)).toBe(width);
  });

  test("padding reaches the width, and never cuts", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (text, width) => {
        const clean = printable(text);
        expect(widthOf(padded(clean, width))).toBe(Math.max(width, widthOf(clean)));
        expect(widthOf(cut(clean, width + 1))).toBeLessThanOrEqual(width + 1);
      }),
    );
  });

  test("a table lines up, numbers to the right", () => {
    expect(
      table(
        [
          ["A", "N"],
          ["long", "5"],
          ["x", "123"],
        ],
        [1],
      ),
    ).toEqual(["A       N", "long    5", "x     123"]);
  });
});

test("printable text is one line that steers nothing, and stays what it was otherwise", () => {
  expect(printable("a\nb\u0007\u202e请")).toBe("a b\\x07\\u202e请");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(printable(text)).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
    }),
  );
});

test.for([
  [0, "0 B"],
  [999, "999 B"],
  [1_000, "1.00 kB"],
  [24_601, "24.6 kB"],
  [999_700, "1.00 MB"],
  [123_456_789, "123 MB"],
] as const)("%i bytes are told as %s", ([bytes, text]) => {
  expect(sizeText(bytes)).toBe(text);
});

test.for([
  [180_000, "in 3 minutes"],
  [-3_600_000, "1 hour ago"],
  [10, "now"],
] as const)("%i ms from now is %s", ([offset, text]) => {
  expect(relativeText(1_000_000_000 + offset, 1_000_000_000)).toBe(text);
});

describe("option values", () => {
  test.for([
    ["1048576", 1_048_576],
    ["10MB", 10_000_000],
    ["10MiB", 10_485_760],
    ["1.5 kB", 1_500],
    ["5k", 5_000],
  ] as const)("the size %s is %i bytes", ([text, bytes]) => {
    expect(size(text)).toBe(bytes);
  });

  test.for([
    ["127.0.0.1:0", "127.0.0.1", 0],
    ["[::1]:8471", "::1", 8471],
    ["localhost:65535", "localhost", 65_535],
  ] as const)("%s is host %s, port %i", ([text, host, port]) => {
    expect(listenAddress(text)).toEqual({ host, port });
  });

  test.for([
    ["1700000000000", 1_700_000_000_000, "epoch milliseconds"],
    ["2026-11-20", "2026-11-20", "any other form goes to the archive as it is"],
  ] as const)("the date %s is sent as %j: %s", ([text, value]) => {
    expect(moment(text)).toBe(value);
  });
});

test("numbers have their thousands apart, as English has them", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.integer(),
        fc.maxSafeNat(),
        fc.integer().map((n) => n / 8),
      ),
      (number) => {
        expect(numberText(number)).toBe(number.toLocaleString("en-GB"));
      },
    ),
    { numRuns: 2_000, examples: [[Number.MAX_SAFE_INTEGER], [-1_234.5], [0]] },
  );
});
