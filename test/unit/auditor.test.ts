/** The judge of all scenarios and campaigns must know a duplicate from a copy that was written over. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { StoredDocument } from "../../src/embedded-archive/embedded-archive.ts";
import { digestOf, doubledIn } from "../fixtures/auditor.ts";

const CONTENT = "one scan";

test.for([
  [1, 0, 1, [], "one file, one document"],
  [1, 0, 2, [1], "one file was sent twice"],
  [0, 0, 2, [1], "its file is gone, and was sent twice"],
  [2, 0, 2, [], "a copy is a document of its own"],
  [1, 1, 2, [], "a copy was archived before it was written over"],
  [1, 1, 3, [2], "one of the two was sent twice"],
  [0, 1, 1, [], "the only file of it was written over"],
  [0, 1, 2, [1], "that one was sent twice before"],
] as const)(
  "%i in the tree, %i written over, %i stored: allowed is %j, because %s",
  ([files, overwritten, stored, allowed]) => {
    const source = mkdtempSync(join(tmpdir(), "auditor-"));
    onTestFinished(() => rmSync(source, { recursive: true }));
    for (let n = 0; n < files; n++) writeFileSync(join(source, `${n}.txt`), CONTENT);
    const sha256 = digestOf(CONTENT);
    const document = { filename: "0.txt", sha256 } as StoredDocument;
    const archive = { documents: () => Array.from({ length: stored }, () => document) };
    const options = { overwritten: Array.from({ length: overwritten }, () => sha256) };
    const found = doubledIn({ source, journal: "", archive }, options);
    expect(found.map((one) => one.allowed)).toEqual(allowed);
  },
);
