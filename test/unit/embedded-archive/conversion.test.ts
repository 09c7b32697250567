import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { asiceOf, ddocOf, pdfOf, pngOf, tiffOf } from "../../fixtures/documents.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { writeZip } from "../../fixtures/zip-writer.ts";
import { ArchiveUnderTest } from "../../contract/conformance/archive-under-test.ts";

describe("conversion", () => {
  test.for([
    ["a.pdf", 7, false, "a PDF's pages", pdfOf(7)],
    ["a.tiff", 5, false, "a TIFF's pages", tiffOf(5)],
    ["a.png", 1, false, "an image is a page", pngOf()],
    ["a.txt", 2, false, "a long text is more than a page", Buffer.from("x".repeat(3001))],
    ["a.asice", 1, true, "a container", asiceOf({ "a.pdf": pdfOf(3) })],
    ["a.ddoc", 1, true, "an old container", ddocOf({ "a.pdf": pdfOf(3) })],
    ["cut.pdf", 1, false, "cut short", pdfOf(9).subarray(0, 300)],
    ["cut.tiff", 1, false, "cut short", tiffOf(9).subarray(0, 40)],
    ["cut.asice", 1, true, "cut short", asiceOf({ "a.txt": "a" }).subarray(0, 90)],
    ["noise.pdf", 1, false, "noise", Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(5000)])],
    ["noise.docx", 1, false, "noise", randomBytes(5000)],
    [
      "odd.docx",
      1,
      false,
      "bad XML",
      writeZip([{ name: "word/document.xml", data: Buffer.from("<w:t>") }]),
    ],
    ["nothing known", 1, false, "unknown", Buffer.from([0, 1, 2])],
  ] as [string, number, boolean, string, Buffer][])(
    "%s becomes CONVERTED with %i pages, digidoc %s: %s",
    async ([filename, pages, digidoc, , bytes]) => {
      await using under = await ArchiveUnderTest.open();
      const { id } = await under.store(filename, bytes);
      await under.archive.idle();
      const { body } = await under.ask("document", { id: String(id) });
      const document = { pages, digidoc, status: "CONVERTED", filesize: bytes.length };
      expect(body["document"]).toMatchObject(document);
    },
  );

  test("comes after the delay, and a document is UPLOADED until then", async () => {
    const clock = new ManualClock();
    await using under = await ArchiveUnderTest.open({ clock, convertDelayMs: 150 });
    const { id } = await under.store("a.pdf", pdfOf(2));
    const state = async () => (await under.ask("document", { id: String(id) })).body["document"];
    await clock.advance(149);
    expect(await state()).toMatchObject({ status: "UPLOADED", pages: 0, filesize: 0 });
    await clock.advance(1);
    await under.archive.idle();
    const uploadedAt = under.archive.documents()[0]?.uploadedAt ?? 0;
    expect(await state()).toMatchObject({ status: "CONVERTED", pages: 2 });
    const { modifiedDate } = (await state()) as { modifiedDate: number };
    expect(modifiedDate).toBe(uploadedAt + 150);
  });

  test("does not wait for a clock that was set back to catch up", async () => {
    const clock = new ManualClock();
    await using under = await ArchiveUnderTest.open({ clock, convertDelayMs: 150 });
    await under.store("a.pdf", pdfOf(2));
    clock.jump(-365 * 86_400_000);
    await clock.advance(150);
    await expect.poll(() => under.archive.documents()[0]?.status).toBe("CONVERTED");
  });

  test("hundreds of documents side by side all get there", async () => {
    await using under = await ArchiveUnderTest.open();
    const names = Array.from({ length: 200 }, (_, n) => `${n}.txt`);
    await Promise.all(names.map((name) => under.store(name, `content of ${name}`)));
    await under.archive.idle();
    const documents = under.archive.documents();
    expect(documents.map(({ filename }) => filename).sort()).toEqual(names.sort());
    expect(documents.every(({ status }) => status === "CONVERTED")).toBe(true);
    expect(under.archive.pagesUsed()).toBe(200);
    expect(under.archive.requests()).toMatchObject({ upload: 200 });
  });
});
