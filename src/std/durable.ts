import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "./fault.ts";

/** What a rename or a write needs, next to itself, to survive a power cut. */

/** Has the disk hold the file's content. */
export function syncFile(path: string): void {
  sync(path, "r+");
}

/** Makes a rename in `directory` durable. */
export function syncDirectory(directory: string): void {
  sync(directory, "r");
}

function sync(path: string, flags: "r" | "r+"): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a file next to its place and renames it there: anyone who reads it sees the old one or the new one, whole, and
 * a link in its place is replaced, not followed.
 */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  // Always the same one, so that what a crash left is not left for ever.
  const draft = `${path}.partial`;
  await rm(draft, { force: true });
  {
    await using file = await open(draft, "wx", mode);
    await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  }
  await rename(draft, path);
}

/** What SQLite may leave next to a database; played into another one, it would spoil that. */
const SUFFIXES = ["", "-journal", "-wal", "-shm"];

const NO_PLACE: ReadonlySet<string> = new Set(["ENOTDIR", "ENAMETOOLONG", "ELOOP"]);

/** True for what is said of a path at which nothing can be, whatever rights a user has. */
export function isNoPlace(error: unknown): boolean {
  return NO_PLACE.has(codeOf(error) ?? "");
}

/** Makes it, empty and its owner's alone, in place of what a crash left. */
export function beginDraft(draft: string): void {
  dropDraft(draft);
  closeSync(openSync(draft, "wx", 0o600));
}

/** Removes it with what SQLite left next to it; does nothing where there is none, or can be none. */
export function dropDraft(draft: string): void {
  for (const suffix of SUFFIXES) {
    try {
      rmSync(draft + suffix, { force: true });
    } catch (error) {
      if (!isNoPlace(error)) throw error;
    }
  }
}

/** Puts it at `path`, durably: what was there is replaced at once or not at all. */
export function publishDraft(draft: string, path: string): void {
  syncFile(draft);
  renameSync(draft, path);
  syncDirectory(dirname(path));
}
