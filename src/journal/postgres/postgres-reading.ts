import { type Document, STATES } from "../../domain/document.ts";
import { DOUBT_CODES, FOLDER_CODES } from "../../domain/code-sets.ts";
import { bytesOf, dirOf, nameOf, type RawPath } from "../../std/raw-path.ts";
import { attemptsOf } from "../attempt-effect.ts";
import { documentList, documentPage } from "../document-list.ts";
import { historyOf, historyRow, type NumberedLine } from "../history-line.ts";
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
} from "../journal.ts";
import { rangeBelow } from "../path-range.ts";
import {
  byPlace,
  knownOf,
  type KnownRow,
  outboxEntryOf,
  type OutboxEntryRow,
} from "../row-shapes.ts";
import type { UsageBucket } from "../usage-bucket.ts";
import type { OutboxEntry } from "../outbox-entry.ts";
import { placeOf, type DroppedDocument } from "../tidiness.ts";
import { warned } from "./account.ts";
import { latestBatches, unreceipted } from "./batches.ts";
import { documentsOf } from "./documents.ts";
import { dueDocuments, takeDue } from "./due-documents.ts";
import { pagesOf } from "./list-pages.ts";
import { QUERIES } from "./queries.ts";
import type { PgSession } from "./session.ts";
import { digestBytes } from "./tidy.ts";

type Values = readonly unknown[];

/** What can be asked of a journal in PostgreSQL about its documents; each answer is a short query. */
export abstract class PostgresReading {
  readonly #session: PgSession;
  readonly archiveId: number;

  /** `archiveId`: the archive that the answers are about, where they are about one. */
  constructor(session: PgSession, archiveId: number) {
    this.#session = session;
    this.archiveId = archiveId;
  }

  async directories(mirrorId: number): Promise<[dir: RawPath, fingerprint: string][]> {
    const rows = await this.#rows<{ path: Buffer; fingerprint: string }>(QUERIES.directories, [
      mirrorId,
    ]);
    return rows.map(({ path, fingerprint }) => [path.toString("latin1") as RawPath, fingerprint]);
  }

  async rowsIn(mirrorId: number, dir: RawPath): Promise<Known[]> {
    const rows = await this.#rows<KnownRow>(QUERIES.rowsIn, [mirrorId, bytesOf(dir)]);
    return rows.map(knownOf);
  }

  async rowsBelow(mirrorId: number, dir: RawPath): Promise<Known[]> {
    const values = [mirrorId, ...rangeBelow(dir)];
    const below = (await this.#rows<KnownRow>(QUERIES.rowsBelow, values)).map(knownOf);
    // Below the root is everything, the root included; elsewhere siblings sort in between.
    return dir === "" ? below : [...(await this.rowsIn(mirrorId, dir)), ...below];
  }

  document(id: number): Promise<Document | undefined> {
    return this.#one(QUERIES.document, [id]);
  }

  currentAt(mirrorId: number, path: RawPath): Promise<Document | undefined> {
    return this.#one(QUERIES.currentAt, [mirrorId, bytesOf(dirOf(path)), bytesOf(nameOf(path))]);
  }

  sentWith(mirrorId: number, digest: string, sizeBytes: number): Promise<Document[]> {
    return this.#documents(QUERIES.sentWith, [mirrorId, digest, sizeBytes, DOUBT_CODES]);
  }

  ignoredWith(mirrorId: number, digest: string): Promise<Document[]> {
    return this.#documents(QUERIES.ignoredWith, [mirrorId, digest]);
  }

  due(query: DueQuery): Promise<Document[]> {
    return dueDocuments(this.#session, this.archiveId, query);
  }

  take(query: DueQuery): Promise<Document[]> {
    return takeDue(this.#session, this.archiveId, query);
  }

  waitingPages(): Promise<WaitingPages[]> {
    return this.#rows(QUERIES.waitingPages, []);
  }

  async pendingOver(mirrorId: number, pages: number): ReturnType<Journal["pendingOver"]> {
    const [row] = await this.#rows<{ documents: number }>(QUERIES.pendingOver, [mirrorId, pages]);
    return row?.documents ?? 0;
  }

  pagesUsed(from: number, to: number): ReturnType<Journal["pagesUsed"]> {
    return this.#rows(QUERIES.pagesUsed, [from, to]);
  }

  warned(): Promise<WarnedRow> {
    return this.#session.read((query) => warned(query, this.archiveId));
  }

  underWay(limit: number): Promise<Document[]> {
    return this.#documents(QUERIES.underWay, [this.archiveId, limit]);
  }

  conflicts(folderId: number, sentName: string): Promise<Document[]> {
    return this.#documents(QUERIES.conflicts, [folderId, sentName, this.archiveId]);
  }

  async claimed(
    documentIds: readonly number[],
    mirrorIds?: readonly number[],
  ): Promise<ClaimTimes> {
    const values = [documentIds, this.archiveId, mirrorIds ?? null];
    const rows = await this.#rows<{ id: number; sentAt: number | null }>(QUERIES.claimed, values);
    return new Map(rows.map(({ id, sentAt }) => [id, sentAt]));
  }

  outstanding(now: number): ReturnType<Journal["outstanding"]> {
    return this.#rows(QUERIES.outstanding, [now, this.archiveId]);
  }

  outstandingIn(folderId: number, limit: number): Promise<Document[]> {
    return this.#documents(QUERIES.outstandingIn, [this.archiveId, folderId, limit]);
  }

  afterDue(now: number, limit: number, mirrorIds?: readonly number[]): Promise<Document[]> {
    const asked = [this.archiveId, now, limit];
    if (!mirrorIds) return this.#documents(QUERIES.afterDue, asked);
    return this.#documents(QUERIES.afterDueIn, [...asked, mirrorIds]);
  }

  async outboxEntries(mirrorId: number, now: number, limit: number): Promise<OutboxEntry[]> {
    const rows = await this.#rows<OutboxEntryRow>(QUERIES.outboxEntries, [mirrorId, now, limit]);
    return rows.map(outboxEntryOf);
  }

  undelivered(): ReturnType<Journal["undelivered"]> {
    return this.#rows(QUERIES.undelivered, []);
  }

  heldWith(
    codes: readonly string[],
    limit: number,
    place?: { mirrorId: number; targetPath: string },
  ): Promise<Document[]> {
    const distinct = [...new Set(codes)];
    if (!place) return this.#documents(QUERIES.heldWith, [distinct, this.archiveId, limit]);
    const { mirrorId, targetPath } = place;
    return this.#documents(QUERIES.heldFor, [distinct, mirrorId, targetPath, limit]);
  }

  smallestHeld(
    codes: readonly string[],
    mirrorIds: readonly number[],
  ): Promise<Document | undefined> {
    const distinct = [...new Set(codes)];
    return this.#one(QUERIES.smallestHeld, [distinct, this.archiveId, mirrorIds]);
  }

  async moved(mirrorIds: readonly number[], limit: number): Promise<Moved> {
    const counted = await this.#rows<{ documents: number }>(QUERIES.movedCount, [mirrorIds]);
    const latest = await this.#documents(QUERIES.moved, [mirrorIds, limit]);
    return { documents: counted[0]?.documents ?? 0, latest };
  }

  movedAway(mirrorId: number, from: string): Promise<Document | undefined> {
    return this.#one(QUERIES.movedAway, [from, mirrorId]);
  }

  afterPending(limit: number, last?: PutOff): Promise<Document[]> {
    const behind = [last?.dueAt ?? 0, last?.id ?? 0];
    return this.#documents(QUERIES.afterPending, [this.archiveId, ...behind, limit]);
  }

  afterFailed(): Promise<AfterFailed[]> {
    return this.#rows(QUERIES.afterFailed, []);
  }

  async waitingFolders(): Promise<WaitingFolder[]> {
    const rows = await this.#rows<WaitingFolder>(QUERIES.waitingFolders, [[...FOLDER_CODES]]);
    return rows.sort(byPlace);
  }

  async lastBatch(mirrorId: number): Promise<Batch | undefined> {
    return (await this.#rows<Batch>(QUERIES.lastBatch, [mirrorId]))[0];
  }

  latestBatches(limit: number): Promise<BatchProgress[]> {
    return this.#session.read((query) => latestBatches(query, limit));
  }

  unreceipted(after: number, limit: number): Promise<Unreceipted> {
    return this.#session.read((query) => unreceipted(query, this.archiveId, after, limit));
  }

  inBatch(batch: string, limit: number): Promise<Document[]> {
    return this.#documents(QUERIES.inBatch, [batch, limit]);
  }

  usageBuckets(from: number, to: number): Promise<UsageBucket[]> {
    return this.#rows(QUERIES.usageBuckets, [from, to]);
  }

  contents(id: number): Promise<Content[]> {
    return this.#rows(QUERIES.contents, [id]);
  }

  async duplicates(): Promise<Duplicates> {
    const [row] = await this.#rows<Duplicates>(QUERIES.duplicates, []);
    return row ?? { documents: 0, pages: 0 };
  }

  counts(): ReturnType<Journal["counts"]> {
    return this.#rows(QUERIES.counts, [[...STATES]]);
  }

  withProblem(mirrorIds?: readonly number[]): Promise<WithProblem[]> {
    if (!mirrorIds) return this.#rows(QUERIES.withProblem, []);
    return this.#rows(QUERIES.withProblemOf, [mirrorIds]);
  }

  listPage(query: PageQuery): Promise<DocumentPage> {
    return documentPage(pagesOf(this.#session), query);
  }

  list(query: ListQuery): AsyncIterable<Document> {
    return documentList(pagesOf(this.#session), query);
  }

  async history(id: number): Promise<HistoryRow[]> {
    const row = await this.document(id);
    return historyOf(row, await this.#rows<NumberedLine>(QUERIES.history, [id]));
  }

  async forgotten(mirrorId: number, path: RawPath): Promise<HistoryRow[]> {
    const rows = await this.#rows<NumberedLine>(QUERIES.forgotten, [mirrorId, bytesOf(path)]);
    return rows.map(historyRow);
  }

  async attempts(id: number): Promise<AttemptRow[]> {
    return attemptsOf(await this.document(id), await this.#rows(QUERIES.attempts, [id]));
  }

  tombstones(mirrorId: number, digest: string, path: RawPath): Promise<DroppedDocument[]> {
    const values = [mirrorId, digestBytes(digest), digestBytes(placeOf(path))];
    return this.#rows(QUERIES.tombstones, values);
  }

  #rows<Row extends object>(text: string, values: Values): Promise<Row[]> {
    return this.#session.read(async (query) => (await query<Row>(text, values)).rows);
  }

  #documents(text: string, values: Values): Promise<Document[]> {
    return this.#session.read((query) => documentsOf(query, text, values));
  }

  async #one(text: string, values: Values): Promise<Document | undefined> {
    return (await this.#documents(text, values))[0];
  }
}
