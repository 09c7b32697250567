import * as fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf, documentOf } from "../../../src/journal/columns.ts";
import { bytesOf, rawOf } from "../../../src/std/raw-path.ts";
import { documents } from "./arbitrary-document.ts";

test("a document survives its columns: documentOf(columnsOf(d)) = d", () => {
  fc.assert(
    fc.property(documents, (document) => {
      const row = { ...columnsOf(document), dir: bytesOf(document.dir) };
      expect(documentOf(row)).toEqual(document);
    }),
  );
});

test("fields that are not given have no columns", () => {
  expect(columnsOf({ state: "held", problem: null, name: rawOf(Buffer.of(0xff)) })).toEqual({
    state: "held",
    problem_code: null,
    problem_message: null,
    name: Buffer.of(0xff),
  });
});
