/** What is kept about documents next to their rows: history, attempts, and where forgotten rows were. */
import type { Document, State } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";
import { bytesOf, joinRaw, type RawPath } from "../std/raw-path.ts";
import { attemptEffect, begunAttempt } from "./attempt-effect.ts";
import {
  type HistoryLine,
  historyRow,
  linesFor,
  type NumberedLine,
  numberOf,
} from "./history-line.ts";
import type { AttemptRow, HistoryRow } from "./journal.ts";
import type { Statements } from "./statements.ts";

const HISTORY = `SELECT h.number, h.at, h.from_state AS "from", h.to_state AS "to", h.event, h.detail, h.times
  FROM history h`;

export class RecordsTable {
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

  /** Writes the document's attempt of this number. */
  writeAttempt(document: number, number: number, attempt: AttemptRow): void {
    const { startedAt, endedAt, digest, sentName, folderId, batch, outcome, documentId } = attempt;
    this.#sql
      .of(`INSERT INTO attempts (document, number, started_at, ended_at, digest, sent_name, folder_id,
          batch, outcome, document_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
      .run(
        document,
        number,
        startedAt,
        endedAt,
        digest,
        sentName,
        folderId,
        batch,
        outcome,
        documentId,
      );
  }

  /** The lines that were written of a document; see `historyOf`. */
  lines(document: number): NumberedLine[] {
    return this.#sql.of<NumberedLine>(`${HISTORY} WHERE h.document = ?`).all(document);
  }

  /** History of the rows of this path that were forgotten, in the order in which those came to be. */
  forgotten(mirrorId: number, path: RawPath): HistoryRow[] {
    return this.#sql
      .of<NumberedLine>(`${HISTORY} JOIN forgotten f ON f.document = h.document
        WHERE f.mirror_id = ? AND f.path = ? ORDER BY h.document, h.number`)
      .all(mirrorId, bytesOf(path))
      .map(historyRow);
  }

  /** The attempts that were written of a document; see `attemptsOf`. */
  attempts(document: number): AttemptRow[] {
    return this.#sql
      .of<AttemptRow>(`SELECT started_at AS startedAt, ended_at AS endedAt, digest,
          sent_name AS sentName, folder_id AS folderId, batch, outcome, document_id AS documentId
        FROM attempts WHERE document = ? ORDER BY number`)
      .all(document);
  }
}
