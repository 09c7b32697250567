/**
 * Retention: drops and trims what is long done, a few rows at a time. One script of statements for SQLite and
 * PostgreSQL, each of which runs it in one transaction; a step is a few rounds of statements, whatever its rows.
 */
import type { Document } from "../domain/document.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import { type Dialect, selectDocument } from "./dialect.ts";
import { addCountIn, countsOf, countValues, summedCounts } from "./document-counts.ts";
import type { Values } from "./driver.ts";
import { ofBatch } from "./queries.ts";
import {
  digestBytes,
  joinedTombstone,
  type Tidied,
  tidiness,
  type TidyRequest,
  type Tombstone,
  tombstoneOf,
} from "./tidiness.ts";

type Statement = readonly [text: string, values: Values];

/**
 * Statements of one transaction. Those that are yielded together do not wait for one another's answers,
 * and are run in their order; what comes back is the rows of each.
 */
export type Script<T> = Generator<readonly Statement[], T, readonly (readonly object[])[]>;

/** Every statement of retention, by what it is for. */
export type TidyQueries = ReturnType<typeof tidyQueriesIn>;

/** The texts in a dialect. */
export function tidyQueriesIn(dialect: Dialect) {
  const { isAmong, join, locked } = dialect;
  const DOCUMENT = selectDocument(dialect);
  const drop = (table: string) => `DELETE FROM ${table} WHERE ${isAmong("document", 1, "bigint")}`;
  return {
    ids: "SELECT n.id FROM documents n WHERE n.id > $1 ORDER BY n.id LIMIT $2",
    forgottenIds: `SELECT f.document AS id FROM forgotten f WHERE f.document > $1
      ORDER BY f.document LIMIT $2`,
    // Others have nothing that is old enough.
    rows: `${DOCUMENT} WHERE n.id > $1 AND n.id <= $2
      AND (n.first_seen_at <= $3 OR n.converted_at <= $3) ORDER BY n.id`,
    lock: `SELECT n.id FROM documents n WHERE ${isAmong("n.id", 1, "bigint")} ORDER BY n.id${locked}`,
    again: `${DOCUMENT} WHERE ${isAmong("n.id", 1, "bigint")} ORDER BY n.id`,
    successors: `${DOCUMENT} WHERE ${isAmong("n.supersedes", 1, "bigint")}
      AND n.supersedes IS NOT NULL`,
    owing: `SELECT b.id FROM batches b WHERE ${isAmong("b.id", 1, "text")} AND b.receipt_at IS NULL`,
    // A duplicate and its original have one tombstone: the earlier one gives way to what is kept of both.
    known: `DELETE FROM tombstones WHERE number IN (SELECT r.number FROM documents n ${join} tombstones r
        ON r.document_id = n.document_id AND r.archive_id = n.archive_id
      WHERE ${isAmong("n.id", 1, "bigint")})
      RETURNING document_id AS "documentId", archive_id AS "archiveId", mirror_id AS "mirrorId",
        folder_id AS "folderId", digest, place`,
    remember: `INSERT INTO tombstones
        (document_id, archive_id, mirror_id, folder_id, digest, place, dropped_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    addCount: addCountIn(dialect),
    trimAttempts: `${drop("attempts")} AND ended_at <= $2 RETURNING document AS id`,
    trimHistory: `${drop("history")} AND at <= $2 AND number < (SELECT max(l.number) FROM history l
      WHERE l.document = history.document) RETURNING document AS id`,
    dropAttempts: drop("attempts"),
    dropHistory: drop("history"),
    dropForgotten: drop("forgotten"),
    // What superseded a row supersedes its predecessor instead. Of rows that go together, too: repeated until
    // none is left, it skips twice as many of them each time.
    relink: `UPDATE documents SET supersedes =
        (SELECT p.supersedes FROM documents p WHERE p.id = documents.supersedes)
      WHERE ${isAmong("supersedes", 1, "bigint")} AND supersedes IS NOT NULL RETURNING id`,
    remove: `DELETE FROM documents WHERE ${isAmong("id", 1, "bigint")}`,
    lockDirectories: `SELECT n.id FROM directories n WHERE ${isAmong("n.id", 1, "bigint")}
      ORDER BY n.id${locked}`,
    // Each is looked into on its own: joined, all documents would be read to find that there are some.
    dropDirectories: `DELETE FROM directories WHERE ${isAmong("id", 1, "bigint")} AND fingerprint IS NULL
      AND (SELECT n.id FROM documents n WHERE n.dir_id = directories.id AND n.current = 1 LIMIT 1) IS NULL
      AND (SELECT n.id FROM documents n WHERE n.dir_id = directories.id AND n.current = 0 LIMIT 1) IS NULL`,
    forgotten: `SELECT f.document AS id FROM forgotten f WHERE f.document > $1 AND f.document <= $2
      AND coalesce((SELECT max(h.at) FROM history h WHERE h.document = f.document), 0) <= $3`,
    dropTombstones: `DELETE FROM tombstones WHERE number IN (
      SELECT r.number FROM (SELECT number, dropped_at FROM tombstones ORDER BY number LIMIT $1) r
      WHERE r.dropped_at <= $2)`,
    batchNumbers: "SELECT b.number FROM batches b WHERE b.number > $1 ORDER BY b.number LIMIT $2",
    dropBatches: `DELETE FROM batches WHERE number IN (
      SELECT b.number FROM batches b WHERE b.number > $1 AND b.number <= $2 AND b.joined_at <= $3
        AND b.number < (SELECT max(m.number) FROM batches m WHERE m.mirror_id = b.mirror_id)
        AND NOT ($4 = 1 AND b.receipt_at IS NULL
          AND EXISTS (SELECT 1 FROM documents n WHERE ${ofBatch("b.id")})))`,
  };
}

type Id = { readonly id: number };
type Judged = Partial<Record<"drop" | "trim" | "keep", Document[]>>;
type KnownRow = Omit<Tombstone, "digest" | "place"> &
  Readonly<Record<"digest" | "place", Buffer | null>>;

/** One step; see `Journal.tidy`. Only where rows were dropped, others of `documents` are changed. */
export function* tidy(queries: TidyQueries, request: TidyRequest): Script<Tidied> {
  const { after, afterBatch, limit, before, forgetBefore, receipts } = request;
  const found = yield [queries.ids, queries.forgottenIds].map((text) => [text, [after, limit]]);
  const ids = idsOf(found.flat() as Id[])
    .sort((a, b) => a - b)
    .slice(0, limit);
  const last = ids.at(-1) ?? after;
  const rows = yield* rowsOf<DocumentRow>(queries.rows, after, last, before);
  const judged = yield* judge(queries, request, rows.map(documentOf));
  const gone = yield* drop(queries, request, idsOf(judged.drop));
  const kept = [...idsOf(judged.drop), ...idsOf(judged.trim)].filter((id) => !gone.has(id));
  const trimmed = yield* trim(queries, kept, before);
  const forgotten = idsOf(yield* rowsOf<Id>(queries.forgotten, after, last, before));
  if (forgotten.length > 0) {
    const { dropHistory, dropAttempts, dropForgotten } = queries;
    yield [dropHistory, dropAttempts, dropForgotten].map((text) => [text, [forgotten]]);
  }
  yield [[queries.dropTombstones, [limit, forgetBefore]]];
  type Batch = { readonly number: number };
  const batches = yield* rowsOf<Batch>(queries.batchNumbers, afterBatch, limit);
  const lastBatch = batches.at(-1)?.number ?? afterBatch;
  yield [[queries.dropBatches, [afterBatch, lastBatch, before, Number(receipts)]]];
  return {
    next: ids.length < limit ? null : last,
    nextBatch: batches.length < limit ? 0 : lastBatch,
    dropped: gone.size,
    trimmed,
  };
}

/** The rows of one statement. */
function* rowsOf<Row extends object>(text: string, ...values: Values): Script<Row[]> {
  const [rows] = yield [[text, values]];
  // The shape of a result is stated by its query, which the compiler cannot read.
  return rows as Row[];
}

function idsOf(rows: readonly Id[] = []): number[] {
  return rows.map(({ id }) => id);
}

/** What is to become of these rows. */
function* judge(
  queries: TidyQueries,
  { before, mirrorIds, receipts }: TidyRequest,
  documents: readonly Document[],
): Script<Judged> {
  if (documents.length === 0) return {};
  // Only what is not current has a successor that matters.
  const replaced = idsOf(documents.filter(({ current }) => !current));
  const batches = documents.flatMap(({ batch }) => batch ?? []);
  const successors = yield* rowsOf<DocumentRow>(queries.successors, replaced);
  const successorOf = new Map(successors.map(documentOf).map((row) => [row.supersedes, row]));
  const owing = receipts ? yield* rowsOf<{ id: string }>(queries.owing, batches) : [];
  const owes = new Set<string | null>(owing.map(({ id }) => id));
  return Object.groupBy(documents, (document) => {
    const judged = tidiness(document, successorOf.get(document.id), before);
    const mayGo = !owes.has(document.batch) && mirrorIds.includes(document.mirrorId);
    return judged === "drop" && !mayGo ? "trim" : judged;
  });
}

/** Drops rows, looked at once more while nobody else can change them; the ids of those that went. */
function* drop(
  queries: TidyQueries,
  request: TidyRequest,
  ids: readonly number[],
): Script<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  yield [[queries.lock, [ids]]];
  const again = yield* rowsOf<DocumentRow>(queries.again, ids);
  const { drop: documents = [] } = yield* judge(queries, request, again.map(documentOf));
  const gone = new Set(idsOf(documents));
  const rows = again.filter((row) => gone.has(row["id"] as number));
  const tombstones = yield* tombstonesOf(queries, rows);
  yield tombstones.map(({ documentId, archiveId, mirrorId, folderId, digest, place }) => {
    const bytes = [digestBytes(digest), digestBytes(place)];
    return [queries.remember, [documentId, archiveId, mirrorId, folderId, ...bytes, request.at]];
  });
  const values = [[...gone]];
  while ((yield* rowsOf(queries.relink, ...values)).length > 0);
  const directories = rows.map((row) => row["dir_id"]);
  const counts = summedCounts(documents.flatMap((document) => countsOf(document)));
  yield [
    ...[queries.dropAttempts, queries.dropHistory, queries.remove].map(
      (text): Statement => [text, values],
    ),
    ...counts.map((count): Statement => [queries.addCount, countValues(count)]),
    // Looked into once they are locked: anyone who adds a row to one keeps it locked until it can be seen.
    [queries.lockDirectories, [directories]],
    [queries.dropDirectories, [directories]],
  ];
  return gone;
}

/** What stays of rows; those of one document of an archive have one tombstone. */
function* tombstonesOf(queries: TidyQueries, rows: readonly DocumentRow[]): Script<Tombstone[]> {
  const known = yield* rowsOf<KnownRow>(
    queries.known,
    rows.map((row) => row["id"]),
  );
  const all = [
    ...known.map(({ digest, place, ...ids }): Tombstone => {
      return { ...ids, digest: hexOf(digest), place: hexOf(place) };
    }),
    ...rows.map((row) => tombstoneOf(documentOf(row), row["archive_id"] as number)),
  ];
  const joined = new Map<string, Tombstone>();
  for (const next of all) {
    const key = `${next.archiveId}:${next.documentId}`;
    const before = joined.get(key);
    joined.set(key, before ? joinedTombstone(before, next) : next);
  }
  return [...joined.values()];
}

function hexOf(bytes: Buffer | null): string | null {
  return bytes && bytes.toString("hex");
}

/** Lets attempts and older history go; of how many rows. */
function* trim(
  { trimAttempts, trimHistory }: TidyQueries,
  ids: readonly number[],
  before: number,
): Script<number> {
  if (ids.length === 0) return 0;
  const trimmed = yield [trimAttempts, trimHistory].map((text) => [text, [ids, before]]);
  return new Set(idsOf(trimmed.flat() as Id[])).size;
}
