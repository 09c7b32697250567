import { closeSync, openSync, statSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { PdfThread } from "../../../src/source/pdf-thread.ts";
import { pdfOf } from "../../fixtures/documents.ts";
import { until } from "../../fixtures/until.ts";
import { put, scratch } from "./scratch.ts";
import type { OpenBytes } from "../../../src/source/read-file.ts";

const patient = () => AbortSignal.timeout(200_000);

/** An open file with these bytes. */
function open(bytes: Buffer): OpenBytes {
  const path = put(scratch(), "scan.pdf", bytes);
  const fd = openSync(path, "r");
  onTestFinished(() => closeSync(fd));
  return { fd, size: statSync(path).size };
}

test("counts one after another, and tells what cannot be counted", async () => {
  const thread = new PdfThread({ jobMsMax: 200_000 });
  const hurry = patient();
  const files = [open(pdfOf(3)), open(Buffer.from("%PDF-")), { fd: -1, size: 9 }, open(pdfOf(5))];
  expect(await Promise.all(files.map((file) => thread.pages(file, hurry)))).toEqual([
    3,
    undefined,
    undefined,
    5,
  ]);
});

test("that the library is loaded takes none of a document's time", async () => {
  // Too little to load it in, and ample for counting, but for a machine that stops for a moment.
  const thread = new PdfThread({ jobMsMax: 100 });
  const file = open(pdfOf(2));
  expect(await until("an answer", () => thread.pages(file, patient()))).toBe(2);
});

test("gives up on what takes too long, and goes on with the next", async () => {
  const thread = new PdfThread({ jobMsMax: 200_000 });
  // Its first answer takes far longer than this: the library has to be loaded.
  expect(await thread.pages(open(pdfOf(3)), AbortSignal.timeout(1))).toBeUndefined();
  expect(await thread.pages(open(pdfOf(2)), patient())).toBe(2);
  const over = new AbortController();
  over.abort();
  expect(await thread.pages(open(pdfOf(2)), over.signal)).toBeUndefined();
});
