import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import type { SourceSettings } from "../../../src/source/source.ts";
import { type RawPath, rawOfText } from "../../../src/std/raw-path.ts";

export const never: AbortSignal = new AbortController().signal;

/** A raw path of text. */
export const raw = rawOfText;

/** A directory of the test's own, gone after it; nothing below it may still be open then. */
export function scratch(parent = tmpdir()): string {
  const dir = mkdtempSync(join(parent, "scanferry-source-"));
  onTestFinished(async () => {
    // A walk that was called off closes what it has open when it comes to it.
    await vi.waitFor(() => expect(openBelow(dir), "left open").toEqual([]), { timeout: 60_000 });
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** What this process has open at or below `dir`; other tests' threads open files of their own meanwhile. */
export function openBelow(dir: string): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path === dir || path.startsWith(`${dir}/`) ? [path] : [];
    } catch {
      // Closed between the list and the look.
      return [];
    }
  });
}

/** Settings of a mirror of `source` that takes everything. */
export function settingsOf(source: string, more: Partial<SourceSettings> = {}): SourceSettings {
  return {
    source,
    include: ["**/*"],
    exclude: [],
    without: [],
    device: null,
    network: false,
    ...more,
  };
}

/** Writes a file and the directories on the way; returns its path. */
export function put(root: string, path: string, content: string | Buffer = path): string {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, content);
  return full;
}

/** The absolute path of a raw one, as bytes. */
export function bytesAt(root: string, path: RawPath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
}

export function fifo(path: string): void {
  execFileSync("mkfifo", [path]);
}
