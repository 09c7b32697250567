/** What happened lately: usage buckets, and batches. */
import { SQLITE } from "./dialect.ts";
import { addCountIn, countValues, type DocumentCount } from "./document-counts.ts";
import type { Batch } from "./journal.ts";
import type { Statements } from "../sqlite/statements.ts";
import { ADD_USAGE, type UsageBucket, usageValues } from "./usage-bucket.ts";

const ADD_COUNT = addCountIn(SQLITE);

/** Written with the documents that it is about. */
export class ActivityTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Adds to the usage bucket of its mirror and time. */
  add(usageBucket: UsageBucket): void {
    this.#sql.run(ADD_USAGE, usageValues(usageBucket));
  }

  /** Adds to the count of its mirror and state. */
  count(count: DocumentCount): void {
    this.#sql.run(ADD_COUNT, countValues(count));
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
}
