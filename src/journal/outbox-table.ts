/** Outcomes that `after` hooks are to be told, written with the event that each is. */
import type { Document } from "../domain/document.ts";
import type { Statements } from "../sqlite/statements.ts";
import type { HookOutcome } from "./outbox-entry.ts";

export class OutboxTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Keeps an outcome where its mirror has an `after` hook. */
  add(document: Document, outcome: HookOutcome, at: number): void {
    const { mirrorId } = document;
    if (!this.#sql.of("SELECT 1 FROM mirrors WHERE id = ? AND tells = 1").get(mirrorId)) return;
    this.#sql
      .of("INSERT INTO outbox (mirror_id, outcome, at, document, due_at) VALUES (?, ?, ?, ?, ?)")
      .run(mirrorId, outcome, at, JSON.stringify(document), at);
  }
}
