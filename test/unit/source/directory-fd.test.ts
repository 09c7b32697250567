/** Working in a directory: what is reached by bare names, and that the process is where it was afterwards. */
import {
  chmodSync,
  closeSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { openRoot, workingIn } from "../../../src/source/directory-fd.ts";
import { type RawPath, rawOfText } from "../../../src/std/raw-path.ts";
import { asNobody } from "./as-nobody.ts";
import { bytesAt, put, scratch } from "./scratch.ts";

const MODULE = new URL("../../../src/source/directory-fd.ts", import.meta.url).href;

function opened(dir: string): number {
  const fd = openRoot(dir);
  onTestFinished(() => closeSync(fd));
  return fd;
}

/** As the kernel has it. */
const whereWeWork = () => readlinkSync("/proc/self/cwd");

test("entries are reached by their names, whatever bytes these have", () => {
  const dir = scratch();
  const old = "\xfcbersicht.pdf" as RawPath;
  put(dir, "scan.pdf", "plain");
  put(dir, "Vertragsübersicht.pdf", "encoded");
  writeFileSync(bytesAt(dir, old), "not UTF-8");
  const names = ["scan.pdf" as RawPath, rawOfText("Vertragsübersicht.pdf"), old];
  const seen = workingIn(opened(dir), (entry) =>
    names.map((name) => readFileSync(entry(name), "utf8")),
  );
  expect(seen).toEqual(["plain", "encoded", "not UTF-8"]);
});

test("the process works where it worked before, also after an error", () => {
  const before = whereWeWork();
  const dir = scratch();
  expect(workingIn(opened(dir), whereWeWork)).toBe(realpathSync(dir));
  expect(whereWeWork()).toBe(before);
  const fails = () =>
    workingIn(opened(dir), () => {
      throw new Error("in the middle");
    });
  expect(fails).toThrow("in the middle");
  expect(whereWeWork()).toBe(before);
  expect(process.cwd()).toBe(before);
});

test("a directory that is swapped for another meanwhile is not left", () => {
  const dir = scratch();
  put(dir, "inside/scan.pdf", "inside");
  put(dir, "outside/scan.pdf", "outside");
  const fd = opened(`${dir}/inside`);
  renameSync(`${dir}/inside`, `${dir}/elsewhere`);
  renameSync(`${dir}/outside`, `${dir}/inside`);
  expect(workingIn(fd, (entry) => readFileSync(entry("scan.pdf" as RawPath), "utf8"))).toBe(
    "inside",
  );
});

test("where names may be read and nothing more, entries are asked for all the same, and refused", () => {
  const dir = scratch();
  put(dir, "names/scan.pdf");
  chmodSync(dir, 0o755);
  // Names may be read; to be searched it would have to be executable.
  chmodSync(`${dir}/names`, 0o744);
  const script = `
    import { closeSync, lstatSync, openSync, readlinkSync } from "node:fs";
    import { workingIn } from "${MODULE}";
    const before = readlinkSync("/proc/self/cwd");
    const fd = openSync(process.argv[1], "r");
    const code = workingIn(fd, (entry) => {
      try { return lstatSync(entry("scan.pdf")).size; } catch (error) { return error.code; }
    });
    console.log(code, readlinkSync("/proc/self/cwd") === before);`;
  const there = asNobody(script, `${dir}/names`);
  if (there !== undefined) expect(there).toBe("EACCES true");
});

test("in a worker, which cannot move, entries are reached through /proc", async () => {
  const dir = scratch();
  put(dir, "scan.pdf", "content");
  const code = `
    import { closeSync, readFileSync } from "node:fs";
    import { parentPort, workerData } from "node:worker_threads";
    import { openRoot, workingIn } from "${MODULE}";
    const fd = openRoot(workerData);
    const text = workingIn(fd, (entry) => readFileSync(entry("scan.pdf"), "utf8"));
    closeSync(fd);
    parentPort.postMessage(text);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
    workerData: dir,
  });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  worker.once("message", resolve).once("error", reject);
  expect(await promise).toBe("content");
});
