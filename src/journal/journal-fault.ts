import { accessSync, constants } from "node:fs";
import { basename } from "node:path";
import { isNoPlace } from "../std/durable.ts";
import { codeOf, Fault, messageOf } from "../std/fault.ts";
import { exhaustionNow } from "../std/open-files.ts";
import { hasNoInodes, isReadOnly, readingNeedsRoom, ROOM_BYTES_MIN, roomOf } from "./room.ts";

/** Codes of everything a journal can fail with. Stable; docs and exit messages read them. */
export const JOURNAL_HINTS = {
  JOURNAL_LOCKED: "Stop the other scanferry, or give this one its own `journal`.",
  JOURNAL_NEWER:
    "Install the version that wrote the journal, or a later one; to downgrade: docs/upgrade.md.",
  JOURNAL_OLDER:
    "Start `scanferry run` or `scanferry sync` once: it brings the journal up to date.",
  JOURNAL_FOREIGN:
    "Check `journal` in the configuration: this database belongs to another program.",
  JOURNAL_MISSING: "Check `journal` in the configuration; `scanferry run` makes the journal.",
  JOURNAL_CORRUPT:
    "Restore a backup with `scanferry restore`. Without one, move the journal (with its -wal and -shm) " +
    "to another folder, and run `scanferry adopt`.",
  JOURNAL_ON_NETWORK: "Put `journal` on a local disk of this host.",
  JOURNAL_UNWRITABLE: "Give the daemon's user the right to write the journal's directory.",
  JOURNAL_UNREADABLE: "Run the command as the daemon's user.",
  JOURNAL_READ_ONLY:
    "Mount the journal's disk writable and give the daemon's user the right to it.",
  JOURNAL_FULL: "Free space on the journal's disk; nothing is sent until then.",
  JOURNAL_BUSY: "End the program that keeps the journal locked, e.g. a database shell.",
  JOURNAL_BROKEN: "Check the disk and the kernel's log, then start scanferry again.",
  JOURNAL_UNREACHABLE:
    "Start PostgreSQL, or fix the connection to it. Until then nothing is sent and nothing is lost.",
  JOURNAL_REFUSED:
    "Check user, password, database and rights of `journal`; the server's own log says more.",
  JOURNAL_UNFIT:
    "Keep the journal in a PostgreSQL of version 14 or later, in UTF-8; a pooler before it needs `pool_mode = session`.",
  JOURNAL_ELSEWHERE: "Use PostgreSQL's own tools for the schema: pg_dump and pg_restore.",
  JOURNAL_UNFINISHED:
    "Run the same `scanferry journal copy` again: it continues. Or delete this copy and start again.",
  JOURNAL_OCCUPIED: "Copy to where there is no journal yet: another file, or another schema.",
  JOURNAL_DIFFERS:
    "Delete the copy (the file with its -wal and -shm, or the schema) and copy again while nothing else " +
    "uses either journal.",
  JOURNAL_CLOSED: "Nothing to do: scanferry was stopping.",
  LEASE_LOST:
    "Nothing to do: the daemon joins again. If this happens often, check the connection to the database, " +
    "the host's load and its clock.",
} as const satisfies Record<`JOURNAL_${string}` | "LEASE_LOST", string>;

/** What opening, reading and writing a journal may fail with; docs/errors.md is written from the table. */
export type JournalCode = keyof typeof JOURNAL_HINTS;

/**
 * The fault of this code, with its hint unless another one is given. `what` says what happened; the
 * journal's path is added.
 */
export function journalFault(
  code: JournalCode,
  path: string,
  what: string,
  { hint = JOURNAL_HINTS[code], ...options }: ErrorOptions & { readonly hint?: string } = {},
): Fault {
  return new Fault(code, `journal ${path}: ${what}`, hint, options);
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
  ["ENAMETOOLONG", "JOURNAL_UNWRITABLE"],
  ["ELOOP", "JOURNAL_UNWRITABLE"],
  ["EISDIR", "JOURNAL_UNWRITABLE"],
  ["ENOENT", "JOURNAL_UNWRITABLE"],
];

/** What the disk or the database engine refused; undefined when `error` is something else (a bug). */
export function storageFault(error: unknown, path: string): Fault | undefined {
  const code = codeOf(error);
  const found = CODES.find(([prefix]) => code?.startsWith(prefix));
  if (!found) return undefined;
  const isVague = VAGUE.has(found[1]);
  const exhausted = isVague ? exhaustionNow(error) : undefined;
  if (exhausted) return exhausted;
  const closed = found[1] === "JOURNAL_UNWRITABLE" ? closedFile(path) : undefined;
  if (closed !== undefined) {
    const what = `${basename(path)}${closed} cannot be read and written by this user`;
    return journalFault(found[1], path, what, { cause: error, hint: CLOSED_HINT });
  }
  if (["JOURNAL_UNWRITABLE", "JOURNAL_FULL"].includes(found[1]) && hasNoInodes(path)) {
    const what = "its disk has no inode left, so no file can be made there";
    return journalFault("JOURNAL_FULL", path, what, { cause: error, hint: NO_INODES_HINT });
  }
  const known = isVague ? causeOf(path) : undefined;
  const more = { cause: error, ...(isNoPlace(error) ? { hint: NO_PLACE_HINT } : {}) };
  return journalFault(known ?? found[1], path, `${messageOf(error)} (${code})`, more);
}

const NO_PLACE_HINT = "Set `journal` to a file in a directory of this host, with a shorter name.";

const NO_INODES_HINT =
  "Delete files on that disk: `df -i` shows how many it can have. Nothing is sent until then.";

const CLOSED_HINT =
  "Give the journal's files and directory to the daemon's user (chown), or run this as the user who has them.";

/** The file that is another user's, as after a first `sync` by root: SQLite does not name it, and its directory may be writable. */
function closedFile(path: string): string | undefined {
  return ["", "-wal", "-shm", ".lock"].find((suffix) => {
    try {
      accessSync(path + suffix, constants.R_OK | constants.W_OK);
      return false;
    } catch (error) {
      return codeOf(error) === "EACCES";
    }
  });
}

/** What SQLite answers for a disk whose problem it does not name. */
const VAGUE: ReadonlySet<JournalCode> = new Set(["JOURNAL_BROKEN", "JOURNAL_UNWRITABLE"]);

/** What the disk itself says of why it refused. */
function causeOf(path: string): JournalCode | undefined {
  if (isReadOnly(path)) return "JOURNAL_READ_ONLY";
  return fullFault(path) && "JOURNAL_FULL";
}

/** `JOURNAL_FULL` while the disk of the journal at `path` has less room than the journal needs. */
export function fullFault(path: string): Fault | undefined {
  const room = roomOf(path);
  if (room === undefined || room >= ROOM_BYTES_MIN) return undefined;
  const [left, least] = [room, ROOM_BYTES_MIN].map((bytes) => Math.floor(bytes / 1_000_000));
  return journalFault("JOURNAL_FULL", path, `${left} MB are free on its disk, it needs ${least}`);
}

/** The same for who only looks, where even that takes room. */
export function fullToReadFault(path: string): Fault | undefined {
  return readingNeedsRoom(path) ? fullFault(path) : undefined;
}

/** What may pass without anyone touching scanferry: waited for by a daemon. */
const PASSING: ReadonlySet<string> = new Set([
  "JOURNAL_FULL",
  "JOURNAL_BUSY",
  "JOURNAL_READ_ONLY",
  "JOURNAL_LOCKED",
] satisfies JournalCode[]);

/** True for a fault of the journal that a daemon waits out. */
export function isPassing(error: unknown): error is Fault {
  return error instanceof Fault && PASSING.has(error.code);
}

/** `error` as a fault where storage refused something, else as it is. */
export function asFault(error: unknown, path: string): unknown {
  return storageFault(error, path) ?? error;
}
