import * as fc from "fast-check";
import { expect, test } from "vitest";
import { listDigidoc } from "../../../src/formats/digidoc.ts";
import { asiceOf, ddocOf, pdfOf } from "../../fixtures/documents.ts";
import { writeZip, type ZipEntry } from "../../fixtures/zip-writer.ts";
import { titled } from "./titled.ts";

const names = async (bytes: Buffer, kind: "digidoc" | "ddoc"): Promise<string[]> =>
  (await listDigidoc(bytes, kind)).map(({ name }) => name);
const entry = (name: string, text = "text"): ZipEntry => ({ name, data: Buffer.from(text) });

const KINDS = [
  ["digidoc", asiceOf],
  ["ddoc", ddocOf],
] as const;

test.for(KINDS)("%s: what was put in comes out", async ([kind, make]) => {
  const files = {
    "Leping – Müller & Söhne.pdf": pdfOf(2),
    "empty.txt": "",
    "<a> 'b' \"c\".txt": "text",
    "b.bin": Buffer.from(Array.from({ length: 700 }, (_, i) => i % 256)),
  };
  const listed = await listDigidoc(make(files), kind);
  expect(listed.map(({ name, bytes }) => [name, bytes.toString("latin1")])).toEqual(
    Object.entries(files).map(([name, bytes]) => [
      name,
      Buffer.from(bytes as string).toString("latin1"),
    ]),
  );
  for (const { size, bytes } of listed) expect(size).toBe(bytes.length);
});

test.for(KINDS)("%s: any bytes come out as they went in", async ([kind, make]) => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
      const [file] = await listDigidoc(make({ a: Buffer.from(bytes) }), kind);
      expect(file?.bytes.equals(bytes)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test.for<[string, string, string]>([
  ["a/b/c.txt", "c.txt", "directories are not kept"],
  ["../../etc/passwd", "passwd", "a path out of the container is none"],
  ["C:\\Users\\me\\x.doc", "x.doc", "nor is one of Windows"],
  ["/abs.txt", "abs.txt", "nor an absolute one"],
  ["a\u202etxt.exe", "atxt.exe", "marks that turn the text around go"],
  ["a\tb.txt", "ab.txt", "control characters go"],
  ["..", "unnamed", "it names a directory"],
  ["a/..", "unnamed", "it names a directory"],
  [" ", "unnamed", "nothing is left"],
  [`${"x".repeat(300)}.txt`, "x".repeat(255), "no file system has longer names"],
])("%j is listed as %j: %s", async ([given, listed]) => {
  expect(await names(writeZip([entry(given)]), "digidoc")).toEqual([listed]);
  expect(await names(ddocOf({ [given]: "a" }), "ddoc")).toEqual([listed]);
});

test("signatures, the manifest and directories are no data files", async () => {
  const bytes = writeZip([
    entry("mimetype"),
    entry("META-INF/manifest.xml"),
    entry("META-INF/signatures0.xml"),
    entry("meta-inf/signatures1.xml"),
    entry("folder/", ""),
    entry("a.txt"),
  ]);
  expect(await names(bytes, "digidoc")).toEqual(["a.txt"]);
});

test("names without the UTF-8 flag are read as UTF-8 where they can be", async () => {
  const bytes = asiceOf({ "õäöü.txt": "a" });
  for (let at = bytes.indexOf("PK"); at >= 0; at = bytes.indexOf("PK", at + 1)) {
    if (bytes.readUInt16LE(at + 2) === 0x0403) bytes.writeUInt16LE(0, at + 6);
    if (bytes.readUInt16LE(at + 2) === 0x0201) bytes.writeUInt16LE(0, at + 8);
  }
  expect(await names(bytes, "digidoc")).toEqual(["õäöü.txt"]);
});

test.for(
  titled<[string, ZipEntry[], string[], string]>([
    [
      "a bomb",
      [{ name: "bomb", data: Buffer.alloc(2 * 1024 * 1024), deflate: true }, entry("a")],
      ["a"],
      "zeros shrink a thousandfold",
    ],
    [
      "small zeros",
      [{ name: "zeros", data: Buffer.alloc(65_536), deflate: true }],
      ["zeros"],
      "a small file may shrink as it likes",
    ],
    [
      "an entry larger than it says",
      [{ name: "liar", data: Buffer.alloc(5000), deflate: true, claimedSize: 10 }, entry("a")],
      ["a"],
      "inflation stops at what was said",
    ],
    [
      "an entry smaller than it says",
      [{ name: "liar", data: Buffer.alloc(50), deflate: true, claimedSize: 100 }, entry("a")],
      ["a"],
      "it is damaged",
    ],
    [
      "an entry that says too much",
      [
        { name: "liar", data: Buffer.alloc(50), deflate: true, claimedSize: 0xfffffff0 },
        entry("a"),
      ],
      ["a"],
      "nobody has that much memory",
    ],
  ]),
)("%s", async ([, [, entries, listed]]) => {
  expect(await names(writeZip(entries), "digidoc")).toEqual(listed);
});

test("a thousand entries are looked at, no more", async () => {
  const entries = Array.from({ length: 1100 }, (_, index) => entry(`${index}.txt`, "x"));
  expect(await names(writeZip(entries), "digidoc")).toHaveLength(1000);
  const files = Object.fromEntries(entries.map(({ name, data }) => [name, data]));
  expect(await names(ddocOf(files), "ddoc")).toHaveLength(1000);
});

test("a name as long as its container is cut", async () => {
  const name = `${"d/".repeat(2_000_000)}${"x".repeat(300)}`;
  expect(await names(ddocOf({ [name]: "a" }), "ddoc")).toEqual(["x".repeat(255)]);
});

test("an entry with damaged data is passed over", async () => {
  const bytes = asiceOf({ "a.txt": "the first one", "b.txt": "the second one" });
  bytes.write("X", bytes.indexOf("the first one"));
  expect(await names(bytes, "digidoc")).toEqual(["b.txt"]);
});

const ddoc = (content: string, doctype = ""): Buffer =>
  Buffer.from(`<?xml version="1.0"?>\n${doctype}<SignedDoc>${content}</SignedDoc>`);
const embedded = (name: string, text: string): string =>
  `<DataFile ContentType="EMBEDDED_BASE64" Filename="${name}">${text}</DataFile>`;

test.for(
  titled<[string, Buffer, string[], string]>([
    ["whole", ddoc(embedded("a", "YQ==") + embedded("b", "Yg==")), ["a", "b"], "both are there"],
    [
      "only referred to",
      ddoc(`<DataFile ContentType="DETATCHED" Filename="a"/>${embedded("b", "Yg==")}`),
      ["b"],
      "its content is elsewhere",
    ],
    [
      "plain text",
      ddoc(`<DataFile ContentType="EMBEDDED" Filename="a">text</DataFile>`),
      ["a"],
      "the first versions allow it",
    ],
    [
      "with a prefix",
      Buffer.from(
        '<d:SignedDoc xmlns:d="x"><d:DataFile ContentType="EMBEDDED_BASE64" Filename="a">YQ==</d:DataFile></d:SignedDoc>',
      ),
      ["a"],
      "prefixes are free",
    ],
    [
      "with entities of its own",
      ddoc(embedded("a", "YQ==") + embedded("b", "&lol;"), '<!DOCTYPE x [<!ENTITY lol "lollol">]>'),
      ["a"],
      "they are not expanded",
    ],
    [
      "asking for a file",
      ddoc(embedded("a", "&x;"), '<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
      [],
      "no file is opened",
    ],
    ["broken in the middle", ddoc(`${embedded("a", "YQ==")}<b></c>`), ["a"], "the first was whole"],
    ["no XML", Buffer.from("hello"), [], "nothing to list"],
    ["nothing", Buffer.alloc(0), [], "nothing to list"],
  ]),
)("a DDOC %s", async ([, [, bytes, listed]]) => {
  expect(await names(bytes, "ddoc")).toEqual(listed);
});

test("other kinds contain no documents", async () => {
  expect(await listDigidoc(asiceOf({ a: "a" }), "zip")).toEqual([]);
  expect(await listDigidoc(pdfOf(1), "pdf")).toEqual([]);
});

test.for(KINDS)("%s: damage never rejects", async ([kind, make]) => {
  const whole = make({ "a.txt": "a".repeat(100), "b.pdf": pdfOf(1) });
  await fc.assert(
    fc.asyncProperty(
      fc.nat(whole.length),
      fc.nat(whole.length),
      fc.uint8Array({ maxLength: 8 }),
      async (length, at, noise) => {
        const bytes = Buffer.from(whole.subarray(0, length));
        bytes.set(noise.subarray(0, Math.max(0, length - at)), Math.min(at, length));
        // Of an entry whose name is damaged, nobody can say that it is no document.
        expect((await listDigidoc(bytes, kind)).length).toBeLessThanOrEqual(8);
      },
    ),
    { numRuns: 200 },
  );
});
