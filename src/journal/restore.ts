/** Puts a copy of a journal in the journal's place. */
import {
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { beginDraft, dropDraft, publishDraft } from "../std/durable.ts";
import { markAsCopy, withHint } from "./backup.ts";
import { asFault, journalFault } from "./journal-fault.ts";
import { assertReadable, prepareDirectory } from "./open-database.ts";
import { lockPathOf, takeOwnerLock } from "./owner-lock.ts";

/**
 * Replaces the journal at `path` by the copy `from`, while no daemon runs. What was there is kept;
 * returns where, or undefined when there was nothing. At no moment is there no journal, for a daemon
 * that starts then would make a new, empty one.
 *
 * The copy knows that it is one: what it lacks is asked of the archive, as on a first run. Throws a
 * `Fault` when the copy is no whole journal that this scanferry can read, or a daemon runs.
 */
export function restoreJournal(from: string, path: string): string | undefined {
  const draft = `${path}.restored`;
  prepareDirectory(path, "owner");
  const lock = takeOwnerLock(path);
  try {
    beginDraft(draft);
    copyTo(draft, resolve(from));
    markAsCopy(draft);
    giveToDaemon(path, [draft, lockPathOf(path)]);
    const aside = setAside(path);
    publishDraft(draft, path);
    return aside;
  } catch (error) {
    dropDraft(draft);
    throw asFault(error, path);
  } finally {
    lock.close();
  }
}

const ANOTHER =
  "Name a copy that `scanferry backup` made, or that an upgrade left next to the journal.";

const COPY_HINTS = {
  JOURNAL_MISSING: ANOTHER,
  JOURNAL_CORRUPT: ANOTHER,
  JOURNAL_FOREIGN: ANOTHER,
} as const;

/** The copy itself is only read: it may lie where nothing can be written. */
function copyTo(draft: string, from: string): void {
  try {
    if (statSync(from, { throwIfNoEntry: false })?.isFile() !== true)
      throw journalFault("JOURNAL_MISSING", from, "there is no such file");
    for (const suffix of ["", "-wal"]) {
      if (existsSync(from + suffix)) copyFileSync(from + suffix, draft + suffix);
    }
    assertReadable(draft, from);
  } catch (error) {
    throw withHint(error, COPY_HINTS);
  }
}

/** Under another name, with its log, which would be played into the copy; the file itself stays till then. */
function setAside(path: string): string | undefined {
  if (!existsSync(path)) {
    for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
    return undefined;
  }
  let number = 1;
  while (existsSync(`${path}.replaced-${number}`)) number += 1;
  const aside = `${path}.replaced-${number}`;
  linkSync(path, aside);
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`);
  rmSync(`${path}-shm`, { force: true });
  return aside;
}

/** Run by root, as next to a service: the daemon's user has to be able to write what it gets. */
export function giveToDaemon(path: string, files: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  for (const file of files) chownSync(file, uid, gid);
}
