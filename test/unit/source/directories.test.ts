/** Files of one directory are looked at in a row: through one descriptor, for one turn of the event loop. */
import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { DirectoriesOfTurn } from "../../../src/source/directories.ts";
import { FileGone } from "../../../src/source/file-fault.ts";
import { statWithCompanion } from "../../../src/source/open-inside.ts";
import type { RawPath } from "../../../src/std/raw-path.ts";
import { bytesAt, openBelow, put, raw, scratch } from "./scratch.ts";

const SUFFIXES = [".aria2", ".part"];

function aDirectory(files: readonly string[]) {
  const dir = scratch();
  for (const file of files) put(dir, file);
  const directories = new DirectoriesOfTurn();
  const look = (path: RawPath) => statWithCompanion(dir, path, SUFFIXES, directories);
  return { dir, directories, look };
}

test("a directory is open from the first look at its files to the end of the turn", async () => {
  const { dir, look } = aDirectory(["in/deep/a.pdf", "in/deep/b.pdf", "c.pdf"]);
  for (const path of ["in/deep/a.pdf", "in/deep/b.pdf"]) look(raw(path));
  expect(openBelow(dir)).toEqual([`${dir}/in/deep`]);
  look(raw("c.pdf"));
  expect(openBelow(dir).sort()).toEqual([dir, `${dir}/in/deep`]);
  await nextTurn();
  expect(openBelow(dir)).toEqual([]);
});

test("one that was swapped for a link leads nowhere from the next turn on", async () => {
  const { dir, look, directories } = aDirectory(["outside/scan.pdf", "source/in/scan.pdf"]);
  const path = raw("source/in/scan.pdf");
  expect(look(path)).toBeDefined();
  renameSync(`${dir}/source/in`, `${dir}/source/was`);
  symlinkSync("../outside", `${dir}/source/in`);
  await nextTurn();
  expect(look(path)).toBeUndefined();
  expect(() => directories.use(dir, path, () => {})).toThrow(FileGone);
});

test.for([
  ["x.pdf", "x.pdf.part", "asked for"],
  ["\xe9\xff.pdf", "\xe9\xff.pdf.aria2", "not UTF-8"],
] as const)("next to %s, %s is found at each look: %s", async ([name, companion]) => {
  const { dir, look } = aDirectory(["1.pdf", "2.pdf", "3.pdf"]);
  for (const each of [name, companion]) writeFileSync(bytesAt(dir, each as RawPath), "");
  for (const other of ["1.pdf", "2.pdf", "3.pdf"]) {
    expect(look(raw(other))?.companion).toBeUndefined();
    expect(look(name as RawPath)?.companion).toBe(companion);
  }
  await nextTurn();
});

test("what comes next to a file is found from the next turn on", async () => {
  const { dir, look } = aDirectory(["a.pdf", "b.pdf", "c.pdf"]);
  for (const path of ["a.pdf", "b.pdf"]) look(raw(path));
  put(dir, "c.pdf.part");
  await nextTurn();
  for (const path of ["a.pdf", "b.pdf"]) expect(look(raw(path))?.companion).toBeUndefined();
  expect(look(raw("c.pdf"))?.companion).toBe("c.pdf.part");
  await nextTurn();
});

test("few of many directories are open at a time", async () => {
  const files = Array.from({ length: 40 }, (_, index) => `${index}/a.pdf`);
  const { dir, look } = aDirectory(files);
  for (const path of [...files, ...files]) {
    expect(look(raw(path))).toBeDefined();
    expect(openBelow(dir).length).toBeLessThanOrEqual(16);
  }
  await nextTurn();
});

test("in a directory of more than two thousand files each is asked for", async () => {
  const files = Array.from({ length: 2_001 }, (_, index) => `${index}.pdf`);
  const { dir, look } = aDirectory(files);
  for (let turn = 0; turn < 2; turn++) {
    for (const path of files.slice(0, 5)) expect(look(raw(path))?.companion).toBeUndefined();
    // A listing would have been made before.
    put(dir, `${turn}.pdf.part`);
    expect(look(raw(`${turn}.pdf`))?.companion).toBe(`${turn}.pdf.part`);
    renameSync(`${dir}/${turn}.pdf.part`, `${dir}/${turn}.was`);
    await nextTurn();
  }
});
