import { invariant } from "../std/invariant.ts";
import type { DocumentSort } from "../wire/shapes.ts";
import type { StoredDocumentRow } from "./document-row.ts";
import { LabelIndex, LABELS, METADATA, type Metadata } from "./label-index.ts";
import { fold, Statements, type StoreConnection } from "./store-schema.ts";
import type { Slice } from "./reading.ts";

/** What an upload puts in. */
export type ReceivedDocument = Pick<
  StoredDocumentRow,
  "account_id" | "folder_id" | "filename" | "document_name" | "uploaded_at" | "size" | "sha256"
> &
  Pick<StoredDocumentRow, "pages_charged" | "batch" | "expire_at" | "convert_at"> &
  Pick<StoredDocumentRow, "title" | "author" | "subject" | "keywords" | "producer" | "description">;

/** What the conversion found out. Absent texts are left as they are. */
export type Converted = Metadata & {
  pages: number;
  digidoc: boolean;
  /** For the content search. */
  text: string;
  contents: { name: string; size: number; sha256: string; pages: number }[];
};

/** Ties are broken by id, which makes every order total: pages neither lose nor repeat. */
const ORDER: Record<DocumentSort, string> = {
  NAME: "coalesce(name_key, document_name) COLLATE NOCASE",
  PAGES: "pages",
  CREATED_DATE: "created_at",
  UPLOADED_DATE: "uploaded_at",
  EXPIRE_DATE: "expire_at",
};

/** The ORDER BY of a list of documents. Documents without the date come last either way. */
export function documentOrder(sort: DocumentSort, descending: boolean): string {
  const direction = descending ? "DESC" : "ASC";
  const last = sort === "EXPIRE_DATE" ? " NULLS LAST" : "";
  return `ORDER BY ${ORDER[sort]} ${direction}${last}, id ${direction}`;
}

/** The documents of all accounts. */
export class DocumentTable {
  readonly #sql: Statements;
  readonly #labels: LabelIndex;

  constructor(db: StoreConnection) {
    this.#sql = new Statements(db);
    this.#labels = new LabelIndex(db);
  }

  /** Adds an uploaded document and charges its pages. */
  add(given: ReceivedDocument): StoredDocumentRow {
    const row = this.#sql
      .prepare<[ReceivedDocument & { name_key: string | null }], StoredDocumentRow>(
        `INSERT INTO document (account_id, folder_id, filename, document_name, created_at, uploaded_at,
           modified_at, status, size, sha256, pages_charged, batch, expire_at, title, author, subject,
           keywords, producer, description, convert_at, name_key)
         VALUES (@account_id, @folder_id, @filename, @document_name, @uploaded_at, @uploaded_at,
           @uploaded_at, 'UPLOADED', @size, @sha256, @pages_charged, @batch, @expire_at, @title,
           @author, @subject, @keywords, @producer, @description, @convert_at, @name_key)
         RETURNING *`,
      )
      .get({ ...given, name_key: nameKeyOf(given.document_name) });
    invariant(row, "an insert returns its row");
    this.#labels.add(row);
    this.#charge(given.account_id, given.pages_charged);
    return row;
  }

  /** The account's document with this id; another account's does not exist. */
  find(accountId: number, id: number): StoredDocumentRow | undefined {
    return this.#sql
      .prepare<[number, number], StoredDocumentRow>(
        "SELECT * FROM document WHERE id = ? AND account_id = ?",
      )
      .get(id, accountId);
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
  uploaded(accountId: number, after = 0, limit = -1): StoredDocumentRow[] {
    return this.#sql
      .prepare<[number, number, number], StoredDocumentRow>(
        `SELECT * FROM document NOT INDEXED
         WHERE account_id = ? AND digidoc_id IS NULL AND id > ? ORDER BY id LIMIT ?`,
      )
      .all(accountId, after, limit);
  }

  /** The uploaded document with this id, of whatever account. */
  uploadedById(id: number): StoredDocumentRow | undefined {
    return this.#sql
      .prepare<[number], StoredDocumentRow>(
        "SELECT * FROM document WHERE id = ? AND digidoc_id IS NULL",
      )
      .get(id);
  }

  /** One more view or download of the document. */
  count(id: number, what: "viewed" | "downloaded"): void {
    this.#sql
      .prepare<[number]>(`UPDATE document SET ${what}_tally = ${what}_tally + 1 WHERE id = ?`)
      .run(id);
  }

  /** The document whose conversion is due first, perhaps not yet. */
  nextDue(): (StoredDocumentRow & { convert_at: number }) | undefined {
    return this.#sql
      .prepare<[], StoredDocumentRow & { convert_at: number }>(
        "SELECT * FROM document WHERE convert_at IS NOT NULL ORDER BY convert_at, id LIMIT 1",
      )
      .get();
  }

  /** Sets when the document's conversion is due. */
  postpone(id: number, convertAt: number): void {
    this.#sql
      .prepare("UPDATE document SET convert_at = ? WHERE id = ? AND status = 'UPLOADED'")
      .run(convertAt, id);
  }

  /** Documents that were never to be converted are due again: a restart makes good for that. */
  rearm(now: number): void {
    this.#sql
      .prepare(
        "UPDATE document SET convert_at = ? WHERE status = 'UPLOADED' AND convert_at IS NULL",
      )
      .run(now);
  }

  /** UPLOADED becomes CONVERTED, with all that the conversion found. Part of a transaction. */
  convert(row: StoredDocumentRow, found: Converted, now: number): void {
    const { pages, digidoc, text, contents } = found;
    const labels = Object.fromEntries(METADATA.map((label) => [label, found[label] ?? null]));
    const converted = this.#sql
      .prepare<[object], StoredDocumentRow>(
        `UPDATE document SET status = 'CONVERTED', convert_at = NULL, modified_at = @now,
           pages = @pages, pages_charged = @pages, filesize = size, digidoc = @digidoc,
           title = coalesce(title, @title), author = coalesce(author, @author),
           subject = coalesce(subject, @subject), keywords = coalesce(keywords, @keywords),
           producer = coalesce(producer, @producer), description = coalesce(description, @description)
         WHERE id = @id AND status = 'UPLOADED' RETURNING *`,
      )
      .get({
        id: row.id,
        now,
        pages,
        digidoc: digidoc ? 1 : 0,
        ...labels,
      });
    // Converted before, or gone: nothing may be charged or listed twice.
    if (!converted) return;
    if (LABELS.some((label) => converted[label] !== row[label])) this.#labels.replace(converted);
    this.#charge(row.account_id, pages - row.pages_charged);
    for (const content of contents) this.#addContent(row, content, now);
    if (text !== "")
      this.#sql
        .prepare("INSERT INTO document_text (rowid, text) VALUES (?, ?)")
        .run(row.id, fold(text));
  }

  /** Whether any uploaded document has these bytes; those inside a digidoc have no blob. */
  hasBlob(sha256: string): boolean {
    const found = this.#sql
      .prepare("SELECT 1 FROM document WHERE sha256 = ? AND digidoc_id IS NULL LIMIT 1")
      .get(sha256);
    return found !== undefined;
  }

  #addContent(
    container: StoredDocumentRow,
    content: Converted["contents"][number],
    now: number,
  ): void {
    const { account_id, folder_id, id: digidoc_id } = container;
    const documentName = documentNameOf(content.name);
    this.#sql
      .prepare(
        `INSERT INTO document (account_id, folder_id, digidoc_id, filename, document_name, created_at,
           uploaded_at, modified_at, status, pages, filesize, size, sha256, pages_charged, name_key)
         VALUES (@account_id, @folder_id, @digidoc_id, @name, @documentName, @now, @uploadedAt, @now,
           'CONVERTED', @pages, @size, @size, @sha256, 0, @nameKey)`,
      )
      .run({
        ...content,
        account_id,
        folder_id,
        digidoc_id,
        documentName,
        nameKey: nameKeyOf(documentName),
        uploadedAt: container.uploaded_at,
        now,
      });
  }

  #slice(where: string, values: number[], sort: DocumentSort, slice: Slice) {
    const rows = this.#sql
      .prepare<number[], StoredDocumentRow>(
        `SELECT * FROM document WHERE ${where}
         ${documentOrder(sort, slice.descending)} LIMIT ? OFFSET ?`,
      )
      .all(...values, slice.limit, slice.offset);
    const counted = this.#sql
      .prepare<number[], { total: number }>(`SELECT count(*) AS total FROM document WHERE ${where}`)
      .get(...values);
    return { rows, total: counted?.total ?? 0 };
  }

  #charge(accountId: number, pages: number): void {
    this.#sql
      .prepare("UPDATE account SET pages_used = pages_used + ? WHERE id = ?")
      .run(pages, accountId);
  }
}

/** Section Resources: the file name without its extension. */
export function documentNameOf(filename: string): string {
  const dot = filename.lastIndexOf(".");
  return dot > 0 ? filename.slice(0, dot) : filename;
}

/** By what the name is ordered where NOCASE, which knows A to Z, would not do. */
function nameKeyOf(name: string): string | null {
  return /^[ -~]*$/.test(name) ? null : fold(name);
}
