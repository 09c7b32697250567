import { documentOrder } from "./document-table.ts";
import type { StoredDocumentRow } from "./document-row.ts";
import type { FolderRow } from "./folder-table.ts";
import { type Label, labelMatch, LABELS } from "./label-index.ts";
import type { ParameterValues } from "./parameters.ts";
import { fold, lowerCase, type StoreConnection } from "./store-schema.ts";
import { sliceOf } from "./reading.ts";

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

/** Conditions that are joined by AND, with their values. */
class Conditions {
  /** True: few rows are left by a full-text index, which is then where to begin. */
  isNarrow = false;
  readonly #first: string;
  readonly #parts: string[];
  readonly values: (string | number)[];

  constructor(first: string, value: number, ...parts: string[]) {
    this.#first = first;
    this.#parts = parts;
    this.values = [value];
  }

  add(part: string, ...values: (string | number)[]): void {
    this.#parts.push(`(${part})`);
    this.values.push(...values);
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
   * The table and its conditions. SQLite has no statistics here and takes an account for a few
   * rows; with a plus before it the account is no reason to choose an index. Rows that have to be
   * looked at one by one are read in the order in which they lie: by an index that is in the wanted
   * order, each would be somewhere else.
   */
  from(table: string): string {
    const where = [`${this.isNarrow ? "+" : ""}${this.#first} = ?`, ...this.#parts].join(" AND ");
    return `FROM ${table}${this.#isScan ? " NOT INDEXED" : ""} WHERE ${where}`;
  }

  get #isScan(): boolean {
    const conditions = this.#parts.filter((part) => part.startsWith("("));
    const hasIndex = this.isNarrow || conditions.some((part) => part.startsWith("(created_at "));
    return conditions.length > 0 && !hasIndex;
  }
}

/** Finds one page of what the account has, uploaded before `before`. */
export function search(
  db: StoreConnection,
  accountId: number,
  asked: ParameterValues<"search">,
  before: number,
): SearchResult {
  const ofDocuments = documentConditions(accountId, asked, before);
  const ofFolders = folderConditions(accountId, asked);
  const wantsOnlyFolders = speaksOf(asked, FOLDER_CRITERIA) && !speaksOf(asked, DOCUMENT_CRITERIA);
  const wantsOnlyDocuments =
    speaksOf(asked, DOCUMENT_CRITERIA) && !speaksOf(asked, FOLDER_CRITERIA);
  const documentTotal = wantsOnlyFolders ? 0 : count(db, "document", ofDocuments);
  const folderTotal = wantsOnlyDocuments ? 0 : count(db, "folder", ofFolders);

  const { limit, offset, descending } = sliceOf(asked);
  const order = documentOrder(asked.sortBy, descending);
  const documents = wantsOnlyFolders
    ? []
    : select<StoredDocumentRow>(db, "document", ofDocuments, order, limit, offset);
  const folders = wantsOnlyDocuments
    ? []
    : select<FolderRow>(
        db,
        "folder",
        ofFolders,
        folderOrder(asked.sortBy, descending),
        limit - documents.length,
        Math.max(0, offset - documentTotal),
      );
  return { documents, folders, total: documentTotal + folderTotal };
}

const DOCUMENT_CRITERIA = [
  ...(["docFilename", "docTitle", "docAuthor", "docSubject", "docKeywords"] as const),
  ...(["docHasExpireDate", "modifiedDateStart", "modifiedDateEnd"] as const),
  ...(["filesizeStart", "filesizeEnd", "pagesStart", "pagesEnd"] as const),
] satisfies (keyof ParameterValues<"search">)[];

const FOLDER_CRITERIA = [
  ...(["folderName", "folderIndex", "folderDescription", "folderKeywords"] as const),
  "folderHasExpireDate",
] satisfies (keyof ParameterValues<"search">)[];

function speaksOf(
  asked: ParameterValues<"search">,
  criteria: readonly (keyof ParameterValues<"search">)[],
): boolean {
  return criteria.some((name) => asked[name] !== undefined);
}

function documentConditions(
  accountId: number,
  asked: ParameterValues<"search">,
  before: number,
): Conditions {
  const all = new Conditions("account_id", accountId, "digidoc_id IS NULL");
  if (before !== Infinity) all.add("uploaded_at < ?", before);
  addQuery(all, asked);
  addLabel(all, "filename", asked.docFilename);
  addLabel(all, "title", asked.docTitle);
  addLabel(all, "author", asked.docAuthor);
  addLabel(all, "subject", asked.docSubject);
  addLabel(all, "keywords", asked.docKeywords);
  all.present("expire_at", asked.docHasExpireDate);
  all.range("created_at", asked.createdDateStart, asked.createdDateEnd);
  all.range("modified_at", asked.modifiedDateStart, asked.modifiedDateEnd);
  all.range("filesize", asked.filesizeStart, asked.filesizeEnd);
  all.range("pages", asked.pagesStart, asked.pagesEnd);
  return all;
}

/** The main criterion: any of the labels, or the words of the content. Blank text is everywhere. */
function addQuery(all: Conditions, { query, queryContent }: ParameterValues<"search">): void {
  if (query === undefined || query === "") return;
  const labels = labelMatch(query, LABELS);
  const words = queryContent ? matchOf(query) : undefined;
  if (labels !== undefined) {
    const both = `${IN_LABELS.slice(0, -1)} UNION ${WORDS})`;
    if (words === undefined) all.add(IN_LABELS, labels);
    else all.add(both, labels, words);
    all.isNarrow = true;
    return;
  }
  const named = `instr(fold(concat_ws(char(10), ${LABELS.join(", ")})), ?) > 0`;
  if (words === undefined) all.add(named, fold(query));
  else all.add(`${named} OR id IN (${WORDS})`, fold(query), words);
}

function addLabel(all: Conditions, label: Label, part: string | undefined): void {
  if (part === undefined || part === "") return;
  const match = labelMatch(part, [label]);
  if (match === undefined) all.contains(label, part);
  else {
    all.add(IN_LABELS, match);
    all.isNarrow = true;
  }
}

const IN_LABELS = "id IN (SELECT rowid FROM document_label WHERE document_label MATCH ?)";
const WORDS = "SELECT rowid FROM document_text WHERE document_text MATCH ?";

function folderConditions(accountId: number, asked: ParameterValues<"search">): Conditions {
  const all = new Conditions("account_id", accountId);
  all.contains("concat_ws(char(10), name, folder_index, description, keywords)", asked.query);
  all.contains("name", asked.folderName);
  all.contains("folder_index", asked.folderIndex);
  all.contains("description", asked.folderDescription);
  all.contains("keywords", asked.folderKeywords);
  all.present("expire_at", asked.folderHasExpireDate);
  all.range("created_at", asked.createdDateStart, asked.createdDateEnd);
  return all;
}

/**
 * The words as a full-text query: each a quoted prefix, all of them needed. Marks that no letter has
 * taken up belong to the word that they are in: SQLite, too, leaves those above Latin letters there.
 */
function matchOf(query: string): string | undefined {
  const words = lowerCase(query).match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu);
  return words ? allOf([...new Set(words)].map(prefixOf)) : undefined;
}

/** Halved again and again: SQLite copies what it has of a row of terms with each that it reads. */
function allOf(terms: readonly string[]): string {
  if (terms.length < 2) return terms.join("");
  const half = Math.ceil(terms.length / 2);
  return `(${allOf(terms.slice(0, half))} AND ${allOf(terms.slice(half))})`;
}

/** Documents that were converted by an older program have their words in lower case. */
function prefixOf(word: string): string {
  const folded = fold(word);
  return folded === word ? `"${word}"*` : `("${folded}"* OR "${word}"*)`;
}

function folderOrder(sort: ParameterValues<"search">["sortBy"], descending: boolean): string {
  const direction = descending ? "DESC" : "ASC";
  // Folders have no pages and are not uploaded; under those orders they go by their creation.
  const column = { NAME: "fold(name)", EXPIRE_DATE: "expire_at" }[sort as string];
  return `ORDER BY ${column ?? "created_at"} ${direction} NULLS LAST, id ${direction}`;
}

function count(db: StoreConnection, table: string, conditions: Conditions): number {
  const row = db
    .prepare<(string | number)[], { total: number }>(
      `SELECT count(*) AS total ${conditions.from(table)}`,
    )
    .get(...conditions.values);
  return row?.total ?? 0;
}

function select<Row>(
  db: StoreConnection,
  table: string,
  conditions: Conditions,
  order: string,
  limit: number,
  offset: number,
): Row[] {
  return db
    .prepare<(string | number)[], Row>(
      `SELECT * ${conditions.from(table)} ${order} LIMIT ? OFFSET ?`,
    )
    .all(...conditions.values, limit, offset);
}
