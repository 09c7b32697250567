import { expect, test } from "vitest";
import { areAlike } from "../../../src/domain/alike.ts";
import { isSpelt } from "../../../src/source/spelling.ts";
import type { RawPath } from "../../../src/std/raw-path.ts";
import { put, raw, scratch } from "./scratch.ts";

test.for([
  ["Scan.pdf", "SCAN.pdf", true, "another case"],
  ["Scans/a.pdf", "scans/a.pdf", true, "so with its folder"],
  ["e\u0301.pdf", "\u00e9.pdf", true, "another composition"],
  ["\u00fcber.pdf", "\u00dcBER.pdf", true, "letters beyond ASCII"],
  ["a.pdf", "a.pdf", false, "it is the very same"],
  ["a.pdf", "b.pdf", false, "another name"],
  ["a/b.pdf", "a b.pdf", false, "another folder"],
] as const)("%s and %s are alike: %s, %s", ([one, other, alike]) => {
  expect(areAlike(raw(one), raw(other))).toBe(alike);
});

test("bytes that are no UTF-8 are compared as they are", () => {
  const latin = (text: string) => text as RawPath;
  expect(areAlike(latin("\xe9.pdf"), latin("\xe9.PDF"))).toBe(true);
  expect(areAlike(latin("\xe9.pdf"), latin("\xff.pdf"))).toBe(false);
});

test.for([
  ["Scans/\u00e9.pdf", true],
  ["Scans/e\u0301.pdf", false],
  ["Scans/\u00c9.pdf", false],
  ["scans/\u00e9.pdf", false],
  ["Scans", true],
  ["Scans/\u00e9.pdf/below", false],
] as const)("%s is spelt so: %s", ([path, spelt]) => {
  const dir = scratch();
  put(dir, "Scans/\u00e9.pdf", "content");
  expect(isSpelt(dir, raw(path))).toBe(spelt);
});
