/** Outcomes that `after` hooks are to be told, written with the event that each is. */
import type { Document } from "../domain/document.ts";
import { outboxEntryOf, type OutboxEntryRow } from "./row-shapes.ts";
import type { Statements } from "./statements.ts";
import type { OutboxEntry, HookOutcome } from "./outbox-entry.ts";

/** The texts, by the question they answer. */
export const OUTBOX_ENTRY_QUERIES = {
  outboxEntries: `SELECT number, mirror_id AS mirrorId, outcome, at, document, tries, due_at AS dueAt
    FROM outbox WHERE mirror_id = ? AND due_at <= ? ORDER BY due_at, number LIMIT ?`,
  undelivered:
    "SELECT mirror_id AS mirrorId, count(*) AS outboxEntries FROM outbox GROUP BY mirror_id",
} as const;

export class OutboxTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Outcomes of these mirrors' documents are kept from now on, and of no others. */
  keepFor(mirrorIds: readonly number[]): void {
    this.#sql
      .of("UPDATE mirrors SET tells = id IN (SELECT value FROM json_each(?))")
      .run(JSON.stringify(mirrorIds));
  }

  /** Keeps an outcome where its mirror has an `after` hook. */
  add(document: Document, outcome: HookOutcome, at: number): void {
    const { mirrorId } = document;
    if (!this.#sql.of("SELECT 1 FROM mirrors WHERE id = ? AND tells = 1").get(mirrorId)) return;
    this.#sql
      .of("INSERT INTO outbox (mirror_id, outcome, at, document, due_at) VALUES (?, ?, ?, ?, ?)")
      .run(mirrorId, outcome, at, JSON.stringify(document), at);
  }

  /** Those whose turn it is, the longest due first; `now` and all times in epoch ms. */
  due(mirrorId: number, now: number, limit: number): OutboxEntry[] {
    return this.#sql
      .of<OutboxEntryRow>(OUTBOX_ENTRY_QUERIES.outboxEntries)
      .all(mirrorId, now, limit)
      .map(outboxEntryOf);
  }

  remove(number: number): void {
    this.#sql.of("DELETE FROM outbox WHERE number = ?").run(number);
  }

  putOff(number: number, tries: number, dueAt: number): void {
    this.#sql
      .of("UPDATE outbox SET tries = ?, due_at = ? WHERE number = ?")
      .run(tries, dueAt, number);
  }

  /** Makes those that are due after `laterThan` due at `dueAt`. */
  pullIn(mirrorId: number, laterThan: number, dueAt: number): void {
    this.#sql
      .of("UPDATE outbox SET due_at = ? WHERE mirror_id = ? AND due_at > ?")
      .run(dueAt, mirrorId, laterThan);
  }

  counts(): { mirrorId: number; outboxEntries: number }[] {
    return this.#sql
      .of<{ mirrorId: number; outboxEntries: number }>(OUTBOX_ENTRY_QUERIES.undelivered)
      .all();
  }
}
