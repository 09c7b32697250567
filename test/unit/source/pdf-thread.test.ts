import { expect, test } from "vitest";
import { PdfThread } from "../../../src/source/pdf-thread.ts";
import { pdfOf } from "../../fixtures/documents.ts";
import { until } from "../../fixtures/until.ts";

const patient = () => AbortSignal.timeout(200_000);
/** A PDF without its table: the engine has to repair it. */
const torn = (pages: number) => {
  const whole = pdfOf(pages);
  return whole.subarray(0, whole.lastIndexOf("startxref"));
};

test("counts what does not state its pages, one after another", async () => {
  const thread = new PdfThread({ jobMsMax: 200_000 });
  const hurry = patient();
  expect(
    await Promise.all(
      [torn(3), Buffer.from("%PDF-"), torn(5)].map((bytes) => thread.pages(bytes, hurry)),
    ),
  ).toEqual([3, undefined, 5]);
});

test("that the engine is loaded takes none of a document's time", async () => {
  // Too little to load it in, and ample for counting, but for a machine that stops for a moment.
  const thread = new PdfThread({ jobMsMax: 100 });
  const counted = () => thread.pages(torn(2), patient());
  expect(await until("an answer", counted)).toBe(2);
});

test("gives up on what takes too long, and goes on with the next", async () => {
  const thread = new PdfThread({ jobMsMax: 200_000 });
  // Its first answer takes far longer than this: the engine has to be loaded.
  expect(await thread.pages(torn(3), AbortSignal.timeout(1))).toBeUndefined();
  expect(await thread.pages(torn(2), patient())).toBe(2);
  const over = new AbortController();
  over.abort();
  expect(await thread.pages(torn(2), over.signal)).toBeUndefined();
});
