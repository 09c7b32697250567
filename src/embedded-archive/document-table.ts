import { invariant } from "../std/fault.ts";
import type { Statements } from "../sqlite/statements.ts";
import type { DocumentSort } from "../wire/shapes.ts";
import { type Converted, METADATA, type Metadata, type StoredDocumentRow } from "./document-row.ts";
import { fold } from "./fold.ts";
import { orderBy, select, type Slice } from "./slice.ts";

/** What an upload puts in. */
export type ReceivedDocument = Pick<
  StoredDocumentRow,
  | ("account_id" | "folder_id" | "filename" | "uploaded_at" | "size" | "sha256")
  | ("pages_charged" | "batch" | "expire_at" | "convert_at" | keyof Metadata)
>;

/** The texts that say what a document is: columns of `document`, and of its full-text index. */
export const LABELS = ["filename", ...METADATA] as const;
export type Label = (typeof LABELS)[number];

const ORDER: Record<DocumentSort, string> = {
  NAME: "coalesce(name_key, document_name) COLLATE NOCASE",
  PAGES: "pages",
  CREATED_DATE: "created_at",
  UPLOADED_DATE: "uploaded_at",
  // Documents without the date come last either way.
  EXPIRE_DATE: "expire_at NULLS LAST",
};

/** The ORDER BY of a list of documents. */
export function documentOrder(sort: DocumentSort, slice: Slice): string {
  return orderBy(ORDER[sort], slice);
}

/** The documents of all accounts. What changes some is part of a transaction of anyone who calls. */
export class DocumentTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Adds an uploaded document and charges its pages. */
  add(given: ReceivedDocument): StoredDocumentRow {
    const { uploaded_at } = given;
    const times = { created_at: uploaded_at, modified_at: uploaded_at };
    const row = this.#insert({ ...given, ...times, status: "UPLOADED" });
    this.#addLabels(row);
    this.#charge(given.account_id, given.pages_charged);
    return row;
  }

  /** The account's document with this id; another account's does not exist. */
  find(accountId: number, id: number): StoredDocumentRow | undefined {
    return this.#first("id = ? AND account_id = ?", id, accountId);
  }

  /** One slice of a folder's documents uploaded before `before`, and how many there are. */
  inFolder(folderId: number, sort: DocumentSort, slice: Slice, before: number) {
    const where = "folder_id = ? AND digidoc_id IS NULL";
    if (before === Infinity) return this.#slice(where, [folderId], sort, slice);
    return this.#slice(`${where} AND uploaded_at < ?`, [folderId, before], sort, slice);
  }

  /** One slice of the documents inside a digidoc document, and how many there are. */
  inDigidoc(digidocId: number, sort: DocumentSort, slice: Slice) {
    return this.#slice("digidoc_id = ?", [digidocId], sort, slice);
  }

  /** Uploaded documents of the account with ids above `after`, oldest first; -1: no limit. */
  uploaded(accountId: number, after = 0, limit = -1): IterableIterator<StoredDocumentRow> {
    return this.#sql
      .of<StoredDocumentRow>(
        `SELECT * FROM document NOT INDEXED
         WHERE account_id = ? AND digidoc_id IS NULL AND id > ? ORDER BY id LIMIT ?`,
      )
      .iterate(accountId, after, limit);
  }

  /** The uploaded document with this id, of whatever account. */
  uploadedById(id: number): StoredDocumentRow | undefined {
    return this.#first("id = ? AND digidoc_id IS NULL", id);
  }

  /** Whether any uploaded document has these bytes; those inside a digidoc have no blob. */
  hasBlob(sha256: string): boolean {
    return this.#first("sha256 = ? AND digidoc_id IS NULL LIMIT 1", sha256) !== undefined;
  }

  /** How many uploaded documents the account has in each state, or folder, that has any: counted, not kept. */
  counts(accountId: number, of: "status" | "folder_id"): Map<string | number, number> {
    const rows = this.#sql
      .of<{ value: string | number; count: number }>(
        `SELECT ${of} AS value, count(*) AS count FROM document
         WHERE account_id = ? AND digidoc_id IS NULL GROUP BY ${of}`,
      )
      .all(accountId);
    return new Map(rows.map(({ value, count }) => [value, count]));
  }

  /** What is stored, by content: with one of the documents that have it. */
  blobs() {
    return this.#sql
      .of<{ sha256: string; size: number; id: number }>(
        `SELECT sha256, min(size) AS size, min(id) AS id FROM document
         WHERE digidoc_id IS NULL GROUP BY sha256 ORDER BY sha256`,
      )
      .iterate();
  }

  /** One more view or download of the document; a power cut may lose the last ones. */
  count(id: number, what: "viewed" | "downloaded"): void {
    this.#sql.of(`UPDATE document SET ${what}_tally = ${what}_tally + 1 WHERE id = ?`).run(id);
  }

  /** The document whose conversion is due first, perhaps not yet. */
  nextDue(): (StoredDocumentRow & { convert_at: number }) | undefined {
    const due = this.#first("convert_at IS NOT NULL ORDER BY convert_at, id LIMIT 1");
    // The query leaves no other rows.
    return due as (StoredDocumentRow & { convert_at: number }) | undefined;
  }

  /** Sets when the document's conversion is due. */
  postpone(id: number, convertAt: number): void {
    this.#sql
      .of("UPDATE document SET convert_at = ? WHERE id = ? AND status = 'UPLOADED'")
      .run(convertAt, id);
  }

  /** Documents that were never to be converted are due again: a restart makes good for that. */
  rearm(now: number): void {
    this.#sql
      .of("UPDATE document SET convert_at = ? WHERE status = 'UPLOADED' AND convert_at IS NULL")
      .run(now);
  }

  /** UPLOADED becomes CONVERTED, with all that the conversion found. */
  convert(row: StoredDocumentRow, found: Converted, now: number): void {
    const { pages, digidoc, text, contents } = found;
    const metadata = Object.fromEntries(METADATA.map((name) => [name, found[name] ?? null]));
    const converted = this.#sql
      .of<StoredDocumentRow>(
        `UPDATE document SET status = 'CONVERTED', convert_at = NULL, modified_at = @now,
           pages = @pages, pages_charged = @pages, filesize = size, digidoc = @digidoc,
           ${METADATA.map((name) => `${name} = coalesce(${name}, @${name})`).join(", ")}
         WHERE id = @id AND status = 'UPLOADED' RETURNING *`,
      )
      .get({ id: row.id, now, pages, digidoc: digidoc ? 1 : 0, ...metadata });
    // Converted before, or gone: nothing may be charged or listed twice.
    if (!converted) return;
    if (LABELS.some((label) => converted[label] !== row[label])) {
      this.#sql.of("DELETE FROM document_label WHERE rowid = ?").run(row.id);
      this.#addLabels(converted);
    }
    this.#charge(row.account_id, pages - row.pages_charged);
    for (const content of contents) this.#addContent(row, content, now);
    if (text !== "")
      this.#sql.of("INSERT INTO document_text (rowid, text) VALUES (?, ?)").run(row.id, fold(text));
  }

  /** A document inside a digidoc document. */
  #addContent(
    { account_id, folder_id, id: digidoc_id, uploaded_at }: StoredDocumentRow,
    { name: filename, size, sha256, pages }: Converted["contents"][number],
    now: number,
  ): void {
    const place = { account_id, folder_id, digidoc_id };
    const times = { created_at: now, uploaded_at, modified_at: now };
    const content = { filename, pages, filesize: size, size, sha256, pages_charged: 0 };
    this.#insert({ ...place, ...times, ...content, status: "CONVERTED" });
  }

  #insert(given: Partial<StoredDocumentRow> & { filename: string }): StoredDocumentRow {
    const document_name = documentNameOf(given.filename);
    const values = { ...given, document_name, name_key: nameKeyOf(document_name) };
    const columns = Object.keys(values);
    const row = this.#sql
      .of<StoredDocumentRow>(
        `INSERT INTO document (${columns.join(", ")})
         VALUES (${columns.map((name) => `@${name}`).join(", ")}) RETURNING *`,
      )
      .get(values);
    invariant(row, "an insert returns its row");
    return row;
  }

  /** Has the document found by any part of its labels. */
  #addLabels(row: StoredDocumentRow): void {
    const texts = LABELS.map((label) => (row[label] === null ? null : fold(row[label])));
    this.#sql
      .of(
        `INSERT INTO document_label (rowid, ${LABELS.join(", ")}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(row.id, ...texts);
  }

  #first(where: string, ...values: (number | string)[]): StoredDocumentRow | undefined {
    return this.#sql.of<StoredDocumentRow>(`SELECT * FROM document WHERE ${where}`).get(...values);
  }

  #slice(where: string, values: number[], sort: DocumentSort, slice: Slice) {
    const order = documentOrder(sort, slice);
    return select<StoredDocumentRow>(
      this.#sql,
      `FROM document WHERE ${where}`,
      values,
      order,
      slice,
    );
  }

  #charge(accountId: number, pages: number): void {
    this.#sql
      .of("UPDATE account SET pages_used = pages_used + ? WHERE id = ?")
      .run(pages, accountId);
  }
}

/** Section Resources: the file name without its extension. */
function documentNameOf(filename: string): string {
  const dot = filename.lastIndexOf(".");
  return dot > 0 ? filename.slice(0, dot) : filename;
}

/** By what the name is ordered where NOCASE, which knows A to Z, would not do. */
function nameKeyOf(name: string): string | null {
  return /^[ -~]*$/.test(name) ? null : fold(name);
}
