import type { Statements } from "../sqlite/statements.ts";

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

const NOTICES = `
  SELECT notice.*, account.key,
    coalesce(document.filename, folder.name, '') AS name,
    coalesce(document.folder_id, folder.id, 0) AS folder_id
  FROM notice JOIN account ON account.id = notice.account_id
  LEFT JOIN document ON notice.kind = 'document' AND document.id = notice.subject_id
  LEFT JOIN folder ON notice.kind = 'folder' AND folder.id = notice.subject_id`;

const UNNOTICED = "expire_at IS NOT NULL AND expiry_noticed = 0";

/** The expiries that passed, and those still to be delivered. */
export class NoticeTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** When the next expiry is that nobody noticed yet; it may have passed. */
  nextExpiry(): number | undefined {
    const next = (kind: string) => `SELECT min(expire_at) AS at FROM ${kind} WHERE ${UNNOTICED}`;
    const found = this.#sql
      .of<{ at: number | null }>(
        `SELECT min(at) AS at FROM (${next("document")} UNION ALL ${next("folder")})`,
      )
      .get();
    return found?.at ?? undefined;
  }

  /**
   * Turns up to `limit` expiries of each kind that have passed into notices, once each, and
   * returns them. `tells`: they are to be delivered. Part of a transaction of anyone who calls.
   */
  notice(now: number, tells: boolean, limit: number): NoticeRow[] {
    return ["document", "folder"].flatMap((kind) => {
      const added = this.#sql
        .of<{ id: number; subject_id: number }>(
          `INSERT INTO notice (account_id, kind, subject_id, expire_at, noticed_at, due_at)
           SELECT account_id, '${kind}', id, expire_at, @now, @dueAt FROM ${kind}
           WHERE ${UNNOTICED} AND expire_at <= @now ORDER BY expire_at, id LIMIT @limit
           RETURNING id, subject_id`,
        )
        .all({ now, dueAt: tells ? now : null, limit });
      for (const { subject_id } of added)
        this.#sql.of(`UPDATE ${kind} SET expiry_noticed = 1 WHERE id = ?`).run(subject_id);
      return this.#sql
        .of<NoticeRow>(`${NOTICES} WHERE notice.id IN (SELECT value FROM json_each(?))`)
        .all(JSON.stringify(added.map(({ id }) => id)));
    });
  }

  /** The notice that is to be delivered first, perhaps not yet. */
  nextDue(): (NoticeRow & { due_at: number }) | undefined {
    return this.#sql
      .of<NoticeRow & { due_at: number }>(
        `${NOTICES} WHERE due_at IS NOT NULL ORDER BY due_at, notice.id LIMIT 1`,
      )
      .get();
  }

  delivered(id: number, now: number): void {
    this.#sql.of("UPDATE notice SET due_at = NULL, delivered_at = ? WHERE id = ?").run(now, id);
  }

  /** A delivery failed; the next one is due at `dueAt`. */
  postpone(id: number, dueAt: number): void {
    this.#sql
      .of("UPDATE notice SET due_at = ?, attempts = attempts + 1 WHERE id = ?")
      .run(dueAt, id);
  }

  /** How many expiries were noticed, and how many of them are still to be delivered. */
  counts(): { noticed: number; waiting: number } {
    const row = this.#sql
      .of<{ noticed: number; waiting: number }>(
        "SELECT count(*) AS noticed, count(due_at) AS waiting FROM notice",
      )
      .get();
    return row ?? { noticed: 0, waiting: 0 };
  }
}
