import type { Document } from "../domain/document.ts";
import { bytesOf, dirOf, nameOf, type RawPath, rawOf } from "../std/raw-path.ts";
import { attemptsOf } from "./attempt-effect.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import { documentList, documentPage, rangeBelow } from "./document-list.ts";
import type { Driver, Values } from "./driver.ts";
import { historyOf, historyRow, type NumberedLine } from "./history-line.ts";
import type {
  AfterFailed,
  AttemptRow,
  ClaimTimes,
  Content,
  ContentKey,
  DocumentPage,
  Duplicates,
  HistoryRow,
  Journal,
  Known,
  ListQuery,
  Moved,
  PageQuery,
  PutOff,
  WaitingFolder,
  WaitingPages,
  WithProblem,
} from "./journal.ts";
import { byPlace, knownOf, type KnownRow } from "./row-shapes.ts";
import { digestBytes, type DroppedDocument, placeOf, writingOf } from "./tidiness.ts";
import type { Queries } from "./queries.ts";

/** What a journal is asked about its documents, in whatever database; see `Journal`. */
export abstract class SqlReading {
  readonly archiveId: number;
  protected readonly driver: Driver;
  protected readonly queries: Queries;

  /** `archiveId`: the archive that the answers are about, where they are about one. */
  constructor(driver: Driver, archiveId: number) {
    this.driver = driver;
    this.queries = driver.queries;
    this.archiveId = archiveId;
  }

  async directories(mirrorId: number): Promise<[dir: RawPath, fingerprint: string][]> {
    type Row = { readonly path: Buffer; readonly fingerprint: string };
    const rows = await this.driver.rows<Row>(this.queries.directories, [mirrorId]);
    return rows.map(({ path, fingerprint }) => [rawOf(path), fingerprint]);
  }

  rowsIn(mirrorId: number, dir: RawPath): Promise<Known[]> {
    return this.#known(this.queries.rowsIn, [mirrorId, bytesOf(dir)]);
  }

  async rowsBelow(mirrorId: number, dir: RawPath): Promise<Known[]> {
    const below = this.#known(this.queries.rowsBelow, [mirrorId, ...rangeBelow(dir)]);
    // Below the root is everything, the root included; elsewhere siblings sort in between.
    if (dir === "") return below;
    return (await Promise.all([this.rowsIn(mirrorId, dir), below])).flat();
  }

  document(id: number): Promise<Document | undefined> {
    return this.#one(this.queries.document, [id]);
  }

  currentAt(mirrorId: number, path: RawPath): Promise<Document | undefined> {
    const place = [mirrorId, bytesOf(dirOf(path)), bytesOf(nameOf(path))];
    return this.#one(this.queries.currentAt, place);
  }

  async sentWith(mirrorId: number, digest: string, sizeBytes: number): Promise<Document[]> {
    const sent = await this.documents(this.queries.sentWith, [mirrorId, digest, sizeBytes]);
    return sent.sort(byId);
  }

  async knownContents(contents: readonly ContentKey[]): Promise<ReadonlySet<string>> {
    if (contents.length === 0) return new Set();
    const digests = contents.map(({ digest }) => digest);
    const hex = digests.map((digest) => Buffer.from(digest, "hex").toString("hex"));
    const values = [this.archiveId, digests, hex, contents.map(({ sizeBytes }) => sizeBytes)];
    const rows = await this.driver.rows<{ digest: string }>(this.queries.knownContents, values);
    return new Set(rows.map(({ digest }) => digest));
  }

  ignoredWith(mirrorId: number, digest: string): Promise<Document[]> {
    return this.documents(this.queries.ignoredWith, [mirrorId, digest]);
  }

  conflicts(folderId: number | null, sentName: string): Promise<Document[]> {
    const { conflicts, conflictsAnywhere } = this.queries;
    const named = [sentName, this.archiveId];
    if (folderId === null) return this.documents(conflictsAnywhere, named);
    return this.documents(conflicts, [...named, folderId]);
  }

  async claimed(
    documentIds: readonly number[],
    mirrorIds?: readonly number[],
  ): Promise<ClaimTimes> {
    type Row = { readonly id: number; readonly sentAt: number | null };
    const values = [documentIds, this.archiveId, mirrorIds ?? null];
    const rows = await this.driver.rows<Row>(this.queries.claimed, values);
    return new Map(rows.map(({ id, sentAt }) => [id, sentAt]));
  }

  outstanding(now: number): Promise<{ folderId: number; documents: number; due: number }[]> {
    return this.driver.rows(this.queries.outstanding, [now, this.archiveId]);
  }

  outstandingIn(folderId: number, limit: number): Promise<Document[]> {
    return this.documents(this.queries.outstandingIn, [this.archiveId, folderId, limit]);
  }

  /** Durable before it is reported: what follows cannot be undone. */
  async afterDue(now: number, limit: number, mirrorIds?: readonly number[]): Promise<Document[]> {
    const values = [this.archiveId, now, limit, mirrorIds ?? null];
    const rows = await this.driver.durableRows<DocumentRow>(this.queries.afterDue, values);
    return rows.map(documentOf);
  }

  async heldWith(
    codes: readonly string[],
    limit: number,
    place?: { mirrorId: number; targetPath: string },
  ): Promise<Document[]> {
    const distinct = [...new Set(codes)];
    if (distinct.length === 0) return [];
    const { heldFor, heldWith } = this.queries;
    const held = place
      ? await this.documents(heldFor(distinct.length), [
          place.mirrorId,
          place.targetPath,
          limit,
          ...distinct,
        ])
      : await this.documents(heldWith(distinct.length), [this.archiveId, limit, ...distinct]);
    return held.sort(byId).slice(0, limit);
  }

  async smallestHeld(
    codes: readonly string[],
    mirrorIds: readonly number[],
  ): Promise<Document | undefined> {
    const distinct = [...new Set(codes)];
    if (distinct.length === 0) return undefined;
    const values = [this.archiveId, mirrorIds, ...distinct];
    const held = await this.documents(this.queries.smallestHeld(distinct.length), values);
    return held.sort((a, b) => a.seen.sizeBytes - b.seen.sizeBytes || a.id - b.id)[0];
  }

  async moved(mirrorIds: readonly number[], limit: number): Promise<Moved> {
    const [counted, latest] = await Promise.all([
      this.driver.rows<{ documents: number }>(this.queries.movedCount, [mirrorIds]),
      this.documents(this.queries.moved, [mirrorIds, limit]),
    ]);
    return { documents: counted[0]?.documents ?? 0, latest };
  }

  movedAway(mirrorId: number, from: string): Promise<Document | undefined> {
    return this.#one(this.queries.movedAway, [from, mirrorId]);
  }

  afterPending(limit: number, last?: PutOff): Promise<Document[]> {
    const values = [this.archiveId, last?.dueAt ?? 0, last?.id ?? 0, limit];
    return this.documents(this.queries.afterPending, values);
  }

  afterFailed(): Promise<AfterFailed[]> {
    return this.driver.rows(this.queries.afterFailed, []);
  }

  async waitingFolders(): Promise<WaitingFolder[]> {
    const rows = await this.driver.rows<WaitingFolder>(this.queries.waitingFolders, []);
    return rows.sort(byPlace);
  }

  withProblem(mirrorIds?: readonly number[]): Promise<WithProblem[]> {
    if (!mirrorIds) return this.driver.rows(this.queries.withProblem, []);
    return this.driver.rows(this.queries.withProblemOf, [mirrorIds]);
  }

  contents(id: number): Promise<Content[]> {
    return this.driver.rows(this.queries.contents, [id]);
  }

  counts(): ReturnType<Journal["counts"]> {
    return this.driver.rows(this.queries.counts, []);
  }

  waitingPages(): Promise<WaitingPages[]> {
    return this.driver.rows(this.queries.waitingPages, []);
  }

  async duplicates(): Promise<Duplicates> {
    const [row] = await this.driver.rows<Duplicates>(this.queries.duplicates, []);
    return row ?? { documents: 0, pages: 0 };
  }

  listPage(query: PageQuery): Promise<DocumentPage> {
    return documentPage(this.driver, query);
  }

  list(query: ListQuery): AsyncIterable<Document> {
    return documentList(this.driver, query);
  }

  async history(id: number): Promise<HistoryRow[]> {
    const lines = this.driver.rows<NumberedLine>(this.queries.history, [id]);
    return historyOf(...(await Promise.all([this.document(id), lines])));
  }

  async forgotten(mirrorId: number, path: RawPath): Promise<HistoryRow[]> {
    const values = [mirrorId, bytesOf(path)];
    return (await this.driver.rows<NumberedLine>(this.queries.forgotten, values)).map(historyRow);
  }

  async attempts(id: number): Promise<AttemptRow[]> {
    const ended = this.driver.rows<AttemptRow>(this.queries.attempts, [id]);
    return attemptsOf(...(await Promise.all([this.document(id), ended])));
  }

  tombstones(
    mirrorId: number,
    digest: string,
    path: RawPath,
    modifiedAt: number,
  ): Promise<DroppedDocument[]> {
    const places = [placeOf(path), writingOf(path, modifiedAt)];
    const values = [mirrorId, digestBytes(digest), ...places.map(digestBytes)];
    return this.driver.rows(this.queries.tombstones, values);
  }

  protected async documents(text: string, values: Values): Promise<Document[]> {
    return (await this.driver.rows<DocumentRow>(text, values)).map(documentOf);
  }

  async #one(text: string, values: Values): Promise<Document | undefined> {
    return (await this.documents(text, values))[0];
  }

  async #known(text: string, values: Values): Promise<Known[]> {
    return (await this.driver.rows<KnownRow>(text, values)).map(knownOf);
  }
}

function byId(a: Document, b: Document): number {
  return a.id - b.id;
}
