/** A directory with an entry that does not tell what it is; the file system has to be told to do that. */
import * as fs from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { listOne, scan } from "../../../src/source/scan.ts";
import type { Listing } from "../../../src/source/source.ts";
import type { RawPath } from "../../../src/std/raw-path.ts";
import { never, put, raw, scratch, settingsOf } from "./scratch.ts";

vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  return { ...real, lstatSync: vi.fn(real.lstatSync) };
});

const { lstatSync } = await vi.importActual<typeof fs>("node:fs");

afterEach(() => {
  vi.mocked(fs.lstatSync).mockImplementation(lstatSync);
});

/** From here on `broken.pdf` answers so, wherever it lies. */
function breaks(code: string): void {
  vi.mocked(fs.lstatSync).mockImplementation(((path: fs.PathLike, options: object) => {
    if (!String(path).endsWith("broken.pdf")) return lstatSync(path, options);
    throw Object.assign(new Error(`${code}: broken, lstat`), { code, syscall: "lstat" });
  }) as typeof fs.lstatSync);
}

async function scanned(source: string, known: ReadonlyMap<RawPath, string> = new Map()) {
  const listings: Listing[] = [];
  const learn = (listing: Listing) => void listings.push(listing);
  const report = await scan(settingsOf(source), known, learn, never);
  return { listings, report };
}

test.for([
  ["EACCES", "FILE_UNREADABLE", "the right to look is missing"],
  ["EIO", "SOURCE_OFFLINE", "the disk may be dying: nothing at all has vanished"],
] as const)("%s of one entry: the others are listed, and it is told as %s: %s", async (row) => {
  const [error, code] = row;
  const source = scratch();
  for (const path of ["a.pdf", "b.pdf", "broken.pdf", "sub/c.pdf"]) put(source, path);
  breaks(error);
  const { listings, report } = await scanned(source);
  const names = listings.map(({ dir, files, isPartial }) => [
    dir,
    files.map(({ name }) => name),
    isPartial,
  ]);
  expect(names).toEqual([
    ["", ["a.pdf", "b.pdf"], true],
    ["sub", ["c.pdf"], undefined],
  ]);
  expect(report.vanished).toEqual([]);
  expect(report.unreadable).toMatchObject([{ path: "", problem: { code } }]);
});

test("a partial listing is told once; a whole one of the same files is another", async () => {
  const source = scratch();
  for (const path of ["a.pdf", "broken.pdf"]) put(source, path);
  breaks("EACCES");
  const first = await scanned(source);
  const known = new Map(first.listings.map(({ dir, fingerprint }) => [dir, fingerprint]));
  expect((await scanned(source, known)).listings).toEqual([]);
  fs.unlinkSync(`${source}/broken.pdf`);
  const [whole] = (await scanned(source, known)).listings;
  expect(whole).toMatchObject({ dir: "", files: [{ name: "a.pdf" }] });
  expect(whole?.isPartial).toBeUndefined();
});

test("what lies below and is not visited has not vanished either", async () => {
  const source = scratch();
  for (const path of ["deep/a.pdf", "deep/broken.pdf"]) put(source, path);
  breaks("EACCES");
  const known = new Map([
    [raw("deep/broken.pdf"), "a directory before"],
    [raw("gone"), "another"],
  ]);
  expect((await scanned(source, known)).report.vanished).toEqual(["gone"]);
});

test("a single directory is not listed in part: the scan that is asked for then tells why", () => {
  const source = scratch();
  for (const path of ["deep/a.pdf", "deep/broken.pdf"]) put(source, path);
  breaks("EACCES");
  expect(() => listOne(settingsOf(source), raw("deep"))).toThrow("deep/broken.pdf");
});
