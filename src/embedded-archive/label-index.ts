import type { StoredDocumentRow } from "./document-row.ts";
import { fold, Statements, type StoreConnection } from "./store-schema.ts";

/** What a file may say of its own, where its upload did not. */
export const METADATA = [
  ...(["title", "author", "subject"] as const),
  ...(["keywords", "producer", "description"] as const),
] as const;

/** Metadata as far as it is said. */
export type Metadata = { [Label in (typeof METADATA)[number]]?: string };

/** The texts that say what a document is: its name, and its metadata as far as known. */
export const LABELS = ["filename", ...METADATA] as const;
/** A column of `document`, and of its full-text index. */
export type Label = (typeof LABELS)[number];
type Labelled = Pick<StoredDocumentRow, "id" | Label>;

/** Shorter texts have no three letters in a row. */
const LETTERS_MIN = 3;

/** Finds documents by any part of their labels. Parts of transactions of anyone who calls. */
export class LabelIndex {
  readonly #sql: Statements;

  constructor(db: StoreConnection) {
    this.#sql = new Statements(db);
  }

  add(row: Labelled): void {
    const texts = LABELS.map((label) => (row[label] === null ? null : fold(row[label])));
    this.#sql
      .prepare<(string | number | null)[]>(
        `INSERT INTO document_label (rowid, ${LABELS.join(", ")}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(row.id, ...texts);
  }

  replace(row: Labelled): void {
    this.#sql.prepare<[number]>("DELETE FROM document_label WHERE rowid = ?").run(row.id);
    this.add(row);
  }
}

/**
 * The full-text query for `part` anywhere in one of `labels`; undefined where the index cannot
 * tell, and every row has to be looked at.
 */
export function labelMatch(part: string, labels: readonly Label[]): string | undefined {
  const folded = fold(part);
  // A NUL would end the query early.
  if (Array.from(folded).length < LETTERS_MIN || folded.includes("\0")) return undefined;
  return `{${labels.join(" ")}} : "${folded.replaceAll('"', '""')}"`;
}
