/** Pages: what waits to be sent, what the archive may be charging, and which warning was given. */
import type { WarnedRow } from "./journal.ts";
import type { Statements } from "./statements.ts";

/** The texts, by the question they answer. */
export const PAGES_QUERIES = {
  pendingOver: `SELECT count(*) AS documents
    FROM documents WHERE mirror_id = ? AND state = 'pending' AND estimate > ?`,
  charged: `SELECT mirror_id AS mirrorId, sum(charged) AS pages FROM usage_buckets
    WHERE at >= ? AND at < ? GROUP BY mirror_id`,
  charging: `SELECT n.mirror_id AS mirrorId, coalesce(sum(n.charge), 0) AS pages FROM documents n
    INDEXED BY documents_conflicts WHERE (n.state IN ('uploading', 'inDoubt') OR n.doubt_at IS NOT NULL) GROUP BY n.mirror_id`,
} as const;

type Sum = { readonly mirrorId: number; readonly pages: number };

/** What is asked answers as `Journal` has it; numbers are counts of pages and documents. */
export class PagesTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  pendingOver(mirrorId: number, pages: number): number {
    type Row = { readonly documents: number };
    return this.#sql.of<Row>(PAGES_QUERIES.pendingOver).get(mirrorId, pages)?.documents ?? 0;
  }

  used(from: number, to: number): Sum[] {
    const charging = this.#sql.of<Sum>(PAGES_QUERIES.charging).all();
    const sums = new Map(charging.map(({ mirrorId, pages }) => [mirrorId, pages]));
    for (const { mirrorId, pages } of this.#sql.of<Sum>(PAGES_QUERIES.charged).all(from, to))
      sums.set(mirrorId, (sums.get(mirrorId) ?? 0) + pages);
    return [...sums].map(([mirrorId, pages]) => ({ mirrorId, pages }));
  }

  warned(archiveId: number): WarnedRow {
    const row = this.#sql
      .of<WarnedRow>(`SELECT allowance_from AS "from", allowance_warned AS level
        FROM archives WHERE id = ?`)
      .get(archiveId);
    return row ?? { from: null, level: 0 };
  }

  setWarned(archiveId: number, { from, level }: WarnedRow): void {
    this.#sql
      .of("UPDATE archives SET allowance_from = ?, allowance_warned = ? WHERE id = ?")
      .run(from, level, archiveId);
  }
}
