/** What chokidar is spared. That it still notices everything is `watch.test.ts`'s. */
import { once } from "node:events";
import {
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  type WatchEventType,
  writeFileSync,
} from "node:fs";
import { readdir } from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { DirectoryWatcher } from "../../../src/source/directory-watcher.ts";
import { until } from "../../fixtures/until.ts";
import { put, scratch } from "./scratch.ts";

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  return { ...real, readdir: vi.fn(real.readdir) };
});

vi.mock("node:fs", async (original) => {
  const real = await original<typeof import("node:fs")>();
  return { ...real, lstatSync: vi.fn(real.lstatSync) };
});

function watcherOf(): DirectoryWatcher {
  const watcher = new DirectoryWatcher({ ignored: (_, stats) => stats?.isDirectory() === false });
  onTestFinished(() => watcher.close());
  return watcher;
}

test("of a listing, directories alone are looked at, and links are not followed", async () => {
  const dir = scratch();
  put(dir, "scan.pdf");
  put(dir, "sub/scan.pdf");
  mkdirSync(`${dir}/refused`);
  symlinkSync(`${dir}/sub`, `${dir}/link`);
  symlinkSync(`${dir}/nowhere`, `${dir}/dangling`);
  symlinkSync(`${dir}/scan.pdf/below`, `${dir}/through-a-file`);
  const stream = watcherOf().createScanStream(dir, {
    directoryFilter: ({ basename, stats }) =>
      stats?.isDirectory() === true && basename !== "refused",
  });
  const entries = await stream?.toArray();
  expect(entries?.map(({ path }) => path)).toEqual(["sub"]);
  expect(entries?.[0]?.stats?.isDirectory()).toBe(true);
});

test("a file system that tells no types, of an entry that is gone by then: the others are told all the same", async () => {
  const dir = scratch();
  put(dir, "scan.pdf");
  put(dir, "sub/scan.pdf");
  const gone = Object.assign(new Error("ENOENT: scan~ is gone"), { code: "ENOENT" });
  vi.mocked(readdir).mockRejectedValueOnce(gone);
  const entries = await watcherOf().createScanStream(dir)?.toArray();
  expect(entries?.map(({ path }) => path)).toEqual(["sub"]);
});

test("chokidar lists every directory so", async () => {
  const dir = scratch();
  put(dir, "a/b/scan.pdf");
  const listed = vi.spyOn(DirectoryWatcher.prototype, "createScanStream");
  onTestFinished(() => listed.mockRestore());
  const watcher = watcherOf();
  watcher.add(dir);
  await once(watcher, "ready");
  const roots = new Set(listed.mock.calls.map(([root]) => root));
  expect(roots).toEqual(new Set([dir, `${dir}/a`, `${dir}/a/b`]));
});

test("events of what is no directory are told, and go no further", async () => {
  const dir = scratch();
  mkdirSync(`${dir}/sub`);
  put(dir, "sub/gone.pdf");
  const watcher = watcherOf();
  const dropped = new Set<string>();
  const taken = new Set<string>();
  const isUnwatched = watcher.isUnwatched.bind(watcher);
  watcher.isUnwatched = (path) => {
    const isDropped = isUnwatched(path);
    (isDropped ? dropped : taken).add(path.slice(dir.length + 1));
    return isDropped;
  };
  watcher.add(dir);
  await once(watcher, "ready");
  const told = new Set<string | null>();
  watcher.on("raw", (_, name) => told.add(name));
  taken.clear();
  put(dir, "sub/scan.pdf");
  symlinkSync("nowhere", `${dir}/sub/link`);
  rmSync(`${dir}/sub/gone.pdf`);
  const appeared = once(watcher, "addDir");
  mkdirSync(`${dir}/sub/new`);
  expect(await appeared).toEqual([`${dir}/sub/new`, expect.anything()]);
  expect(told).toEqual(new Set(["scan.pdf", "link", "gone.pdf", "new"]));
  expect(dropped).toEqual(new Set(["sub/scan.pdf", "sub/link"]));
  // What is gone may have been a directory.
  expect(taken).toContain("sub/gone.pdf");
  expect(taken).toContain("sub/new");
});

test("a file that is written to is looked at once; what takes its place is looked at again", () => {
  const dir = scratch();
  put(dir, "scan.pdf");
  const watcher = watcherOf();
  /** Whether chokidar is spared the event. */
  const isSpared = (event: WatchEventType, name = "scan.pdf") => {
    watcher.emitRaw(event, name, { watchedPath: dir });
    return watcher.isUnwatched(`${dir}/${name}`);
  };
  vi.mocked(lstatSync).mockClear();
  expect((["rename", "change", "change"] as const).map((event) => isSpared(event))).toEqual([
    true,
    true,
    true,
  ]);
  expect(lstatSync).toHaveBeenCalledOnce();
  put(dir, "other.pdf");
  expect(isSpared("change", "other.pdf")).toBe(true);
  expect(lstatSync).toHaveBeenCalledTimes(2);
  rmSync(`${dir}/scan.pdf`);
  mkdirSync(`${dir}/scan.pdf`);
  expect(isSpared("rename")).toBe(false);
  expect(isSpared("change")).toBe(false);
});

test("a file in the place of a directory, and a directory in the place of a file", async () => {
  const dir = scratch();
  put(dir, "turns/scan.pdf");
  const watcher = watcherOf();
  watcher.add(dir);
  await once(watcher, "ready");
  const there = new Set<string>();
  watcher.on("addDir", (path) => there.add(path));
  for (let turn = 0; turn < 3; turn++) {
    renameSync(`${dir}/turns`, `${dir}/away`);
    writeFileSync(`${dir}/turns`, "");
    rmSync(`${dir}/turns`);
    renameSync(`${dir}/away`, `${dir}/turns`);
    mkdirSync(`${dir}/turns/${turn}`);
    // Not the next `addDir`: that may be of what was called `away` for a moment.
    await until("what is inside", () => there.has(`${dir}/turns/${turn}`));
  }
});
