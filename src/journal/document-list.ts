/**
 * The journal's documents in path order: mirror by mirror, directory by directory, names in byte
 * order, revisions of one path oldest first. Read page by page, so that neither the rows nor a
 * snapshot of the database are held while the caller is slow; rows that change meanwhile are given
 * as they are when their page is read.
 */
import type { Document } from "../domain/document.ts";
import { bytesOf, dirOf, nameOf, type RawPath } from "../std/raw-path.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import type { ListQuery } from "./journal.ts";
import { rangeBelow } from "./path-range.ts";

/** Rows of a page at most; one with fewer is the last. */
export const PAGE_ROWS = 500;
/** So many matches are sorted at once; more are found by walking the directories. */
export const SORTED_ROWS_MAX = 10_000;

/**
 * What a list is read by: rows of these columns, in these orders.
 * - `ofState`, `ofCode`: ids in path order, one more than `SORTED_ROWS_MAX` at most.
 * - `byId`: documents, in any order; `ids` is JSON.
 * - `directories`: of a mirror from `from` to `to` and behind `last`, by path, a page.
 * - `inDirectory`: documents without `dir`, behind `name` and `id`, by these, a page.
 * - `atPath`: documents of one path by id.
 */
export type ListPage =
  | "mirrors"
  | "ofState"
  | "ofCode"
  | "byId"
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
  const few = query.path ? undefined : await fewMatches(page, query);
  for await (const document of few ? byId(page, few) : walk(page, query)) {
    if (isWanted(document, query)) yield document;
  }
}

/** True when `document` passes every filter but the path's. */
export function isWanted(document: Document, query: ListQuery): boolean {
  return (
    (query.state === undefined || document.state === query.state) &&
    (query.mirrorId === undefined || document.mirrorId === query.mirrorId) &&
    (query.code === undefined || document.problem?.code === query.code) &&
    (!query.currentOnly || document.current)
  );
}

/** Ids in path order, when an index can tell them and they are few. */
async function fewMatches(
  page: PageReader,
  { code, state }: ListQuery,
): Promise<number[] | undefined> {
  if (code === undefined && state === undefined) return undefined;
  const rows =
    code === undefined
      ? await page<{ id: number }>("ofState", { state })
      : await page<{ id: number }>("ofCode", { code });
  return rows.length > SORTED_ROWS_MAX ? undefined : rows.map(({ id }) => id);
}

async function* byId(page: PageReader, ids: readonly number[]): AsyncGenerator<Document> {
  for (let at = 0; at < ids.length; at += PAGE_ROWS) {
    const some = ids.slice(at, at + PAGE_ROWS);
    const rows = await page<DocumentRow>("byId", { ids: JSON.stringify(some) });
    const found = new Map(rows.map((row) => [row["id"], row]));
    for (const id of some) {
      const row = found.get(id);
      if (row) yield documentOf(row);
    }
  }
}

async function* walk(page: PageReader, query: ListQuery): AsyncGenerator<Document> {
  if (query.path) {
    yield* atAndBelow(page, query.path.mirrorId, query.path.path);
    return;
  }
  for (const { id } of await page<{ id: number }>("mirrors", {})) {
    if (query.mirrorId === undefined || query.mirrorId === id) {
      yield* below(page, id, "" as RawPath);
    }
  }
}

async function* atAndBelow(
  page: PageReader,
  mirrorId: number,
  path: RawPath,
): AsyncGenerator<Document> {
  if (path !== "") {
    const parent = await directoryAt(page, mirrorId, dirOf(path));
    const place = { dirId: parent?.id ?? null, name: bytesOf(nameOf(path)) };
    const rows = await page<DocumentRow>("atPath", place);
    yield* rows.map(documentOf);
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

/** Documents of the directories below `path`; of all, for the root. */
async function* below(page: PageReader, mirrorId: number, path: RawPath): AsyncGenerator<Document> {
  const [from, to] = rangeBelow(path);
  if (path === "") {
    const root = await directoryAt(page, mirrorId, path);
    if (root) yield* inDirectory(page, root);
  }
  for (let last: Buffer | undefined = Buffer.alloc(0); last; ) {
    const found: Directory[] = await page("directories", { mirrorId, from, to, last });
    for (const directory of found) yield* inDirectory(page, directory);
    last = found.at(-1)?.path;
  }
}

async function* inDirectory(
  page: PageReader,
  { id: dirId, path }: Directory,
): AsyncGenerator<Document> {
  let after: { name: Buffer; id: number } | undefined = { name: Buffer.alloc(0), id: 0 };
  while (after) {
    const rows: DocumentRow[] = await page("inDirectory", { dirId, ...after });
    for (const row of rows) yield documentOf({ ...row, dir: path });
    const last: DocumentRow | undefined = rows.length < PAGE_ROWS ? undefined : rows.at(-1);
    after = last && { name: last["name"] as Buffer, id: last["id"] as number };
  }
}
