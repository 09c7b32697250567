/**
 * Which documents are due, as ../due-documents.ts has it for SQLite: the mirrors are asked one by
 * one, each by an index, within one statement. And taking them: nobody else is shown a row that a
 * living instance has taken, for some seconds.
 */
import type { Document } from "../../domain/document.ts";
import { byOrder } from "../../domain/feed.ts";
import { dueText } from "../due-text.ts";
import type { DueQuery } from "../journal.ts";
import { LARGE_INDEX_BYTES } from "../indexes.ts";
import { documentsOf, SELECT_DOCUMENT } from "./documents.ts";
import type { PgSession, Query } from "./session.ts";

/** For so long nobody else is shown a row that was taken, seconds; anyone who needs it longer takes it again. */
const TAKEN_S = 5;

/** So often a taker is overtaken by others before it goes away with nothing. */
const TRIES_MAX = 5;

/** So many more are looked at than are to be taken: others take the first of them at the same time. */
const SPARE = 32;

/** $1: the instance. What is nobody's, one's own, was taken long ago, or by one that is lost. */
const FREE = `(n.taken_by IS NULL OR n.taken_by = $1 OR n.taken_until < clock_timestamp()
  OR NOT EXISTS (SELECT 1 FROM instances w WHERE w.id = n.taken_by AND NOT w.lost))`;
/** True of a $1 that is 0: who asks without taking is shown all rows. */
const SHOWN = `($1::bigint = 0 OR ${FREE})`;

const DUE = "n.mirror_id = m.id AND n.state = $5 AND n.due_at <= $6 AND n.due_at > $7";
const WITHIN = `n.size_bytes > $8 AND n.size_bytes <= $9
  AND (n.estimate IS NULL OR n.estimate <= $10::double precision)`;
const ORDER = "ORDER BY n.due_at, n.id LIMIT $4";
const NEWEST = "ORDER BY n.due_at DESC, n.id DESC LIMIT $4";
const LARGE = `n.size_bytes > ${LARGE_INDEX_BYTES}`;

/** Mirrors of archive $2, or the one mirror $3. */
const each = (where: string, order: string) => `SELECT x.* FROM mirrors m CROSS JOIN LATERAL (
    ${SELECT_DOCUMENT} WHERE ${where} AND ${SHOWN} ${order}) x
  WHERE ($3::bigint IS NULL AND m.archive_id = $2) OR m.id = $3`;

/** The texts, by what they are for. */
export const DUE_QUERIES = {
  any: each(`${DUE} AND ${WITHIN}`, ORDER),
  large: each(`${DUE} AND ${LARGE} AND ${WITHIN}`, ORDER),
  newest: each(`${DUE} AND ${WITHIN}`, NEWEST),
  newestLarge: each(`${DUE} AND ${LARGE} AND ${WITHIN}`, NEWEST),
  take: `UPDATE documents n SET taken_by = $1,
      taken_until = clock_timestamp() + interval '${TAKEN_S} seconds'
    WHERE n.id = ANY(ARRAY(SELECT n.id FROM documents n WHERE n.id = ANY($2::bigint[])
      AND n.state = $3 AND n.due_at <= $4 AND ${FREE}
      ORDER BY array_position($2::bigint[], n.id) LIMIT $5 FOR UPDATE SKIP LOCKED))
    RETURNING n.*, (SELECT d.path FROM directories d WHERE d.id = n.dir_id) AS dir`,
} as const;

/** Rows that are due, the first ones by the order asked for; of those that `instanceId` may take. */
async function dueRows(
  query: Query,
  archiveId: number,
  instanceId: number,
  asked: DueQuery,
): Promise<Document[]> {
  const { state, now, limit, mirrorId = null, after = -1 } = asked;
  const { sizeOverBytes: over = -1, sizeMaxBytes: max = Number.MAX_SAFE_INTEGER } = asked;
  const { pagesMax: pages = Number.POSITIVE_INFINITY } = asked;
  const values = [instanceId, archiveId, mirrorId, limit, state, now, after, over, max, pages];
  const found = await documentsOf(query, DUE_QUERIES[dueText(asked)], values);
  return found.sort(byOrder(asked.order ?? "oldest")).slice(0, limit);
}

/** Rows that are due, anyone who has taken them. */
export function dueDocuments(session: PgSession, archiveId: number, asked: DueQuery) {
  return session.read((query) => dueRows(query, archiveId, 0, asked));
}

/** Takes rows that are due; without an instance, as for a command, they are only shown. */
export async function takeDue(
  session: PgSession,
  archiveId: number,
  asked: DueQuery,
): Promise<Document[]> {
  const { instanceId } = session.cluster;
  const ask = (query: Query, limit: number) =>
    dueRows(query, archiveId, instanceId, { ...asked, limit });
  const taken = await taking(session, ask, asked);
  return taken.sort(byOrder(asked.order ?? "oldest"));
}

/**
 * Looked for without locks, which cost a write each, and then taken as far as nobody else was
 * quicker. Anyone who got nothing at all looks again: there may be more behind what others took.
 */
async function taking(
  session: PgSession,
  ask: (query: Query, limit: number) => Promise<Document[]>,
  { state, now, limit }: Pick<DueQuery, "state" | "now" | "limit">,
): Promise<Document[]> {
  const { instanceId } = session.cluster;
  const looked = instanceId === 0 ? limit : limit + SPARE;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const found = await session.read((query) => ask(query, looked));
    if (instanceId === 0 || found.length === 0) return found;
    const ids = found.map(({ id }) => id);
    const values = [instanceId, ids, state, now, limit];
    const taken = await session.write((query) => documentsOf(query, DUE_QUERIES.take, values));
    if (taken.length > 0) return taken;
  }
  return [];
}
