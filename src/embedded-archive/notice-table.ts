import { invariant } from "../std/invariant.ts";
import { Statements, type StoreConnection } from "./store-schema.ts";

/** One row of the table `notice`, with what it is about as it is now. */
export type NoticeRow = {
  id: number;
  kind: "document" | "folder";
  subject_id: number;
  expire_at: number;
  noticed_at: number;
  attempts: number;
  due_at: number | null;
  /** Of the account. */
  key: string;
  /** Of the document or the folder. */
  name: string;
  /** The folder, or the one that the document is in. */
  folder_id: number;
};

/** The expiries that passed, and whom that is still to be told. */
export class NoticeTable {
  readonly #db: StoreConnection;
  readonly #sql: Statements;

  constructor(db: StoreConnection) {
    this.#db = db;
    this.#sql = new Statements(db);
  }

  /** When the next expiry is that nobody noticed yet; it may have passed. */
  nextExpiry(): number | undefined {
    const next = (table: string) =>
      this.#sql
        .prepare<[], { expire_at: number }>(
          `SELECT expire_at FROM ${table} WHERE expire_at IS NOT NULL AND expiry_noticed = 0
           ORDER BY expire_at LIMIT 1`,
        )
        .get()?.expire_at ?? Infinity;
    const earliest = Math.min(next("document"), next("folder"));
    return Number.isFinite(earliest) ? earliest : undefined;
  }

  /**
   * Turns up to `limit` expiries of each kind that have passed into notices, once each, and
   * returns them. `tells`: they are to be delivered.
   */
  notice(now: number, tells: boolean, limit: number): NoticeRow[] {
    return this.#db.transaction(() =>
      (["document", "folder"] as const).flatMap((kind) => {
        const passed = this.#passed(kind, now, limit);
        return passed.map((subject) => this.#add(kind, subject, now, tells));
      }),
    )();
  }

  /** The notice that is to be delivered first, perhaps not yet. */
  nextDue(): (NoticeRow & { due_at: number }) | undefined {
    const due = this.#sql
      .prepare<[], { id: number; due_at: number }>(
        "SELECT id, due_at FROM notice WHERE due_at IS NOT NULL ORDER BY due_at, id LIMIT 1",
      )
      .get();
    return due && { ...this.#row(due.id), due_at: due.due_at };
  }

  delivered(id: number, now: number): void {
    this.#sql
      .prepare("UPDATE notice SET due_at = NULL, delivered_at = ? WHERE id = ?")
      .run(now, id);
  }

  /** A delivery failed; the next one is due at `dueAt`. */
  postpone(id: number, dueAt: number): void {
    this.#sql
      .prepare("UPDATE notice SET due_at = ?, attempts = attempts + 1 WHERE id = ?")
      .run(dueAt, id);
  }

  /** How many expiries were noticed, and how many of them are still to be delivered. */
  counts(): { noticed: number; waiting: number } {
    const row = this.#sql
      .prepare<[], { noticed: number; waiting: number }>(
        "SELECT count(*) AS noticed, count(due_at) AS waiting FROM notice",
      )
      .get();
    return row ?? { noticed: 0, waiting: 0 };
  }

  #passed(kind: string, now: number, limit: number) {
    return this.#sql
      .prepare<[number, number], { id: number; account_id: number; expire_at: number }>(
        `SELECT id, account_id, expire_at FROM ${kind}
         WHERE expire_at IS NOT NULL AND expiry_noticed = 0 AND expire_at <= ?
         ORDER BY expire_at, id LIMIT ?`,
      )
      .all(now, limit);
  }

  #add(
    kind: "document" | "folder",
    subject: { id: number; account_id: number; expire_at: number },
    now: number,
    tells: boolean,
  ): NoticeRow {
    const { id, account_id, expire_at } = subject;
    this.#sql.prepare(`UPDATE ${kind} SET expiry_noticed = 1 WHERE id = ?`).run(id);
    const { lastInsertRowid } = this.#sql
      .prepare(
        `INSERT INTO notice (account_id, kind, subject_id, expire_at, noticed_at, due_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
      )
      .run(account_id, kind, id, expire_at, now, tells ? now : null);
    return this.#row(Number(lastInsertRowid));
  }

  #row(id: number): NoticeRow {
    const row = this.#sql
      .prepare<[number], NoticeRow>(
        `SELECT notice.*, account.key,
           coalesce(document.filename, folder.name, '') AS name,
           coalesce(document.folder_id, folder.id, 0) AS folder_id
         FROM notice JOIN account ON account.id = notice.account_id
         LEFT JOIN document ON notice.kind = 'document' AND document.id = notice.subject_id
         LEFT JOIN folder ON notice.kind = 'folder' AND folder.id = notice.subject_id
         WHERE notice.id = ?`,
      )
      .get(id);
    invariant(row, `there is no notice ${id}`);
    return row;
  }
}
