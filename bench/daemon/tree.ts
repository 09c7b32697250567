/** Trees of files that no two of which are the same, made once a run. */
import { execFileSync } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { closeSync, futimesSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "./bench.ts";

export type TreeSpec = {
  readonly files: number;
  readonly bytes: number;
  readonly directories: number;
};

/** Chunks of large files; only the beginning of each differs. */
const CHUNK_BYTES = 1024 * 1024;
const DIFFERENT_BYTES = 4_096;
/** Directories of one directory. */
const A_LEVEL = 100;
/** Long finished: 2001. */
const MODIFIED_S = 1_000_000_000;

const made = new Map<string, string>();

/** The tree's root: `dNNN/scan-I.bin` or `tNNN/dNNN/scan-I.bin`, spread evenly. */
export function treeOf(bench: Bench, spec: TreeSpec): string {
  const { files, bytes, directories } = spec;
  const name = `${files}x${bytes}in${directories}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  bench.say(`(making ${files} files of ${bytes} bytes)`);
  const root = bench.place("trees", name);
  for (let index = 0; index < Math.min(files, directories); index++) {
    mkdirSync(join(root, directoryOf(index, directories)), { recursive: true });
  }
  const chunk = randomFillSync(Buffer.alloc(Math.min(bytes, CHUNK_BYTES)));
  for (let index = 0; index < files; index++) {
    writeFile(join(root, pathOf(index, directories)), index, bytes, chunk);
  }
  // Else anyone who syncs first, which is the journal, waits for all of it.
  execFileSync("sync", ["-f", root]);
  made.set(name, root);
  return root;
}

/** The file's path in its tree. */
export function pathOf(index: number, directories: number): string {
  return `${directoryOf(index, directories)}/scan-${index}.bin`;
}

/** As the sink names its folders. More than a hundred of them are on two levels. */
export function directoryOf(index: number, directories: number): string {
  const at = index % directories;
  const name = `d${String(at % A_LEVEL).padStart(3, "0")}`;
  return directories <= A_LEVEL
    ? name
    : `t${String(Math.floor(at / A_LEVEL)).padStart(3, "0")}/${name}`;
}

function writeFile(path: string, index: number, bytes: number, chunk: Buffer): void {
  const file = openSync(path, "wx");
  try {
    for (let at = 0; at < bytes; at += chunk.length) {
      randomFillSync(chunk, 0, Math.min(chunk.length, DIFFERENT_BYTES));
      if (chunk.length >= 8) chunk.writeUInt32LE(index, 0);
      writeSync(file, chunk, 0, Math.min(chunk.length, bytes - at));
    }
    futimesSync(file, MODIFIED_S, MODIFIED_S);
  } finally {
    closeSync(file);
  }
}
