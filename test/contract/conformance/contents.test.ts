/** Endpoints 1, queryContent: words inside documents of every kind that has words. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DocumentDetail } from "../../../src/wire/shapes.ts";
import { asiceOf, ddocOf, pdfOf } from "../../fixtures/documents.ts";
import { docxOf, odtOf, pptxOf, xlsxOf } from "../../fixtures/office.ts";
import { ArchiveUnderTest } from "./archive-under-test.ts";

let under: ArchiveUnderTest;

const FILES: Record<string, Buffer> = {
  "a.txt": Buffer.from("plain quince"),
  "b.txt": Buffer.from("\ufeffwide medlar", "utf16le"),
  "c.txt": Buffer.from([0xe4, 0x72, 0x69, 0x6d, 0x65, 0x65, 0x73]),
  "d.csv": Buffer.from("rowan;sloe"),
  "e.html": Buffer.from("<p>cloudberry</p>"),
  "f.xml": Buffer.from('<?xml version="1.0"?><a b="hidden">lingon<c>berry</c></a>'),
  "g.eml": Buffer.from("Subject: bilberry\r\n\r\nhello"),
  "h.pdf": pdfOf(2, { text: "a page about gooseberries" }),
  "i.docx": docxOf(1, "mul<w:r></w:r>berry", "r&#228;im &amp; silk"),
  "j.xlsx": xlsxOf("redcurrant", "blackcurrant"),
  "k.pptx": pptxOf("first hawthorn", "second rosehip"),
  "l.odt": odtOf(1, "elderberry"),
  "m.asice": asiceOf({
    "inner.docx": docxOf(1, "buckthorn"),
    "n.pdf": pdfOf(1, { text: "crowberry" }),
  }),
  "o.ddoc": ddocOf({ "p.txt": "cranberry" }),
};

beforeAll(async () => {
  under = await ArchiveUnderTest.open();
  for (const [name, bytes] of Object.entries(FILES)) await under.store(name, bytes);
  await under.archive.idle();
});
afterAll(() => under[Symbol.asyncDispose]());

test.for([
  ["quince", ["a.txt"], "text"],
  ["medlar", ["b.txt"], "text in UTF-16"],
  ["ÄRIMEES", ["c.txt"], "text in the encoding of old files, in any case"],
  ["sloe", ["d.csv"], "a table as text"],
  ["cloudberry", ["e.html"], "a web page"],
  ["lingonberry", ["f.xml"], "XML, without its tags"],
  ["hidden", [], "attributes are no words"],
  ["bilberry", ["g.eml"], "a mail"],
  ["gooseberries", ["h.pdf"], "a PDF"],
  ["mulberry", ["i.docx"], "a word in pieces"],
  ["räim silk", ["i.docx"], "characters by number"],
  ["letterhead", ["i.docx", "m.asice"], "what stands above every page"],
  ["redcurrant", ["j.xlsx"], "shared strings"],
  ["blackcurrant", ["j.xlsx"], "strings of a cell"],
  ["rosehip hawthorn", ["k.pptx"], "slides together"],
  ["elderberry", ["l.odt"], "OpenDocument"],
  ["buckthorn", ["m.asice"], "an office file inside a digidoc"],
  ["crowberry", ["m.asice"], "a PDF inside a digidoc"],
  ["cranberry", ["o.ddoc"], "the older digidoc"],
  ["inner.docx", ["m.asice"], "names inside a digidoc"],
  ["berry", [], "words are found by their beginnings, not by their ends"],
] as [string, string[], string][])("%s is in %j: %s", async ([query, expected]) => {
  const found = async (fields: Record<string, string>) => {
    const { body } = await under.ask("search", { query, ...fields });
    return (body["documents"] as DocumentDetail[]).map(({ filename }) => filename);
  };
  expect(await found({})).toEqual(expected);
  expect(await found({ queryContent: "false" })).toEqual([]);
});
