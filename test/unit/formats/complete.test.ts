import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { setTimeout } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import { deflateSync } from "node:zlib";
import sharp, { type JpegOptions } from "sharp";
import { expect, test } from "vitest";
import { judge as judged } from "../../../src/formats/complete.ts";
import type { Completeness } from "../../../src/formats/completeness.ts";
import { accessOf } from "../../../src/formats/random-access.ts";
import { asiceOf, ddocOf, pdfOf, pngOf, tiffOf } from "../../fixtures/documents.ts";
import { writeTiff } from "../../fixtures/tiff-writer.ts";
import { writeZip } from "../../fixtures/zip-writer.ts";
import { bigTiff, crowded, linked } from "./tiffs.ts";
import { titled } from "./titled.ts";
import { NO_ZEROS, zerosOf } from "./zeros.ts";

const judge = async (bytes: Buffer, name: string): Promise<Completeness> =>
  (await judged(accessOf(bytes), name, zerosOf(bytes))).completeness;
const latin = (text: string): Buffer => Buffer.from(text, "latin1");
const then = (bytes: Buffer, text: string): Buffer => Buffer.concat([bytes, latin(text)]);

const dots = {
  raw: { width: 40, height: 30, channels: 3 as const },
};
const colours = Buffer.from(Array.from({ length: 40 * 30 * 3 }, (_, i) => (i * i * 7) % 256));
const jpeg = await sharp(colours, dots).jpeg().toBuffer();
/** A picture of noise that is larger than some blocks of a disk. */
const noise = Buffer.alloc(200 * 200 * 3);
for (let i = 0, seed = 1; i < noise.length; i++) {
  seed = (seed * 48_271) % 0x7fff_ffff;
  noise[i] = seed >> 16;
}
const noisy = sharp(noise, { raw: { width: 200, height: 200, channels: 3 } });
const webp = await noisy.clone().webp({ quality: 95 }).toBuffer();
const progressive = await sharp(colours, dots).jpeg({ progressive: true }).toBuffer();
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

const DECLARATION = '<?xml version="1.0"?>\n';

const WHOLE: [string, Buffer][] = [
  ["a.pdf", pdfOf(3)],
  ["a.tiff", tiffOf(3)],
  ["big.tif", bigTiff(3, "MM")],
  ["pyramid.tif", withChild()],
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
  ["a.xml", latin(`${DECLARATION}<Invoice>${"<Line><Id>1</Id></Line>".repeat(300)}</Invoice>`)],
  [
    "commented.xml",
    latin(`${DECLARATION}<!-- <a> ${"licence ".repeat(2000)}--><x:a xmlns:x="b"><x:a/>c</x:a>`),
  ],
  ["a.svg", latin(`<svg xmlns="a">${"<path/>".repeat(1200)}</svg>`)],
  ["wide.xml", Buffer.from('\ufeff<?xml version="1.0"?><a><b>ä</b></a>', "utf16le").swap16()],
  ["a.rtf", latin(`{\\rtf1{\\fonttbl{\\f0 Arial;}}${"{\\b \\{ \\} \\\\}\n".repeat(9000)}}`)],
  ["a.eml", mailOf("X-Mailer: a\r\n".repeat(900))],
];

/** What PKCS #7 puts around a content. */
function signed(begin: string, length: number, end = ""): Buffer {
  const content = Buffer.alloc(length, "x").fill(
    Buffer.from("06092a864886f70d010702", "hex"),
    0,
    11,
  );
  return then(Buffer.concat([Buffer.from(begin, "hex"), content]), end);
}

/** A mail of two parts. */
function mailOf(fields = ""): Buffer {
  return latin(
    `From: a\r\n${fields}Content-Type: multipart/mixed; charset=x;\r\n\tboundary="a b"\r\n\r\n` +
      "--a b\r\n\r\nhello\r\n--a b\r\nContent-Type: text/plain\r\n\r\nyou\r\n--a b--",
  );
}

/** An OLE file of one stream, its tables and directory first: as many sectors, and what follows the last table's. */
function oleOf(sectors: number, filler = 0xffffffff): Buffer {
  const tables = Math.ceil((sectors + 4) / 127);
  const listing = tables > 109 ? 1 : 0;
  const first = 1 + listing + tables;
  const bytes = Buffer.alloc((1 + first + sectors) * 512, "x");
  bytes.fill(0, 0, 76).fill(0xff, 76, 512);
  bytes.write("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "latin1");
  bytes.writeUInt16LE(9, 30);
  setIn(bytes, [44, tables], [48, 0], [60, 0xfffffffe], [68, listing === 0 ? 0xfffffffe : 1]);
  if (listing > 0) bytes.fill(0xff, 1024, 1536);
  for (let table = 0; table < tables; table++) {
    const sector = 1 + listing + table;
    bytes.writeUInt32LE(sector, table < 109 ? 76 + table * 4 : 1024 + (table - 109) * 4);
    for (let at = 0; at < 128; at++) {
      const own = table * 128 + at;
      const next = own < first ? 0xfffffffd : own < first + sectors - 1 ? own + 1 : 0xfffffffe;
      bytes.writeUInt32LE(own < first + sectors ? next : filler, (1 + sector) * 512 + at * 4);
    }
  }
  return bytes;
}

function setIn(bytes: Buffer, ...values: (readonly [at: number, value: number])[]): Buffer {
  for (const [at, value] of values) bytes.writeUInt32LE(value, at);
  return bytes;
}

/** A bitmap of rows of 7 dots; negative: from its top down. */
function bitmapOf(rows: number, compression = 0): Buffer {
  const bytes = Buffer.alloc(54 + 24 * Math.abs(rows), "x");
  bytes.write("BM");
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(7, 18);
  bytes.writeInt32LE(rows, 22);
  bytes.writeUInt16LE(24, 28);
  bytes.writeUInt32LE(compression, 30);
  bytes.writeUInt32LE(compression === 0 ? 0 : 24 * Math.abs(rows), 34);
  return bytes;
}

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
  // What was set aside and not written begins where a block does; of WebP nothing else tells that.
  const half = bytes.length >> 1;
  const blank = Buffer.from(bytes).fill(0, half > 4096 ? half - (half % 4096) : half);
  expect(await judge(blank, name)).toBe("unfinished");
  expect(await judge(Buffer.concat([blank, Buffer.alloc(70_000)]), name)).toBe("unfinished");
});

test.for(
  titled<[string, string, Buffer, Completeness, string]>([
    ["an empty file", "a.xyz", Buffer.alloc(0), "unfinished", "nobody sends nothing on purpose"],
    ["zeros", "a.pdf", Buffer.alloc(5000), "unfinished", "space is set aside before data come"],
    ["zeros", "a.docx", Buffer.alloc(5000), "unfinished", "space is set aside before data come"],
    ["zeros", "a.bin", Buffer.alloc(5000), "unfinished", "nobody sends nothing on purpose"],
    ["zeros by the block", "a.bin", Buffer.alloc(8192), "unfinished", "the same"],
    ["a few zeros", "no name to speak of", Buffer.alloc(3), "unfinished", "the same"],
    [
      "zeros, bytes behind",
      "a.bin",
      then(Buffer.alloc(8192), "x"),
      "unknown",
      "the name promises nothing",
    ],
    [
      "zeros, bytes between",
      "disk.img",
      Buffer.concat([Buffer.alloc(9000), Buffer.of(1), Buffer.alloc(9000)]),
      "unknown",
      "an image of a disk may begin and end so",
    ],
    [
      "letters, zeros behind",
      "a.csv",
      then(latin("hello"), "\0".repeat(5000)),
      "unfinished",
      "its first bytes have come",
    ],
    [
      "letters, zeros between",
      "a.rtf",
      then(latin("{\\rtf1 hello"), "\0".repeat(2 * 4096 - 12) + "hello}"),
      "unfinished",
      "its first bytes and its last ones have come",
    ],
    [
      "an OLE file, zeros between",
      "a.txt",
      then(latin("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "\0".repeat(12_000) + "x"),
      "unknown",
      "no text, whatever its name",
    ],
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
      "an OLE file, few zeros in its last sectors",
      "a.doc",
      then(oleOf(20).subarray(0, -7 * 512), "\0".repeat(7 * 512)),
      "unknown",
      "its sectors are filled up",
    ],
    [
      "an OLE file, zeros in its last sectors",
      "a.doc",
      then(oleOf(20).subarray(0, -8 * 512), "\0".repeat(8 * 512)),
      "unfinished",
      "they have not come",
    ],
    [
      "an OLE file, zeros behind",
      "a.doc",
      then(oleOf(20), "\0".repeat(15_000)),
      "unknown",
      "sectors that its tables call free",
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
    ["an OLE file", "a.doc", oleOf(300), "unknown", "its content is not looked at"],
    [
      "an OLE file",
      "a.msg",
      oleOf(300).subarray(0, -512),
      "unfinished",
      "its last sector is missing",
    ],
    [
      "an OLE file",
      "Thumbs.db",
      oleOf(300).subarray(0, -511),
      "unknown",
      "it may be left unfilled",
    ],
    [
      "an OLE file's magic",
      "a.doc",
      oleOf(1).subarray(0, 8),
      "unfinished",
      "its header is missing",
    ],
    [
      "an OLE file's tables",
      "a.doc",
      oleOf(300).fill(0, 512 * 2, 512 * 3),
      "unfinished",
      "a table holds nothing",
    ],
    [
      "a long OLE file",
      "a.xls",
      oleOf(128 * 130),
      "unknown",
      "the places of its last tables are in a sector of their own",
    ],
    [
      "half a long OLE file",
      "a.xls",
      oleOf(128 * 130).subarray(0, 64 * 130 * 512),
      "unfinished",
      "its last tables are missing",
    ],
    [
      "an OLE file, a circle of tables",
      "a.doc",
      setIn(oleOf(300), [44, 0xffff_ffff], [68, 0]),
      "unfinished",
      "it has not so many sectors",
    ],
    [
      "an OLE file, ends for its rest",
      "a.doc",
      oleOf(20, 0xfffffffe),
      "unknown",
      "some fill up so",
    ],
    ["an OLE file, zeros for its rest", "a.doc", oleOf(20, 0), "unknown", "some fill up so"],
    ["a bitmap of 10 rows", "a.bmp", bitmapOf(10), "unknown", "its content is not looked at"],
    ["a bitmap of 10 rows", "a.bmp", bitmapOf(-10), "unknown", "from its top down"],
    [
      "a bitmap of 10 rows",
      "a.bmp",
      bitmapOf(10).subarray(0, -4),
      "unfinished",
      "a dot is missing",
    ],
    ["a packed bitmap", "a.bmp", bitmapOf(10, 1), "unknown", "its content is not looked at"],
    [
      "a packed bitmap",
      "a.bmp",
      bitmapOf(10, 1).subarray(0, -99),
      "unfinished",
      "it says its length",
    ],
    ["an RTF", "a.doc", latin("{\\rtf1 hello}"), "complete", "many a letter of that name is one"],
    ["an RTF, a NUL behind", "a.rtf", latin("{\\rtf1 a}\r\n\0"), "complete", "WordPad's"],
    ["an RTF, memory behind", "a.rtf", latin("{\\rtf1 a}{{{xyz"), "complete", "a program does so"],
    ["an RTF of bytes", "a.rtf", latin("{\\rtf1 {\\bin3 {{{}}"), "unknown", "braces may be data"],
    ["XML of one tag", "a.xml", latin(`${DECLARATION}<a b="c"/>\n`), "complete", "it has no other"],
    ["an empty tag last", "a.xml", latin("<a><b/>"), "unfinished", "it is not the root's"],
    [
      "a document type",
      "a.xml",
      latin('<!DOCTYPE a [<!ENTITY b "c>">]><a></a >'),
      "complete",
      "XML",
    ],
    [
      "notes behind XML",
      "a.xml",
      latin("<a></a><!-- </b> --><?c?>\n"),
      "complete",
      "XML allows it",
    ],
    [
      "room behind XML",
      "a.xml",
      latin(`<a></a>${" ".repeat(5000)}<?xpacket end="w"?>`),
      "complete",
      "XMP leaves it for its editors",
    ],
    [
      "a long note",
      "a.xml",
      latin(`<a></a><!--${" ".repeat(70_000)}-->`),
      "unknown",
      "it is too long",
    ],
    ["a declaration", "a.xml", latin(DECLARATION), "unfinished", "XML has a root"],
    ["no XML", "a.xml", latin("a < b"), "unknown", "the name says nothing"],
    ["a mail of one part", "a.eml", latin("From: a\n\nhello"), "unknown", "it has no end"],
    ["its header", "a.eml", latin("From: a\r\nTo: b"), "unfinished", "a header ends"],
    ["what is signed", "a.xml.p7m", signed("308201f4", 500), "complete", "it says its length"],
    ["it, cut", "a.xml.p7m", signed("308201f4", 499), "unfinished", "the same"],
    ["what is signed in one go", "a.p7m", signed("3080", 99, "\0\0"), "complete", "it has an end"],
    ["it, cut", "a.p7m", signed("3080", 99, "\0"), "unfinished", "the same"],
    ["another element", "a.p7m", latin("0\x82\x20\x20other"), "unknown", "nothing says what it is"],
    ["text behind a mail", "a.eml", then(mailOf(), "\r\nbye"), "complete", "an epilogue"],
    ["a PDF, a line end behind", "a.pdf", then(pdfOf(1), "\r\n"), "complete", "most end like that"],
    ["a PDF, zeros behind", "a.pdf", then(pdfOf(1), "\0".repeat(1000)), "complete", "padding"],
    [
      "a PDF, zeros by the block",
      "a.pdf",
      then(pdfOf(1), "\0".repeat(70_000)),
      "complete",
      "copiers",
    ],
    [
      "a PDF, blanks by the block",
      "a.pdf",
      then(pdfOf(1), " \n".repeat(9000)),
      "complete",
      "padding",
    ],
    [
      "a PDF, a page of the web behind",
      "a.pdf",
      then(pdfOf(1), `\n<html>${"<p>12 objects</p>".repeat(900)}</html>`),
      "complete",
      "no update begins so",
    ],
    [
      "a PDF, a signature behind",
      "a.pdf",
      Buffer.concat([pdfOf(1), Buffer.from(colours)]),
      "complete",
      "nor so",
    ],
    [
      "a PDF, an end and an object",
      "a.pdf",
      then(pdfOf(1), "\0\n4 0 obj\n<< /Length 9000 >>\nstream\n" + "x".repeat(5000)),
      "unfinished",
      "an update was begun",
    ],
    ["a PDF, an end and a table", "a.pdf", then(pdfOf(1), "xref\n0 1\n"), "unfinished", "the same"],
    ...["\n4", "\n4 0", "\n4 0 o", "\n4 0 ob", "\n4 0 obj", "\nxr"].map(
      (begun): [string, string, Buffer, Completeness, string] => [
        `a PDF, an end and ${JSON.stringify(begun)}`,
        "a.pdf",
        then(pdfOf(1), begun),
        "unfinished",
        "an update's first word",
      ],
    ),
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
    [
      "a JPEG, a phone's block behind",
      "a.jpg",
      then(jpeg, "SEFH\0\x02SEFT"),
      "complete",
      "its own",
    ],
    [
      "a JPEG, a film behind",
      "a.jpg",
      Buffer.concat([jpeg, latin("\0\0\0\x18ftypmp42"), noise]),
      "complete",
      "the picture is whole",
    ],
    [
      "a JPEG, half of another behind",
      "a.jpg",
      Buffer.concat([jpeg, photo.subarray(0, -9)]),
      "complete",
      "the same",
    ],
    [
      "a JPEG, a cluster's rest behind",
      "a.jpg",
      then(jpeg, "\0".repeat(9000)),
      "complete",
      "cards",
    ],
    [
      "a progressive JPEG, much behind",
      "a.jpg",
      then(progressive, "x".repeat(2000)),
      "complete",
      "scans",
    ],
    [
      "the scans of one but the last",
      "a.jpg",
      then(
        progressive.subarray(0, progressive.lastIndexOf(Buffer.of(0xff, 0xda))),
        "x".repeat(2000),
      ),
      "unfinished",
      "the end is behind the last",
    ],
    ["a JPEG, odd bytes between", "a.jpg", odd(jpeg), "complete", "cameras leave some"],
    [
      "a WebP, zeros for its last rows",
      "a.webp",
      riff(then(latin("VP8 rows"), "\0".repeat(9000))),
      "complete",
      "blank",
    ],
    [
      "a WebP, zeros from a block on",
      "a.webp",
      riff(Buffer.alloc(9000, 1).fill(0, 4084)),
      "unfinished",
      "set aside",
    ],
    [
      "a HEIF sequence",
      "a.heics",
      boxes("ftypmsf1", "moov....", "mdatdata"),
      "complete",
      "moov tells where",
    ],
    [
      "a HEIF with neither",
      "a.heic",
      boxes("ftypmsf1", "mdatdata"),
      "unfinished",
      "nothing tells where",
    ],
    [
      "an AsciiDoc",
      "minutes.adoc",
      latin("= Minutes\n\n* Item one\n"),
      "unknown",
      "a text of that name",
    ],
    ["zeros", "minutes.adoc", Buffer.alloc(500), "unfinished", "neither text nor container"],
    [
      "a bitmap of OS/2",
      "a.bmp",
      then(latin("BM"), `${"\0".repeat(12)}\x10\0\0\0x`),
      "unknown",
      "its short head",
    ],
    [
      "bitmaps of OS/2",
      "a.bmp",
      then(latin("BA"), `${"\0".repeat(12)}BMx`),
      "unknown",
      "an array of them",
    ],
    [
      "a PNG, much behind",
      "a.png",
      then(pngOf(), "x".repeat(9000)),
      "complete",
      "a phone's editor",
    ],
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

test.for(
  "doc dot xls ppt msg rtf txt csv xml htm html json md log eml ps svg xps p7m dwg DOC".split(" "),
)("a .%s is unfinished as long as it begins with zeros", async (extension) => {
  const name = `a.${extension}`;
  expect(await judge(Buffer.alloc(5000), name)).toBe("unfinished");
  expect(await judge(then(Buffer.alloc(8192), "written".repeat(1000)), name)).toBe("unfinished");
});

test("a PDF that was updated and is cut anywhere in its update is unfinished", async () => {
  const first = pdfOf(3);
  const attached = `4 0 obj\n<< /Length 99 >>\nstream\n${pdfOf(1).toString("latin1")}\nendstream\nendobj\n`;
  const update = `\n${attached}5 0 obj\nnull\nendobj\nxref\n0 1\ntrailer\n<< /Prev 9 >>\nstartxref\n99\n%%EOF`;
  const whole = then(first, update);
  expect(await judge(whole, "a.pdf")).toBe("complete");
  // A cut exactly behind an end leaves what was whole before, or looks so: the revision, the attached document.
  const inner = [
    first.length + update.indexOf("%%EOF") + 5,
    first.length + update.lastIndexOf("\nendstream") + 1,
  ];
  for (let length = first.length + 2; length < whole.length; length++) {
    const isAtEnd = length >= (inner[0] ?? 0) && length <= (inner[1] ?? 0);
    const word = isAtEnd ? "complete" : "unfinished";
    expect(`${length} ${await judge(whole.subarray(0, length), "a.pdf")}`).toBe(
      `${length} ${word}`,
    );
  }
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

/** Data of which the block at 8192 was not written. */
const holed = (data: Buffer): Buffer => Buffer.from(data).fill(0, 8192, 12_288);
/** A content that is not zero anywhere, larger than some blocks. */
const full = Buffer.alloc(20_000, "packed");
const object = (dictionary: string, data: Buffer): Buffer =>
  Buffer.concat([
    latin(`%PDF-1.4\n1 0 obj\n<< ${dictionary} >>\nstream\n`),
    data,
    latin("\nendstream\nendobj\nstartxref\n9\n%%EOF\n"),
  ]);
const stored = (data: Buffer): Buffer => writeZip([{ name: "a.bin", data }]);
const level0 = await noisy.clone().png({ compressionLevel: 0 }).toBuffer();
const blackLevel0 = await sharp({
  create: { width: 100, height: 100, channels: 3, background: "black" },
})
  .png({ compressionLevel: 0 })
  .toBuffer();
const bigJpeg = await noisy.clone().jpeg({ quality: 95 }).toBuffer();
/** Two strips, the one a page's compressed data. */
const packedTiff = (compression: number, data = full): Buffer => {
  const size = { width: 8, height: 2500, bits: 8, compression: 1, dpi: 100 } as const;
  const bytes = writeTiff([{ ...size, data }]);
  set(bytes, 259, compression);
  return bytes;
};

test.for(
  titled<[string, string, Buffer, Completeness, string]>([
    [
      "a packed stream of a PDF",
      "a.pdf",
      holed(object("/Filter /FlateDecode", full)),
      "unfinished",
      "it has none",
    ],
    [
      "the text of a PDF's page",
      "a.pdf",
      holed(object("/Length 20000", full)),
      "unfinished",
      "no text has any",
    ],
    [
      "a PDF's raw picture",
      "a.pdf",
      holed(object("/Subtype /Image", full)),
      "complete",
      "black may be zeros",
    ],
    [
      "a PDF's objects",
      "a.pdf",
      holed(object("", latin("x\nendstream\nendobj\n".repeat(999)))),
      "unfinished",
      "none",
    ],
    ["a JPEG's data", "a.jpg", holed(bigJpeg), "unfinished", "only by chance do they"],
    [
      "the segments before a JPEG's data",
      "a.jpg",
      holed(noted(bigJpeg)),
      "unfinished",
      "one begins there",
    ],
    [
      "a JPEG's film",
      "a.jpg",
      Buffer.concat([jpeg, holed(full)]),
      "complete",
      "the picture is whole",
    ],
    [
      "a PNG's chunk",
      "a.png",
      holed(await noisy.clone().png().toBuffer()),
      "unfinished",
      "its sum is wrong",
    ],
    ["a PNG's raw chunk", "a.png", holed(level0), "unfinished", "its sum is wrong"],
    ["a black PNG's raw chunk", "a.png", blackLevel0, "complete", "its sum is right"],
    ["a WebP", "a.webp", holed(webp), "unfinished", "only by chance"],
    ["a ZIP's torn entry", "a.zip", holed(stored(full)), "unfinished", "its sum is wrong"],
    [
      "a ZIP's stored entry",
      "a.zip",
      stored(holed(full).fill(0, 4000, 12_289)),
      "complete",
      "its sum is right",
    ],
    ["a text", "a.txt", holed(full), "unfinished", "text has none"],
    ["a mail", "a.eml", holed(full), "unfinished", "nor has a letter"],
    ["what nobody knows", "a.bin", holed(Buffer.alloc(20_000, 0xfe)), "unknown", "it may"],
    ["a packed TIFF", "a.tif", holed(packedTiff(5)), "unfinished", "LZW has none"],
    ["a raw TIFF", "a.tif", holed(packedTiff(1)), "complete", "black may be zeros"],
  ]),
)("a block of zeros in %s", async ([, [, name, bytes, expected]]) => {
  expect(await judge(bytes, name)).toBe(expected);
});

/** An old-style JPEG, in a strip that is filled up, behind these two bytes. */
const filledUp = (end: string): Buffer =>
  packedTiff(6, Buffer.concat([full, Buffer.from(end, "hex"), Buffer.alloc(104)]));
/** The same, with its JPEG at a place, and of so many bytes. */
const oldJpeg = (place: number, length: number): Buffer => {
  const tiff = packedTiff(6);
  for (const [tag, other, value] of [
    [256, 513, place],
    [257, 514, length],
  ] as const) {
    set(tiff, tag, value);
    tiff.writeUInt16LE(other, placeOf(tiff, tag));
  }
  return tiff;
};

test.for(
  titled<[string, string, Buffer, Completeness, string]>([
    ["zeros behind its end", "a.tif", filledUp("ffd9"), "complete", "DpuScan fills strips up"],
    ["zeros without an end", "a.tif", filledUp("ffd8"), "unfinished", "its data are to come"],
    [
      "a length that is too long",
      "a.tif",
      oldJpeg(8, 99_999),
      "complete",
      "its strip is all there",
    ],
    ["a place outside the file", "a.tif", oldJpeg(99_999, 1), "unfinished", "it is to come"],
  ]),
)("an old-style JPEG in a TIFF, %s", async ([, [, name, bytes, expected]]) => {
  expect(await judge(bytes, name)).toBe(expected);
});

/** What was reserved and not written from one odd place to another. */
const torn = (data: Buffer): Buffer => Buffer.from(data).fill(0, 6001, 14_999);
/** Its zeros neither begin nor end where a block does, wherever the data are. */
const blank = Buffer.alloc(20_000, "content").fill(0, 3000, 16_100);
const packed = (data: Buffer): Buffer => object("/Filter /FlateDecode", data);
const plainJpeg = await noisy.clone().jpeg({ quality: 95, optimiseCoding: false }).toBuffer();
const noisyProgressive = await noisy.clone().jpeg({ quality: 95, progressive: true }).toBuffer();
const noisyTiff = await noisy.clone().tiff({ compression: "jpeg", quality: 95 }).toBuffer();
/** Blank paper: some 20,000 zeros. */
const paper = (options: JpegOptions): Promise<Buffer> =>
  sharp({ create: { width: 2400, height: 3200, channels: 3, background: "#fff" } })
    .jpeg(options)
    .toBuffer();

test.for(
  titled<[string, string, Buffer, Completeness, string]>([
    ["a text", "a.txt", torn(full), "unfinished", "it has no zeros"],
    ["a mail", "a.eml", torn(full), "unfinished", "nor has a letter"],
    [
      "a PNG",
      "a.png",
      torn(await noisy.clone().png().toBuffer()),
      "unfinished",
      "its sum is wrong",
    ],
    ["a black PNG", "a.png", blackLevel0, "complete", "its sum is right"],
    [
      "a deflated entry",
      "a.docx",
      torn(writeZip([{ name: "a", data: noise, deflate: true }])),
      "unfinished",
      "it cannot be inflated",
    ],
    [
      "a deflated entry with zeros as they were",
      "a.docx",
      writeZip([{ name: "a", data: blank, deflate: true, level: 0 }]),
      "complete",
      "its sum is right",
    ],
    ["a TIFF of LZW", "a.tif", torn(packedTiff(5)), "unfinished", "it has no zeros"],
    ["a TIFF of Group 4", "a.tif", torn(packedTiff(4)), "unfinished", "nor has Group 4"],
    ["a TIFF of no JPEGs", "a.tif", torn(packedTiff(7)), "complete", "nothing says what they mean"],
    ["a TIFF of JPEGs", "a.tif", torn(noisyTiff), "unfinished", "by its tables they are no paper"],
    ["a JPEG", "a.jpg", torn(bigJpeg), "unfinished", "by its tables they are no paper"],
    ["a JPEG of usual tables", "a.jpg", torn(plainJpeg), "unfinished", "they mean a long pattern"],
    ["a progressive JPEG", "a.jpg", torn(noisyProgressive), "unfinished", "by those of this scan"],
    [
      "a JPEG's film",
      "a.jpg",
      Buffer.concat([jpeg, torn(full)]),
      "complete",
      "it is no data of it",
    ],
    ["blank paper", "a.jpg", await paper({}), "complete", "its tables give them a meaning"],
    [
      "progressive blank paper",
      "a.jpg",
      await paper({ progressive: true }),
      "complete",
      "the same",
    ],
    ["a raw TIFF", "a.tif", torn(packedTiff(1)), "complete", "black may be zeros"],
    ["a stored entry", "a.zip", torn(stored(full)), "unfinished", "its sum is wrong"],
    ["a blank stored entry", "a.zip", stored(blank), "complete", "its sum is right"],
    [
      "an entry of many",
      "a.asice",
      torn(asiceOf({ "a.txt": full, "b.txt": full })),
      "unfinished",
      "its sum is wrong",
    ],
    [
      "a packed stream",
      "a.pdf",
      torn(packed(deflateSync(noise))),
      "unfinished",
      "it cannot be inflated",
    ],
    [
      "a list of filters",
      "a.pdf",
      torn(object("/Filter [ /Fl /DCTDecode ]", deflateSync(noise))),
      "unfinished",
      "the first is the last that was applied",
    ],
    [
      "a blank packed stream",
      "a.pdf",
      packed(deflateSync(blank, { level: 0 })),
      "complete",
      "its sum is right",
    ],
    [
      "what may be encrypted",
      "a.pdf",
      packed(torn(full)),
      "complete",
      "nobody can tell: it is no deflated data from its begin",
    ],
    [
      "a packed stream that is encrypted",
      "a.pdf",
      then(packed(torn(full)), "trailer\n<< /Encrypt 9 0 R >>\nstartxref\n9\n%%EOF\n"),
      "unfinished",
      "a cipher makes none",
    ],
    [
      "a picture with a palette",
      "a.pdf",
      torn(
        object(`/ColorSpace [ /Indexed <${"00ff".repeat(800)}> ] /Filter /Fl`, deflateSync(noise)),
      ),
      "unfinished",
      "it cannot be inflated",
    ],
    ["no JPEG in a PDF", "a.pdf", object("/Filter /DCTDecode", torn(full)), "complete", "it may"],
    [
      "a JPEG in a PDF",
      "a.pdf",
      torn(object("/Filter /DCTDecode", bigJpeg)),
      "unfinished",
      "by its tables",
    ],
    [
      "blank paper in a PDF",
      "a.pdf",
      object("/Filter/DCT", await paper({})),
      "complete",
      "the same",
    ],
    [
      "Group 4 in a PDF",
      "a.pdf",
      torn(object("/Filter [/CCITTFaxDecode]", full)),
      "unfinished",
      "it has none",
    ],
    [
      "objects of a PDF",
      "a.pdf",
      object("/Length 1", Buffer.concat([latin("x\nendstream\nendobj\n"), torn(full)])),
      "unfinished",
      "between them there are none",
    ],
  ]),
)("zeros anywhere in %s", async ([, [, name, bytes, expected]]) => {
  const { gaps, loose } = zerosOf(bytes);
  expect(gaps).toEqual([]);
  expect(loose).not.toEqual([]);
  expect(await judge(bytes, name)).toBe(expected);
});

test("no read is under way once deflated data were found damaged, and its error is told", async () => {
  const bytes = torn(packed(deflateSync(randomBytes(2 << 20).map((byte) => byte & 63))));
  const data = bytes.indexOf("stream\n") + "stream\n".length;
  let reads = 0;
  const slow = (fails: boolean) => ({
    size: bytes.length,
    read: async (position: number, length: number) => {
      reads += 1;
      await setTimeout(2);
      reads -= 1;
      if (fails && position === data && length > 10_000) throw new Error("EIO");
      return accessOf(bytes).read(position, length);
    },
  });
  expect(await judged(slow(false), "a.pdf", zerosOf(bytes))).toMatchObject({
    completeness: "unfinished",
  });
  expect(reads).toBe(0);
  await expect(judged(slow(true), "a.pdf", zerosOf(bytes))).rejects.toThrow("EIO");
  expect(reads).toBe(0);
});

test("only pieces of a file are read, however large it is", async () => {
  const directory = await mkdtemp(join(tmpdir(), "scanferry-formats-"));
  try {
    for (const [name, bytes] of WHOLE) {
      const path = join(directory, name);
      await writeFile(path, bytes);
      await using file = await open(path, "r+");
      // A hole of 3 GiB: anyone who reads it all runs out of memory.
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
      await judged(access, name, NO_ZEROS);
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
  const found = await judged({ size: file.size, read: counted }, "a.tif", NO_ZEROS);
  expect(found).toEqual({ completeness: "unknown" });
  expect(read).toBeLessThan(9_000_000);
});

test("of many strips whose end is far away, some 64 MB are looked through", async () => {
  const bytes = headFirst(Buffer.alloc(20 << 20, 1));
  set(bytes, 259, 4);
  // A thousand strips, all at 0x01010101, and as many lengths of 0.
  for (const [tag, at] of [
    [273, 1000],
    [279, 9000],
  ] as const) {
    set(bytes, tag, at);
    bytes.writeUInt32LE(1000, placeOf(bytes, tag) + 4);
  }
  bytes.fill(0, 9000, 13_000);
  bytes.set([0, 0x10, 0x01], bytes.length - 3);
  const file = accessOf(bytes);
  let read = 0;
  const counted = async (position: number, length: number) => {
    const piece = await file.read(position, length);
    read += piece.length;
    return piece;
  };
  const found = await judged({ size: file.size, read: counted }, "a.tif", NO_ZEROS);
  expect(found).toEqual({ completeness: "unknown" });
  expect(read).toBeLessThan(70 << 20);
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

/** The JPEG with bytes that belong to nothing behind its first segment. */
function odd(bytes: Buffer): Buffer {
  const at = 4 + bytes.readUInt16BE(4);
  return Buffer.concat([bytes.subarray(0, at), latin("\0\xff\0odd"), bytes.subarray(at)]);
}

/** The JPEG with notes of a camera, segment by segment, before all else. */
function noted(bytes: Buffer): Buffer {
  const note = Buffer.alloc(3000, "n");
  note.writeUInt32BE(0xffe5_0bb6, 0);
  return Buffer.concat([bytes.subarray(0, 2), ...Array(8).fill(note), bytes.subarray(2)]);
}

/** A WebP with these chunks. */
function riff(chunks: Buffer): Buffer {
  const head = latin("RIFF\0\0\0\0WEBP");
  head.writeUInt32LE(chunks.length + 4, 4);
  return Buffer.concat([head, chunks]);
}

/** Boxes of a HEIF file, each given as its name and its content. */
function boxes(...contents: string[]): Buffer {
  return latin(
    contents.map((each) => `\0\0\0${String.fromCharCode(each.length + 4)}${each}`).join(""),
  );
}

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

/** Sets the value of a field of the first directory. */
function set(tiff: Buffer, tag: number, value: number): void {
  tiff.writeUInt32LE(value, placeOf(tiff, tag) + 8);
}

/** Where a field of the first directory stands. */
function placeOf(tiff: Buffer, tag: number): number {
  let field = tiff.readUInt32LE(4) + 2;
  while (tiff.readUInt16LE(field) !== tag) field += 12;
  return field;
}

/** A TIFF whose second directory stands below its first one, in place of a field that does not matter here. */
function withChild(): Buffer {
  const bytes = tiffOf(2);
  const next = bytes.readUInt32LE(4) + 2 + 12 * bytes.readUInt16LE(bytes.readUInt32LE(4));
  const field = placeOf(bytes, 296);
  bytes.writeUInt16LE(330, field);
  bytes.writeUInt16LE(4, field + 2);
  bytes.writeUInt32LE(bytes.readUInt32LE(next), field + 8);
  bytes.writeUInt32LE(0, next);
  return bytes;
}

/** The TIFF of `writeTiff` with its data behind its directory. */
function dataLast(tiff: Buffer, length: number): Buffer {
  const from = 8 + length + (length % 2);
  const bytes = Buffer.concat([
    tiff.subarray(0, 8),
    tiff.subarray(from),
    tiff.subarray(8, 8 + length),
  ]);
  const at = tiff.readUInt32LE(4) - (from - 8);
  bytes.writeUInt32LE(at, 4);
  set(bytes, 273, bytes.length - length);
  for (const tag of [282, 283]) set(bytes, tag, 8);
  return bytes;
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

const MARK = latin("\x01");
/** Where the data of `headFirst` begin: so many bytes fill up its first block. */
const FIRST = 4096 - 110;

test.for(
  titled<[string, Buffer, Completeness, string]>([
    ["its data", Buffer.alloc(8192, 1), "complete", "they are there"],
    ["white line art", Buffer.alloc(8192), "complete", "white may be zeros"],
    [
      "white from some row on",
      Buffer.concat([Buffer.alloc(4096, 1), Buffer.alloc(4096)]),
      "complete",
      "it may",
    ],
    [
      "zeros from a block on",
      Buffer.concat([Buffer.alloc(FIRST, 1), Buffer.alloc(8192)]),
      "unfinished",
      "space set aside begins so",
    ],
    [
      "zeros from a block on, and a mark",
      Buffer.concat([Buffer.alloc(FIRST, 1), Buffer.alloc(8192), MARK]),
      "complete",
      "it is a picture's own",
    ],
  ]),
)("a TIFF that tells first where its data will be, %s", async ([, [, data, word]]) => {
  expect(await judge(headFirst(data), "a.tif")).toBe(word);
});

/** End of facsimile block: two ends of line, the second one at any bit. */
const EOFB = [Buffer.of(0x00, 0x10, 0x01), Buffer.of(0x80, 0x01, 0x00, 0x10, 0x7f)];

test.for(
  titled<[string, number, number, Buffer, Completeness, string]>([
    ["its end mark", 4, 0, Buffer.concat([colours, EOFB[0] as Buffer]), "complete", "the data end"],
    [
      "its end mark amid bits",
      4,
      0,
      Buffer.concat([colours, EOFB[1] as Buffer]),
      "complete",
      "the same",
    ],
    ["no end mark", 4, 0, Buffer.alloc(400, 0x5a), "unfinished", "nothing says that they end"],
    ["zeros for data", 4, 0, Buffer.alloc(400), "unfinished", "nothing is there"],
    [
      "LZW without a length",
      5,
      0,
      Buffer.alloc(400, 0x5a),
      "unfinished",
      "nothing says that they end",
    ],
    [
      "JPEG without a length",
      7,
      0,
      Buffer.concat([colours, Buffer.of(0xff, 0xd9)]),
      "complete",
      "its mark",
    ],
    ["rows without a length", 1, 0, Buffer.alloc(8 * 40, 1), "complete", "as many as it has"],
    ["too few rows", 1, 0, Buffer.alloc(8 * 39, 1), "unfinished", "one is missing"],
    [
      "a length",
      4,
      400,
      Buffer.concat([Buffer.alloc(397, 0x5a), EOFB[0] as Buffer]),
      "complete",
      "all there",
    ],
    [
      "a length, zeros at its end",
      4,
      400,
      Buffer.alloc(400).fill(0x5a, 0, 300),
      "unfinished",
      "set aside",
    ],
    ["its last bits zeros", 4, 400, Buffer.alloc(400).fill(0x5a, 0, 390), "complete", "filled up"],
  ]),
)("a compressed TIFF, %s", async ([, [, compression, length, data, word]]) => {
  const page = { width: 8, height: 40, bits: 8, compression: 8, dpi: 100 } as const;
  const bytes = writeTiff([{ ...page, data }]);
  set(bytes, 259, compression);
  set(bytes, 279, length);
  // Cut off behind the data where they are measured by the file's end.
  expect(await judge(dataLast(bytes, data.length), "a.tif")).toBe(word);
});
