import { createHash } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { expect, test } from "vitest";
import type { Seen } from "../../../src/domain/document.ts";
import { inspect } from "../../../src/source/inspect.ts";
import { lookInside } from "../../../src/source/open-inside.ts";
import { sourceStatus } from "../../../src/source/source-status.ts";
import type { RawPath } from "../../../src/std/raw-path.ts";
import { pdfByPages, tiffByPages } from "../../fixtures/feeder.ts";
import { bytesAt, fifo, never, openBelow, put, raw, scratch, settingsOf } from "./scratch.ts";

const LARGE = 20 << 20;
const noPages = { pages: false };
const pdf = (body: string) => `%PDF-1.4\n${body}\nstartxref\n9\n%%EOF\n`;

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

function seenAt(source: string, path: RawPath): Seen {
  const seen = lookInside(source, path);
  if (!seen) throw new Error(`${path} is gone`);
  return seen;
}

test.for([
  ["empty", Buffer.alloc(0), "nothing to read"],
  ["small", Buffer.from("content"), "one read"],
  ["large", Buffer.alloc(LARGE + 17, "abc"), "many chunks, the last one short"],
] as const)("an %s file is whole, with its digest: %s", async ([name, content]) => {
  const dir = scratch();
  put(dir, `in/${name}.bin`, content);
  const path = raw(`in/${name}.bin`);
  const expected = seenAt(dir, path);
  expect(await inspect(settingsOf(dir), path, expected, noPages, never)).toMatchObject({
    kind: "whole",
    digest: sha256(content),
    seen: expected,
  });
});

const [ONE, TWO, THREE] = tiffByPages(3) as [Buffer, Buffer, Buffer];
const [PAGE, PAGES] = pdfByPages(2) as [Buffer, Buffer];
const edited = (content: Buffer) => {
  const other = Buffer.from(content);
  other[20] = (other[20] ?? 0) ^ 1;
  return other;
};

test.for([
  [Buffer.from("one\n"), Buffer.from("one\ntwo\n"), [undefined, 1], "lines of a text"],
  [PAGE, PAGES, [1, 2], "an update of a PDF"],
  [ONE, TWO, [1, 2], "a page of a TIFF, to which the one before points"],
  [ONE, THREE, [1, 3], "two of them"],
  [TWO, THREE, [2, 3], "behind the second"],
  [
    Buffer.alloc(9 << 20, "a"),
    Buffer.alloc(20 << 20, "a"),
    [undefined, 6991],
    "more than is read in one go",
  ],
  [ONE, edited(TWO), undefined, "a TIFF that was also edited"],
  [PAGE, edited(PAGES), undefined, "a PDF that was also edited"],
] as const)(
  "# %#: what was sent is its beginning, with pages: %3$j, %4$s",
  async ([was, is, pages]) => {
    const dir = scratch();
    put(dir, "scan", is);
    const options = { pages: false, sentBytes: was.length };
    const found = await inspect(settingsOf(dir), raw("scan"), undefined, options, never);
    if (found.kind !== "whole") throw new Error(found.kind);
    expect(found.digest).toBe(sha256(is));
    expect(found.beginning?.digest === sha256(was)).toBe(pages !== undefined);
    if (pages) expect([found.beginning?.pages, found.pages]).toEqual(pages);
  },
);

test("what is unfinished by its own format is told, and pages are counted where asked", async () => {
  const dir = scratch();
  put(dir, "torn.pdf", "%PDF-1.4\n1 0 obj");
  put(dir, "note.txt", "one page");
  const look = (name: string, pages: boolean) =>
    inspect(settingsOf(dir), raw(name), undefined, { pages }, never);
  expect(await look("torn.pdf", true)).toMatchObject({
    kind: "whole",
    completeness: "unfinished",
    why: "its end mark %%EOF is missing",
  });
  expect(await look("note.txt", true)).toMatchObject({ kind: "whole", pages: 1 });
  expect(await look("note.txt", false)).not.toHaveProperty("pages");
});

test.for([
  ["small.bin", 3],
  ["large.bin", LARGE + 17],
] as const)("%s of zeros only is unfinished", async ([name, bytes]) => {
  const dir = scratch();
  put(dir, name, Buffer.alloc(bytes));
  expect(await inspect(settingsOf(dir), raw(name), undefined, noPages, never)).toMatchObject({
    completeness: "unfinished",
    why: "it begins with zeros: space set aside, but not written yet",
  });
});

test("a name that is not UTF-8 is read like any other", async () => {
  const dir = scratch();
  writeFileSync(bytesAt(dir, "\xff\xfe.pdf" as RawPath), pdf("x"));
  const found = await inspect(
    settingsOf(dir),
    "\xff\xfe.pdf" as RawPath,
    undefined,
    noPages,
    never,
  );
  expect(found).toMatchObject({ kind: "whole", digest: sha256(pdf("x")) });
});

test("a file that is not as it was seen has changed, and what it is now is told", async () => {
  const dir = scratch();
  const file = put(dir, "scan.pdf", "one");
  const path = raw("scan.pdf");
  const before = seenAt(dir, path);
  appendFileSync(file, "two");
  const now = seenAt(dir, path);
  const found = await inspect(settingsOf(dir), path, before, noPages, never);
  expect(found).toEqual({ kind: "changed", seen: now });
});

test.for([
  ["grows", (file: string) => appendFileSync(file, "more"), "changed"],
  ["is cut", (file: string) => truncateSync(file, 5 << 20), "changed"],
  [
    "is rewritten in place",
    (file: string) => writeFileSync(file, "new", { flag: "r+" }),
    "changed",
  ],
  [
    "is replaced at once",
    (file: string) => {
      writeFileSync(`${file}.new`, Buffer.alloc(LARGE));
      renameSync(`${file}.new`, file);
    },
    "changed",
  ],
  ["is removed", (file: string) => rmSync(file), "gone"],
  [
    "becomes a link",
    (file: string) => {
      renameSync(file, `${file}.was`);
      symlinkSync(`${file}.was`, file);
    },
    "gone",
  ],
] as const)("a file that %s while it is read is not whole", async ([, meddle, kind]) => {
  const dir = scratch();
  const file = put(dir, "scan.bin", Buffer.alloc(LARGE));
  // Long ago: what is written within one tick of the kernel's clock has one time stamp.
  utimesSync(file, 1_700_000_000, 1_700_000_000);
  const path = raw("scan.bin");
  // Opened and looked at before the first wait, so this comes in the middle.
  const looking = inspect(settingsOf(dir), path, seenAt(dir, path), noPages, never);
  meddle(file);
  expect((await looking).kind).toBe(kind);
  expect(openBelow(dir)).toEqual([]);
});

test("a file that vanished between listing and opening is gone", async () => {
  const dir = scratch();
  put(dir, "a/scan.pdf");
  const path = raw("a/scan.pdf");
  const seen = seenAt(dir, path);
  rmSync(`${dir}/a`, { recursive: true });
  expect(await inspect(settingsOf(dir), path, seen, noPages, never)).toEqual({ kind: "gone" });
});

test("a pipe in a file's place does not hang, and the file is gone", async () => {
  const dir = scratch();
  fifo(`${dir}/scan.pdf`);
  expect(await inspect(settingsOf(dir), raw("scan.pdf"), undefined, noPages, never)).toEqual({
    kind: "gone",
  });
});

test("behind an unmounted source nothing is gone, only out of sight", async () => {
  const dir = scratch();
  put(dir, "mount/scan.pdf");
  const status = sourceStatus(settingsOf(`${dir}/mount`));
  const device = status.kind === "online" ? status.device : null;
  renameSync(`${dir}/mount`, `${dir}/elsewhere`);
  mkdirSync(`${dir}/mount`);
  const settings = settingsOf(`${dir}/mount`, { device });
  const path = raw("scan.pdf");
  expect(await inspect(settings, path, undefined, noPages, never)).toMatchObject({
    kind: "unreadable",
    problem: { code: "SOURCE_OFFLINE" },
  });
});

test("a long look ends when it is told to, and closes the file", async () => {
  const dir = scratch();
  put(dir, "scan.bin", Buffer.alloc(LARGE));
  const stop = new AbortController();
  const looking = inspect(settingsOf(dir), raw("scan.bin"), undefined, noPages, stop.signal);
  stop.abort(new Error("stopping"));
  await expect(looking).rejects.toThrow("stopping");
  expect(openBelow(dir)).toEqual([]);
});
