/**
 * The journal's documents in path order: mirror by mirror, directory by directory, names in byte
 * order, revisions of one path oldest first. Read page by page, so that neither the rows nor a
 * snapshot of the database are held while the caller is slow; rows that change meanwhile are given
 * as they are when their page is read.
 */
import type { Document } from "../domain/document.ts";
import { bytesOf, dirOf, nameOf, type RawPath } from "../std/raw-path.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import { SELECT_DOCUMENT } from "./documents-table.ts";
import type { ListQuery } from "./journal.ts";
import { rangeBelow } from "./path-range.ts";
import type { Statements } from "./statements.ts";

const PAGE_ROWS = 500;
/** So many matches are sorted at once; more are found by walking the directories. */
const SORTED_ROWS_MAX = 10_000;

const SORTED = `SELECT m.id FROM (SELECT id, dir_id, mirror_id, name FROM documents WHERE`;
const BY_PATH = `LIMIT ${SORTED_ROWS_MAX + 1}) m CROSS JOIN directories d ON d.id = m.dir_id
  ORDER BY m.mirror_id, d.path, m.name, m.id`;

const IN_DIRECTORY = "n.dir_id = @dirId AND (n.name, n.id) > (@name, @id)";

/** The texts, by what they are for. */
export const LIST_QUERIES = {
  ofState: `${SORTED} mirror_id IN (SELECT id FROM mirrors) AND state = @state ${BY_PATH}`,
  ofCode: `${SORTED} trouble_code = @code ${BY_PATH}`,
  directories: `SELECT id, path FROM directories
    WHERE mirror_id = @mirrorId AND path >= @from AND path < @to AND path > @last
    ORDER BY path LIMIT ${PAGE_ROWS}`,
  directory: "SELECT id, path FROM directories WHERE mirror_id = ? AND path = ?",
  inDirectory: `SELECT * FROM documents n WHERE ${IN_DIRECTORY} AND n.current = 1
    UNION ALL SELECT * FROM documents n WHERE ${IN_DIRECTORY} AND n.current = 0
    ORDER BY name, id LIMIT ${PAGE_ROWS}`,
  atPath: `${SELECT_DOCUMENT} WHERE n.dir_id = ? AND n.name = ? AND n.current = 1
    UNION ALL ${SELECT_DOCUMENT} WHERE n.dir_id = ? AND n.name = ? AND n.current = 0
    ORDER BY id`,
} as const;

type Directory = { readonly id: number; readonly path: Buffer };
type Values = Record<string, unknown>;

/** Reads pages; asked anew for each, so that it can make queued writes take effect first. */
export type Page = <Row>(sql: string, values: Values | unknown[]) => Promise<Row[]>;

/** A reader of pages; each is read by `read`, after the writes that were issued before it. */
export function pagesOf(statements: Statements, read: <T>(query: () => T) => Promise<T>): Page {
  return <Row>(sql: string, values: Values | unknown[]) =>
    read(() => {
      const statement = statements.of<Row>(sql);
      return Array.isArray(values) ? statement.all(...values) : statement.all(values);
    });
}

/** The documents that `query` asks for. */
export async function* documentList(page: Page, query: ListQuery): AsyncGenerator<Document> {
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
    (query.code === undefined || document.trouble?.code === query.code) &&
    (!query.currentOnly || document.current)
  );
}

/** Ids in path order, when an index can tell them and they are few. */
async function fewMatches(page: Page, { code, state }: ListQuery): Promise<number[] | undefined> {
  if (code === undefined && state === undefined) return undefined;
  const rows =
    code === undefined
      ? await page<{ id: number }>(LIST_QUERIES.ofState, { state })
      : await page<{ id: number }>(LIST_QUERIES.ofCode, { code });
  return rows.length > SORTED_ROWS_MAX ? undefined : rows.map(({ id }) => id);
}

async function* byId(page: Page, ids: readonly number[]): AsyncGenerator<Document> {
  for (const id of ids) {
    const [row] = await page<DocumentRow>(`${SELECT_DOCUMENT} WHERE n.id = ?`, [id]);
    if (row) yield documentOf(row);
  }
}

async function* walk(page: Page, query: ListQuery): AsyncGenerator<Document> {
  if (query.path) {
    yield* atAndBelow(page, query.path.mirrorId, query.path.path);
    return;
  }
  for (const { id } of await page<{ id: number }>("SELECT id FROM mirrors ORDER BY id", [])) {
    if (query.mirrorId === undefined || query.mirrorId === id) {
      yield* below(page, id, "" as RawPath);
    }
  }
}

async function* atAndBelow(page: Page, mirrorId: number, path: RawPath): AsyncGenerator<Document> {
  if (path !== "") {
    const parent = await directoryAt(page, mirrorId, dirOf(path));
    const place = [parent?.id, bytesOf(nameOf(path))];
    const rows = await page<DocumentRow>(LIST_QUERIES.atPath, [...place, ...place]);
    yield* rows.map(documentOf);
    const itself = await directoryAt(page, mirrorId, path);
    if (itself) yield* inDirectory(page, itself);
  }
  yield* below(page, mirrorId, path);
}

async function directoryAt(
  page: Page,
  mirrorId: number,
  path: RawPath,
): Promise<Directory | undefined> {
  const [found] = await page<Directory>(LIST_QUERIES.directory, [mirrorId, bytesOf(path)]);
  return found;
}

/** Documents of the directories below `path`; of all, for the root. */
async function* below(page: Page, mirrorId: number, path: RawPath): AsyncGenerator<Document> {
  const [from, to] = rangeBelow(path);
  if (path === "") {
    const root = await directoryAt(page, mirrorId, path);
    if (root) yield* inDirectory(page, root);
  }
  for (let last: Buffer | undefined = Buffer.alloc(0); last; ) {
    const found: Directory[] = await page(LIST_QUERIES.directories, { mirrorId, from, to, last });
    for (const directory of found) yield* inDirectory(page, directory);
    last = found.at(-1)?.path;
  }
}

async function* inDirectory(page: Page, { id: dirId, path }: Directory): AsyncGenerator<Document> {
  let after: { name: Buffer; id: number } | undefined = { name: Buffer.alloc(0), id: 0 };
  while (after) {
    const rows: DocumentRow[] = await page(LIST_QUERIES.inDirectory, { dirId, ...after });
    for (const row of rows) yield documentOf({ ...row, dir: path });
    const last: DocumentRow | undefined = rows.length < PAGE_ROWS ? undefined : rows.at(-1);
    after = last && { name: last["name"] as Buffer, id: last["id"] as number };
  }
}

/** The order of the list, for those who have no index. */
export function byPath(a: Document, b: Document): number {
  return (
    a.mirrorId - b.mirrorId || compareRaw(a.dir, b.dir) || compareRaw(a.name, b.name) || a.id - b.id
  );
}

/** Byte order: a raw path has one character a byte. */
function compareRaw(a: RawPath, b: RawPath): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
