/** Documents that are damaged, protected or made to harm: each becomes a page, and all goes on. */
import { describe, expect, test } from "vitest";
import { Converter } from "../../../src/embedded-archive/converter.ts";
import { ArchiveUnderTest } from "../../contract/conformance/archive-under-test.ts";
import { asiceOf, ddocOf, pdfOf } from "../../fixtures/documents.ts";
import { docxOf, odtOf, pptxOf, xlsxOf } from "../../fixtures/office.ts";
import { writeZip } from "../../fixtures/zip-writer.ts";

const text = (content: string) => Buffer.from(content);
const zeros = Buffer.alloc(20 * 1024 * 1024);
const asic = { name: "mimetype", data: text("application/vnd.etsi.asic-e+zip") };

/** Two pages; with a password that nobody knows when `isProtected`. */
function twoPages(isProtected: boolean): Buffer {
  const hex = (byte: string) => `<${byte.repeat(32)}>`;
  const lock = `5 0 obj <</Filter/Standard/V 1/R 2/O ${hex("41")}/U ${hex("42")}/P -4>> endobj`;
  const encrypt = isProtected ? `/Encrypt 5 0 R/ID[${hex("43")}${hex("43")}]` : "";
  return text(
    "%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n" +
      "2 0 obj <</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/MediaBox[0 0 595 842]>> endobj\n" +
      "3 0 obj <</Type/Page/Parent 2 0 R>> endobj\n4 0 obj <</Type/Page/Parent 2 0 R>> endobj\n" +
      `${isProtected ? lock : ""}\ntrailer <</Root 1 0 R/Size 6${encrypt}>>\n%%EOF\n`,
  );
}

const bitmap = Buffer.concat([
  text("BM"),
  Buffer.alloc(12),
  Buffer.of(40, 0, 0, 0),
  zeros.subarray(0, 50),
]);
const heic = Buffer.concat([Buffer.of(0, 0, 0, 24), text("ftypheic"), zeros.subarray(0, 200)]);

describe("pages, and what is inside", () => {
  test.for([
    ["a.docx", 7, [], "what Word counted", docxOf(7, "a")],
    ["zero.docx", 1, [], "a writer that counted nothing", docxOf(0, "a")],
    ["mad.docx", 1, [], "a number that no file has", docxOf(4_000_000_000, "a")],
    ["a.pptx", 3, [], "slides", pptxOf("a", "b", "c")],
    ["a.xlsx", 1, [], "a table says nothing", xlsxOf("a", "b")],
    ["a.odt", 5, [], "what LibreOffice counted", odtOf(5, "a")],
    ["a.bmp", 1, [], "a bitmap", bitmap],
    ["a.heic", 1, [], "a telephone's photo", heic],
    ["open.pdf", 2, [], "not protected", twoPages(false)],
    ["protected.pdf", 1, [], "a password that nobody knows", twoPages(true)],
    [
      "inner.asice",
      1,
      [
        ["a.docx", 4],
        ["b.pdf", 2],
      ],
      "pages of what is inside",
      asiceOf({ "a.docx": docxOf(4), "b.pdf": pdfOf(2) }),
    ],
    [
      "bomb.asice",
      1,
      [["a.txt", 1]],
      "an entry that grows a thousandfold",
      writeZip([
        asic,
        { name: "zeros", data: zeros, deflate: true },
        { name: "a.txt", data: text("a") },
      ]),
    ],
    [
      "liar.asice",
      1,
      [["a.txt", 1]],
      "a size that is a lie",
      writeZip([
        asic,
        { name: "x", data: text("xxxx"), claimedSize: 2 ** 31, deflate: true },
        { name: "a.txt", data: text("a") },
      ]),
    ],
    [
      "paths.asice",
      1,
      [
        ["passwd", 1],
        ["unnamed", 1],
      ],
      "names that lead elsewhere",
      writeZip([
        asic,
        { name: "../../etc/passwd", data: text("a") },
        { name: "..\\..", data: text("b") },
      ]),
    ],
    [
      "nested.asice",
      1,
      [["inner.asice", 1]],
      "a container in a container is a document",
      asiceOf({ "inner.asice": asiceOf({ "a.txt": "a" }) }),
    ],
    [
      "laugh.ddoc",
      1,
      [],
      "entities of entities",
      text(
        '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><SignedDoc><DataFile ContentType="EMBEDDED" Filename="x">&b;</DataFile></SignedDoc>',
      ),
    ],
    [
      "cut.ddoc",
      1,
      [["a.txt", 1]],
      "cut short behind a file",
      ddocOf({ "a.txt": "a", "b.txt": "b".repeat(900) }).subarray(0, -300),
    ],
    [
      "angles.docx",
      1,
      [],
      "text that made a search quadratic",
      writeZip([{ name: "word/document.xml", data: Buffer.alloc(1_000_000, "<"), deflate: true }]),
    ],
  ] as [string, number, [string, number][], string, Buffer][])(
    "%s has %i pages and %j inside: %s",
    async ([filename, pages, inside, , bytes]) => {
      await using under = await ArchiveUnderTest.open();
      const { id } = await under.store(filename, bytes);
      await under.archive.idle();
      expect(under.archive.documents()).toMatchObject([{ filename, pages, status: "CONVERTED" }]);
      const isDigidoc = /asice|ddoc/.test(filename);
      expect(under.archive.documents()[0]?.digidoc).toBe(isDigidoc);
      if (!isDigidoc) return;
      const asked = { digidocId: String(id), sortBy: "NAME" };
      const { body } = await under.ask("digidoc", asked);
      const listed = (body["documents"] as { filename: string; pages: number }[]).map((item) => [
        item.filename,
        item.pages,
      ]);
      expect(listed).toEqual(inside);
    },
  );
});

/** Ample for what takes seconds, on a machine twenty times as busy, too; what grows with the square takes minutes. */
const AT_ONCE = { timeout: 150_000 };

test("a search for a hundred thousand words is answered at once", AT_ONCE, async () => {
  await using under = await ArchiveUnderTest.open();
  const words = Array.from({ length: 100_000 }, (_, n) => n.toString(36));
  await under.store("some.txt", words.slice(0, 3_000).join(" "));
  await under.archive.idle();
  const found = async (query: string) => {
    const { body } = await under.ask("search", { query });
    return body["documents"];
  };
  expect(await found(words.join(" "))).toEqual([]);
  expect(await found("word ".repeat(100_000))).toEqual([]);
  expect(await found(words.slice(0, 3_000).join(" "))).toHaveLength(1);
  expect(await found(words.slice(0, 3_001).join(" "))).toEqual([]);
});

test("a letter with hundreds of thousands of marks is read at once", AT_ONCE, async () => {
  await using under = await ArchiveUnderTest.open();
  const marks = "\u0301".repeat(200_000) + "\u0327".repeat(200_000);
  await under.store("marks.txt", `before e${marks} after`);
  await under.archive.idle();
  const { body } = await under.ask("search", { query: "before after é" });
  expect(body["documents"]).toMatchObject([{ filename: "marks.txt", status: "CONVERTED" }]);
});

test("a document that takes too long is given up, and the next one is read", async () => {
  const log: unknown[] = [];
  const closing = new AbortController().signal;
  await using under = await ArchiveUnderTest.open();
  await under.store("long.pdf", pdfOf(400, { text: "many words ".repeat(40) }));
  await under.store("short.pdf", pdfOf(2, { seed: 1 }));
  await under.archive.close();
  const [long = "", short = ""] = under.stored();
  const converter = new Converter({ closing, log: (event) => log.push(event) }, 30);
  const extract = { job: "extract", filename: "long.pdf" } as const;
  expect((await converter.run({ ...extract, path: long })).pages).toBe(1);
  const patient = new Converter({ closing, log: () => {} });
  expect((await patient.run({ ...extract, path: short })).pages).toBe(2);
  expect(log).toMatchObject([{ event: "unreadable", filename: "long.pdf" }]);
  await Promise.all([converter.close(), patient.close()]);
});
