import * as fc from "fast-check";
import sharp from "sharp";
import { expect, test } from "vitest";
import type { Kind } from "../../../src/formats/kind.ts";
import { countPages, pdfFacts } from "../../../src/formats/pages.ts";
import { asiceOf, ddocOf, pdfOf, pngOf, tiffOf } from "../../fixtures/documents.ts";
import { writePdf } from "../../fixtures/pdf-writer.ts";
import { bigTiff, linked } from "./tiffs.ts";
import { titled } from "./titled.ts";

test("a PDF has the pages that were put in", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 60 }), async (pages) => {
      expect(await countPages(pdfOf(pages), "pdf")).toBe(pages);
    }),
    { numRuns: 12 },
  );
});

test("a TIFF has the pages that were put in", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.nat(99), async (pages, seed) => {
      expect(await countPages(tiffOf(pages, seed), "tiff")).toBe(pages);
    }),
    { numRuns: 20 },
  );
});

test("the TIFF that a TIFF library reads is the one that was meant", async () => {
  const { pages, width } = await sharp(tiffOf(3)).metadata();
  expect({ pages, width }).toEqual({ pages: 3, width: 32 });
});

test.for(
  titled<[string, Buffer, Kind, number | undefined, string]>([
    ["one image", pngOf(), "png", 1, "an image is a page"],
    ["an image of any kind", Buffer.from("GIF89a"), "gif", 1, "however many pictures it holds"],
    ["an empty text", Buffer.alloc(0), "text", 1, "a document has a page"],
    ["3000 characters", Buffer.from("ä".repeat(3000)), "text", 1, "characters count, not bytes"],
    ["3001 characters", Buffer.from("a".repeat(3001)), "text", 2, "a page is full"],
    ["UTF-16", Buffer.from(`\ufeff${"a".repeat(3000)}`, "utf16le"), "text", 1, "two bytes each"],
    [
      "more UTF-16",
      Buffer.from(`\ufeff${"ä".repeat(3001)}`, "utf16le"),
      "text",
      2,
      "a page is full",
    ],
    ["a marked text", Buffer.from(`\ufeff${"a".repeat(3000)}`), "text", 1, "the mark is no letter"],
    ["a container", asiceOf({ a: "a" }), "digidoc", undefined, "its bytes do not say"],
    ["an old container", ddocOf({ a: "a" }), "ddoc", undefined, "its bytes do not say"],
    ["a big-endian BigTIFF", bigTiff(3, "MM"), "tiff", 3, "offsets of eight bytes"],
    ["a little-endian BigTIFF", bigTiff(2, "II"), "tiff", 2, "offsets of eight bytes"],
    ["a TIFF chained to itself", linked([8, 8]), "tiff", 1, "each directory counts once"],
    ["a TIFF with a preview", linked([8, 40, 0], [0, 1]), "tiff", 1, "a preview is no page"],
    [
      "a TIFF with a preview, by an older writer",
      linked([8, 40, 72, 0], [3, 2, 3], [255, 3]),
      "tiff",
      2,
      "the older tag says so, too",
    ],
    [
      "a TIFF with a preview, in two bytes",
      linked([8, 40, 0], [0, 1], [254, 3]),
      "tiff",
      1,
      "the width is not what counts",
    ],
    [
      "a TIFF of previews only",
      linked([8, 40, 0], [1, 1]),
      "tiff",
      2,
      "something is to be charged",
    ],
    ["a TIFF without a directory", Buffer.from("II*\0\0\0\0\0"), "tiff", undefined, "nothing yet"],
    ["a TIFF cut in its header", Buffer.from("II*\0\x08"), "tiff", undefined, "nothing yet"],
    ["no PDF at all", Buffer.alloc(3000), "pdf", undefined, "nothing to count"],
    ["an empty PDF", Buffer.alloc(0), "pdf", undefined, "nothing to count"],
  ]),
)("%s", async ([, [, bytes, kind, pages]]) => {
  expect(await countPages(bytes, kind)).toBe(pages);
});

test("a PDF without its table is repaired and counted", async () => {
  const whole = pdfOf(3);
  const cut = whole.subarray(0, whole.lastIndexOf("startxref"));
  expect(await countPages(cut, "pdf")).toBe(3);
});

test("a page tree that lies about its count is counted, not believed", async () => {
  const text = pdfOf(2).toString("latin1").replace("/Count 2", "/Count 9");
  expect(await countPages(Buffer.from(text, "latin1"), "pdf")).toBe(2);
});

test("counting leaves the caller's bytes as they are", async () => {
  const bytes = pdfOf(1);
  await countPages(bytes, "pdf");
  expect(bytes.equals(pdfOf(1))).toBe(true);
});

test("damaged PDFs never reject", { timeout: 120_000 }, async () => {
  const whole = pdfOf(2, { title: "Whole" });
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length), fc.uint8Array({ maxLength: 20 }), async (at, noise) => {
      const bytes = Buffer.from(whole);
      bytes.set(noise.subarray(0, bytes.length - at), at);
      const facts = await pdfFacts(bytes);
      expect(typeof facts.text).toBe("string");
    }),
    { numRuns: 30 },
  );
});

test("a PDF's facts are its own words", async () => {
  const info = {
    title: "Miete – März",
    author: "Müller & Söhne",
    subject: "Rent",
    keywords: "a, b",
  };
  const facts = await pdfFacts(pdfOf(2, { ...info, text: "Zweiter Stock (links)\nGrüße" }));
  expect(facts).toEqual({
    ...info,
    pages: 2,
    producer: "scanferry samples",
    text: "Zweiter Stock (links)\nGrüße\npage 1 of 2\nZweiter Stock (links)\nGrüße\npage 2 of 2",
  });
});

test("the text of a PDF is bounded", async () => {
  const line = `1 0 0 1 72 700 Tm (${"x".repeat(80)}) Tj\n`;
  const page = { content: `BT /Body 9 Tf ${line.repeat(8000)} ET` };
  const { text } = await pdfFacts(writePdf([page, page], {}, ""));
  expect(text.length).toBe(1024 * 1024);
});

test("what is no PDF has no facts", async () => {
  expect(await pdfFacts(Buffer.from("%PDF-1.4 and nothing else"))).toEqual({ text: "" });
});
