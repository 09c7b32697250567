/** What happened lately: usage buckets, the latest documents, and how far batches have come. */
import type { Document } from "../domain/document.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import { SELECT_DOCUMENT } from "./documents-table.ts";
import type { Batch, BatchProgress, Moved, Unreceipted } from "./journal.ts";
import { type InState, progressOf } from "./row-shapes.ts";
import type { Statements } from "./statements.ts";
import type { UsageBucket } from "./usage-bucket.ts";

/** The first characters tell batches apart well enough, in an index of a quarter of the size. */
const OF_BATCH = "substr(n.batch, 1, 8) = substr(@batch, 1, 8) AND n.batch = @batch";

/** The texts, by the question they answer. */
export const ACTIVITY_QUERIES = {
  moved: `${SELECT_DOCUMENT} WHERE n.moved_at IS NOT NULL AND n.gone_at IS NULL AND n.current = 1
    AND +n.mirror_id IN (SELECT value FROM json_each(?)) ORDER BY n.moved_at DESC, n.id DESC LIMIT ?`,
  movedCount: `SELECT count(*) AS documents FROM documents WHERE moved_at IS NOT NULL AND gone_at IS NULL
    AND current = 1 AND +mirror_id IN (SELECT value FROM json_each(?))`,
  movedAway: `${SELECT_DOCUMENT} WHERE n.moved_from = ? AND +n.mirror_id = ? ORDER BY n.id DESC LIMIT 1`,
  usageBuckets: `SELECT mirror_id AS mirrorId, at, uploaded, uploaded_bytes AS uploadedBytes, converted, pages,
      charged, saved, failed
    FROM usage_buckets WHERE at >= ? AND at < ? ORDER BY at, mirror_id`,
  latestBatches: `SELECT id, mirror_id AS mirrorId, opened_at AS openedAt, joined_at AS joinedAt, documents
    FROM batches ORDER BY number DESC LIMIT ?`,
  ofBatch: `SELECT n.state, count(*) AS documents, coalesce(sum(n.pages), 0) AS pages
    FROM documents n WHERE ${OF_BATCH} AND n.batch IS NOT NULL GROUP BY n.state`,
  openBatches: `SELECT number, id, mirror_id AS mirrorId, opened_at AS openedAt, joined_at AS joinedAt, documents
    FROM batches WHERE receipt_at IS NULL AND number > ?
      AND +mirror_id IN (SELECT id FROM mirrors WHERE archive_id = ?) ORDER BY number LIMIT ?`,
  unconverted: `SELECT 1 FROM documents n WHERE ${OF_BATCH} AND n.batch IS NOT NULL
    AND n.state <> 'converted' LIMIT 1`,
  inBatch: `${SELECT_DOCUMENT} WHERE ${OF_BATCH} AND n.batch IS NOT NULL ORDER BY n.id LIMIT @limit`,
} as const;

/** What is asked answers as `Journal` has it under the same names. */
export class ActivityTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Adds to the usage bucket of its mirror and time. */
  add({ mirrorId, at, ...counts }: UsageBucket): void {
    const { uploaded, uploadedBytes, converted, pages, charged, saved, failed } = counts;
    this.#sql
      .of(`INSERT INTO usage_buckets (at, mirror_id, uploaded, uploaded_bytes, converted, pages, charged, saved,
          failed)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (at, mirror_id) DO UPDATE SET uploaded = uploaded + excluded.uploaded,
          uploaded_bytes = uploaded_bytes + excluded.uploaded_bytes,
          converted = converted + excluded.converted, pages = pages + excluded.pages,
          charged = charged + excluded.charged, saved = saved + excluded.saved,
          failed = failed + excluded.failed`)
      .run(at, mirrorId, uploaded, uploadedBytes, converted, pages, charged, saved, failed);
  }

  /** Inserts or updates a batch; one that has its receipt lacks it again. */
  setBatch({ id, mirrorId, openedAt, joinedAt, documents }: Batch): void {
    this.#sql
      .of(`INSERT INTO batches (id, mirror_id, opened_at, joined_at, documents)
        VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET mirror_id = excluded.mirror_id,
          opened_at = excluded.opened_at, joined_at = excluded.joined_at,
          documents = excluded.documents, receipt_at = NULL`)
      .run(id, mirrorId, openedAt, joinedAt, documents);
  }

  usageBuckets(from: number, to: number): UsageBucket[] {
    return this.#sql.of<UsageBucket>(ACTIVITY_QUERIES.usageBuckets).all(from, to);
  }

  moved(mirrorIds: readonly number[], limit: number): Moved {
    const ids = JSON.stringify(mirrorIds);
    const count = this.#sql.of<{ documents: number }>(ACTIVITY_QUERIES.movedCount).get(ids);
    const latest = this.#sql.of<DocumentRow>(ACTIVITY_QUERIES.moved).all(ids, limit);
    return { documents: count?.documents ?? 0, latest: latest.map(documentOf) };
  }

  movedAway(mirrorId: number, from: string): Document | undefined {
    const row = this.#sql.of<DocumentRow>(ACTIVITY_QUERIES.movedAway).get(from, mirrorId);
    return row && documentOf(row);
  }

  latestBatches(limit: number): BatchProgress[] {
    return this.#sql
      .of<Batch>(ACTIVITY_QUERIES.latestBatches)
      .all(limit)
      .map((batch) => progressOf(batch, this.#ofBatch(batch.id)));
  }

  inBatch(batch: string, limit: number): Document[] {
    return this.#sql
      .of<DocumentRow>(ACTIVITY_QUERIES.inBatch)
      .all({ batch, limit })
      .map(documentOf);
  }

  /** See `Journal.unreceipted`. */
  unreceipted(archiveId: number, after: number, limit: number): Unreceipted {
    const open = this.#sql
      .of<Batch & { number: number }>(ACTIVITY_QUERIES.openBatches)
      .all(after, archiveId, limit);
    const batches = open.filter(({ id }) => this.#closedWith(id) > 0);
    return {
      batches: batches.map(({ number: _number, ...batch }) => batch),
      next: open.length < limit ? null : (open.at(-1)?.number ?? null),
    };
  }

  /** See `Journal.setReceipt`. */
  setReceipt(batch: string, documents: number, at: number): boolean {
    if (this.#closedWith(batch) !== documents) return false;
    const { changes } = this.#sql
      .of("UPDATE batches SET receipt_at = ? WHERE id = ?")
      .run(at, batch);
    return changes > 0;
  }

  /** Documents of a batch that is closed; 0 for one that is not. */
  #closedWith(batch: string): number {
    if (this.#sql.of(ACTIVITY_QUERIES.unconverted).get({ batch })) return 0;
    return this.#ofBatch(batch).reduce((sum, { documents }) => sum + documents, 0);
  }

  #ofBatch(batch: string): InState[] {
    return this.#sql.of<InState>(ACTIVITY_QUERIES.ofBatch).all({ batch });
  }
}
