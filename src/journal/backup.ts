import { resolve } from "node:path";
import Database from "better-sqlite3";
import { beginDraft, dropDraft, publishDraft } from "../std/durable.ts";
import { Fault } from "../std/fault.ts";
import { keepEarlierCopy } from "../sqlite/schema-steps.ts";
import { asFault, type JournalCode } from "./journal-fault.ts";
import { readOwner, writeOwner } from "./owner-lock.ts";

/** One MiB at a time: the event loop gets its turn in between. */
const PAGES_AT_ONCE = 256;

/**
 * Writes a whole copy of the journal to `to`, as it is when the copy begins, readable by its
 * owner only. What was at `to` is replaced at once or not at all.
 *
 * SQLite's online backup, because `VACUUM INTO` would hold up the event loop for as long as the
 * whole copy takes. Rejects with a `Fault` that names `to`.
 */
export async function backUp(db: Database.Database, to: string): Promise<void> {
  const draft = `${resolve(to)}.partial`;
  try {
    beginDraft(draft);
    const source = db.memory ? db : new Database(db.name, { readonly: db.readonly });
    try {
      // Of what others change meanwhile SQLite would begin the copy again, without end where a daemon is busy.
      if (source !== db) source.exec("BEGIN; SELECT 1 FROM account;");
      await source.backup(draft, { progress: () => PAGES_AT_ONCE });
    } finally {
      if (source !== db) source.close();
    }
    markAsCopy(draft);
    publishDraft(draft, resolve(to));
  } catch (error) {
    dropDraft(draft);
    throw withHint(asFault(error, resolve(to)), PLACE_HINTS);
  }
}

/** What is in the way of a copy is no problem of the journal. */
const PLACE_HINTS: Partial<Record<JournalCode, string>> = {
  JOURNAL_UNWRITABLE: "Name a place in a directory that is there and that you may write to.",
  JOURNAL_READ_ONLY: "Name a place on a disk that can be written to.",
  JOURNAL_FULL: "Free space on that disk, or name a place on another; the journal keeps working.",
};

/** The same fault with the hint for its code, where there is one. */
export function withHint(
  fault: unknown,
  hints: { readonly [code in JournalCode]?: string },
): unknown {
  if (!(fault instanceof Fault)) return fault;
  const hint = hints[fault.code as JournalCode];
  return hint === undefined ? fault : new Fault(fault.code, fault.message, hint, { cause: fault });
}

/**
 * Keeps the journal as it is, next to it, before its tables are changed; returns where. For the
 * owner, before anything else runs: the event loop stands still meanwhile.
 */
export function keepBeforeMigration(db: Database.Database, path: string, version: number): string {
  return keepEarlierCopy(db, path, version, markAsCopy);
}

/**
 * Has the copy say that it was in use, whether or not it was: opened as a journal, it then knows
 * that the archive may hold more than it does (`Session`).
 */
export function markAsCopy(draft: string): void {
  const db = new Database(draft);
  try {
    if (!readOwner(db)) writeOwner(db, { pid: process.pid, startedAt: 0, version: "copy" });
  } finally {
    db.close();
  }
}
