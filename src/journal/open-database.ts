/**
 * Opening the journal's file. Whatever is surprising about it ends here with a `Fault`; a file
 * that cannot be trusted is never written to.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { isNoPlace, syncDirectory } from "../std/durable.ts";
import { codeOf, Fault } from "../std/fault.ts";
import { makeDirectory } from "../std/make-directory.ts";
import { schemaVersionOf } from "../sqlite/schema-steps.ts";
import { keepBeforeMigration } from "./backup.ts";
import { PROGRESS_TABLE } from "./copy/copied-tables.ts";
import {
  asFault,
  fullFault,
  fullToReadFault,
  journalFault,
  unfinishedFault,
} from "./journal-fault.ts";
import { networkFileSystem, isReadOnly } from "./room.ts";
import { isLocked } from "./owner-lock.ts";
import { APPLICATION_ID, migrate, SCHEMA_VERSION } from "./schema.ts";

/** Who opens: the one daemon, a command that writes next to it, or one that only looks. */
export type Role = "owner" | "guest" | "reader";

/** How long SQLite waits for another process's lock, in ms. A daemon has more to do: it asks again later. */
const BUSY_MS: Readonly<Record<Role, number>> = { owner: 10, guest: 5000, reader: 5000 };
/** A checkpoint every 11 MiB of log: fewer rewrites of hot pages than SQLite's 4 MiB. */
const CHECKPOINT_PAGES = 2816;
/** What a checkpoint leaves of a log that once grew longer, say next to a long look at the journal. */
const LOG_BYTES_MAX = 16_000_000;
const CACHE_KIB = 32 * 1024;
/** To read a larger one whole would make `status` slow. */
const IN_MEMORY_MAX = 64_000_000;
/** The same where the disk takes nothing, and there is no other way: the journal of some million documents. */
const IN_MEMORY_READ_ONLY_MAX = 1_000_000_000;

/** Makes the journal's directory when missing; refuses a network file system. */
export function prepareDirectory(path: string, role: Role): void {
  const directory = dirname(path);
  try {
    assertPossible(path);
    if (role === "owner") makeDirectory(directory, 0o700);
    if (!existsSync(directory)) throw journalFault("JOURNAL_MISSING", path, "there is none");
    if (process.platform !== "linux") return;
    const network = networkFileSystem(statfsSync(directory).type);
    if (network) throw journalFault("JOURNAL_ON_NETWORK", path, `lies on ${network}`);
  } catch (error) {
    throw unreadable(asFault(error, path), path, role);
  }
}

/**
 * Throws where no journal can be, or none can be seen: `existsSync` says of both that there is none. Nor at a link:
 * SQLite keeps log and index next to the file itself, and a lock next to each name would let in two daemons.
 */
function assertPossible(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw noFile(path, `a symbolic link to ${readlinkSync(path)}`, "that file");
  try {
    // Of the files next to a journal the one with the longest name.
    statSync(`${path}.new-journal`);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/**
 * Makes a new, empty journal where there is none. The caller holds the owner lock. Throws JOURNAL_CORRUPT
 * where there was one, by what is left of it.
 */
export function createIfMissing(path: string): void {
  if (existsSync(path)) return;
  if (existsSync(`${path}-wal`)) {
    // SQLite would play the old log into the new file.
    throw journalFault("JOURNAL_CORRUPT", path, "the file is gone, its -wal is not");
  }
  // Renamed into place when it is whole: an empty file at `path` then always means a loss.
  const draft = `${path}.new`;
  try {
    rmSync(draft, { force: true });
    closeSync(openSync(draft, "wx", 0o600));
    const db = new Database(draft);
    try {
      // All versions at once: what is half made is thrown away, and each commit waits for the disk four times.
      db.transaction(() => migrate(db)).immediate();
    } finally {
      db.close();
    }
    renameSync(draft, path);
    syncDirectory(dirname(path));
  } catch (error) {
    throw asFault(error, path);
  }
}

/** How an opening changed the tables. */
export type Migrated = {
  /** Versions of the tables. */
  readonly from: number;
  readonly to: number;
  /** Where the journal lies as it was before. */
  readonly copy: string;
};

/** `migrated` is there when this opening changed the tables. */
export type OpenedDatabase = { readonly db: Database.Database; readonly migrated?: Migrated };

/**
 * Opens the file for `role`, checks it and brings its settings and, for the owner, tables up to
 * date. Where `isCopying`, it may hold half a copy.
 */
export function openDatabase(path: string, role: Role, isCopying = false): OpenedDatabase {
  let db: Database.Database | undefined;
  try {
    assertNotEmpty(path);
    assertRoom(path, role);
    if (role === "owner") restrict(path);
    db = connected(path, role);
    const version = checkedVersion(db, path, role);
    if (!isCopying) refuseHalf(db, path);
    let migrated: Migrated | undefined;
    if (role === "owner") {
      checkPages(db, path);
      db.pragma("journal_mode = WAL");
      migrated = bringUpToDate(db, path, version);
    }
    settle(db);
    // A first statement opens the log, whose files take the mode of the database's.
    db.prepare("SELECT paused FROM account").get();
    if (role === "owner") restrict(path);
    return migrated ? { db, migrated } : { db };
  } catch (error) {
    db?.close();
    throw unreadable(asFault(error, path), path, role);
  }
}

function connected(path: string, role: Role): Database.Database {
  const readonly = role === "reader";
  // SQLite notices it at the first write, and a log of an earlier day may be there.
  if (!readonly) accessSync(path, constants.W_OK);
  const bytes = readonly ? bytesAtRest(path) : undefined;
  if (bytes) return inMemory(bytes);
  return new Database(path, { readonly, fileMustExist: true, timeout: BUSY_MS[role] });
}

/**
 * A whole journal that nobody has open, which a reader leaves as it is: SQLite reads no file in WAL mode without making
 * others next to it. Undefined: it is in use or large, or that cannot be told.
 */
function bytesAtRest(path: string): Buffer | undefined {
  try {
    const before = restOf(path);
    if (before === undefined) return undefined;
    const bytes = readFileSync(path);
    // A process that opened it meanwhile may have written to what was being read.
    return restOf(path) === before ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Changes with each write to the file; undefined: see `bytesAtRest`. An empty log means that it is open, too. */
function restOf(path: string): string | undefined {
  const isOpen = ["-wal", "-journal"].some((suffix) => existsSync(path + suffix)) || isLocked(path);
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  const isSmall = size <= (isReadOnly(path) ? IN_MEMORY_READ_ONLY_MAX : IN_MEMORY_MAX);
  return isSmall && !isOpen ? `${ino} ${size} ${mtimeNs}` : undefined;
}

function inMemory(bytes: Buffer): Database.Database {
  // https://sqlite.org/fileformat.html: write and read version; 2 is WAL, of which a database in memory has none.
  bytes.fill(1, 18, 20);
  return new Database(bytes, { readonly: true });
}

/** Throws a `Fault` that names `shown` unless the file is a whole journal that this scanferry can read. */
export function assertReadable(path: string, shown: string): void {
  let db: Database.Database | undefined;
  try {
    assertNotEmpty(path, shown);
    db = new Database(path, { fileMustExist: true });
    checkedVersion(db, shown, "owner");
    refuseHalf(db, shown);
    checkPages(db, shown);
  } catch (error) {
    throw asFault(error, shown);
  } finally {
    db?.close();
  }
}

/** What the tables were before is kept first: an earlier scanferry cannot read them afterwards. */
function bringUpToDate(db: Database.Database, path: string, version: number): Migrated | undefined {
  if (version === SCHEMA_VERSION) return undefined;
  const copy = keepBeforeMigration(db, path, version);
  migrate(db);
  return { from: version, to: SCHEMA_VERSION, copy };
}

function settle(db: Database.Database): void {
  // NORMAL would lose acknowledged rows in a power cut.
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  db.pragma("trusted_schema = OFF");
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.pragma(`journal_size_limit = ${LOG_BYTES_MAX}`);
  db.pragma(`cache_size = -${CACHE_KIB}`);
  // The unit's /tmp may be missing or read-only.
  db.pragma("temp_store = MEMORY");
}

/** To look needs none, but for where a full disk would kill who does. */
function assertRoom(path: string, role: Role): void {
  const full = role === "reader" ? fullToReadFault(path) : fullFault(path);
  if (full) throw full;
}

function assertNotEmpty(path: string, shown = path): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw journalFault("JOURNAL_MISSING", shown, "there is none");
  if (stat.isDirectory()) throw noFile(shown, "a directory", "a file in it");
  if (!stat.isFile()) throw noFile(shown, "no regular file", "another file");
  if (stat.size === 0) throw journalFault("JOURNAL_CORRUPT", shown, "the file is empty");
}

/** Told as what it is: SQLite takes a directory for a disk that fails. */
function noFile(shown: string, what: string, instead: string): Fault {
  return journalFault("JOURNAL_FOREIGN", shown, `is ${what}`, {
    hint: `Set \`journal\` to ${instead}.`,
  });
}

function checkedVersion(db: Database.Database, path: string, role: Role): number {
  const version = schemaVersionOf(db);
  if (Number(db.pragma("application_id", { simple: true })) !== APPLICATION_ID) {
    throw journalFault("JOURNAL_FOREIGN", path, "a database, but not a scanferry journal");
  }
  const versions = `schema ${version}, this scanferry writes ${SCHEMA_VERSION}`;
  if (version > SCHEMA_VERSION) throw journalFault("JOURNAL_NEWER", path, versions);
  if (version < SCHEMA_VERSION && role !== "owner") {
    throw journalFault("JOURNAL_OLDER", path, versions);
  }
  return version;
}

/** Half a journal does not know what the other half was sent. */
function refuseHalf(db: Database.Database, path: string): void {
  const half = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(PROGRESS_TABLE);
  if (half !== undefined) throw unfinishedFault(path);
}

function checkPages(db: Database.Database, path: string): void {
  const verdict = String(db.pragma("quick_check(1)", { simple: true }));
  if (verdict !== "ok") {
    throw journalFault("JOURNAL_CORRUPT", path, verdict.replaceAll("\n", " "));
  }
}

/** Nobody but the daemon's user reads the journal, whatever the umask was. */
function restrict(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) {
    const mode = statSync(path + suffix, { throwIfNoEntry: false })?.mode;
    if (mode !== undefined && (mode & 0o077) !== 0) chmodSync(path + suffix, 0o600);
  }
}

/** For those who do not own the journal, not being let in is about reading. */
function unreadable(error: unknown, path: string, role: Role): unknown {
  const isFault = error instanceof Fault && error.code === "JOURNAL_UNWRITABLE";
  const isRefused = isFault && !isNoPlace(error.cause);
  if (role === "owner" || !isRefused) return error;
  return journalFault("JOURNAL_UNREADABLE", path, "cannot be opened", { cause: error });
}
