import { resolve } from "node:path";
import type { Document } from "../domain/document.ts";
import { type Clock, systemClock } from "../std/clock.ts";
import { backUp } from "./backup.ts";
import type { Cluster } from "./cluster.ts";
import type { Driver } from "./driver.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import { dueText, dueValues, firstDue } from "./due-documents.ts";
import type { Applied, Change, DueQuery, Journal } from "./journal.ts";
import type { Migrated, Role } from "./open-database.ts";
import { type Owner, writeOwner } from "./owner-lock.ts";
import { FIRST_ARCHIVE_ID } from "./rows.ts";
import { type JournalSession, Session } from "./session.ts";
import { SqlJournal } from "./sql-journal.ts";
import { DUE_QUERIES, OWN_QUERIES, QUERIES, TIDY_QUERIES } from "./documents-table.ts";
import { type Tables, tablesIn } from "./tables.ts";
import type { Tidied, TidyRequest } from "./tidiness.ts";
import { type Script, tidy } from "./tidy.ts";
import type { Statements } from "../sqlite/statements.ts";

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
export class SqliteJournal extends SqlJournal implements Journal {
  readonly cluster: Cluster;
  readonly #session: JournalSession;
  readonly #onApplied: (applied: Applied[]) => void;
  readonly #tables: Tables;

  protected constructor(
    session: JournalSession,
    onApplied: (applied: Applied[]) => void,
    tables: Tables,
    archiveId: number,
  ) {
    super(driverOf(session, tables), archiveId);
    this.cluster = session.cluster;
    this.#session = session;
    this.#onApplied = onApplied;
    this.#tables = tables;
    session.share(tables.writer);
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

  /** True when this opening made the journal: of what was sent before, nothing is known. */
  get isNew(): boolean {
    return this.#session.isNew;
  }

  /** How this opening changed the tables; undefined: they were up to date. */
  get migrated(): Migrated | undefined {
    return this.#session.migrated;
  }

  due(query: DueQuery): Promise<Document[]> {
    const { statements, documents } = this.#tables;
    const [text, values] = [DUE_QUERIES[dueText(query)], dueValues(query)];
    return this.#session.read(() => {
      const mirrors =
        query.mirrorId === undefined
          ? statements.rows<{ id: number }>(OWN_QUERIES.mirrorIds, [this.archiveId])
          : [{ id: query.mirrorId }];
      const rows = mirrors.flatMap(({ id }) => statements.rows<DocumentRow>(text, [...values, id]));
      const due = firstDue(rows.map(documentOf), query);
      return due.map((document) => documents.remembered(document));
    });
  }

  /** One daemon: nobody else takes anything. */
  take(query: DueQuery): Promise<Document[]> {
    return this.due(query);
  }

  /** One daemon: asked at its start, before it sends anything itself. */
  underWay(limit: number): Promise<Document[]> {
    return this.documents(OWN_QUERIES.underWay, [this.archiveId, limit]);
  }

  apply(changes: readonly Change[]): Promise<Applied[]> {
    const run = () => {
      this.#tables.documents.begin(this.#session.generation);
      return this.#tables.writer.apply(changes);
    };
    return this.#session.write(run, this.#onApplied, true);
  }

  tidy(request: TidyRequest): Promise<Tidied> {
    const { documents, statements } = this.#tables;
    return this.#session.write(() => {
      const tidied = resultOf(tidy(TIDY_QUERIES, request), statements);
      if (tidied.dropped > 0) documents.forget();
      return tidied;
    });
  }

  /** SQLite's own count; it leaves this connection's writes out. Rejects where others may own what is there now. */
  async outsideWrites(): Promise<number> {
    const { statements } = this.#tables;
    this.#session.assertOwned();
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

/** Runs a script whole. */
function resultOf<T>(script: Script<T>, statements: Statements): T {
  let step = script.next([]);
  while (step.done !== true) {
    const answers = step.value.map(([text, values]) => {
      if (statements.of(text).reader) return statements.rows<object>(text, values);
      statements.run(text, values);
      return [];
    });
    step = script.next(answers);
  }
  return step.value;
}

/** Reads and writes are synchronous inside, and short. */
function driverOf(session: JournalSession, { statements }: Tables): Driver {
  return {
    queries: QUERIES,
    isCopy: session.isCopy,
    rows: (text, values) => session.read(() => statements.rows(text, values)),
    durableRows: (text, values) => session.readDurable(() => statements.rows(text, values)),
    write: (...all) =>
      session.write(() => all.map(([text, values]) => statements.run(text, values)).at(-1) ?? 0),
  };
}
