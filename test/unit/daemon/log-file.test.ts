/** A log file of its own: rotated, bounded, no line lost, and never the end of the daemon. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LogFile } from "../../../src/daemon/log-file.ts";

function aPlace(): string {
  const dir = mkdtempSync(join(tmpdir(), "scanferry-log-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function aLog(path: string, set: { sizeBytesMax?: number; olderMax?: number } = {}) {
  const elsewhere: string[] = [];
  const settings = { path, sizeBytesMax: 100, olderMax: 3, ...set };
  const log = new LogFile(settings, (line) => void elsewhere.push(line));
  onTestFinished(() => log.close());
  return { log, elsewhere };
}

const line = (n: number) => `line ${String(n).padStart(4, "0")}\n`;
const linesOf = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");

test("it begins anew before it grows too large; the oldest go, in order", () => {
  const path = join(aPlace(), "logs", "s.log");
  const { log, elsewhere } = aLog(path);
  for (let n = 0; n < 75; n++) log.write(line(n));
  expect(readdirSync(join(path, "..")).toSorted()).toEqual([
    "s.log",
    "s.log.1",
    "s.log.2",
    "s.log.3",
  ]);
  for (const each of ["", ".1", ".2", ".3"])
    expect(statSync(path + each).size).toBeLessThanOrEqual(100);
  const all = [".3", ".2", ".1", ""].map((each) => linesOf(path + each)).join("");
  expect(all).toBe(Array.from({ length: 35 }, (_, n) => line(40 + n)).join(""));
  expect(elsewhere).toEqual([]);
});

test("no line is lost while there is room for all of them, over restarts too", () => {
  const path = join(aPlace(), "s.log");
  for (let run = 0; run < 5; run++) {
    const { log } = aLog(path, { olderMax: 50 });
    for (let n = 0; n < 33; n++) log.write(line(run * 33 + n));
    log.close();
  }
  const files = Array.from({ length: 51 }, (_, n) => (n === 50 ? path : `${path}.${50 - n}`));
  expect(files.map(linesOf).join("")).toBe(Array.from({ length: 165 }, (_, n) => line(n)).join(""));
});

test("a line that is longer than a whole file has one of its own", () => {
  const path = join(aPlace(), "s.log");
  const { log } = aLog(path);
  const long = `${"x".repeat(500)}\n`;
  for (const each of [line(1), long, line(2)]) log.write(each);
  expect([".2", ".1", ""].map((age) => linesOf(path + age))).toEqual([line(1), long, line(2)]);
});

test("with no older ones kept there is one file", () => {
  const path = join(aPlace(), "s.log");
  const { log } = aLog(path, { olderMax: 0 });
  for (let n = 0; n < 25; n++) log.write(line(n));
  expect(readdirSync(join(path, ".."))).toEqual(["s.log"]);
  expect(linesOf(path)).toBe(Array.from({ length: 5 }, (_, n) => line(20 + n)).join(""));
});

test("on a full disk lines go to the output, and none ends the daemon", () => {
  const path = join(aPlace(), "s.log");
  // Every write to it ends with ENOSPC.
  symlinkSync("/dev/full", path);
  const { log, elsewhere } = aLog(path);
  for (let n = 0; n < 3; n++) log.write(line(n));
  expect(elsewhere).toEqual([line(0), line(1), line(2)]);
});

test("a place that cannot be written to is tried again with every line", () => {
  const dir = aPlace();
  const path = join(dir, "s.log");
  mkdirSync(path);
  const { log, elsewhere } = aLog(path);
  log.write(line(1));
  rmSync(path, { recursive: true });
  log.write(line(2));
  expect(elsewhere).toEqual([line(1)]);
  expect(linesOf(path)).toBe(line(2));
});

test("where nothing can be renamed the file grows on, and no line is lost", () => {
  const path = join(aPlace(), "s.log");
  // A folder in the way of the oldest one.
  mkdirSync(join(`${path}.1`, "in the way"), { recursive: true });
  const { log, elsewhere } = aLog(path, { olderMax: 1 });
  for (let n = 0; n < 30; n++) log.write(line(n));
  expect(linesOf(path)).toBe(Array.from({ length: 30 }, (_, n) => line(n)).join(""));
  expect(elsewhere).toEqual([]);
});
