/** What happened lately: usage buckets, and batches. */
import type { DocumentCount } from "./document-counts.ts";
import type { Cell } from "./columns.ts";
import type { Batch } from "./journal.ts";
import type { Statements } from "../sqlite/statements.ts";
import type { UsageBucket } from "./usage-bucket.ts";

/** Written with the documents that it is about. */
export class ActivityTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Adds to the usage bucket of its mirror and time. */
  add({ at, mirrorId, uploadedBytes, ...counts }: UsageBucket): void {
    const key = { at, mirror_id: mirrorId };
    this.#add("usage_buckets", key, { ...counts, uploaded_bytes: uploadedBytes });
  }

  /** Adds to the count of its mirror and state. */
  count({ mirrorId, state, ...counts }: DocumentCount): void {
    this.#add("document_counts", { mirror_id: mirrorId, state }, counts);
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

  #add(
    table: string,
    key: Readonly<Record<string, Cell>>,
    counts: Readonly<Record<string, number>>,
  ) {
    const names = [...Object.keys(key), ...Object.keys(counts)];
    const sums = Object.keys(counts).map((name) => `${name} = ${name} + excluded.${name}`);
    this.#sql
      .of(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => "?").join()})
        ON CONFLICT (${Object.keys(key).join()}) DO UPDATE SET ${sums.join()}`)
      .run(...Object.values(key), ...Object.values(counts));
  }
}
