/** What is kept about documents beside their rows: history, attempts, and where forgotten rows were. */
import type { Document, State } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";
import { invariant } from "../std/invariant.ts";
import { bytesOf, joinRaw, type RawPath } from "../std/raw-path.ts";
import { attemptEffect } from "./attempt-effect.ts";
import { type HistoryLine, linesFor, mayRepeat, type NumberedLine } from "./history-line.ts";
import type { AttemptRow, HistoryRow } from "./journal.ts";
import { historyRow, type StoredLine } from "./row-shapes.ts";
import type { Statements } from "./statements.ts";

const HISTORY = `SELECT h.at, h.from_state AS "from", h.to_state AS "to", h.event, h.detail, h.times
  FROM history h`;

export class RecordsTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** The first line of a new document's history. */
  begin(document: number, { at, from, to, event, detail }: HistoryLine): void {
    this.#sql
      .of(`INSERT INTO history (document, number, at, from_state, to_state, event, detail)
        VALUES (?, 1, ?, ?, ?, ?, ?)`)
      .run(document, at, from, to, event, detail);
  }

  /** Adds a line to a document's history, or counts it there. */
  tell(document: number, line: HistoryLine): void {
    if (mayRepeat(line)) {
      const [last, before] = this.#sql
        .of<NumberedLine>(
          `SELECT h.number, ${HISTORY.slice("SELECT ".length)}
            WHERE h.document = ? ORDER BY h.number DESC LIMIT 2`,
        )
        .all(document);
      for (const told of linesFor(line, last, before)) this.#write(document, told);
      return;
    }
    const { at, from, to, event, detail } = line;
    this.#sql
      .of(`INSERT INTO history (document, number, at, from_state, to_state, event, detail)
        VALUES (@document,
          (SELECT coalesce(max(number), 0) + 1 FROM history WHERE document = @document),
          @at, @from, @to, @event, @detail)`)
      .run({ document, at, from, to, event, detail });
  }

  /** Writes a line at its place, where another one may have been. */
  #write(document: number, line: NumberedLine): void {
    const { number, at, from, to, event, detail, times } = line;
    this.#sql
      .of(`INSERT OR REPLACE INTO history
          (document, number, at, from_state, to_state, event, detail, times)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
      .run(document, number, at, from, to, event, detail, times);
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
    if (effect?.type === "open") this.#openAttempt(document, event.at);
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

  #openAttempt(document: Document, at: number): void {
    const { id, attempts, digest, sentName, folderId, batch } = document;
    invariant(
      digest !== null && sentName !== null,
      `document ${id}: claimed before it was settled`,
    );
    this.#sql
      .of(`INSERT INTO attempts (document, number, started_at, digest, sent_name, folder_id, batch)
        VALUES (?, ?, ?, ?, ?, ?, ?)`)
      .run(id, attempts, at, digest, sentName, folderId, batch);
  }

  history(document: number): HistoryRow[] {
    return this.#sql
      .of<StoredLine>(`${HISTORY} WHERE h.document = ? ORDER BY h.number`)
      .all(document)
      .map(historyRow);
  }

  /** History of the rows of this path that were forgotten, in the order in which those came to be. */
  forgotten(mirrorId: number, path: RawPath): HistoryRow[] {
    return this.#sql
      .of<StoredLine>(`${HISTORY} JOIN forgotten f ON f.document = h.document
        WHERE f.mirror_id = ? AND f.path = ? ORDER BY h.document, h.number`)
      .all(mirrorId, bytesOf(path))
      .map(historyRow);
  }

  attempts(document: number): AttemptRow[] {
    return this.#sql
      .of<AttemptRow>(`SELECT started_at AS startedAt, ended_at AS endedAt, digest,
          sent_name AS sentName, folder_id AS folderId, batch, outcome, document_id AS documentId
        FROM attempts WHERE document = ? ORDER BY number`)
      .all(document);
  }
}
