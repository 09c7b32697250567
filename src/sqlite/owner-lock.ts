/**
 * One owner of a database, or of the directory that it is in. The lock is an exclusive transaction on a database of
 * its own: a lock of the kernel, which ends with the process however that ends, so that no stale lock can exist.
 *
 * The lock file must never be opened other than through SQLite: closing any descriptor of it would
 * drop the process's locks (POSIX).
 */
import Database from "better-sqlite3";
import { codeOf } from "../std/fault.ts";

/**
 * Takes the lock; it lasts until the returned connection is closed or the process ends. Throws an error that
 * `isBusy` knows when another process has it for longer than `patienceMs`.
 */
export function takeLock(lockPath: string, patienceMs: number): Database.Database {
  const lock = new Database(lockPath, { timeout: patienceMs });
  try {
    // Nothing is ever written to the lock file, so that it needs no rollback journal next to it.
    lock.pragma("journal_mode = MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Whether SQLite refused because of another process. */
export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith("SQLITE_BUSY") ?? false;
}
