import * as fc from "fast-check";
import sharp from "sharp";
import { expect, test, describe } from "vitest";
import { type FileFormat } from "../../../src/formats/file-format.ts";
import { pdfBytesOf, pdfFacts, pdfPages } from "../../../src/formats/pdf.ts";
import { asiceOf, ddocOf, pdfOf, pngOf, tiffOf } from "../../fixtures/documents.ts";
import { writePdf } from "../../fixtures/pdf-writer.ts";
import { pagesOf } from "./pages-of.ts";
import { bigTiff, linked } from "./tiffs.ts";
import { titled } from "./titled.ts";
import { streamedPdf } from "../../fixtures/pdf-stream-writer.ts";

describe("pages", () => {
  test("a PDF has the pages that were put in", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), async (pages) => {
        expect(await pagesOf(pdfOf(pages), "pdf")).toBe(pages);
      }),
      { numRuns: 12 },
    );
  });

  test("a TIFF has the pages that were put in", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.nat(99), async (pages, seed) => {
        expect(await pagesOf(tiffOf(pages, seed), "tiff")).toBe(pages);
      }),
      { numRuns: 20 },
    );
  });

  test("the TIFF that a TIFF library reads is the one that was meant", async () => {
    const { pages, width } = await sharp(tiffOf(3)).metadata();
    expect({ pages, width }).toEqual({ pages: 3, width: 32 });
  });

  test.for(
    titled<[string, Buffer, FileFormat, number | undefined, string]>([
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
      [
        "a marked text",
        Buffer.from(`\ufeff${"a".repeat(3000)}`),
        "text",
        1,
        "the mark is no letter",
      ],
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
      [
        "a TIFF without a directory",
        Buffer.from("II*\0\0\0\0\0"),
        "tiff",
        undefined,
        "nothing yet",
      ],
      ["a TIFF cut in its header", Buffer.from("II*\0\x08"), "tiff", undefined, "nothing yet"],
      ["no PDF at all", Buffer.alloc(3000), "pdf", undefined, "nothing to count"],
      ["an empty PDF", Buffer.alloc(0), "pdf", undefined, "nothing to count"],
    ]),
  )("%s", async ([, [, bytes, kind, pages]]) => {
    expect(await pagesOf(bytes, kind)).toBe(pages);
  });

  test("counting leaves the caller's bytes as they are", async () => {
    const bytes = pdfOf(1);
    await pagesOf(bytes, "pdf");
    expect(bytes.equals(pdfOf(1))).toBe(true);
  });

  test("damaged PDFs never reject", { timeout: 120_000 }, async () => {
    const whole = pdfOf(2, { title: "Whole" });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length),
        fc.uint8Array({ maxLength: 20 }),
        async (at, noise) => {
          const bytes = Buffer.from(whole);
          bytes.set(noise.subarray(0, bytes.length - at), at);
          const facts = await pdfFacts(bytes);
          expect(typeof facts.text).toBe("string");
        },
      ),
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
    // Text that is printed twice in one place is one text.
    const lines = Array.from(
      { length: 8000 },
      (_, at) => `1 0 0 1 ${(at % 40) * 9} ${at / 40 + 100} Tm (${"x".repeat(80)}) Tj\n`,
    );
    const page = { content: `BT /Body 0.1 Tf ${lines.join("")} ET` };
    const { text } = await pdfFacts(writePdf([page, page], {}, ""));
    expect(text.length).toBe(1024 * 1024);
  });

  test("what is no PDF has no facts", async () => {
    expect(await pdfFacts(Buffer.from("%PDF-1.4 and nothing else"))).toEqual({ text: "" });
  });
});

describe("pages of a PDF", () => {
  const changed = (bytes: Buffer, from: string | RegExp, to: string) =>
    Buffer.from(bytes.toString("latin1").replace(from, to), "latin1");

  /** Appends an update, as programs do that leave the old file as it is. */
  function updated(bytes: Buffer, pages: number): Buffer {
    const before = /startxref\n(\d+)/.exec(bytes.toString("latin1"))?.[1];
    const kids = Array.from({ length: pages }, (_, n) => `${4 + n * 3} 0 R`).join(" ");
    const object = `\n2 0 obj\n<< /Type /Pages /Kids [${kids}] /Count ${pages} >>\nendobj\n`;
    const at = bytes.length + 1;
    const table = `xref\n2 1\n${String(at).padStart(10, "0")} 00000 n \n`;
    const trailer = `trailer\n<< /Size 99 /Root 1 0 R /Prev ${before} >>\n`;
    const end = `startxref\n${bytes.length + object.length}\n%%EOF`;
    return Buffer.concat([bytes, Buffer.from(`${object}${table}${trailer}${end}`, "latin1")]);
  }

  /** A PDF that says it has so many pages: its first branch is all but one of them. */
  function boasting(pages: number): Buffer {
    const bodies = [
      "<< /Type /Catalog /Pages 2 0 R >>",
      `<< /Type /Pages /Count ${pages} /Kids [3 0 R 4 0 R] >>`,
      `<< /Type /Pages /Parent 2 0 R /Count ${pages - 1} /Kids [5 0 R] >>`,
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
      "<< /Type /Page /Parent 3 0 R /MediaBox [0 0 9 9] >>",
    ];
    let text = "%PDF-1.4\n";
    let rows = "0000000000 65535 f \n";
    for (const [index, body] of bodies.entries()) {
      rows += `${String(text.length).padStart(10, "0")} 00000 n \n`;
      text += `${index + 1} 0 obj\n${body}\nendobj\n`;
    }
    const table = `xref\n0 6\n${rows}trailer\n<< /Size 6 /Root 1 0 R >>\n`;
    return Buffer.from(`${text}${table}startxref\n${text.length}\n%%EOF\n`, "latin1");
  }

  test("are as many as were put in, whatever way its books are kept", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 70 }),
        fc.boolean(),
        fc.boolean(),
        fc.option(fc.integer({ min: 3, max: 9 }), { nil: undefined }),
        async (pages, packed, predicted, perBranch) => {
          const branches = perBranch === undefined ? {} : { perBranch };
          const streamed = streamedPdf({ pages, packed, predicted, ...branches });
          expect(await pagesOf(streamed, "pdf")).toBe(pages);
        },
      ),
      { numRuns: 60 },
    );
  });

  const TORN = pdfOf(3);
  test.for([
    // bytes, pages, because
    [updated(pdfOf(5), 3), 3, "the latest update counts"],
    [TORN.subarray(0, TORN.lastIndexOf("startxref")), 3, "without its table it is repaired"],
    [changed(pdfOf(2), /startxref\n\d+/, "startxref\n7"), 2, "so it is with a wrong one"],
    [changed(pdfOf(2), "/Root ", "/XRefStm 9 /Root "), 2, "one table of two suffices"],
    [changed(pdfOf(2), "/Count 2", "/Count 9"), undefined, "a last page that is not there"],
    [boasting(1_000_001), undefined, "more pages than anybody writes"],
    [boasting(2 ** 53), 2, "what is no number is counted"],
    [changed(pdfOf(2), "/Root 1 0 R", "/Prev 9 /Root 77 0 R"), undefined, "no catalogue"],
    [pdfOf(2).subarray(0, 400), undefined, "it is cut"],
    [Buffer.from("%PDF-1.4\nstartxref\n0\n%%EOF"), undefined, "nothing is in it"],
    [Buffer.alloc(0), undefined, "it is empty"],
  ] as const)("# %#: %2$s, because %3$s", async ([bytes, pages]) => {
    expect(await pagesOf(bytes, "pdf")).toBe(pages);
  });

  test("of a large one little is read", async () => {
    const large = changed(pdfOf(3), "%PDF-1.4\n", `%PDF-1.4\n%${" ".repeat(8 << 20)}\n`);
    const at = large.lastIndexOf("xref\n", large.lastIndexOf("startxref") - 1);
    const table = large
      .toString("latin1", at)
      .replace(/^(\d{10})(?= \d{5} n)/gm, (place) =>
        String(Number(place) + (8 << 20) + 2).padStart(10, "0"),
      );
    const body = `${large.toString("latin1", 0, at)}${table}`;
    const whole = changed(Buffer.from(body, "latin1"), /startxref\n\d+/, `startxref\n${at}`);
    let bytesRead = 0;
    const read = (position: number, length: number) => {
      const piece = whole.subarray(position, position + length);
      bytesRead += piece.length;
      return piece;
    };
    expect(await pdfPages({ size: whole.length, read })).toBe(3);
    expect(bytesRead).toBeLessThan(512 << 10);
  });

  test("what cannot be read is told, and the next one is counted", async () => {
    const unreadable = Object.assign(new Error("broken disk"), { code: "EIO", syscall: "read" });
    const read = () => {
      throw unreadable;
    };
    await expect(pdfPages({ size: 1000, read })).rejects.toBe(unreadable);
    expect(await pdfPages(pdfBytesOf(pdfOf(2)))).toBe(2);
  });

  test("whatever is wrong with it, it does not reject", async () => {
    const sound = [
      pdfOf(3),
      streamedPdf({ pages: 9, packed: true, predicted: true, perBranch: 3 }),
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...sound),
        fc.nat(9_999),
        fc.uint8Array({ maxLength: 30 }),
        async (whole, place, noise) => {
          const at = place % whole.length;
          const bytes = Buffer.from(whole);
          bytes.set(noise.subarray(0, bytes.length - at), at);
          const pages = await pagesOf(bytes, "pdf");
          expect(pages === undefined || pages > 0).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("no native graphics library is loaded", async () => {
    expect(await pagesOf(pdfOf(2), "pdf")).toBe(2);
    const { sharedObjects } = process.report.getReport() as { sharedObjects: string[] };
    expect(sharedObjects.filter((path) => /canvas|skia|pdfium/.test(path))).toEqual([]);
  });
});
