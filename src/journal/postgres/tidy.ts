/** Retention, as ../tidy-table.ts has it for SQLite; a step is a few statements, whatever its rows. */
import type { Document } from "../../domain/document.ts";
import { bytesOf } from "../../std/raw-path.ts";
import {
  joinedTombstone,
  type Tombstone,
  tombstoneOf,
  type Tidied,
  tidiness,
  type TidyRequest,
  digestBytes,
} from "../tidiness.ts";
import { countsOf, summedCounts } from "../document-counts.ts";
import { documentsOf, SELECT_DOCUMENT } from "./documents.ts";
import type { Query } from "./query.ts";
import { asRows, bytea, recordset } from "./recordset.ts";
import { typesIn } from "./tables.ts";
import { countRows, WRITE_QUERIES } from "./write-queries.ts";

const TOMBSTONE = {
  ord: "bigint",
  ...typesIn("tombstones", ["document_id", "mirror_id", "folder_id", "digest", "place"]),
};

/** Every statement of retention, by what it is for. */
export const TIDY_QUERIES = {
  ids: `(SELECT n.id FROM documents n WHERE n.id > $1 ORDER BY n.id LIMIT $2)
    UNION ALL (SELECT f.document FROM forgotten f WHERE f.document > $1 ORDER BY f.document LIMIT $2)
    ORDER BY 1 LIMIT $2`,
  // Others have nothing that is old enough.
  rows: `${SELECT_DOCUMENT} WHERE n.id > $1 AND n.id <= $2
    AND (n.first_seen_at <= $3 OR n.converted_at <= $3) ORDER BY n.id`,
  lock: "SELECT n.id FROM documents n WHERE n.id = ANY($1::bigint[]) ORDER BY n.id FOR UPDATE",
  again: `${SELECT_DOCUMENT} WHERE n.id = ANY($1::bigint[]) ORDER BY n.id`,
  successors: `${SELECT_DOCUMENT} WHERE n.supersedes = ANY($1::bigint[])
    AND n.supersedes IS NOT NULL ORDER BY n.id`,
  owing: "SELECT id FROM batches WHERE id = ANY($1::text[]) AND receipt_at IS NULL",
  remember: `INSERT INTO tombstones
      (document_id, archive_id, mirror_id, folder_id, digest, place, dropped_at)
    SELECT u.document_id, m.archive_id, u.mirror_id, u.folder_id, u.digest, u.place, $2
    FROM ${recordset(1, "u", TOMBSTONE)} JOIN mirrors m ON m.id = u.mirror_id ORDER BY u.ord`,
  // A duplicate and its original have one tombstone: the earlier one gives way to what is kept of both.
  known: `DELETE FROM tombstones r USING documents n
    WHERE n.id = ANY($1::bigint[]) AND r.document_id = n.document_id AND r.archive_id = n.archive_id
    RETURNING r.document_id AS "documentId", r.archive_id AS "archiveId", r.mirror_id AS "mirrorId",
      r.folder_id AS "folderId", encode(r.digest, 'hex') AS digest, encode(r.place, 'hex') AS place`,
  trimAttempts: `DELETE FROM attempts WHERE document = ANY($1::bigint[]) AND ended_at <= $2
    RETURNING document`,
  trimHistory: `DELETE FROM history h USING (SELECT document, max(number) AS last FROM history
      WHERE document = ANY($1::bigint[]) GROUP BY document) l
    WHERE h.document = ANY($1::bigint[]) AND h.document = l.document AND h.at <= $2
      AND h.number < l.last RETURNING h.document`,
  dropAttempts: "DELETE FROM attempts WHERE document = ANY($1::bigint[])",
  dropHistory: "DELETE FROM history WHERE document = ANY($1::bigint[])",
  dropContents: "DELETE FROM contents WHERE document = ANY($1::bigint[])",
  forgotten: `SELECT f.document AS id FROM forgotten f WHERE f.document > $1 AND f.document <= $2
    AND coalesce((SELECT max(h.at) FROM history h WHERE h.document = f.document), 0) <= $3`,
  dropForgotten: "DELETE FROM forgotten WHERE document = ANY($1::bigint[])",
  batchNumbers: "SELECT b.number FROM batches b WHERE b.number > $1 ORDER BY b.number LIMIT $2",
  batches: `DELETE FROM batches WHERE number IN (
    SELECT b.number FROM batches b WHERE b.number > $1 AND b.number <= $2 AND b.joined_at <= $3
      AND b.number < (SELECT max(m.number) FROM batches m WHERE m.mirror_id = b.mirror_id)
      AND NOT ($4::boolean AND b.receipt_at IS NULL AND EXISTS (SELECT 1 FROM documents n
        WHERE substr(n.batch, 1, 8) = substr(b.id, 1, 8) AND n.batch = b.id AND n.batch IS NOT NULL)))`,
  dropTombstone: `DELETE FROM tombstones WHERE number IN (
    SELECT r.number FROM (SELECT number, dropped_at FROM tombstones ORDER BY number LIMIT $1) r
    WHERE r.dropped_at <= $2)`,
} as const;

/** One step; see `Journal.tidy`. */
export async function tidy(query: Query, request: TidyRequest): Promise<Tidied> {
  const { after, limit, before, forgetBefore } = request;
  const { rows } = await query<{ id: number }>(TIDY_QUERIES.ids, [after, limit]);
  const last = rows.at(-1)?.id ?? after;
  const done = await tidyRows(query, request, last);
  const forgotten = await query<{ id: number }>(TIDY_QUERIES.forgotten, [after, last, before]);
  const ids = forgotten.rows.map(({ id }) => id);
  if (ids.length > 0) {
    const { dropHistory, dropAttempts, dropForgotten } = TIDY_QUERIES;
    await Promise.all([dropHistory, dropAttempts, dropForgotten].map((text) => query(text, [ids])));
  }
  await query(TIDY_QUERIES.dropTombstone, [limit, forgetBefore]);
  return {
    ...done,
    next: rows.length < limit ? null : last,
    nextBatch: await tidyBatches(query, request),
  };
}

/** Returns the batch that the next step begins behind. */
async function tidyBatches(query: Query, request: TidyRequest): Promise<number> {
  const { afterBatch, limit, before, receipts } = request;
  const { rows } = await query<{ number: number }>(TIDY_QUERIES.batchNumbers, [afterBatch, limit]);
  const last = rows.at(-1)?.number ?? afterBatch;
  await query(TIDY_QUERIES.batches, [afterBatch, last, before, receipts]);
  return rows.length < limit ? 0 : last;
}

async function tidyRows(query: Query, request: TidyRequest, last: number) {
  const { after, before } = request;
  const values = [after, last, before];
  const judged = await judge(query, request, await documentsOf(query, TIDY_QUERIES.rows, values));
  const dropped = await drop(query, request, idsOf(judged.drop));
  const gone = new Set(dropped);
  const kept = [...judged.drop, ...judged.trim].filter(({ id }) => !gone.has(id));
  return { dropped: dropped.length, trimmed: await trim(query, idsOf(kept), before) };
}

const idsOf = (documents: readonly Document[]) => documents.map(({ id }) => id);

/** What is to become of these rows. */
async function judge(query: Query, request: TidyRequest, documents: readonly Document[]) {
  const drop: Document[] = [];
  const trim: Document[] = [];
  if (documents.length === 0) return { drop, trim };
  const replaced = idsOf(documents.filter(({ current }) => !current));
  const batches = documents.flatMap(({ batch }) => batch ?? []);
  const [successors, owing] = await Promise.all([
    documentsOf(query, TIDY_QUERIES.successors, [replaced]),
    query<{ id: string }>(TIDY_QUERIES.owing, [batches]),
  ]);
  const successorOf = new Map(successors.map((row) => [row.supersedes, row]));
  const owes = new Set(request.receipts ? owing.rows.map(({ id }) => id) : []);
  for (const document of documents) {
    const { id, batch, current, mirrorId } = document;
    const successor = current ? undefined : successorOf.get(id);
    const judged = tidiness(document, successor, request.before);
    const mayGo = !owes.has(batch ?? "") && request.mirrorIds.includes(mirrorId);
    if (judged === "drop" && mayGo) drop.push(document);
    else if (judged !== "keep") trim.push(document);
  }
  return { drop, trim };
}

/** Drops rows, looked at once more while nobody else can change them; the ids of those that went. */
async function drop(query: Query, request: TidyRequest, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  await query(TIDY_QUERIES.lock, [ids]);
  const again = await documentsOf(query, TIDY_QUERIES.again, [ids]);
  const rows = (await judge(query, request, again)).drop;
  const gone = idsOf(rows);
  const { dropAttempts, dropHistory, dropContents } = TIDY_QUERIES;
  const relinked = await relinks(query, rows);
  const tombstones = await tombstonesOf(query, rows);
  const counts = summedCounts(rows.flatMap((row) => countsOf(row)));
  const running: Promise<unknown>[] = [
    query(TIDY_QUERIES.remember, [asRows(tombstones.map(tombstoneRow)), request.at]),
    ...[dropAttempts, dropHistory, dropContents].map((text) => query(text, [gone])),
    query(WRITE_QUERIES.relink, [asRows(relinked), relinked.map(({ id }) => id)]),
    query(WRITE_QUERIES.remove, [gone]),
    query(WRITE_QUERIES.documentCounts, [asRows(countRows(counts, 0))]),
  ];
  const places = rows.map(({ mirrorId, dir }) => {
    return { mirror_id: mirrorId, path: bytea(bytesOf(dir)) };
  });
  for (const text of [WRITE_QUERIES.lockTidied, WRITE_QUERIES.tidyDirectories])
    running.push(query(text, [asRows(places)]));
  await Promise.all(running);
  return gone;
}

/** What stays of rows; those of one document of an archive have one tombstone. */
async function tombstonesOf(query: Query, rows: readonly Document[]): Promise<Tombstone[]> {
  const ids = idsOf(rows);
  const mirrors = await query<{ id: number; archiveId: number }>(
    `SELECT id, archive_id AS "archiveId" FROM mirrors`,
    [],
  );
  const archiveOf = new Map(mirrors.rows.map(({ id, archiveId }) => [id, archiveId]));
  const known = await query<Tombstone & { archiveId: number }>(TIDY_QUERIES.known, [ids]);
  const joined = new Map<string, Tombstone>(
    known.rows.map(({ archiveId, ...one }) => [`${archiveId}:${one.documentId}`, one]),
  );
  for (const next of rows.map(tombstoneOf)) {
    const key = `${archiveOf.get(next.mirrorId)}:${next.documentId}`;
    const before = joined.get(key);
    joined.delete(key);
    joined.set(key, before ? joinedTombstone(before, next) : next);
  }
  return [...joined.values()];
}

function tombstoneRow(tombstone: Tombstone, ord: number) {
  const { mirrorId, documentId, folderId, digest, place } = tombstone;
  const ids = { document_id: documentId, mirror_id: mirrorId, folder_id: folderId };
  return { ord, ...ids, digest: hexOf(digest), place: hexOf(place) };
}

/** Text that is no hex stands for no bytes. */
function hexOf(text: string | null): string | null {
  const bytes = digestBytes(text);
  return bytes && bytea(bytes);
}

/** Rows whose predecessor goes: each is given the next one that stays. */
async function relinks(query: Query, gone: readonly Document[]) {
  const next = new Map(gone.map(({ id, supersedes }) => [id, supersedes]));
  const successors = await documentsOf(query, TIDY_QUERIES.successors, [[...next.keys()]]);
  return successors
    .filter(({ id }) => !next.has(id))
    .map(({ id, supersedes }) => {
      let left = supersedes;
      while (left !== null && next.has(left)) left = next.get(left) ?? null;
      return { id, supersedes: left };
    });
}

/** Lets attempts and older history go; of how many rows. */
async function trim(query: Query, ids: readonly number[], before: number): Promise<number> {
  if (ids.length === 0) return 0;
  const { trimAttempts, trimHistory } = TIDY_QUERIES;
  const trimmed = await Promise.all(
    [trimAttempts, trimHistory].map((text) => query<{ document: number }>(text, [ids, before])),
  );
  return new Set(trimmed.flatMap(({ rows }) => rows.map(({ document }) => document))).size;
}
