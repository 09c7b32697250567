import { resolve } from "node:path";
import { invariant } from "../std/invariant.ts";
import { type Clock, systemClock } from "../std/clock.ts";
import { backUp } from "./backup.ts";
import type { Applied, Change, Content, GateRow, Journal, MirrorRow, PaceRow } from "./journal.ts";
import type { Migrated, Role } from "./open-database.ts";
import { type Owner, writeOwner } from "./owner-lock.ts";
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
   * - `guest`: a command that writes beside a daemon, or without one.
   * - `reader`: only looks; every write rejects with `JOURNAL_READ_ONLY`.
   */
  readonly role: Role;
  /** Told what each call of `apply` did once it is durable; must not throw. */
  readonly onApplied?: (applied: Applied[]) => void;
  /** What `ownerOf` tells others; for the role `owner`. */
  readonly owner?: Owner;
  /** Paces the commits; the host's own unless a test brings another. */
  readonly clock?: Clock;
};

/**
 * The journal in one SQLite file, for one archive account. `synchronous=FULL`: what is resolved
 * survives a power cut. Reads and writes are synchronous inside, and short; writes are committed in
 * groups, which reads see before they are durable (see `GroupCommit`).
 */
export class SqliteJournal extends SqliteReading implements Journal {
  readonly #session: Session;
  readonly #onApplied: (applied: Applied[]) => void;
  readonly #tables: Tables;
  readonly #writer: Writer;

  private constructor(session: Session, onApplied: (applied: Applied[]) => void) {
    const tables = tablesIn(session.db);
    super(session, tables);
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
    const { role, owner, onApplied = () => undefined, clock = systemClock } = options;
    return new SqliteJournal(Session.open(resolve(options.path), role, owner, clock), onApplied);
  }

  /** True when this opening made the journal: of what was sent before, nothing is known. */
  get isNew(): boolean {
    return this.#session.isNew;
  }

  /** How this opening changed the tables; undefined: they were up to date. */
  get migrated(): Migrated | undefined {
    return this.#session.migrated;
  }

  async mirror(name: string, source: string): Promise<MirrorRow> {
    const known = await this.#session.read(() => this.#tables.account.mirror(name));
    if (known?.source === source) return known;
    return this.#session.write(() => {
      this.#tables.account.setMirror(name, source);
      const made = this.#tables.account.mirror(name);
      invariant(made, `mirror ${name} was just made`);
      return made;
    });
  }

  mirrors(): Promise<MirrorRow[]> {
    return this.#session.read(() => this.#tables.queries.mirrors());
  }

  setDevice(mirrorId: number, device: string): Promise<void> {
    return this.#session.write(() => this.#tables.account.setDevice(mirrorId, device));
  }

  firstRuns(): Promise<number[]> {
    return this.#session.read(() => this.#tables.account.firstRuns());
  }

  endFirstRun(mirrorId: number, at: number): Promise<void> {
    return this.#session.write(() => this.#tables.account.endFirstRun(mirrorId, at));
  }

  apply(changes: readonly Change[]): Promise<Applied[]> {
    return this.#session.write(() => {
      this.#tables.documents.begin();
      return changes.map((change) => this.#writer.apply(change));
    }, this.#onApplied);
  }

  gate(): Promise<GateRow> {
    return this.#session.read(() => this.#tables.account.gate());
  }

  setGate(gate: GateRow): Promise<void> {
    return this.#session.write(() => this.#tables.account.setGate(gate));
  }

  pace(): Promise<PaceRow> {
    return this.#session.read(() => this.#tables.account.pace());
  }

  setPace(pace: PaceRow): Promise<void> {
    return this.#session.write(() => this.#tables.account.setPace(pace));
  }

  paused(): Promise<boolean> {
    return this.#session.read(() => this.#tables.account.paused());
  }

  setPaused(paused: boolean): Promise<void> {
    return this.#session.write(() => this.#tables.account.setPaused(paused));
  }

  setContents(id: number, contents: readonly Content[]): Promise<void> {
    return this.#session.write(() => this.#tables.account.setContents(id, contents));
  }

  tidy(request: TidyRequest): Promise<Tidied> {
    return this.#session.write(() => this.#tables.tidy.tidy(request));
  }

  /** SQLite's own count; it leaves this connection's writes out. */
  outsideWrites(): Promise<number> {
    return this.#session.read(() =>
      Number(this.#session.db.pragma("data_version", { simple: true })),
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
