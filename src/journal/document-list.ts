/**
 * The journal's documents, and pages of them. In path order: mirror by mirror, directory by directory, names in byte
 * order, revisions of one path oldest first. Read page by page, so that neither the rows nor a
 * snapshot of the database are held while the caller is slow; rows that change meanwhile are given
 * as they are when their page is read.
 */
import type { Document } from "../domain/document.ts";
import { bytesOf, dirOf, nameOf, type RawPath } from "../std/raw-path.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import type { Driver, Values } from "./driver.ts";
import type { DocumentPage, ListQuery, PageQuery } from "./journal.ts";
import { PAGE_ROWS, SORTED_ROWS_MAX } from "./list-queries.ts";

type Directory = { readonly id: number; readonly path: Buffer };

/** The documents that `query` asks for. */
export async function* documentList(driver: Driver, query: ListQuery): AsyncGenerator<Document> {
  const { state, code } = query;
  const few = query.path ? undefined : await fewMatches(driver, { states: state && [state], code });
  for await (const row of few ? byId(driver, await inOrder(driver, few)) : walk(driver, query)) {
    const document = documentOf(row);
    if (isWanted(document, query)) yield document;
  }
}

/** See `Journal.listPage`. */
export async function documentPage(driver: Driver, query: PageQuery): Promise<DocumentPage> {
  const { order, text, rows: rowsMax = PAGE_ROWS } = query;
  if (order === "uploaded")
    return pageOf(query, await driver.rows(driver.queries.list.uploaded, [rowsMax]), null);
  const few = await fewMatches(driver, query);
  if (!few && order === "latest" && text) return named(driver, query, text);
  const rows: DocumentRow[] = [];
  for await (const row of order === "latest"
    ? latest(driver, query, few)
    : behind(driver, query, few)) {
    rows.push(row);
    if (rows.length === rowsMax) break;
  }
  return pageOf(query, rows, rows.length < rowsMax ? null : Number(rows.at(-1)?.["id"]));
}

function pageOf(query: PageQuery, rows: DocumentRow[], last: number | null): DocumentPage {
  return { documents: rows.map(documentOf).filter((one) => isWanted(one, query)), last };
}

async function named(driver: Driver, query: PageQuery, text: string): Promise<DocumentPage> {
  const { after = Number.MAX_SAFE_INTEGER, rows: limit = PAGE_ROWS } = query;
  type Looked = { last: number | null; looked: number; ids: string | null };
  const [found] = await driver.rows<Looked>(driver.queries.list.named, [after, limit, text]);
  const ids = (found?.ids ?? "").split(",").filter(Boolean).map(Number);
  const rows = await rowsOf(
    driver,
    ids.sort((a, b) => b - a),
  );
  return pageOf(query, rows, Number(found?.looked) < limit ? null : (found?.last ?? null));
}

async function* latest(
  driver: Driver,
  { after = Number.MAX_SAFE_INTEGER, rows = PAGE_ROWS }: PageQuery,
  few: readonly number[] | undefined,
): AsyncGenerator<DocumentRow> {
  const behind = few?.filter((id) => id < after).sort((a, b) => b - a);
  if (behind) yield* byId(driver, behind);
  else yield* await driver.rows<DocumentRow>(driver.queries.list.latest, [after, rows]);
}

async function* behind(
  driver: Driver,
  { after, mirrorId }: PageQuery,
  few: readonly number[] | undefined,
): AsyncGenerator<DocumentRow> {
  const [place] = after === undefined ? [] : await rowsOf(driver, [after]);
  if (after !== undefined && !place) return;
  if (few) {
    const ids = await inOrder(driver, few);
    yield* byId(driver, place ? ids.slice(await countUpTo(driver, ids, place)) : ids);
  } else yield* walk(driver, mirrorId === undefined ? {} : { mirrorId }, place);
}

/** How many of `ids`, which are in path order, are not behind `place`. */
async function countUpTo(
  driver: Driver,
  ids: readonly number[],
  place: DocumentRow,
): Promise<number> {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const [row] = await rowsOf(driver, ids.slice(middle, middle + 1));
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
async function fewMatches(driver: Driver, filters: Filters): Promise<number[] | undefined> {
  const { states, mirrorId, code } = filters;
  const { list } = driver.queries;
  const ways: [count: string, ids: string, values: readonly (string | number)[]][] = [];
  if (code !== undefined) ways.push([list.countOfCode, list.ofCode, [code]]);
  if (states) ways.push([list.countOfState, list.ofState, states]);
  if (mirrorId !== undefined) ways.push([list.countOfMirror, list.ofMirror, [mirrorId]]);
  for (const [count, ids, values] of ways) {
    const counts = await ofEach<{ n: number | null }>(driver, count, values);
    if (counts.reduce((sum, { n }) => sum + Number(n), 0) > SORTED_ROWS_MAX) continue;
    return (await ofEach<{ id: number }>(driver, ids, values)).map(({ id }) => id);
  }
  return undefined;
}

async function ofEach<Row extends object>(
  driver: Driver,
  text: string,
  values: readonly (string | number)[],
): Promise<Row[]> {
  const rows = values.map((value) => driver.rows<Row>(text, [value]));
  return (await Promise.all(rows)).flat();
}

async function inOrder(driver: Driver, ids: readonly number[]): Promise<number[]> {
  const rows = await driver.rows<{ id: number }>(driver.queries.list.inOrder, [ids]);
  return rows.map(({ id }) => id);
}

async function* byId(driver: Driver, ids: readonly number[]): AsyncGenerator<DocumentRow> {
  for (let at = 0; at < ids.length; at += PAGE_ROWS) {
    yield* await rowsOf(driver, ids.slice(at, at + PAGE_ROWS));
  }
}

/** Rows of these ids, as far as they are there, in this order. */
async function rowsOf(driver: Driver, ids: readonly number[]): Promise<DocumentRow[]> {
  const rows = await driver.rows<DocumentRow>(driver.queries.list.byId, [ids]);
  const found = new Map(rows.map((row) => [row["id"], row]));
  return ids.map((id) => found.get(id)).filter((row) => row !== undefined);
}

/** Rows in path order; with `place`, those behind it. */
async function* walk(
  driver: Driver,
  query: ListQuery,
  place?: DocumentRow,
): AsyncGenerator<DocumentRow> {
  if (query.path) {
    yield* atAndBelow(driver, query.path.mirrorId, query.path.path);
    return;
  }
  for (const { id } of await driver.rows<{ id: number }>(driver.queries.mirrors, [])) {
    if (query.mirrorId !== undefined && query.mirrorId !== id) continue;
    const first = Number(place?.["mirror_id"] ?? 0);
    if (id >= first) yield* below(driver, id, "" as RawPath, id === first ? place : undefined);
  }
}

async function* atAndBelow(
  driver: Driver,
  mirrorId: number,
  path: RawPath,
): AsyncGenerator<DocumentRow> {
  if (path !== "") {
    const parent = await directoryAt(driver, mirrorId, dirOf(path));
    const place = [parent?.id ?? null, bytesOf(nameOf(path))];
    yield* await driver.rows<DocumentRow>(driver.queries.list.atPath, place);
    const itself = await directoryAt(driver, mirrorId, path);
    if (itself) yield* inDirectory(driver, itself);
  }
  yield* below(driver, mirrorId, path);
}

async function directoryAt(
  driver: Driver,
  mirrorId: number,
  path: RawPath,
): Promise<Directory | undefined> {
  const [found] = await driver.rows<Directory>(driver.queries.list.directory, [
    mirrorId,
    bytesOf(path),
  ]);
  return found;
}

/** Documents of the directories below `path`; of all, for the root. With `place`, those behind it. */
async function* below(
  driver: Driver,
  mirrorId: number,
  path: RawPath,
  place?: DocumentRow,
): AsyncGenerator<DocumentRow> {
  const [from, to] = rangeBelow(path);
  let last: Buffer | undefined = from;
  if (place) {
    last = place["dir"] as Buffer;
    yield* inDirectory(driver, { id: place["dir_id"] as number, path: last }, place);
  } else if (path === "") {
    const root = await directoryAt(driver, mirrorId, path);
    if (root) yield* inDirectory(driver, root);
  }
  while (last) {
    const found: Directory[] = await driver.rows(driver.queries.list.directories, [
      mirrorId,
      last,
      to,
    ]);
    for (const directory of found) yield* inDirectory(driver, directory);
    last = found.at(-1)?.path;
  }
}

async function* inDirectory(
  driver: Driver,
  { id: dirId, path: dir }: Directory,
  place?: DocumentRow,
): AsyncGenerator<DocumentRow> {
  let after: Values | undefined = place ? [place["name"], place["id"]] : [Buffer.alloc(0), 0];
  while (after) {
    const rows: DocumentRow[] = await driver.rows(driver.queries.list.inDirectory, [
      dirId,
      ...after,
    ]);
    for (const row of rows) yield { ...row, dir };
    const last: DocumentRow | undefined = rows.length < PAGE_ROWS ? undefined : rows.at(-1);
    after = last && [last["name"], last["id"]];
  }
}

/** Greater than every path: no file name holds this many 0xff, being limited to 255 bytes. */
const BEYOND = Buffer.alloc(256, 0xff);

/**
 * Bounds of the directories below `dir`: from the first, included, to the second, excluded. `dir`
 * itself is outside, but for the root, whose range is everything.
 */
export function rangeBelow(dir: RawPath): [from: Buffer, to: Buffer] {
  if (dir === "") return [Buffer.alloc(0), BEYOND];
  // "0" is the byte after "/".
  return [bytesOf(`${dir}/` as RawPath), bytesOf(`${dir}0` as RawPath)];
}
