import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Database } from "better-sqlite3";
import { asFault } from "./journal-fault.ts";
import { syncDirectory } from "./open-database.ts";

/** One MiB at a time: the event loop gets its turn in between. */
const PAGES_AT_ONCE = 256;

/**
 * Writes a whole copy of the journal to `to`, as it is when the copy is finished, readable by its
 * owner only. What was at `to` is replaced at once or not at all.
 *
 * SQLite's online backup, because `VACUUM INTO` would hold up the event loop for as long as the
 * whole copy takes. Rejects with a `Fault` that names `to`.
 */
export async function backUp(db: Database, to: string): Promise<void> {
  const draft = `${resolve(to)}.partial`;
  try {
    rmSync(draft, { force: true });
    closeSync(openSync(draft, "wx", 0o600));
    await db.backup(draft, { progress: () => PAGES_AT_ONCE });
    syncFile(draft);
    renameSync(draft, to);
    syncDirectory(dirname(resolve(to)));
  } catch (error) {
    rmSync(draft, { force: true });
    throw asFault(error, resolve(to));
  }
}

function syncFile(path: string): void {
  const descriptor = openSync(path, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
