/** The file that a copy of a database is written to before it is renamed into place. */
import { closeSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { syncDirectory, syncFile } from "./durable.ts";
import { codeOf } from "./fault.ts";

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
