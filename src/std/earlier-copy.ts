/**
 * Copies of a database as it was before its tables were changed, next to it: the way back to the
 * program that wrote it. Knows files only; anyone who calls knows the database.
 */
import { readdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beginDraft, dropDraft, publishDraft } from "./draft-database.ts";

/** What is copied, and how. */
export type EarlierCopy = {
  /** Of the database. */
  readonly path: string;
  /** Of its tables, before they are changed. */
  readonly version: number;
  /** Of the copy, at most. */
  readonly bytes: number;
  /** Fills the file, which is there, empty and its owner's alone. */
  readonly write: (draft: string) => void;
};

/** How many copies stay; each is as large as the database was. */
const KEPT = 2;
/** Room that is left free next to copy and changes. */
const SPARE_BYTES = 8 * 1024 * 1024;

/** Where the copy of a database with this version of its tables lies. */
function earlierCopyPath(path: string, version: number): string {
  return `${path}.schema-${version}`;
}

/**
 * Writes the copy, durably, and lets go of all but the latest ones. Returns its path. Throws an error
 * with the code ENOSPC, before anything is written, where there is no room for the copy and for
 * changing the tables, which may rewrite them whole.
 */
export function keepEarlierCopy({ path, version, bytes, write }: EarlierCopy): string {
  assertRoom(dirname(path), 2 * bytes + SPARE_BYTES);
  const copy = earlierCopyPath(path, version);
  const draft = `${copy}.partial`;
  try {
    beginDraft(draft);
    write(draft);
    publishDraft(draft, copy);
  } catch (error) {
    dropDraft(draft);
    throw error;
  }
  letGo(path, copy);
  return copy;
}

function assertRoom(directory: string, needed: number): void {
  const { blocks, bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  // A file system without a bound says that it has no blocks.
  if (blocks === 0 || free >= needed) return;
  const mega = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
  const message = `${mega(needed)} of room needed to copy it before its tables are changed, ${mega(free)} free`;
  throw Object.assign(new Error(message), { code: "ENOSPC" });
}

/** Of the others the latest stay; of which version they are says nothing once an old one was restored. */
function letGo(path: string, made: string): void {
  const directory = dirname(path);
  const prefix = `${basename(path)}.schema-`;
  const others = readdirSync(directory)
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => join(directory, name))
    .filter((other) => other !== made)
    .map((other) => ({ other, at: statSync(other).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { other } of others.slice(KEPT - 1)) rmSync(other);
}
