/** Directories are made level by level: Node's recursive `mkdir` never returns below `/proc`, say. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeDirectory, makeDirectoryAsync } from "../../../src/std/make-directory.ts";

/** Enough of one to be written. */
const RECEIPT = JSON.stringify({ batch: "b", mirror: "m", openedAt: 0, documents: [] });
/** Says how it was refused. */
const SAYS = "catch((error) => console.log(error.code))";

const src = fileURLToPath(new URL("../../../src/", import.meta.url));

function aPlace(): string {
  const dir = mkdtempSync(join(tmpdir(), "scanferry-mkdir-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

describe.for([
  ["at once", async (path: string, mode?: number) => makeDirectory(path, mode)],
  ["without waiting for a disk", makeDirectoryAsync],
] as const)("made %s", ([, make]) => {
  test("with all above it, each with the mode; again it is no failure", async () => {
    const dir = aPlace();
    await make(join(dir, "a/b/c"), 0o700);
    await make(join(dir, "a/b/c"), 0o700);
    for (const made of ["a", "a/b", "a/b/c"])
      expect(statSync(join(dir, made)).mode & 0o777).toBe(0o700);
  });

  test("by several at the same time", async () => {
    const path = join(aPlace(), "a/b/c");
    await Promise.all(Array.from({ length: 20 }, () => make(path)));
    expect(existsSync(path)).toBe(true);
  });

  test("below a file, or where the kernel makes none, it is an error", async () => {
    const dir = aPlace();
    writeFileSync(join(dir, "file"), "");
    await expect(make(join(dir, "file/a/b"))).rejects.toMatchObject({ code: "ENOTDIR" });
    await expect(make("/proc/x/y/z")).rejects.toMatchObject({ code: "ENOENT" });
  });
});

// What spins cannot be timed out from within.
test.for([
  [
    "the log",
    "daemon/open-log.ts",
    `new it.LogFile({ path: "/proc/x/s.log" }, console.log).write("a line");`,
  ],
  [
    "receipts",
    "receipts/receipt-folder.ts",
    `await new it.ReceiptFolder({ dir: "/proc/x/r", formats: ["json"] }).write(${RECEIPT}, AbortSignal.any([])).${SAYS};`,
  ],
  ["the archive", "embedded-archive/blobs.ts", `await it.Blobs.open("/proc/x/d").${SAYS};`],
  [
    "demo",
    "cli/demo/demo-place.ts",
    `await it.DemoPlace.open("/proc/x/d", "/", async () => {}).${SAYS};`,
  ],
  ["init", "cli/init/write-setup.ts", `await it.writeSetup("/proc/x/c.yaml", {}, true).${SAYS};`],
] as const)("%s below /proc: no endless spin", ([, file, use]) => {
  const program = `const it = await import(${JSON.stringify(join(src, file))}); ${use}`;
  const words = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program];
  const { stdout, stderr, signal } = spawnSync(process.execPath, words, {
    encoding: "utf8",
    timeout: 200_000,
    killSignal: "SIGKILL",
  });
  expect({ signal, stderr }).toEqual({ signal: null, stderr: "" });
  expect(stdout.trim()).toMatch(/^(?:a line|ENOENT|[A-Z]+_UNWRITABLE)$/);
});

test("nothing makes directories with Node's recursive mkdir", () => {
  const wrong = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .filter((name) => /mkdir(?:Sync)?\([^;]*recursive/.test(readFileSync(join(src, name), "utf8")));
  expect(wrong).toEqual([]);
});
