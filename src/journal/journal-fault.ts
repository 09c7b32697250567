import { codeOf, Fault, messageOf } from "../std/fault.ts";

/** Codes of everything a journal can fail with. Stable; docs and exit messages read them. */
export const JOURNAL_HINTS = {
  JOURNAL_LOCKED: "Stop the other scanferry, or give this one a `journal` of its own.",
  JOURNAL_NEWER:
    "Install the scanferry that wrote the journal, or a later one; the way back: docs/operations.md, Upgrade.",
  JOURNAL_OLDER:
    "Start `scanferry run` or `scanferry sync` once: it brings the journal up to date.",
  JOURNAL_FOREIGN: "Check `journal` in the configuration: this database belongs to something else.",
  JOURNAL_MISSING: "Check `journal` in the configuration; `scanferry run` makes the journal.",
  JOURNAL_CORRUPT:
    "Take back a copy with `scanferry restore`; without one, move it aside, with its -wal and -shm, and `scanferry adopt` rebuilds it from the archive.",
  JOURNAL_ON_NETWORK: "Put `journal` on a local disk of this host.",
  JOURNAL_UNWRITABLE: "Give the daemon's user the right to write the journal's directory.",
  JOURNAL_UNREADABLE: "Run the command as the daemon's user.",
  JOURNAL_READ_ONLY:
    "Mount the journal's disk writable and give the daemon's user the right to it.",
  JOURNAL_FULL: "Free space on the journal's disk; nothing is sent until then.",
  JOURNAL_BUSY: "End the program that keeps the journal locked, e.g. a database shell.",
  JOURNAL_BROKEN: "Check the disk and the kernel's log, then start scanferry again.",
  JOURNAL_UNREACHABLE:
    "Start PostgreSQL, or mend the way to it; until then nothing is sent and nothing is lost.",
  JOURNAL_REFUSED:
    "Check user, password, database and rights of `journal`; the server's own log says more.",
  JOURNAL_UNFIT: "Keep the journal in a PostgreSQL of version 14 or later, in UTF-8.",
  JOURNAL_ELSEWHERE: "Use PostgreSQL's own tools for the schema: pg_dump and pg_restore.",
  JOURNAL_UNFINISHED:
    "Give the same `scanferry journal copy` again: it goes on where it was; or remove this half, and copy anew.",
  JOURNAL_OCCUPIED: "Copy to where there is no journal yet: another file, or another schema.",
  JOURNAL_DIFFERS:
    "Remove the copy (the file with its -wal and -shm, or the schema) and copy anew, while nothing else works on either journal.",
  JOURNAL_CLOSED: "Nothing to do: scanferry was stopping.",
  LEASE_LOST:
    "Nothing to do: the daemon begins anew as another member. Where it comes often, look at the way to the database, the host's load and its clock.",
} as const satisfies Record<`JOURNAL_${string}` | "LEASE_LOST", string>;

/** What opening, reading and writing a journal may fail with; docs/errors.md is written from the table. */
export type JournalCode = keyof typeof JOURNAL_HINTS;

/** The fault of this code, with its hint. `what` says what happened; the journal's path is added. */
export function journalFault(
  code: JournalCode,
  path: string,
  what: string,
  options?: ErrorOptions,
): Fault {
  return new Fault(code, `journal ${path}: ${what}`, JOURNAL_HINTS[code], options);
}

/** A journal that `scanferry journal copy` is not done with: only a part of what was sent stands in it. */
export function unfinishedFault(shown: string): Fault {
  return journalFault("JOURNAL_UNFINISHED", shown, "only a part of it was copied yet");
}

/** What every write of a daemon rejects with that others believe gone. */
export function leaseLost(shown: string): Fault {
  return journalFault("LEASE_LOST", shown, "this daemon's lease ended, and another one saw it");
}

/** First match wins; SQLite's extended codes begin with the basic one. */
const CODES: readonly [prefix: string, code: JournalCode][] = [
  ["SQLITE_FULL", "JOURNAL_FULL"],
  ["SQLITE_BUSY", "JOURNAL_BUSY"],
  ["SQLITE_LOCKED", "JOURNAL_BUSY"],
  ["SQLITE_CORRUPT", "JOURNAL_CORRUPT"],
  ["SQLITE_NOTADB", "JOURNAL_CORRUPT"],
  ["SQLITE_READONLY", "JOURNAL_READ_ONLY"],
  ["SQLITE_CANTOPEN", "JOURNAL_UNWRITABLE"],
  ["SQLITE_PERM", "JOURNAL_UNWRITABLE"],
  ["SQLITE_IOERR", "JOURNAL_BROKEN"],
  ["SQLITE_NOMEM", "JOURNAL_BROKEN"],
  ["SQLITE_PROTOCOL", "JOURNAL_BROKEN"],
  ["SQLITE_NOLFS", "JOURNAL_BROKEN"],
  ["ENOSPC", "JOURNAL_FULL"],
  ["EDQUOT", "JOURNAL_FULL"],
  ["EROFS", "JOURNAL_READ_ONLY"],
  ["EIO", "JOURNAL_BROKEN"],
  ["EACCES", "JOURNAL_UNWRITABLE"],
  ["EPERM", "JOURNAL_UNWRITABLE"],
  ["ENOTDIR", "JOURNAL_UNWRITABLE"],
  ["EISDIR", "JOURNAL_UNWRITABLE"],
  ["ENOENT", "JOURNAL_UNWRITABLE"],
];

/** What the disk or the database engine refused; undefined when `error` is something else (a bug). */
export function storageFault(error: unknown, path: string): Fault | undefined {
  const code = codeOf(error);
  const found = CODES.find(([prefix]) => code?.startsWith(prefix));
  if (!found) return undefined;
  return journalFault(found[1], path, `${messageOf(error)} (${code})`, { cause: error });
}

/** `error` as a fault where storage refused something, else as it is. */
export function asFault(error: unknown, path: string): unknown {
  return storageFault(error, path) ?? error;
}
