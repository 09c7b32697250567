import { Statements, type StoreConnection } from "./store-schema.ts";

/** What the archive holds in all: counted, not kept. Each question reads many rows. */
export class Holdings {
  readonly #sql: Statements;

  constructor(db: StoreConnection) {
    this.#sql = new Statements(db);
  }

  /** How many uploaded documents the account has in each state. */
  stateCounts(accountId: number): { uploaded: number; converted: number } {
    const rows = this.#sql
      .prepare<[number], { status: string; count: number }>(
        `SELECT status, count(*) AS count FROM document
         WHERE account_id = ? AND digidoc_id IS NULL GROUP BY status`,
      )
      .all(accountId);
    const of = (status: string) => rows.find((row) => row.status === status)?.count ?? 0;
    return { uploaded: of("UPLOADED"), converted: of("CONVERTED") };
  }

  /** How many documents are in each folder of the account that has any. */
  folderCounts(accountId: number): Map<number, number> {
    const rows = this.#sql
      .prepare<[number], { folder_id: number; count: number }>(
        `SELECT folder_id, count(*) AS count FROM document
         WHERE account_id = ? AND digidoc_id IS NULL GROUP BY folder_id`,
      )
      .all(accountId);
    return new Map(rows.map(({ folder_id, count }) => [folder_id, count]));
  }

  /** What is stored, by content: with one of the documents that have it. */
  *blobs(): IterableIterator<{ sha256: string; size: number; id: number }> {
    yield* this.#sql
      .prepare<[], { sha256: string; size: number; id: number }>(
        `SELECT sha256, min(size) AS size, min(id) AS id FROM document
         WHERE digidoc_id IS NULL GROUP BY sha256 ORDER BY sha256`,
      )
      .iterate();
  }

  /** Accounts whose pages are not the sum of what their documents were charged. */
  wrongCharges(): { key: string; pages_used: number; charged: number }[] {
    return this.#sql
      .prepare<[], { key: string; pages_used: number; charged: number }>(
        `SELECT key, pages_used, coalesce(sum(pages_charged), 0) AS charged
         FROM account LEFT JOIN document ON document.account_id = account.id
         GROUP BY account.id HAVING pages_used <> charged`,
      )
      .all();
  }
}
