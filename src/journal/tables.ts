import type { Database } from "better-sqlite3";
import { DocumentsTable } from "./documents-table.ts";
import { Statements } from "../sqlite/statements.ts";
import { Writer } from "./writer.ts";
import type { Document, State } from "../domain/document.ts";
import type { HookOutcome } from "./outbox-entry.ts";
import { SQLITE } from "./dialect.ts";
import { addCountIn, countValues, type DocumentCount } from "./document-counts.ts";
import type { Batch, AttemptRow } from "./journal.ts";
import { ADD_USAGE, type UsageBucket, usageValues } from "./usage-bucket.ts";
import type { Event } from "../domain/life.ts";
import { bytesOf, joinRaw } from "../std/raw-path.ts";
import { attemptEffect, begunAttempt } from "./attempt-effect.ts";
import { type HistoryLine, linesFor, type NumberedLine, numberOf } from "./history-line.ts";

/** Everything that knows SQL, over one connection, and the writer over it. */
export type Tables = ReturnType<typeof tablesIn>;

/** The tables of an open journal. */
export function tablesIn(db: Database) {
  const statements = new Statements(db);
  const tables = {
    statements,
    documents: new DocumentsTable(statements),
    records: new RecordsTable(statements),
    activity: new ActivityTable(statements),
    outboxEntries: new OutboxTable(statements),
  };
  return { ...tables, writer: new Writer(tables) };
}

/** Outcomes that `after` hooks are to be told, written with the event that each is. */
class OutboxTable {
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

/** What happened lately: usage buckets, and batches. */
const ADD_COUNT = addCountIn(SQLITE);

/** Written with the documents that it is about. */
class ActivityTable {
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

/** What is kept about documents next to their rows: history, attempts, and where forgotten rows were. */
const HISTORY = `SELECT h.number, h.at, h.from_state AS "from", h.to_state AS "to", h.event, h.detail, h.times
  FROM history h`;

class RecordsTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Writes lines of a document's history at their places, where others may have been. */
  write(document: number, lines: readonly NumberedLine[]): void {
    const insert = this.#sql.of(`INSERT OR REPLACE INTO history
        (document, number, at, from_state, to_state, event, detail, times)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    for (const { number, at, from, to, event, detail, times } of lines)
      insert.run(document, number, at, from, to, event, detail, times);
  }

  /** Adds a line to a document's history, or counts it there. */
  tell({ id, ordinary, state }: Document, line: HistoryLine): void {
    const [last, before] = this.#sql
      .of<NumberedLine>(`${HISTORY} WHERE h.document = ? ORDER BY h.number DESC LIMIT 2`)
      .all(id);
    this.write(id, linesFor(line, last, before, ordinary ? numberOf(state) + 1 : 1));
  }

  /** Lets go of a document's history. */
  drop(document: number): void {
    this.#sql.of("DELETE FROM history WHERE document = ?").run(document);
  }

  /** Remembers where the file of a row was that is about to be forgotten. */
  rememberForgotten({ id, mirrorId, dir, name }: Document): void {
    this.#sql
      .of("INSERT INTO forgotten (document, mirror_id, path) VALUES (?, ?, ?)")
      .run(id, mirrorId, bytesOf(joinRaw(dir, name)));
  }

  /** What `event`, which led from `from` to `document`, does to the document's attempt. */
  attempt(from: Document, document: Document, event: Event): void {
    const effect = attemptEffect(from.state satisfies State, event);
    if (effect?.type === "open")
      this.writeAttempt(document.id, document.attempts, begunAttempt(document, event.at));
    if (effect?.type === "drop") {
      this.#sql
        .of("DELETE FROM attempts WHERE document = ? AND number = ?")
        .run(from.id, from.attempts);
    }
    if (effect?.type === "outcome") {
      this.#sql
        .of(`UPDATE attempts SET ended_at = ?, outcome = ?, document_id = ?
          WHERE document = ? AND number = ?`)
        .run(effect.endedAt, effect.outcome, effect.documentId, document.id, document.attempts);
    }
  }

  /** Lets go of the tombstone of a document of the mirror's archive; false: there was none. */
  dropTombstone(documentId: number, mirrorId: number): boolean {
    const { changes } = this.#sql
      .of(`DELETE FROM tombstones WHERE document_id = ?
        AND archive_id = (SELECT archive_id FROM mirrors WHERE id = ?)`)
      .run(documentId, mirrorId);
    return changes > 0;
  }

  /** Writes the document's attempt of this number. */
  writeAttempt(document: number, number: number, attempt: AttemptRow): void {
    this.#sql
      .of(`INSERT INTO attempts (document, number, started_at, ended_at, digest, sent_name, folder_id,
          batch, outcome, document_id)
        VALUES (@document, @number, @startedAt, @endedAt, @digest, @sentName, @folderId,
          @batch, @outcome, @documentId)`)
      .run({ ...attempt, document, number });
  }
}
