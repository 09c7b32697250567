import * as fc from "fast-check";
import sharp from "sharp";
import { expect, test, describe } from "vitest";
import { type Kind } from "../../../src/formats/kind.ts";
import { countPages, pdfFacts, pagesAtSight } from "../../../src/formats/pages.ts";
import { asiceOf, ddocOf, pdfOf, pngOf, tiffOf } from "../../fixtures/documents.ts";
import { writePdf } from "../../fixtures/pdf-writer.ts";
import { bigTiff, linked } from "./tiffs.ts";
import { titled } from "./titled.ts";
import { deflateSync } from "node:zlib";
import { pdfPages } from "../../../src/formats/pdf.ts";
import { statedPages } from "../../../src/formats/pdf-pages.ts";
import { accessOf, type RandomAccess } from "../../../src/formats/random-access.ts";
import { streamedPdf } from "../../fixtures/pdf-stream-writer.ts";

describe("pages", () => {
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
    const line = `1 0 0 1 72 700 Tm (${"x".repeat(80)}) Tj\n`;
    const page = { content: `BT /Body 9 Tf ${line.repeat(8000)} ET` };
    const { text } = await pdfFacts(writePdf([page, page], {}, ""));
    expect(text.length).toBe(1024 * 1024);
  });

  test("what is no PDF has no facts", async () => {
    expect(await pdfFacts(Buffer.from("%PDF-1.4 and nothing else"))).toEqual({ text: "" });
  });
});

describe("pdf pages", () => {
  /** The same bytes, and how many of them were read. */
  function counted(bytes: Buffer): { file: RandomAccess; read: () => number } {
    const file = accessOf(bytes);
    let read = 0;
    const count = async (position: number, length: number) => {
      const piece = await file.read(position, length);
      read += piece.length;
      return piece;
    };
    return { file: { size: file.size, read: count }, read: () => read };
  }

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

  /** A PDF that says it has so many pages, in numbers that add up: its first branch is all but one of them. */
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

  describe("a sound PDF states its pages", () => {
    test("as many as were put in, whatever way its books are kept", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 70 }),
          fc.boolean(),
          fc.boolean(),
          fc.option(fc.integer({ min: 3, max: 9 }), { nil: undefined }),
          async (pages, packed, predicted, perBranch) => {
            expect(await statedPages(accessOf(pdfOf(pages)))).toBe(pages);
            const branches = perBranch === undefined ? {} : { perBranch };
            const streamed = streamedPdf({ pages, packed, predicted, ...branches });
            expect(await statedPages(accessOf(streamed))).toBe(pages);
          },
        ),
        { numRuns: 60 },
      );
    });

    test("and the engine agrees about those that are streamed", async () => {
      const streamed = streamedPdf({ pages: 7, packed: true, predicted: true, perBranch: 3 });
      expect(await pdfPages(streamed)).toBe(7);
    });

    test("the latest update counts", async () => {
      expect(await statedPages(accessOf(updated(pdfOf(5), 3)))).toBe(3);
    });

    test("of a large one little is read", async () => {
      const large = Buffer.concat([pdfOf(3), Buffer.alloc(0)]);
      const padded = changed(large, "startxref", `${" ".repeat(8 << 20)}startxref`);
      const { file, read } = counted(padded);
      expect(await statedPages(file)).toBe(3);
      expect(read()).toBeLessThan(64 << 10);
    });
  });

  describe("left to an engine", () => {
    test.for([
      // bytes, because
      [changed(pdfOf(2), "/Count 2", "/Count 9"), "its numbers do not add up"],
      [changed(pdfOf(2), "/Count 2", "/Count 1"), "the same, the other way round"],
      [changed(pdfOf(2), "/Root ", "/Encrypt 9 0 R /Root "), "it is protected"],
      [changed(pdfOf(2), "/Root ", "/XRefStm 9 /Root "), "it has two tables"],
      [changed(pdfOf(2), /startxref\n\d+/, "startxref\n7"), "its table is elsewhere"],
      [changed(pdfOf(2), "/Root 1 0 R", "/Prev 9 /Root 77 0 R"), "its catalogue is not there"],
      [changed(pdfOf(2), "/Type /Pages", "/Type /Other"), "its tree is none"],
      [pdfOf(2).subarray(0, 400), "it is cut"],
      [Buffer.from("%PDF-1.4\nstartxref\n0\n%%EOF"), "nothing is in it"],
      [Buffer.alloc(0), "it is empty"],
    ] as [Buffer, string][])("%#: %s", async ([bytes]) => {
      expect(await statedPages(accessOf(bytes))).toBeUndefined();
    });

    test("whatever is wrong with it, it neither rejects nor takes long", async () => {
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
            const { file, read } = counted(bytes);
            const pages = await statedPages(file);
            expect(pages === undefined || pages > 0).toBe(true);
            expect(read()).toBeLessThan(4 << 20);
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  /** Two pages on each of so many branches, all in one stream that is many times as large unpacked. */
  function swollen(branches: number, unpackedBytes: number, index = ""): Buffer {
    const ids = Array.from({ length: branches }, (_, at) => 100 + at);
    const filling = Math.floor(unpackedBytes / 4);
    const head = "1 0 ".repeat(filling) + ids.map((id) => `${id} 0 `).join("");
    const packed = deflateSync(`${head}<< /Type /Pages /Count 2 >>`);
    const kids = ids.map((id) => `${id} 0 R`).join(" ");
    const place = (kind: number, where: number, index: number) => {
      const entry = Buffer.alloc(9);
      entry.writeUInt8(kind);
      entry.writeUInt32BE(where, 1);
      entry.writeUInt32BE(index, 5);
      return entry;
    };
    const places: Buffer[] = [];
    let file = Buffer.from("%PDF-1.5\n");
    const put = (id: number, about: string, content?: Buffer) => {
      places.push(place(1, file.length, 0));
      const begin = content ? `${id} 0 obj\n<< ${about} /Length ${content.length} >>stream\n` : "";
      const plain = content ? Buffer.from(begin) : Buffer.from(`${id} 0 obj\n<< ${about} >>`);
      const end = Buffer.from(content ? "\nendstream\nendobj\n" : "\nendobj\n");
      file = Buffer.concat([file, plain, content ?? Buffer.alloc(0), end]);
    };
    put(1, "/Type /Catalog /Pages 2 0 R");
    put(2, `/Type /Pages /Count ${2 * branches} /Kids [${kids}]`);
    put(3, `/Type /ObjStm /First ${head.length} /Filter /FlateDecode`, packed);
    const table = [...places, ...ids.map((_, at) => place(2, 3, filling + at))];
    const start = file.length;
    const about = `/Type /XRef /Root 1 0 R /W [1 4 4] /Index [${index}1 3 100 ${branches}]`;
    put(4, about, Buffer.concat(table));
    return Buffer.concat([file, Buffer.from(`startxref\n${start}\n%%EOF`)]);
  }

  test("what takes long to look at is left to an engine, however small the file is", async () => {
    expect(await statedPages(accessOf(swollen(3, 1 << 20)))).toBe(6);
    const hostile = swollen(30, 1 << 20);
    expect(hostile.length).toBeLessThan(10_000);
    expect(await statedPages(accessOf(hostile))).toBeUndefined();
  });

  test("cross-references in a hundred thousand parts are looked through as fast as they are read", async () => {
    const begunAt = performance.now();
    expect(await statedPages(accessOf(swollen(30, 100, "0 0 ".repeat(120_000))))).toBe(60);
    // It took minutes.
    expect(performance.now() - begunAt).toBeLessThan(10_000);
  });

  describe("more pages than anybody writes", () => {
    test("are not believed", async () => {
      expect(await statedPages(accessOf(boasting(1_000_000)))).toBe(1_000_000);
      expect(await statedPages(accessOf(boasting(1_000_001)))).toBeUndefined();
      expect(await statedPages(accessOf(boasting(2 ** 53)))).toBeUndefined();
    });

    test("nor when an engine states them", async () => {
      expect(await pdfPages(boasting(1_000_000))).toBe(1_000_000);
      expect(await pdfPages(boasting(1_000_001))).toBeUndefined();
    });
  });

  test.for([
    ["an image", Buffer.from("GIF89a"), "gif", 1],
    ["a text", Buffer.from("ä".repeat(3001)), "text", 2],
    ["a TIFF", tiffOf(4), "tiff", 4],
    ["a PDF", pdfOf(4), "pdf", 4],
    ["a container", Buffer.from("PK"), "digidoc", undefined],
    ["an office file", Buffer.from("PK"), "office", undefined],
  ] as const)("%s at sight", async ([, bytes, kind, pages]) => {
    expect(await pagesAtSight(accessOf(bytes), kind)).toBe(pages);
  });

  test("the engine is loaded without a native graphics library", async () => {
    expect(await pdfPages(pdfOf(2))).toBe(2);
    const { sharedObjects } = process.report.getReport() as { sharedObjects: string[] };
    expect(sharedObjects.filter((path) => /canvas|skia/.test(path))).toEqual([]);
  });
});
