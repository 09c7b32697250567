/**
 * One opening of the journal's file: its connection, the owner lock where it has one, the queue of
 * writes, and its end. Knows nothing of what is read or written.
 */
import { closeSync, existsSync, fdatasync, openSync, statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import type { Clock } from "../std/clock.ts";
import { codeOf } from "../std/fault.ts";
import { type Cluster, type ClusterChange, SOLO_CLUSTER } from "./cluster.ts";
import { GroupCommit, type Shared } from "./group-commit.ts";
import { asFault, fullFault, fullToReadFault, journalFault } from "./journal-fault.ts";
import type { BlockageOptions } from "./blockage.ts";
import {
  createIfMissing,
  type Migrated,
  openDatabase,
  type OpenedDatabase,
  prepareDirectory,
  type Role,
} from "./open-database.ts";
import {
  freeLock,
  isLocked,
  lostFault,
  ownedFiles,
  type Owner,
  readOwner,
  settleOwner,
  takeOwnerLock,
  writeOwner,
} from "./owner-lock.ts";
import { readingNeedsRoom } from "./room.ts";

/** An owner waits so long for a look at its lock, and for another program's lock of the file, milliseconds. */
const OPENING_MS: Readonly<Record<string, number>> = { JOURNAL_LOCKED: 1_000, JOURNAL_BUSY: 5_000 };
const TRY_MS = 50;
/** At its end an owner has nothing else to do. */
const CLOSING_BUSY_MS = 5_000;

/** What a journal needs of an opening. */
export type JournalSession = Pick<Session, keyof Session>;

export class Session {
  readonly db: Database;
  /** True when this opening made the journal. */
  readonly isNew: boolean;
  /** How this opening changed the tables; undefined: they were up to date. */
  readonly migrated: Migrated | undefined;
  /** For a reader: nobody has opened this journal as its own since it was copied or its log was lost. */
  readonly isCopy: boolean;
  readonly #path: string;
  readonly #role: Role;
  readonly #lock: Database | undefined;
  readonly #owned: ReadonlyMap<string, number> | undefined;
  /** SQLite's log, which a thread syncs; none where nothing is written, or SQLite syncs it. */
  readonly #log: number | undefined;
  readonly #commits: GroupCommit;
  readonly #listeners = new Set<(change: ClusterChange) => void>();
  #closed: Promise<void> | undefined;

  private constructor(
    path: string,
    role: Role,
    opened: OpenedDatabase & {
      readonly lock?: Database;
      readonly isNew?: boolean;
      readonly isCopy?: boolean;
    },
    clock: Clock,
    patience?: BlockageOptions["patience"],
  ) {
    this.#path = path;
    this.#role = role;
    this.db = opened.db;
    this.isNew = opened.isNew ?? false;
    this.isCopy = opened.isCopy ?? false;
    this.migrated = opened.migrated;
    this.#lock = opened.lock;
    this.#owned = opened.lock && ownedFiles(path);
    this.#log = role === "reader" ? undefined : openLog(opened.db, path);
    this.#commits = new GroupCommit(opened.db, path, clock, () => synced(this.#log), {
      needsRoom: role !== "reader" || readingNeedsRoom(path),
      patience,
      tell: (change) => {
        for (const listener of this.#listeners) listener(change);
      },
    });
  }

  /** Opens the journal at an absolute path. Rejects with a `Fault`; `patience`: see `Blockage`. */
  static async open(
    path: string,
    role: Role,
    owner: Owner | undefined,
    clock: Clock,
    patience?: BlockageOptions["patience"],
  ): Promise<Session> {
    prepareDirectory(path, role);
    if (role !== "owner") {
      const opened = role === "guest" ? openBeside(path) : openToLook(path);
      return new Session(path, role, opened, clock);
    }
    const since = clock.monotonic();
    for (;;) {
      try {
        return Session.#own(path, owner, clock, patience);
      } catch (error) {
        const waitsMs = OPENING_MS[codeOf(error) ?? ""] ?? 0;
        if (clock.monotonic() - since >= waitsMs) throw error;
        await clock.sleep(TRY_MS, new AbortController().signal);
      }
    }
  }

  /** The cluster of one, which reports when the file cannot be used for a while. */
  get cluster(): Cluster {
    return {
      ...SOLO_CLUSTER,
      listen: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
  }

  static #own(
    path: string,
    owner: Owner | undefined,
    clock: Clock,
    patience: BlockageOptions["patience"],
  ): Session {
    const full = fullFault(path);
    if (full) throw full;
    const lock = takeOwnerLock(path, 0);
    try {
      const isNew = !existsSync(path);
      createIfMissing(path);
      const hadLog = hasLog(path);
      const opened = openDatabase(path, "owner");
      const { db } = opened;
      try {
        if (readOwner(db)) settleOwner(db, hadLog);
        writeOwner(db, owner);
        // The file itself must tell that it is in use: its log may be lost.
        db.pragma("wal_checkpoint(PASSIVE)");
      } catch (error) {
        db.close();
        throw error;
      }
      return new Session(path, "owner", { ...opened, lock, isNew }, clock, patience);
    } catch (error) {
      lock.close();
      throw asFault(error, path);
    }
  }

  /** Runs `query`, which sees all writes that were issued before it, durable or not. */
  async read<T>(query: () => T): Promise<T> {
    this.#assertOpen();
    await this.#commits.settle();
    return this.#asked(query);
  }

  /** Runs `query` once all writes that were issued before it are durable. */
  async readDurable<T>(query: () => T): Promise<T> {
    this.#assertOpen();
    await this.#commits.drain();
    return this.#asked(query);
  }

  #asked<T>(query: () => T): T {
    try {
      return query();
    } catch (error) {
      throw this.#commits.faultOf(error);
    }
  }

  /**
   * Queues `run` for the next commit; resolves once that is durable. See `GroupCommit.enqueue`. Rejects with
   * JOURNAL_READ_ONLY where it was opened for reading, and JOURNAL_CLOSED.
   */
  async write<T>(run: () => T, committed?: (value: T) => void, shares = false): Promise<T> {
    this.#assertOpen();
    if (this.#role === "reader") {
      throw journalFault("JOURNAL_READ_ONLY", this.#path, "opened for reading");
    }
    return this.#commits.enqueue(run, committed, shares);
  }

  /** Throws, and everything is refused from then on, where others are there in place of an owner's files. */
  assertOwned(): void {
    const fault = this.#owned && lostFault(this.#path, this.#owned);
    if (!fault) return;
    this.#commits.refuse(fault);
    throw fault;
  }

  /** See `GroupCommit.shared`. */
  share(shared: Shared): void {
    this.#commits.shared = shared;
  }

  /** See `GroupCommit.generation`. */
  get generation(): number {
    return this.#commits.generation;
  }

  /** Commits what is queued, and closes. Every call after it rejects with `JOURNAL_CLOSED`. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      // Those who wrote know what the journal refused.
      await this.#commits.drain().catch(() => undefined);
      if (this.#role === "owner") this.#leaveTidy();
    } finally {
      // The last to close writes to the shared memory; what is left open ends with the process.
      if (!fullToReadFault(this.#path)) this.db.close();
      if (this.#log !== undefined) closeSync(this.#log);
      this.#lock?.close();
    }
  }

  #leaveTidy(): void {
    if (fullFault(this.#path)) return;
    try {
      this.db.pragma(`busy_timeout = ${CLOSING_BUSY_MS}`);
      writeOwner(this.db, undefined);
      this.db.pragma("wal_checkpoint(TRUNCATE)");
    } catch {
      // Everything is in the log already; the next opening reads it.
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw journalFault("JOURNAL_CLOSED", this.#path, "closed");
  }
}

/**
 * Opens for a guest. After a crash anyone who writes first concludes what the log tells, for the last
 * guest to close has SQLite remove it: the next start would take the journal for a copy.
 */
function openBeside(path: string): OpenedDatabase {
  const lock = freeLock(path);
  try {
    const hadLog = hasLog(path);
    const opened = openDatabase(path, "guest");
    try {
      if (lock && readOwner(opened.db)) settleOwner(opened.db, hadLog);
      return opened;
    } catch (error) {
      opened.db.close();
      throw asFault(error, path);
    }
  } finally {
    lock?.close();
  }
}

/** Opens for a reader, who writes down nothing of what `settleOwner` would, and has to know it all the same. */
function openToLook(path: string): OpenedDatabase & { readonly isCopy: boolean } {
  const hadLog = hasLog(path);
  const opened = openDatabase(path, "reader");
  try {
    const isCopy = !hadLog && readOwner(opened.db) !== undefined && !isLocked(path);
    return { ...opened, isCopy };
  } catch (error) {
    opened.db.close();
    throw asFault(error, path);
  }
}

/**
 * Opens SQLite's log to sync it; a commit does not wait for the disk from then on. Closing this file drops no lock
 * of SQLite's: it has none on its log.
 */
function openLog(db: Database, path: string): number | undefined {
  if (db.pragma("journal_mode", { simple: true }) !== "wal") return undefined;
  const log = openSync(`${path}-wal`, "r+");
  db.pragma("synchronous = NORMAL");
  return log;
}

/** Resolves once all that was written to an open file is on its disk. */
function synced(file: number | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (file === undefined) resolve();
  else fdatasync(file, (error) => (error ? reject(error) : resolve()));
  return promise;
}

/** An empty one belongs to a process that has only opened the journal. */
function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
