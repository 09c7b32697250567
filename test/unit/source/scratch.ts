import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { SourceSettings } from "../../../src/source/source.ts";
import { type RawPath, rawOfText } from "../../../src/std/raw-path.ts";

export const never: AbortSignal = new AbortController().signal;

/** A raw path of text. */
export const raw = rawOfText;

/** A directory of the test's own, gone after it. */
export function scratch(parent = tmpdir()): string {
  const dir = mkdtempSync(join(parent, "scanferry-source-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
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
