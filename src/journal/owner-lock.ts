/** One daemon per journal. The journal itself stays open to readers and to the command line. */
import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { basename } from "node:path";
import Database from "better-sqlite3";
import type { Fault } from "../std/fault.ts";
import { isBusy, takeLock } from "../sqlite/owner-lock.ts";
import { MARK_UNCLEAN } from "./cluster.ts";
import { asFault, fullToReadFault, journalFault } from "./journal-fault.ts";

/** Who owns a journal. */
export type Owner = {
  readonly pid: number;
  /** Address of its page, where it has one. */
  readonly web?: string;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly version: string;
};

/** A probe holds the lock for an instant; an owner waits that long. */
const PATIENCE_MS = 1000;

/** The lock file of the journal at `path`. */
export function lockPathOf(path: string): string {
  return `${path}.lock`;
}

/**
 * Takes the lock; it lasts until the returned connection is closed or the process ends.
 * Throws `JOURNAL_LOCKED` when another process has it for longer than `patienceMs`.
 */
export function takeOwnerLock(path: string, patienceMs = PATIENCE_MS): Database.Database {
  const lockPath = lockPathOf(path);
  try {
    if (!existsSync(lockPath)) closeSync(openSync(lockPath, "a", 0o600));
    return takeLock(lockPath, patienceMs);
  } catch (error) {
    if (!isBusy(error)) throw asFault(error, path);
    const owner = ownerRow(path);
    const who = owner ? `process ${owner.pid}` : "another process";
    throw journalFault("JOURNAL_LOCKED", path, `in use by ${who}`, { cause: error });
  }
}

/**
 * Takes the lock where nobody has it, to be given back at once; undefined where it cannot be taken. Makes
 * no lock file: one that belongs to a guest would keep the daemon out, and without one nobody crashed here.
 */
export function freeLock(path: string): Database.Database | undefined {
  const lockPath = lockPathOf(path);
  if (!existsSync(lockPath)) return undefined;
  try {
    return takeLock(lockPath, 0);
  } catch {
    // In use, or not this user's: then it is left to the next owner to conclude anything.
    return undefined;
  }
}

/**
 * The daemon that owns the journal now; undefined when there is none. While a daemon is still
 * opening its journal it is not announced yet: the answer is then undefined or, after a crash, its
 * predecessor.
 */
export async function ownerOf(path: string): Promise<Owner | undefined> {
  return isLocked(path) ? ownerRow(path) : undefined;
}

/** Whether any process holds the owner lock; throws a `Fault` where that cannot be told. */
export function isLocked(path: string): boolean {
  const lockPath = lockPathOf(path);
  if (!existsSync(lockPath)) return false;
  let lock: Database.Database | undefined;
  try {
    lock = new Database(lockPath, { readonly: true, fileMustExist: true, timeout: 0 });
    lock.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw asFault(error, path);
  } finally {
    lock?.close();
  }
}

function ownerRow(path: string): Owner | undefined {
  if (fullToReadFault(path)) return undefined;
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true });
    return readOwner(db);
  } catch {
    // Only a name for a message: opening the journal reports whatever is wrong with it.
    return undefined;
  } finally {
    db?.close();
  }
}

/** The inodes of the files that keep a journal its owner's; others may be there in their place by now. */
export function ownedFiles(path: string): ReadonlyMap<string, number> {
  return new Map([path, lockPathOf(path)].map((file) => [file, statSync(file).ino]));
}

/** Why the journal is its owner's no more: one of these files is gone, or another. Undefined: it is. */
export function lostFault(path: string, owned: ReadonlyMap<string, number>): Fault | undefined {
  const isThere = ([file, inode]: [string, number]) => {
    try {
      return statSync(file, { throwIfNoEntry: false })?.ino === inode;
    } catch {
      // A right was taken away, or the disk fails: the next write tells.
      return true;
    }
  };
  const lost = [...owned].find((each) => !isThere(each));
  if (!lost) return undefined;
  const what = `${basename(lost[0])} was moved, removed or replaced while it was in use`;
  const hint =
    "Stop scanferry before you do anything with its journal, and never remove its lock file; then start it again.";
  return journalFault("JOURNAL_BROKEN", path, what, { hint });
}

type OwnerColumns = { pid: number; web: string | null; startedAt: number; version: string };

/** The owner's row; one that is there without a running owner was left by a crash. */
export function readOwner(db: Database.Database): Owner | undefined {
  const row = db
    .prepare<[], OwnerColumns>("SELECT pid, web, started_at AS startedAt, version FROM owner")
    .get();
  if (!row) return undefined;
  const { web, ...rest } = row;
  return web === null ? rest : { ...rest, web };
}

/** Tells others who owns the journal; undefined takes it back. */
export function writeOwner(db: Database.Database, owner: Owner | undefined): void {
  db.transaction(() => {
    db.exec("DELETE FROM owner");
    if (!owner) return;
    const { pid, web, startedAt, version } = owner;
    db.prepare("INSERT INTO owner (id, pid, web, started_at, version) VALUES (1, ?, ?, ?, ?)").run(
      pid,
      web ?? null,
      startedAt,
      version,
    );
  }).immediate();
}

/**
 * The file says that it was in use. With its log, it was until a crash. Without, it is a copy, or its
 * log was lost: the archive knows more than it does, as before a first run.
 */
export function settleOwner(db: Database.Database, hadLog: boolean): void {
  if (!hadLog) db.exec("UPDATE mirrors SET first_run_over_at = NULL");
  db.exec(MARK_UNCLEAN);
  writeOwner(db, undefined);
}
