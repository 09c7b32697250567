import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import sharp from "sharp";
import { expect, test } from "vitest";
import { completeness } from "../../../src/formats/complete.ts";
import type { Completeness } from "../../../src/formats/completeness.ts";
import { accessOf } from "../../../src/formats/random-access.ts";
import { asiceOf, ddocOf, pdfOf, pngOf, tiffOf } from "../../fixtures/documents.ts";
import { writeTiff } from "../../fixtures/tiff-writer.ts";
import { writeZip } from "../../fixtures/zip-writer.ts";
import { bigTiff, crowded, linked } from "./tiffs.ts";
import { titled } from "./titled.ts";

const judge = (bytes: Buffer, name: string): Promise<Completeness> =>
  completeness(accessOf(bytes), name);
const latin = (text: string): Buffer => Buffer.from(text, "latin1");
const then = (bytes: Buffer, text: string): Buffer => Buffer.concat([bytes, latin(text)]);

const dots = {
  raw: { width: 40, height: 30, channels: 3 as const },
};
const colours = Buffer.from(Array.from({ length: 40 * 30 * 3 }, (_, i) => (i * i * 7) % 256));
const jpeg = await sharp(colours, dots).jpeg().toBuffer();
const webp = await sharp(colours, dots).webp().toBuffer();
const gif = await sharp(colours, dots).gif().toBuffer();
const avif = await sharp(colours, dots).avif().toBuffer();
const zip = writeZip([{ name: "a.txt", data: latin("a".repeat(100)), deflate: true }]);
/** A camera's picture: its preview, a whole JPEG, stands in a segment before the image. */
const photo = Buffer.concat([
  Buffer.of(0xff, 0xd8, 0xff, 0xe1, (jpeg.length + 2) >> 8, (jpeg.length + 2) & 0xff),
  jpeg,
  jpeg.subarray(2),
]);
/** Its dictionary states a length, and its first section ends like a whole file does. */
const linearized = (length: number): Buffer =>
  latin(
    `%PDF-1.4\n1 0 obj\n<< /Linearized 1 /L ${length} /H [1 2] /N 1 >>\nendobj\nxref\n` +
      "trailer\n<< >>\nstartxref\n0\n%%EOF\n",
  );

const WHOLE: [string, Buffer][] = [
  ["a.pdf", pdfOf(3)],
  ["a.tiff", tiffOf(3)],
  ["big.tif", bigTiff(3, "MM")],
  ["a.png", pngOf()],
  ["a.jpg", jpeg],
  ["photo.jpg", photo],
  ["a.gif", gif],
  ["a.webp", webp],
  ["a.heic", avif],
  ["a.zip", zip],
  ["a.docx", zip],
  ["a.asice", asiceOf({ "a.txt": "a", "b.pdf": pdfOf(1) })],
  ["nested.asice", asiceOf({ "a.docx": zip, "b.zip": asiceOf({ "c.zip": zip }) })],
  ["a.ddoc", ddocOf({ "a.txt": "a".repeat(2000), "b.pdf": pdfOf(1) })],
];

test.for(WHOLE)("%s is complete when whole", async ([name, bytes]) => {
  expect(await judge(bytes, name)).toBe("complete");
});

test.for(WHOLE)("%s cut short anywhere is never complete", async ([name, bytes]) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: bytes.length - 1 }), async (length) => {
      expect(await judge(bytes.subarray(0, length), name)).toBe("unfinished");
    }),
    { numRuns: 150, examples: [[0], [1], [4], [bytes.length - 1], [bytes.length >> 1]] },
  );
});

test.for(WHOLE)("%s with its second half still zeros is unfinished", async ([name, bytes]) => {
  const blank = Buffer.from(bytes).fill(0, bytes.length >> 1);
  expect(await judge(blank, name)).toBe("unfinished");
  expect(await judge(Buffer.concat([blank, Buffer.alloc(70_000)]), name)).toBe("unfinished");
});

test.for(
  titled<[string, string, Buffer, Completeness, string]>([
    ["an empty file", "a.xyz", Buffer.alloc(0), "unfinished", "nobody sends nothing on purpose"],
    ["zeros", "a.pdf", Buffer.alloc(5000), "unfinished", "space is set aside before data come"],
    ["zeros", "a.docx", Buffer.alloc(5000), "unfinished", "space is set aside before data come"],
    ["zeros", "a.bin", Buffer.alloc(5000), "unknown", "the name promises nothing"],
    [
      "text, zeros behind",
      "a.txt",
      then(latin("hello".repeat(1000)), "\0".repeat(4096)),
      "unfinished",
      "no text ends so",
    ],
    [
      "bytes, zeros behind",
      "a.bin",
      then(latin("\x01\x02"), "\0".repeat(5000)),
      "unknown",
      "it may",
    ],
    [
      "a mail, zeros behind",
      "a.eml",
      then(latin("From: a\r\n\r\n" + "hello".repeat(1000)), "\0".repeat(4096)),
      "unfinished",
      "nor does a letter",
    ],
    [
      "a bitmap, zeros behind",
      "a.bmp",
      then(latin("BM"), "\0".repeat(12) + "(\0\0\0" + "\0".repeat(4096)),
      "unknown",
      "black is zeros",
    ],
    [
      "an OLE file, few zeros behind",
      "a.doc",
      then(latin("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "\0".repeat(4095)),
      "unknown",
      "its sectors are filled up",
    ],
    [
      "an OLE file, zeros behind",
      "a.doc",
      then(latin("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "\0".repeat(4096)),
      "unfinished",
      "its first block has come",
    ],
    ["text", "a.pdf", latin("hello"), "unfinished", "the name promises another format"],
    ["text", "a.txt", latin("hello"), "unknown", "text has no end mark"],
    ["a PNG", "a.jpg", pngOf(), "complete", "a wrong name is judged by its content"],
    ["half a PNG", "a.jpg", pngOf().subarray(0, 99), "unfinished", "the same"],
    ["a mail", "a.eml", latin("From: a\r\n\r\nhello"), "unknown", "mail has no end mark"],
    [
      "a bitmap",
      "a.bmp",
      then(latin("BM"), "\0".repeat(12) + "(\0\0\0"),
      "unknown",
      "not looked at",
    ],
    ["an OLE file", "a.doc", latin("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "unknown", "not looked at"],
    ["an RTF", "a.doc", latin("{\\rtf1 hello}"), "unknown", "not looked at"],
    ["a PDF, a line end behind", "a.pdf", then(pdfOf(1), "\r\n"), "complete", "most end like that"],
    ["a PDF, zeros behind", "a.pdf", then(pdfOf(1), "\0".repeat(1000)), "complete", "padding"],
    [
      "a PDF, much behind",
      "a.pdf",
      then(pdfOf(1), "x".repeat(1100)),
      "unfinished",
      "no end mark near",
    ],
    [
      "a PDF, garbage before",
      "a.pdf",
      Buffer.concat([latin("junk\n"), pdfOf(1)]),
      "complete",
      "read",
    ],
    [
      "an updated PDF",
      "a.pdf",
      then(pdfOf(1), "\n4 0 obj\nnull\nendobj\nxref\n0 0\ntrailer\n<< >>\nstartxref\n30\n%%EOF\n"),
      "complete",
      "the last end counts",
    ],
    [
      "a PDF whose table lies beyond",
      "a.pdf",
      latin("%PDF-1.4\nstartxref\n9999\n%%EOF"),
      "unfinished",
      "its table is missing",
    ],
    [
      "a PDF without startxref",
      "a.pdf",
      latin("%PDF-1.4\n%%EOF"),
      "complete",
      "odd, and at its end",
    ],
    ["a linearized PDF", "a.pdf", linearized(100), "complete", "it is as long as it says"],
    ["the front of one", "a.pdf", linearized(90_000), "unfinished", "it says how long it will be"],
    ["a TIFF, no directory yet", "a.tif", latin("II*\0\0\0\0\0data"), "unfinished", "offset 0"],
    ["a TIFF in a loop", "a.tif", linked([8, 40, 8]), "unfinished", "its chain has no end"],
    ["a TIFF of metadata", "a.tif", linked([8, 0]), "complete", "no data are missing"],
    ["a JPEG, padding behind", "a.jpg", then(jpeg, "\0\0\r\n"), "complete", "padding"],
    ["a PNG, a little behind", "a.png", then(pngOf(), "tool was here"), "complete", "tolerated"],
    ["a DDOC, a line end behind", "a.ddoc", then(ddocOf({ a: "a" }), "\n"), "complete", "usual"],
    ["a ZIP with a comment", "a.zip", commented(zip, 60_000), "complete", "it belongs to the end"],
    ["its comment cut", "a.zip", commented(zip, 60_000).subarray(0, -1), "unfinished", "the same"],
    ["an empty ZIP", "a.zip", writeZip([]), "complete", "its end record is all it has"],
    ["a ZIP64", "a.zip", widened(zip), "complete", "its directory's place is in another record"],
  ]),
)("%s", async ([, [, name, bytes, expected]]) => {
  expect(await judge(bytes, name)).toBe(expected);
});

test("a TIFF page whose strip is not written yet is unfinished", async () => {
  const size = { width: 8, height: 1, bits: 8, compression: 1, dpi: 100 } as const;
  const whole = writeTiff([{ ...size, data: Buffer.alloc(8) }]);
  const field = whole.indexOf(Buffer.of(0x11, 0x01, 4, 0, 1, 0, 0, 0));
  for (const place of [0, whole.length, 0xffffffff]) {
    const bytes = Buffer.from(whole);
    bytes.writeUInt32LE(place, field + 8);
    expect(await judge(bytes, "a.tif")).toBe("unfinished");
  }
});

test("only pieces of a file are read, however large it is", async () => {
  const directory = await mkdtemp(join(tmpdir(), "scanferry-formats-"));
  try {
    for (const [name, bytes] of WHOLE) {
      const path = join(directory, name);
      await writeFile(path, bytes);
      await using file = await open(path, "r+");
      // A hole of 3 GiB: whoever reads it all runs out of memory.
      await file.truncate(3 * 1024 ** 3);
      const reads: number[] = [];
      const access = {
        size: 3 * 1024 ** 3,
        read: async (position: number, length: number) => {
          reads.push(length);
          const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
          return buffer.subarray(0, bytesRead);
        },
      };
      await completeness(access, name);
      expect(Math.max(...reads)).toBeLessThan(100_000);
      expect(reads.length).toBeLessThan(100);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("of tables that would take long to look at, some eight million values are", async () => {
  const file = accessOf(crowded(4 << 20));
  let read = 0;
  const counted = async (position: number, length: number) => {
    const piece = await file.read(position, length);
    read += piece.length;
    return piece;
  };
  expect(await completeness({ size: file.size, read: counted }, "a.tif")).toBe("unknown");
  expect(read).toBeLessThan(9_000_000);
});

test("no bytes make it reject", async () => {
  const heads = WHOLE.map(([, bytes]) => bytes.subarray(0, 64));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...heads),
      fc.nat(64),
      fc.uint8Array({ maxLength: 300 }),
      async (head, keep, noise) => {
        const bytes = Buffer.concat([head.subarray(0, keep), noise]);
        expect(["complete", "unfinished", "unknown"]).toContain(await judge(bytes, "a.pdf"));
      },
    ),
    { numRuns: 500 },
  );
});

/** The ZIP with a comment of this many bytes. */
function commented(bytes: Buffer, length: number): Buffer {
  const head = Buffer.from(bytes);
  head.writeUInt16LE(length, bytes.length - 2);
  return Buffer.concat([head, Buffer.alloc(length, "c")]);
}

/** The ZIP with its directory's place told by ZIP64's records. */
function widened(bytes: Buffer): Buffer {
  const at = bytes.length - 22;
  const end = Buffer.from(bytes.subarray(at));
  const record = Buffer.alloc(56);
  record.write("PK\x06\x06", 0, "latin1");
  record.writeBigUInt64LE(44n, 4);
  record.writeBigUInt64LE(BigInt(end.readUInt16LE(10)), 32);
  record.writeBigUInt64LE(BigInt(end.readUInt32LE(12)), 40);
  record.writeBigUInt64LE(BigInt(end.readUInt32LE(16)), 48);
  const locator = Buffer.alloc(20);
  locator.write("PK\x06\x07", 0, "latin1");
  locator.writeBigUInt64LE(BigInt(at), 8);
  end.fill(0xff, 8, 20);
  return Buffer.concat([bytes.subarray(0, at), record, locator, end]);
}

/** A TIFF whose directory comes first, as Windows and many editors write it. */
function headFirst(data: Buffer): Buffer {
  const fields = [
    [256, 8],
    [257, data.length],
    [258, 8],
    [259, 1],
    [262, 1],
    [273, 8 + 2 + 8 * 12 + 4],
    [278, data.length],
    [279, data.length],
  ] as const;
  const head = Buffer.alloc(8 + 2 + fields.length * 12 + 4);
  head.write("II*\0\b", 0, "latin1");
  head.writeUInt16LE(fields.length, 8);
  for (const [index, [tag, value]] of fields.entries()) {
    const at = 10 + index * 12;
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(4, at + 2);
    head.writeUInt32LE(1, at + 4);
    head.writeUInt32LE(value, at + 8);
  }
  return Buffer.concat([head, data]);
}

test.for([
  [Buffer.alloc(8192, 1), "complete", "its data are there"],
  [Buffer.alloc(8192), "unfinished", "space is set aside for them"],
  [Buffer.concat([Buffer.alloc(4096, 1), Buffer.alloc(4096)]), "unfinished", "half of them came"],
] as const)(
  "a TIFF that tells first where its data will be, %#: %s, since %s",
  async ([data, word]) => {
    expect(await judge(headFirst(data), "a.tif")).toBe(word);
  },
);
