import type { Document } from "../domain/document.ts";
import { dirOf, nameOf, type RawPath } from "../std/raw-path.ts";
import { attemptsOf } from "./attempt-effect.ts";
import { documentList, documentPage, type PageReader } from "./document-list.ts";
import { dueDocuments } from "./due-documents.ts";
import { historyOf } from "./history-line.ts";
import type {
  AttemptRow,
  Batch,
  BatchProgress,
  Content,
  DocumentPage,
  DueQuery,
  Duplicates,
  HistoryRow,
  Journal,
  Known,
  ListQuery,
  Moved,
  AfterFailed,
  PageQuery,
  PutOff,
  WithProblem,
  Unreceipted,
  WaitingFolder,
  WaitingPages,
  WarnedRow,
  ClaimTimes,
} from "./journal.ts";
import { pagesOf } from "./list-table.ts";
import type { Session } from "./session.ts";
import type { Tables } from "./tables.ts";
import type { UsageBucket } from "./usage-bucket.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import type { DroppedDocument } from "./tidiness.ts";

/** What can be asked of a journal in SQLite about its documents; each answer is one short query. */
export abstract class SqliteReading {
  readonly #session: Session;
  readonly #tables: Tables;
  readonly archiveId: number;

  /** `archiveId`: the archive that the answers are about, where they are about one. */
  constructor(session: Session, tables: Tables, archiveId: number) {
    this.#session = session;
    this.#tables = tables;
    this.archiveId = archiveId;
  }

  directories(mirrorId: number): Promise<[dir: RawPath, fingerprint: string][]> {
    return this.#session.read(() => this.#tables.queries.directories(mirrorId));
  }

  rowsIn(mirrorId: number, dir: RawPath): Promise<Known[]> {
    return this.#session.read(() => this.#tables.queries.rowsIn(mirrorId, dir));
  }

  rowsBelow(mirrorId: number, dir: RawPath): Promise<Known[]> {
    return this.#session.read(() => this.#tables.queries.rowsBelow(mirrorId, dir));
  }

  document(id: number): Promise<Document | undefined> {
    return this.#session.read(() => this.#tables.documents.read(id));
  }

  currentAt(mirrorId: number, path: RawPath): Promise<Document | undefined> {
    return this.#session.read(() =>
      this.#tables.documents.currentAt(mirrorId, dirOf(path), nameOf(path)),
    );
  }

  sentWith(mirrorId: number, digest: string, sizeBytes: number): Promise<Document[]> {
    return this.#session.read(() => this.#tables.queries.sentWith(mirrorId, digest, sizeBytes));
  }

  ignoredWith(mirrorId: number, digest: string): Promise<Document[]> {
    return this.#session.read(() => this.#tables.queries.ignoredWith(mirrorId, digest));
  }

  due(query: DueQuery): Promise<Document[]> {
    const { statements } = this.#tables;
    return this.#session.read(() => dueDocuments(statements, this.archiveId, query));
  }

  /** One daemon: nobody else takes anything. */
  take(query: DueQuery): Promise<Document[]> {
    return this.due(query);
  }

  waitingPages(): Promise<WaitingPages[]> {
    return this.#session.read(() => this.#tables.counts.waitingPages());
  }

  pendingOver(mirrorId: number, pages: number): ReturnType<Journal["pendingOver"]> {
    return this.#session.read(() => this.#tables.pages.pendingOver(mirrorId, pages));
  }

  pagesUsed(from: number, to: number): ReturnType<Journal["pagesUsed"]> {
    return this.#session.read(() => this.#tables.pages.used(from, to));
  }

  warned(): Promise<WarnedRow> {
    return this.#session.read(() => this.#tables.pages.warned(this.archiveId));
  }

  underWay(limit: number): Promise<Document[]> {
    return this.#session.read(() => this.#tables.queries.underWay(this.archiveId, limit));
  }

  conflicts(folderId: number, sentName: string): Promise<Document[]> {
    return this.#session.read(() =>
      this.#tables.queries.conflicts(this.archiveId, folderId, sentName),
    );
  }

  claimed(documentIds: readonly number[], mirrorIds?: readonly number[]): Promise<ClaimTimes> {
    return this.#session.read(() =>
      this.#tables.queries.claimed(this.archiveId, documentIds, mirrorIds),
    );
  }

  outstanding(now: number): Promise<{ folderId: number; documents: number; due: number }[]> {
    return this.#session.read(() => this.#tables.queries.outstanding(this.archiveId, now));
  }

  outstandingIn(folderId: number, limit: number): Promise<Document[]> {
    return this.#session.read(() =>
      this.#tables.queries.outstandingIn(this.archiveId, folderId, limit),
    );
  }

  afterDue(now: number, limit: number, mirrorIds?: readonly number[]): Promise<Document[]> {
    return this.#session.readDurable(() =>
      this.#tables.queries.afterDue(this.archiveId, now, limit, mirrorIds),
    );
  }

  /** Durable before it is reported. */
  outboxEntries(mirrorId: number, now: number, limit: number): Promise<OutboxEntry[]> {
    return this.#session.readDurable(() => this.#tables.outboxEntries.due(mirrorId, now, limit));
  }

  undelivered(): ReturnType<Journal["undelivered"]> {
    return this.#session.read(() => this.#tables.outboxEntries.counts());
  }

  heldWith(
    codes: readonly string[],
    limit: number,
    place?: { mirrorId: number; targetPath: string },
  ): Promise<Document[]> {
    return this.#session.read(() =>
      this.#tables.queries.heldWith(this.archiveId, codes, limit, place),
    );
  }

  smallestHeld(
    codes: readonly string[],
    mirrorIds: readonly number[],
  ): Promise<Document | undefined> {
    return this.#session.read(() =>
      this.#tables.queries.smallestHeld(this.archiveId, codes, mirrorIds),
    );
  }

  moved(mirrorIds: readonly number[], limit: number): Promise<Moved> {
    return this.#session.read(() => this.#tables.activity.moved(mirrorIds, limit));
  }

  movedAway(mirrorId: number, from: string): Promise<Document | undefined> {
    return this.#session.read(() => this.#tables.activity.movedAway(mirrorId, from));
  }

  afterPending(limit: number, last?: PutOff): Promise<Document[]> {
    return this.#session.read(() => this.#tables.queries.afterPending(this.archiveId, limit, last));
  }

  afterFailed(): Promise<AfterFailed[]> {
    return this.#session.read(() => this.#tables.queries.afterFailed());
  }

  waitingFolders(): Promise<WaitingFolder[]> {
    return this.#session.read(() => this.#tables.queries.waitingFolders());
  }

  lastBatch(mirrorId: number): Promise<Batch | undefined> {
    return this.#session.read(() => this.#tables.queries.lastBatch(mirrorId));
  }

  latestBatches(limit: number): Promise<BatchProgress[]> {
    return this.#session.read(() => this.#tables.activity.latestBatches(limit));
  }

  unreceipted(after: number, limit: number): Promise<Unreceipted> {
    return this.#session.readDurable(() =>
      this.#tables.activity.unreceipted(this.archiveId, after, limit),
    );
  }

  inBatch(batch: string, limit: number): Promise<Document[]> {
    return this.#session.read(() => this.#tables.activity.inBatch(batch, limit));
  }

  usageBuckets(from: number, to: number): Promise<UsageBucket[]> {
    return this.#session.read(() => this.#tables.activity.usageBuckets(from, to));
  }

  contents(id: number): Promise<Content[]> {
    return this.#session.read(() => this.#tables.queries.contents(id));
  }

  duplicates(): Promise<Duplicates> {
    return this.#session.read(() => this.#tables.queries.duplicates());
  }

  counts(): ReturnType<Journal["counts"]> {
    return this.#session.read(() => this.#tables.counts.counts());
  }

  withProblem(mirrorIds?: readonly number[]): Promise<WithProblem[]> {
    return this.#session.read(() => this.#tables.queries.withProblem(mirrorIds));
  }

  listPage(query: PageQuery): Promise<DocumentPage> {
    return documentPage(this.#pages(), query);
  }

  list(query: ListQuery): AsyncIterable<Document> {
    return documentList(this.#pages(), query);
  }

  #pages(): PageReader {
    return pagesOf(this.#tables.statements, (read) => this.#session.read(read));
  }

  history(id: number): Promise<HistoryRow[]> {
    const { documents, records } = this.#tables;
    return this.#session.read(() => historyOf(documents.read(id), records.lines(id)));
  }

  forgotten(mirrorId: number, path: RawPath): Promise<HistoryRow[]> {
    return this.#session.read(() => this.#tables.records.forgotten(mirrorId, path));
  }

  attempts(id: number): Promise<AttemptRow[]> {
    const { documents, records } = this.#tables;
    return this.#session.read(() => attemptsOf(documents.read(id), records.attempts(id)));
  }

  tombstones(mirrorId: number, digest: string, path: RawPath): Promise<DroppedDocument[]> {
    return this.#session.read(() => this.#tables.tidy.tombstones(mirrorId, digest, path));
  }
}
