/** Retention: drops and trims what is long done, a few rows at a time; SQLite uses the pages again. */
import type { Document } from "../domain/document.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import type { ActivityTable } from "./activity-table.ts";
import { countsOf } from "./document-counts.ts";
import type { DocumentsTable } from "./documents-table.ts";
import { SELECT_DOCUMENT } from "./sqlite-queries.ts";
import type { Statements } from "../sqlite/statements.ts";
import {
  joinedTombstone,
  type Tombstone,
  tombstoneOf,
  type Tidied,
  tidiness,
  type TidyRequest,
} from "./tidiness.ts";

/** Every statement of retention, so that a test can see how SQLite runs them. */
export const TIDY_QUERIES = {
  ids: "SELECT n.id FROM documents n WHERE n.id > ? ORDER BY n.id LIMIT ?",
  forgottenIds: `SELECT f.document AS id FROM forgotten f WHERE f.document > ?
    ORDER BY f.document LIMIT ?`,
  rows: `${SELECT_DOCUMENT} WHERE n.id > ? AND n.id <= ? ORDER BY n.id`,
  successor: `${SELECT_DOCUMENT} WHERE n.supersedes = ? AND n.supersedes IS NOT NULL`,
  known: `SELECT lower(hex(digest)) AS digest, lower(hex(place)) AS place,
      digest IS NULL AS anyDigest, place IS NULL AS anyPlace FROM tombstones
    WHERE document_id = @documentId
      AND archive_id = (SELECT archive_id FROM mirrors WHERE id = @mirrorId)`,
  remember: `INSERT OR REPLACE INTO tombstones
      (document_id, archive_id, mirror_id, folder_id, digest, place, dropped_at)
    VALUES (@documentId, (SELECT archive_id FROM mirrors WHERE id = @mirrorId), @mirrorId,
      @folderId, unhex(@digest), unhex(@place), @at)`,
  trimAttempts: "DELETE FROM attempts WHERE document = ? AND ended_at <= ?",
  trimHistory: `DELETE FROM history WHERE document = @id AND at <= @before
    AND number < (SELECT max(number) FROM history WHERE document = @id)`,
  dropAttempts: "DELETE FROM attempts WHERE document = ?",
  dropHistory: "DELETE FROM history WHERE document = ?",
  dropContents: "DELETE FROM contents WHERE document = ?",
  forgotten: `SELECT f.document AS id FROM forgotten f WHERE f.document > ? AND f.document <= ?
    AND coalesce((SELECT max(h.at) FROM history h WHERE h.document = f.document), 0) <= ?`,
  dropForgotten: "DELETE FROM forgotten WHERE document = ?",
  batchNumbers: "SELECT b.number FROM batches b WHERE b.number > ? ORDER BY b.number LIMIT ?",
  batches: `DELETE FROM batches WHERE number IN (
    SELECT b.number FROM batches b WHERE b.number > ? AND b.number <= ? AND b.joined_at <= ?
      AND b.number < (SELECT max(m.number) FROM batches m WHERE m.mirror_id = b.mirror_id)
      AND NOT (? AND EXISTS (SELECT 1 FROM batches o WHERE o.number = b.number
        AND o.receipt_at IS NULL AND EXISTS (SELECT 1 FROM documents n
          WHERE substr(n.batch, 1, 8) = substr(o.id, 1, 8) AND n.batch = o.id AND n.batch IS NOT NULL))))`,
  owesReceipt: "SELECT 1 FROM batches WHERE id = ? AND receipt_at IS NULL",
  dropTombstone: `DELETE FROM tombstones WHERE number IN (
    SELECT r.number FROM (SELECT number, dropped_at FROM tombstones ORDER BY number LIMIT ?) r
    WHERE r.dropped_at <= ?)`,
} as const;

type KnownRow = {
  readonly digest: string;
  readonly place: string;
  readonly anyDigest: 0 | 1;
  readonly anyPlace: 0 | 1;
};

export class TidyTable {
  readonly #sql: Statements;
  readonly #documents: DocumentsTable;
  readonly #activity: ActivityTable;

  constructor(sql: Statements, documents: DocumentsTable, activity: ActivityTable) {
    this.#sql = sql;
    this.#documents = documents;
    this.#activity = activity;
  }

  /** One step; see `Journal.tidy`. */
  tidy(request: TidyRequest): Tidied {
    const { after, limit, before, forgetBefore } = request;
    const ids = [TIDY_QUERIES.ids, TIDY_QUERIES.forgottenIds]
      .flatMap((sql) => this.#sql.of<{ id: number }>(sql).all(after, limit))
      .map(({ id }) => id)
      .sort((a, b) => a - b)
      .slice(0, limit);
    const last = ids.at(-1) ?? after;
    const done = this.#rows(request, last);
    this.#forgotten(after, last, before);
    this.#sql.of(TIDY_QUERIES.dropTombstone).run(limit, forgetBefore);
    return { ...done, next: ids.length < limit ? null : last, nextBatch: this.#batches(request) };
  }

  /** Lets go of the tombstone of a document of the mirror's archive; false: there was none. */
  dropTombstone(documentId: number, mirrorId: number): boolean {
    const { changes } = this.#sql
      .of(`DELETE FROM tombstones WHERE document_id = ?
        AND archive_id = (SELECT archive_id FROM mirrors WHERE id = ?)`)
      .run(documentId, mirrorId);
    return changes > 0;
  }

  #rows({ after, before, at, mirrorIds, receipts }: TidyRequest, last: number) {
    let dropped = 0;
    let trimmed = 0;
    const rows = this.#sql.of<DocumentRow>(TIDY_QUERIES.rows).all(after, last).map(documentOf);
    for (const row of rows) {
      const judged = tidiness(row, this.#successorOf(row), before);
      const isOwed = judged === "drop" && receipts && this.#owesReceipt(row);
      if (judged === "drop" && !isOwed && mirrorIds.includes(row.mirrorId)) {
        this.#drop(row, at);
        dropped += 1;
      } else if (judged !== "keep" && this.#trim(row.id, before)) trimmed += 1;
    }
    return { dropped, trimmed };
  }

  /** Only what is not current has one that matters. */
  #successorOf({ id, current }: Document): Document | undefined {
    if (current) return undefined;
    const row = this.#sql.of<DocumentRow>(TIDY_QUERIES.successor).get(id);
    return row && documentOf(row);
  }

  #owesReceipt({ batch }: Document): boolean {
    return this.#sql.of(TIDY_QUERIES.owesReceipt).get(batch) !== undefined;
  }

  #drop(row: Document, at: number): void {
    this.#sql.of(TIDY_QUERIES.remember).run({ ...this.#tombstoneOf(row), at });
    for (const sql of [
      TIDY_QUERIES.dropAttempts,
      TIDY_QUERIES.dropHistory,
      TIDY_QUERIES.dropContents,
    ]) {
      this.#sql.of(sql).run(row.id);
    }
    this.#documents.delete(row);
    for (const count of countsOf(row)) this.#activity.count(count);
    this.#documents.tidyDirectory(row.mirrorId, row.dir);
  }

  /** A duplicate and its original have one tombstone. */
  #tombstoneOf(row: Document): Tombstone {
    const next = tombstoneOf(row);
    const { documentId, mirrorId } = next;
    const known = this.#sql.of<KnownRow>(TIDY_QUERIES.known).get({ documentId, mirrorId });
    if (!known) return next;
    const { anyDigest, anyPlace } = known;
    const digest = anyDigest ? null : known.digest;
    const place = anyPlace ? null : known.place;
    return joinedTombstone({ ...next, digest, place }, next);
  }

  #trim(id: number, before: number): boolean {
    const attempts = this.#sql.of(TIDY_QUERIES.trimAttempts).run(id, before).changes;
    return this.#sql.of(TIDY_QUERIES.trimHistory).run({ id, before }).changes + attempts > 0;
  }

  /** Returns the batch that the next step begins behind. */
  #batches({ afterBatch, limit, before, receipts }: TidyRequest): number {
    const numbers = this.#sql
      .of<{ number: number }>(TIDY_QUERIES.batchNumbers)
      .all(afterBatch, limit);
    const last = numbers.at(-1)?.number ?? afterBatch;
    this.#sql.of(TIDY_QUERIES.batches).run(afterBatch, last, before, receipts ? 1 : 0);
    return numbers.length < limit ? 0 : last;
  }

  #forgotten(after: number, last: number, before: number): void {
    const rows = this.#sql.of<{ id: number }>(TIDY_QUERIES.forgotten).all(after, last, before);
    for (const { id } of rows) {
      this.#sql.of(TIDY_QUERIES.dropHistory).run(id);
      this.#sql.of(TIDY_QUERIES.dropAttempts).run(id);
      this.#sql.of(TIDY_QUERIES.dropForgotten).run(id);
    }
  }
}
