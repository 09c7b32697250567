import { resolve } from "node:path";
import { invariant } from "../std/invariant.ts";
import { type Clock, systemClock } from "../std/clock.ts";
import { backUp } from "./backup.ts";
import type { Cluster } from "./cluster.ts";
import type {
  Applied,
  ArchiveRow,
  Change,
  Content,
  GateRow,
  Journal,
  MirrorRow,
  PaceRow,
  WarnedRow,
} from "./journal.ts";
import type { Migrated, Role } from "./open-database.ts";
import { type Owner, writeOwner } from "./owner-lock.ts";
import { FIRST_ARCHIVE_ID } from "./rows.ts";
import { Session } from "./session.ts";
import { SqliteReading } from "./sqlite-reading.ts";
import { type Tables, tablesIn } from "./tables.ts";
import type { Tidied, TidyRequest } from "./tidiness.ts";
import { Writer } from "./writer.ts";

/** How a journal is opened. */
export type JournalOptions = {
  readonly path: string;
  /**
   * - `owner`: the one daemon. Makes the journal when missing, checks it, brings it up to date.
   * - `guest`: a command that writes next to a daemon, or without one.
   * - `reader`: only looks; every write rejects with `JOURNAL_READ_ONLY`.
   */
  readonly role: Role;
  /** Told what each call of `apply` did once it is durable; must not throw. */
  readonly onApplied?: (applied: Applied[]) => void;
  /** What `ownerOf` tells others; for the role `owner`. */
  readonly owner?: Owner;
  /** Paces the commits; the host's own unless a test brings another. */
  readonly clock?: Clock;
  /** Waits for a lock and for room until this has been aborted for `lastMs`; see `Blockage`. */
  readonly patience?: { readonly signal: AbortSignal; readonly lastMs?: number };
};

/**
 * The journal in one SQLite file. What is resolved is on the disk and
 * survives a power cut. Reads and writes are synchronous inside, and short; writes are committed in
 * groups, which reads see before they are durable (see `GroupCommit`).
 */
export class SqliteJournal extends SqliteReading implements Journal {
  readonly cluster: Cluster;
  readonly #session: Session;
  readonly #onApplied: (applied: Applied[]) => void;
  readonly #tables: Tables;
  readonly #writer: Writer;

  private constructor(
    session: Session,
    onApplied: (applied: Applied[]) => void,
    tables: Tables,
    archiveId: number,
  ) {
    super(session, tables, archiveId);
    this.cluster = session.cluster;
    this.#session = session;
    this.#onApplied = onApplied;
    this.#tables = tables;
    this.#writer = new Writer(tables);
  }

  /**
   * Opens the journal. Rejects with a `Fault`: `JOURNAL_LOCKED` (owner), `JOURNAL_MISSING` (guest,
   * reader), `JOURNAL_NEWER`, `JOURNAL_OLDER`, `JOURNAL_FOREIGN`, `JOURNAL_CORRUPT`,
   * `JOURNAL_ON_NETWORK`, `JOURNAL_UNWRITABLE`, `JOURNAL_UNREADABLE`, `JOURNAL_FULL` and the like.
   */
  static async open(options: JournalOptions): Promise<SqliteJournal> {
    const { role, owner, onApplied = () => undefined, clock = systemClock, patience } = options;
    const session = await Session.open(resolve(options.path), role, owner, clock, patience);
    return new SqliteJournal(session, onApplied, tablesIn(session.db), FIRST_ARCHIVE_ID);
  }

  of(archiveId: number): SqliteJournal {
    if (archiveId === this.archiveId) return this;
    return new SqliteJournal(this.#session, this.#onApplied, this.#tables, archiveId);
  }

  archives(): Promise<ArchiveRow[]> {
    return this.#session.read(() => this.#tables.archives.archives());
  }

  archive(name: string, url: string): Promise<ArchiveRow> {
    return this.#session.write(() => this.#tables.archives.setArchive(name, url));
  }

  /** True when this opening made the journal: of what was sent before, nothing is known. */
  get isNew(): boolean {
    return this.#session.isNew;
  }

  /** How this opening changed the tables; undefined: they were up to date. */
  get migrated(): Migrated | undefined {
    return this.#session.migrated;
  }

  retireArchive(archiveId: number, suffix: string): Promise<void> {
    return this.#session.write(() => this.#tables.archives.retire(archiveId, suffix));
  }

  async mirror(name: string, source: string): Promise<MirrorRow> {
    const { account, archives } = this.#tables;
    const archiveId = this.archiveId;
    const known = await this.#session.read(() => account.mirror(name));
    if (known?.source === source && known.archiveId === archiveId) return known;
    return this.#session.write(() => {
      const before = account.mirror(name);
      if (before && before.archiveId !== archiveId) archives.bind(before, archiveId);
      account.setMirror(name, source, archiveId);
      const made = account.mirror(name);
      invariant(made, `mirror ${name} was just made`);
      return made;
    });
  }

  mirrors(): Promise<MirrorRow[]> {
    return this.#session.read(() => this.#tables.queries.mirrors());
  }

  renameMirror(mirrorId: number, name: string): Promise<void> {
    return this.#session.write(() => this.#tables.account.renameMirror(mirrorId, name));
  }

  setDevice(mirrorId: number, device: string): Promise<void> {
    return this.#session.write(() => this.#tables.account.setDevice(mirrorId, device));
  }

  firstRuns(): Promise<number[]> {
    const { isCopy } = this.#session;
    return this.#session.read(() => this.#tables.account.firstRuns(this.archiveId, isCopy));
  }

  endFirstRun(mirrorId: number, at: number): Promise<void> {
    return this.#session.write(() => this.#tables.account.endFirstRun(mirrorId, at));
  }

  apply(changes: readonly Change[]): Promise<Applied[]> {
    return this.#change(() => {
      this.#tables.documents.begin();
      return this.#writer.apply(changes);
    }, this.#onApplied);
  }

  keepOutboxEntries(mirrorIds: readonly number[]): Promise<void> {
    return this.#session.write(() => this.#tables.outboxEntries.keepFor(mirrorIds));
  }

  endOutboxEntry(number: number): Promise<void> {
    return this.#session.write(() => this.#tables.outboxEntries.remove(number));
  }

  putOffOutboxEntry(number: number, tries: number, dueAt: number): Promise<void> {
    return this.#session.write(() => this.#tables.outboxEntries.putOff(number, tries, dueAt));
  }

  pullInOutboxEntries(mirrorId: number, laterThan: number, dueAt: number): Promise<void> {
    return this.#session.write(() => this.#tables.outboxEntries.pullIn(mirrorId, laterThan, dueAt));
  }

  gate(): Promise<GateRow> {
    return this.#session.read(() => this.#tables.archives.gate(this.archiveId));
  }

  setGate(gate: GateRow): Promise<void> {
    return this.#session.write(() => this.#tables.archives.setGate(this.archiveId, gate));
  }

  pace(): Promise<PaceRow> {
    return this.#session.read(() => this.#tables.archives.pace(this.archiveId));
  }

  setPace(pace: PaceRow): Promise<void> {
    return this.#session.write(() => this.#tables.archives.setPace(this.archiveId, pace));
  }

  setWarned(warned: WarnedRow): Promise<void> {
    return this.#session.write(() => this.#tables.pages.setWarned(this.archiveId, warned));
  }

  paused(): Promise<boolean> {
    return this.#session.read(() => this.#tables.account.paused());
  }

  setPaused(paused: boolean): Promise<void> {
    return this.#session.write(() => this.#tables.account.setPaused(paused));
  }

  keyValue(name: string): Promise<string | null> {
    return this.#session.read(() => this.#tables.account.keyValue(name));
  }

  setKeyValue(name: string, text: string): Promise<void> {
    return this.#session.write(() => this.#tables.account.setKeyValue(name, text));
  }

  setContents(id: number, contents: readonly Content[]): Promise<void> {
    return this.#session.write(() => this.#tables.account.setContents(id, contents));
  }

  setReceipt(batch: string, documents: number, at: number): Promise<boolean> {
    return this.#session.write(() => this.#tables.activity.setReceipt(batch, documents, at));
  }

  tidy(request: TidyRequest): Promise<Tidied> {
    return this.#change(() => this.#tables.tidy.tidy(request));
  }

  /** Writes documents. What is counted is wrong once that is undone, alone or with others. */
  async #change<T>(run: () => T, committed?: (value: T) => void): Promise<T> {
    const { counts } = this.#tables;
    const counting = () => {
      try {
        return run();
      } catch (error) {
        counts.forget();
        throw error;
      }
    };
    try {
      return await this.#session.write(counting, committed);
    } catch (error) {
      counts.forget();
      throw error;
    }
  }

  /** SQLite's own count; it leaves this connection's writes out. */
  outsideWrites(): Promise<number> {
    const { statements } = this.#tables;
    return this.#session.read(
      () => statements.of<number>("PRAGMA data_version").pluck().get() ?? 0,
    );
  }

  /** Tells others more about the owner, e.g. where its page is once that listens. */
  announce(owner: Owner): Promise<void> {
    return this.#session.write(() => writeOwner(this.#session.db, owner));
  }

  /** Writes a whole copy of the journal to the file `to`; see `backup.ts`. */
  async backup(to: string): Promise<void> {
    await this.#session.readDurable(() => undefined);
    await backUp(this.#session.db, to);
  }

  /** Commits what is queued, and closes. Later calls reject with `JOURNAL_CLOSED`. */
  close(): Promise<void> {
    return this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
