/**
 * The journal's documents, and pages of them. In path order: mirror by mirror, directory by directory, names in byte
 * order, revisions of one path oldest first. Read page by page, so that neither the rows nor a
 * snapshot of the database are held while the caller is slow; rows that change meanwhile are given
 * as they are when their page is read.
 */
import type { Document } from "../domain/document.ts";
import { bytesOf, dirOf, nameOf, type RawPath } from "../std/raw-path.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import type { DocumentPage, ListQuery, PageQuery } from "./journal.ts";
import { rangeBelow } from "./path-range.ts";

/** Rows of a page at most; one with fewer is the last. */
export const PAGE_ROWS = 500;
/** So many matches are sorted at once; more are found by walking the directories. */
export const SORTED_ROWS_MAX = 10_000;

/**
 * What a list is read by: rows of these columns, in these orders.
 * - `ofState`, `ofCode`, `ofMirror`: ids in any order, one more than `SORTED_ROWS_MAX` at most.
 * - `inOrder`: these ids in path order; `byId`: documents, in any order; `ids` is JSON.
 * - `latest`: documents before an id, the greatest first; `uploaded`: those that were, the latest first.
 * - `named`: of so many ids before an id the `last`, how many were `looked` at, and those that may hold `text`.
 * - `directories`: of a mirror from `from` to `to` and behind `last`, by path, a page.
 * - `inDirectory`: documents without `dir`, behind `name` and `id`, by these, a page.
 * - `atPath`: documents of one path by id.
 */
export type ListPage =
  | "mirrors"
  | "ofState"
  | "ofCode"
  | "ofMirror"
  | "inOrder"
  | "byId"
  | "latest"
  | "uploaded"
  | "named"
  | "directories"
  | "directory"
  | "inDirectory"
  | "atPath";

type Directory = { readonly id: number; readonly path: Buffer };
type Values = Readonly<Record<string, unknown>>;

/** Reads pages; asked again for each, so that it can make queued writes take effect first. */
export type PageReader = <Row extends object>(name: ListPage, values: Values) => Promise<Row[]>;

/** The documents that `query` asks for. */
export async function* documentList(page: PageReader, query: ListQuery): AsyncGenerator<Document> {
  const { state, code } = query;
  const few = query.path ? undefined : await fewMatches(page, { states: state && [state], code });
  for await (const row of few ? byId(page, await inOrder(page, few)) : walk(page, query)) {
    const document = documentOf(row);
    if (isWanted(document, query)) yield document;
  }
}

/** See `Journal.listPage`. */
export async function documentPage(page: PageReader, query: PageQuery): Promise<DocumentPage> {
  const { order, text, rows: rowsMax = PAGE_ROWS } = query;
  if (order === "uploaded")
    return pageOf(query, await page<DocumentRow>("uploaded", { limit: rowsMax }), null);
  const few = await fewMatches(page, query);
  if (!few && order === "latest" && text) return named(page, query, text);
  const rows: DocumentRow[] = [];
  for await (const row of order === "latest"
    ? latest(page, query, few)
    : behind(page, query, few)) {
    rows.push(row);
    if (rows.length === rowsMax) break;
  }
  return pageOf(query, rows, rows.length < rowsMax ? null : Number(rows.at(-1)?.["id"]));
}

function pageOf(query: PageQuery, rows: DocumentRow[], last: number | null): DocumentPage {
  return { documents: rows.map(documentOf).filter((one) => isWanted(one, query)), last };
}

async function named(page: PageReader, query: PageQuery, text: string): Promise<DocumentPage> {
  const { after = Number.MAX_SAFE_INTEGER, rows: limit = PAGE_ROWS } = query;
  type Looked = { last: number | null; looked: number; ids: string | null };
  const [found] = await page<Looked>("named", { before: after, limit, text });
  const ids = (found?.ids ?? "").split(",").filter(Boolean).map(Number);
  const rows = await rowsOf(
    page,
    ids.sort((a, b) => b - a),
  );
  return pageOf(query, rows, Number(found?.looked) < limit ? null : (found?.last ?? null));
}

async function* latest(
  page: PageReader,
  { after = Number.MAX_SAFE_INTEGER, rows = PAGE_ROWS }: PageQuery,
  few: readonly number[] | undefined,
): AsyncGenerator<DocumentRow> {
  const behind = few?.filter((id) => id < after).sort((a, b) => b - a);
  if (behind) yield* byId(page, behind);
  else yield* await page<DocumentRow>("latest", { before: after, limit: rows });
}

async function* behind(
  page: PageReader,
  { after, mirrorId }: PageQuery,
  few: readonly number[] | undefined,
): AsyncGenerator<DocumentRow> {
  const [place] = after === undefined ? [] : await rowsOf(page, [after]);
  if (after !== undefined && !place) return;
  if (few) {
    const ids = await inOrder(page, few);
    yield* byId(page, place ? ids.slice(await countUpTo(page, ids, place)) : ids);
  } else yield* walk(page, mirrorId === undefined ? {} : { mirrorId }, place);
}

/** How many of `ids`, which are in path order, are not behind `place`. */
async function countUpTo(
  page: PageReader,
  ids: readonly number[],
  place: DocumentRow,
): Promise<number> {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const [row] = await rowsOf(page, ids.slice(middle, middle + 1));
    if (row && comparePlaces(row, place) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

function comparePlaces(a: DocumentRow, b: DocumentRow): number {
  return (
    Number(a["mirror_id"]) - Number(b["mirror_id"]) ||
    Buffer.compare(a["dir"] as Buffer, b["dir"] as Buffer) ||
    Buffer.compare(a["name"] as Buffer, b["name"] as Buffer) ||
    Number(a["id"]) - Number(b["id"])
  );
}

/** What a row has to be; of a path, see `walk`. */
type Wanted = Filters & Pick<ListQuery, "state" | "currentOnly">;

/** True when `document` passes every filter but the path's. */
export function isWanted(document: Document, wanted: Wanted): boolean {
  const { state, states, mirrorId, code, currentOnly } = wanted;
  return (
    (state === undefined || document.state === state) &&
    (states === undefined || states.includes(document.state)) &&
    (mirrorId === undefined || document.mirrorId === mirrorId) &&
    (code === undefined || document.problem?.code === code) &&
    (!currentOnly || document.current)
  );
}

type Filters = Pick<PageQuery, "states" | "mirrorId" | "code">;

/** Ids, in any order, when an index can tell them and they are few. */
async function fewMatches(page: PageReader, filters: Filters): Promise<number[] | undefined> {
  const { states, mirrorId, code } = filters;
  const ways: [ListPage, Values][][] = [];
  if (code !== undefined) ways.push([["ofCode", { code }]]);
  if (states) ways.push(states.map((state) => ["ofState", { state }]));
  if (mirrorId !== undefined) ways.push([["ofMirror", { mirrorId }]]);
  for (const way of ways) {
    const rows: { id: number }[] = [];
    for (const [name, values] of way) rows.push(...(await page<{ id: number }>(name, values)));
    if (rows.length <= SORTED_ROWS_MAX) return rows.map(({ id }) => id);
  }
  return undefined;
}

async function inOrder(page: PageReader, ids: readonly number[]): Promise<number[]> {
  const rows = await page<{ id: number }>("inOrder", { ids: JSON.stringify(ids) });
  return rows.map(({ id }) => id);
}

async function* byId(page: PageReader, ids: readonly number[]): AsyncGenerator<DocumentRow> {
  for (let at = 0; at < ids.length; at += PAGE_ROWS) {
    yield* await rowsOf(page, ids.slice(at, at + PAGE_ROWS));
  }
}

/** Rows of these ids, as far as they are there, in this order. */
async function rowsOf(page: PageReader, ids: readonly number[]): Promise<DocumentRow[]> {
  const rows = await page<DocumentRow>("byId", { ids: JSON.stringify(ids) });
  const found = new Map(rows.map((row) => [row["id"], row]));
  return ids.map((id) => found.get(id)).filter((row) => row !== undefined);
}

/** Rows in path order; with `place`, those behind it. */
async function* walk(
  page: PageReader,
  query: ListQuery,
  place?: DocumentRow,
): AsyncGenerator<DocumentRow> {
  if (query.path) {
    yield* atAndBelow(page, query.path.mirrorId, query.path.path);
    return;
  }
  for (const { id } of await page<{ id: number }>("mirrors", {})) {
    if (query.mirrorId !== undefined && query.mirrorId !== id) continue;
    const first = Number(place?.["mirror_id"] ?? 0);
    if (id >= first) yield* below(page, id, "" as RawPath, id === first ? place : undefined);
  }
}

async function* atAndBelow(
  page: PageReader,
  mirrorId: number,
  path: RawPath,
): AsyncGenerator<DocumentRow> {
  if (path !== "") {
    const parent = await directoryAt(page, mirrorId, dirOf(path));
    const place = { dirId: parent?.id ?? null, name: bytesOf(nameOf(path)) };
    yield* await page<DocumentRow>("atPath", place);
    const itself = await directoryAt(page, mirrorId, path);
    if (itself) yield* inDirectory(page, itself);
  }
  yield* below(page, mirrorId, path);
}

async function directoryAt(
  page: PageReader,
  mirrorId: number,
  path: RawPath,
): Promise<Directory | undefined> {
  const [found] = await page<Directory>("directory", { mirrorId, path: bytesOf(path) });
  return found;
}

/** Documents of the directories below `path`; of all, for the root. With `place`, those behind it. */
async function* below(
  page: PageReader,
  mirrorId: number,
  path: RawPath,
  place?: DocumentRow,
): AsyncGenerator<DocumentRow> {
  const [from, to] = rangeBelow(path);
  let last: Buffer | undefined = Buffer.alloc(0);
  if (place) {
    last = place["dir"] as Buffer;
    yield* inDirectory(page, { id: place["dir_id"] as number, path: last }, place);
  } else if (path === "") {
    const root = await directoryAt(page, mirrorId, path);
    if (root) yield* inDirectory(page, root);
  }
  while (last) {
    const found: Directory[] = await page("directories", { mirrorId, from, to, last });
    for (const directory of found) yield* inDirectory(page, directory);
    last = found.at(-1)?.path;
  }
}

async function* inDirectory(
  page: PageReader,
  { id: dirId, path: dir }: Directory,
  place?: DocumentRow,
): AsyncGenerator<DocumentRow> {
  let after: { name: unknown; id: unknown } | undefined = place
    ? { name: place["name"], id: place["id"] }
    : { name: Buffer.alloc(0), id: 0 };
  while (after) {
    const rows: DocumentRow[] = await page("inDirectory", { dirId, ...after });
    for (const row of rows) yield { ...row, dir };
    const last: DocumentRow | undefined = rows.length < PAGE_ROWS ? undefined : rows.at(-1);
    after = last && { name: last["name"], id: last["id"] };
  }
}
