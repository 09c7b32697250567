import type { Statements } from "../sqlite/statements.ts";
import { documentOrder, type Label, LABELS } from "./document-table.ts";
import type { StoredDocumentRow } from "./document-row.ts";
import { fold } from "./fold.ts";
import type { FolderRow } from "./folder-table.ts";
import type { ParameterValues } from "./parameters.ts";
import { orderBy, select, type Slice, type Sliced, sliceOf } from "./slice.ts";

/**
 * Search, as far as the interface leaves it open:
 *
 * - all criteria must hold (AND); texts are found anywhere in a field, whatever their capitals;
 * - `doc…`, `pages…`, `filesize…` and `modifiedDate…` speak of documents, `folder…` of folders,
 *   the others of both; when all the criteria of one kind speak of documents only, no folders
 *   come, and the other way round;
 * - documents inside a digidoc are not found on their own; their text finds the digidoc;
 * - a page holds `paginationSize` items in all: the documents first, then the folders.
 */
export type SearchResult = { documents: StoredDocumentRow[]; folders: FolderRow[]; total: number };

type Asked = ParameterValues<"search">;

const OF_DOCUMENTS = /^(?:doc|pages|filesize|modifiedDate)/;
const OF_FOLDERS = /^folder/;

/** Finds one page of what the account has, uploaded before `before`. The statements are not kept: their texts vary. */
export function search(
  sql: Statements,
  accountId: number,
  asked: Asked,
  before: number,
): SearchResult {
  const speaksOf = (kind: RegExp) =>
    Object.entries(asked).some(([name, value]) => value !== undefined && kind.test(name));
  const wantsDocuments = speaksOf(OF_DOCUMENTS) || !speaksOf(OF_FOLDERS);
  const wantsFolders = speaksOf(OF_FOLDERS) || !speaksOf(OF_DOCUMENTS);
  const slice = sliceOf(asked);
  const documents: Sliced<StoredDocumentRow> = wantsDocuments
    ? documentConditions(accountId, asked, before).select(
        sql,
        // What is found on its own was created by its upload; for these times there is an index.
        documentOrder(asked.sortBy === "UPLOADED_DATE" ? "CREATED_DATE" : asked.sortBy, slice),
        slice,
      )
    : { rows: [], total: 0 };
  const rest = {
    ...slice,
    limit: slice.limit - documents.rows.length,
    offset: Math.max(0, slice.offset - documents.total),
  };
  const folders: Sliced<FolderRow> = wantsFolders
    ? folderConditions(accountId, asked).select(sql, folderOrder(asked.sortBy, rest), rest)
    : { rows: [], total: 0 };
  const total = documents.total + folders.total;
  return { documents: documents.rows, folders: folders.rows, total };
}

/** Conditions on an account's rows of one table, joined by AND, with their values. */
class Conditions {
  /** True: few rows are left by a full-text index, which is then where to begin. */
  isNarrow = false;
  readonly #table: string;
  readonly #parts: string[] = [];
  readonly #values: (string | number)[];

  constructor(table: string, accountId: number) {
    this.#table = table;
    this.#values = [accountId];
  }

  add(part: string, ...values: (string | number)[]): void {
    this.#parts.push(`(${part})`);
    this.#values.push(...values);
  }

  contains(column: string, wanted: string | undefined): void {
    if (wanted !== undefined) this.add(`instr(fold(${column}), ?) > 0`, fold(wanted));
  }

  range(column: string, start: number | undefined, end: number | undefined): void {
    if (start !== undefined) this.add(`${column} >= ?`, start);
    if (end !== undefined) this.add(`${column} <= ?`, end);
  }

  present(column: string, wanted: boolean | undefined): void {
    if (wanted !== undefined) this.add(`${column} IS ${wanted ? "NOT NULL" : "NULL"}`);
  }

  /**
   * The rows that are left. SQLite has no statistics here and takes an account for a few rows; with
   * a plus before it the account is no reason to choose an index. Rows that have to be looked at one
   * by one are read in the order in which they lie: by an index that is in the wanted order, each
   * would be somewhere else.
   */
  select<Row>(sql: Statements, order: string, slice: Slice): Sliced<Row> {
    const hasIndex = this.isNarrow || this.#parts.some((part) => part.startsWith("(created_at "));
    const isScan = this.#parts.length > 0 && !hasIndex;
    const conditions = [`${this.isNarrow ? "+" : ""}account_id = ?`, ...this.#parts];
    if (this.#table === "document") conditions.push("digidoc_id IS NULL");
    const from = `FROM ${this.#table}${isScan ? " NOT INDEXED" : ""} WHERE ${conditions.join(" AND ")}`;
    return select<Row>(sql, from, this.#values, order, slice);
  }
}

function documentConditions(accountId: number, asked: Asked, before: number): Conditions {
  const all = new Conditions("document", accountId);
  if (before !== Infinity) all.add("uploaded_at < ?", before);
  addQuery(all, asked);
  for (const name of ["Filename", "Title", "Author", "Subject", "Keywords"] as const)
    addLabel(all, name.toLowerCase() as Lowercase<typeof name>, asked[`doc${name}`]);
  all.present("expire_at", asked.docHasExpireDate);
  all.range("created_at", asked.createdDateStart, asked.createdDateEnd);
  all.range("modified_at", asked.modifiedDateStart, asked.modifiedDateEnd);
  all.range("filesize", asked.filesizeStart, asked.filesizeEnd);
  all.range("pages", asked.pagesStart, asked.pagesEnd);
  return all;
}

function folderConditions(accountId: number, asked: Asked): Conditions {
  const all = new Conditions("folder", accountId);
  all.contains("concat_ws(char(10), name, folder_index, description, keywords)", asked.query);
  all.contains("name", asked.folderName);
  all.contains("folder_index", asked.folderIndex);
  all.contains("description", asked.folderDescription);
  all.contains("keywords", asked.folderKeywords);
  all.present("expire_at", asked.folderHasExpireDate);
  all.range("created_at", asked.createdDateStart, asked.createdDateEnd);
  return all;
}

const IN_LABELS = "SELECT rowid FROM document_label WHERE document_label MATCH ?";
const IN_WORDS = "SELECT rowid FROM document_text WHERE document_text MATCH ?";

/** The main criterion: any of the labels, or the words of the content. Blank text is everywhere. */
function addQuery(all: Conditions, { query, queryContent }: Asked): void {
  if (query === undefined || query === "") return;
  const labels = labelMatch(query, LABELS);
  const words = queryContent ? matchOf(query) : undefined;
  if (labels !== undefined) {
    if (words === undefined) all.add(`id IN (${IN_LABELS})`, labels);
    else all.add(`id IN (${IN_LABELS} UNION ${IN_WORDS})`, labels, words);
    all.isNarrow = true;
    return;
  }
  const named = `instr(fold(concat_ws(char(10), ${LABELS.join(", ")})), ?) > 0`;
  if (words === undefined) all.add(named, fold(query));
  else all.add(`${named} OR id IN (${IN_WORDS})`, fold(query), words);
}

function addLabel(all: Conditions, label: Label, part: string | undefined): void {
  if (part === undefined || part === "") return;
  const match = labelMatch(part, [label]);
  if (match === undefined) return all.contains(label, part);
  all.add(`id IN (${IN_LABELS})`, match);
  all.isNarrow = true;
}

/** Shorter texts have no three letters in a row. */
const LETTERS_MIN = 3;

/**
 * The full-text query for `part` anywhere in one of `labels`; undefined where the index cannot
 * tell, and every row has to be looked at.
 */
function labelMatch(part: string, labels: readonly Label[]): string | undefined {
  const folded = fold(part);
  // A NUL would end the query early.
  if (Array.from(folded).length < LETTERS_MIN || folded.includes("\0")) return undefined;
  return `{${labels.join(" ")}} : "${folded.replaceAll('"', '""')}"`;
}

/**
 * The words as a full-text query: each a quoted prefix, all of them needed. Marks that no letter has
 * taken up belong to the word that they are in: SQLite, too, leaves those above Latin letters there.
 */
function matchOf(query: string): string | undefined {
  const words = fold(query).match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu);
  return words ? allOf([...new Set(words)].map((word) => `"${word}"*`)) : undefined;
}

/** Halved again and again: SQLite copies what it has of a row of terms with each that it reads. */
function allOf(terms: readonly string[]): string {
  if (terms.length < 2) return terms.join("");
  const half = Math.ceil(terms.length / 2);
  return `(${allOf(terms.slice(0, half))} AND ${allOf(terms.slice(half))})`;
}

function folderOrder(sort: Asked["sortBy"], slice: Slice): string {
  // Folders have no pages and are not uploaded; under those orders they go by their creation.
  const column = { NAME: "fold(name)", EXPIRE_DATE: "expire_at" }[sort as string] ?? "created_at";
  return orderBy(`${column} NULLS LAST`, slice);
}
