import { expect, test } from "vitest";
import { eventLine } from "../../../src/journal/history-line.ts";

test.for([
  [1, "1 page, 99 bytes"],
  [3, "3 pages, 99 bytes"],
] as const)("a conversion of %i is told as %s", ([pages, detail]) => {
  const counted = { pages, archiveBytes: 99, digidoc: false, after: null };
  const line = eventLine("uploaded", "converted", { type: "converted", at: 1, ...counted });
  expect(line.detail).toBe(detail);
});
