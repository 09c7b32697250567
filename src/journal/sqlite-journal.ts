import { resolve } from "node:path";
import type { Document } from "../domain/document.ts";
import { invariant } from "../std/invariant.ts";
import { type Clock, systemClock } from "../std/clock.ts";
import { dirOf, nameOf, type RawPath } from "../std/raw-path.ts";
import { AccountTable } from "./account-table.ts";
import { ActivityTable } from "./activity-table.ts";
import { backUp } from "./backup.ts";
import { documentList, pagesOf } from "./document-list.ts";
import { DocumentsTable } from "./documents-table.ts";
import { dueDocuments } from "./due-documents.ts";
import type {
  Applied,
  AttemptRow,
  Batch,
  BatchProgress,
  Change,
  Content,
  Duplicates,
  DueQuery,
  GateRow,
  HistoryRow,
  Journal,
  Known,
  ListQuery,
  MirrorRow,
  PaceRow,
  WaitingFolder,
} from "./journal.ts";
import type { Role } from "./open-database.ts";
import { type Owner, writeOwner } from "./owner-lock.ts";
import { Queries } from "./queries.ts";
import { RecordsTable } from "./records-table.ts";
import { Session } from "./session.ts";
import { Statements } from "./statements.ts";
import type { Tally } from "./tally.ts";
import type { Remembered, Tidied, TidyRequest } from "./tidiness.ts";
import { TidyTable } from "./tidy-table.ts";
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
export class SqliteJournal implements Journal {
  readonly #session: Session;
  readonly #onApplied: (applied: Applied[]) => void;
  readonly #statements: Statements;
  readonly #documents: DocumentsTable;
  readonly #records: RecordsTable;
  readonly #account: AccountTable;
  readonly #activity: ActivityTable;
  readonly #queries: Queries;
  readonly #writer: Writer;
  readonly #tidy: TidyTable;

  private constructor(session: Session, onApplied: (applied: Applied[]) => void) {
    this.#session = session;
    this.#onApplied = onApplied;
    this.#statements = new Statements(session.db);
    this.#documents = new DocumentsTable(this.#statements);
    this.#records = new RecordsTable(this.#statements);
    this.#account = new AccountTable(this.#statements);
    this.#activity = new ActivityTable(this.#statements);
    this.#queries = new Queries(this.#statements);
    this.#tidy = new TidyTable(this.#statements, this.#documents);
    this.#writer = new Writer(this.#statements, this.#documents, this.#records, this.#activity);
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

  async mirror(name: string, source: string): Promise<MirrorRow> {
    const known = await this.#session.read(() => this.#account.mirror(name));
    if (known?.source === source) return known;
    return this.#session.write(() => {
      this.#account.setMirror(name, source);
      const made = this.#account.mirror(name);
      invariant(made, `mirror ${name} was just made`);
      return made;
    });
  }

  mirrors(): Promise<MirrorRow[]> {
    return this.#session.read(() => this.#queries.mirrors());
  }

  setDevice(mirrorId: number, device: string): Promise<void> {
    return this.#session.write(() => this.#account.setDevice(mirrorId, device));
  }

  firstRuns(): Promise<number[]> {
    return this.#session.read(() => this.#account.firstRuns());
  }

  endFirstRun(mirrorId: number, at: number): Promise<void> {
    return this.#session.write(() => this.#account.endFirstRun(mirrorId, at));
  }

  apply(changes: readonly Change[]): Promise<Applied[]> {
    return this.#session.write(() => {
      this.#documents.begin();
      return changes.map((change) => this.#writer.apply(change));
    }, this.#onApplied);
  }

  directories(mirrorId: number): Promise<[dir: RawPath, fingerprint: string][]> {
    return this.#session.read(() => this.#queries.directories(mirrorId));
  }

  rowsIn(mirrorId: number, dir: RawPath): Promise<Known[]> {
    return this.#session.read(() => this.#queries.rowsIn(mirrorId, dir));
  }

  rowsBelow(mirrorId: number, dir: RawPath): Promise<Known[]> {
    return this.#session.read(() => this.#queries.rowsBelow(mirrorId, dir));
  }

  document(id: number): Promise<Document | undefined> {
    return this.#session.read(() => this.#documents.read(id));
  }

  currentAt(mirrorId: number, path: RawPath): Promise<Document | undefined> {
    return this.#session.read(() => this.#documents.currentAt(mirrorId, dirOf(path), nameOf(path)));
  }

  sentWith(mirrorId: number, digest: string): Promise<Document[]> {
    return this.#session.read(() => this.#queries.sentWith(mirrorId, digest));
  }

  due(query: DueQuery): Promise<Document[]> {
    return this.#session.read(() => dueDocuments(this.#statements, query));
  }

  underWay(limit: number): Promise<Document[]> {
    return this.#session.read(() => this.#queries.underWay(limit));
  }

  rivals(folderId: number, sentName: string): Promise<Document[]> {
    return this.#session.read(() => this.#queries.rivals(folderId, sentName));
  }

  claimed(documentIds: readonly number[]): Promise<Set<number>> {
    return this.#session.read(() => this.#queries.claimed(documentIds));
  }

  outstanding(now: number): Promise<{ folderId: number; documents: number; due: number }[]> {
    return this.#session.read(() => this.#queries.outstanding(now));
  }

  outstandingIn(folderId: number, limit: number): Promise<Document[]> {
    return this.#session.read(() => this.#queries.outstandingIn(folderId, limit));
  }

  afterDue(now: number, limit: number): Promise<Document[]> {
    return this.#session.readDurable(() => this.#queries.afterDue(now, limit));
  }

  heldWith(
    codes: readonly string[],
    limit: number,
    place?: { mirrorId: number; targetPath: string },
  ): Promise<Document[]> {
    return this.#session.read(() => this.#queries.heldWith(codes, limit, place));
  }

  smallestHeld(
    codes: readonly string[],
    mirrorIds: readonly number[],
  ): Promise<Document | undefined> {
    return this.#session.read(() => this.#queries.smallestHeld(codes, mirrorIds));
  }

  moved(limit: number): Promise<Document[]> {
    return this.#session.read(() => this.#queries.moved(limit));
  }

  waitingFolders(): Promise<WaitingFolder[]> {
    return this.#session.read(() => this.#queries.waitingFolders());
  }

  lastBatch(mirrorId: number): Promise<Batch | undefined> {
    return this.#session.read(() => this.#queries.lastBatch(mirrorId));
  }

  latestBatches(limit: number): Promise<BatchProgress[]> {
    return this.#session.read(() => this.#activity.latestBatches(limit));
  }

  inBatch(batch: string, limit: number): Promise<Document[]> {
    return this.#session.read(() => this.#activity.inBatch(batch, limit));
  }

  recent(limit: number): Promise<Document[]> {
    return this.#session.read(() => this.#activity.recent(limit));
  }

  tallies(from: number, to: number): Promise<Tally[]> {
    return this.#session.read(() => this.#activity.tallies(from, to));
  }

  gate(): Promise<GateRow> {
    return this.#session.read(() => this.#account.gate());
  }

  setGate(gate: GateRow): Promise<void> {
    return this.#session.write(() => this.#account.setGate(gate));
  }

  pace(): Promise<PaceRow> {
    return this.#session.read(() => this.#account.pace());
  }

  setPace(pace: PaceRow): Promise<void> {
    return this.#session.write(() => this.#account.setPace(pace));
  }

  paused(): Promise<boolean> {
    return this.#session.read(() => this.#account.paused());
  }

  setPaused(paused: boolean): Promise<void> {
    return this.#session.write(() => this.#account.setPaused(paused));
  }

  setContents(id: number, contents: readonly Content[]): Promise<void> {
    return this.#session.write(() => this.#account.setContents(id, contents));
  }

  contents(id: number): Promise<Content[]> {
    return this.#session.read(() => this.#queries.contents(id));
  }

  duplicates(): Promise<Duplicates> {
    return this.#session.read(() => this.#queries.duplicates());
  }

  counts(): ReturnType<Journal["counts"]> {
    return this.#session.read(() => this.#queries.counts());
  }

  list(query: ListQuery): AsyncIterable<Document> {
    return documentList(
      pagesOf(this.#statements, (read) => this.#session.read(read)),
      query,
    );
  }

  history(id: number): Promise<HistoryRow[]> {
    return this.#session.read(() => this.#records.history(id));
  }

  forgotten(mirrorId: number, path: RawPath): Promise<HistoryRow[]> {
    return this.#session.read(() => this.#records.forgotten(mirrorId, path));
  }

  attempts(id: number): Promise<AttemptRow[]> {
    return this.#session.read(() => this.#records.attempts(id));
  }

  tidy(request: TidyRequest): Promise<Tidied> {
    return this.#session.write(() => this.#tidy.tidy(request));
  }

  remembered(mirrorId: number, digest: string, path: RawPath): Promise<Remembered[]> {
    return this.#session.read(() => this.#tidy.remembered(mirrorId, digest, path));
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
