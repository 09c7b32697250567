import type { Document } from "../../domain/document.ts";
import { dueQueriesIn, dueText, dueValues, firstDue } from "../due-documents.ts";
import type { DueQuery } from "../journal.ts";
import type { PgSession } from "./session.ts";
import { documentOf, type DocumentRow } from "../columns.ts";
import { POSTGRES, selectDocument } from "../dialect.ts";
import type { Query } from "./query.ts";

export const SELECT_DOCUMENT = selectDocument(POSTGRES);

/**
 * Which documents are due, see ../due-documents.ts: the mirrors are asked one by one within one statement.
 * And taking them: nobody else is shown a row that a living instance has taken, for some seconds.
 */

/** For so long nobody else is shown a row that was taken, seconds; anyone who needs it longer takes it again. */
const TAKEN_S = 5;

/** So often a taker is overtaken by others before it goes away with nothing. */
const TRIES_MAX = 5;

/** So many more are looked at than are to be taken: others take the first of them at the same time. */
const SPARE = 32;

/** What is nobody's, the instance's own, was taken long ago, or by one that is lost. */
const freeTo = (instance: string) => `(n.taken_by IS NULL OR n.taken_by = ${instance}
  OR n.taken_until < clock_timestamp()
  OR NOT EXISTS (SELECT 1 FROM instances w WHERE w.id = n.taken_by AND NOT w.lost))`;

/** Mirrors of archive $8, or the one mirror $9. Of an instance $10 that is 0: who asks without taking is shown all. */
const each = (where: string, order: string) => `SELECT x.* FROM mirrors m CROSS JOIN LATERAL (
    ${SELECT_DOCUMENT} WHERE n.mirror_id = m.id AND ${where}
      AND ($10::bigint = 0 OR ${freeTo("$10")}) ${order}) x
  WHERE ($9::bigint IS NULL AND m.archive_id = $8) OR m.id = $9`;

/** The texts, by what they are for. */
export const DUE_QUERIES = {
  ...dueQueriesIn(each),
  take: `UPDATE documents n SET taken_by = $1,
      taken_until = clock_timestamp() + interval '${TAKEN_S} seconds'
    WHERE n.id = ANY(ARRAY(SELECT n.id FROM documents n WHERE n.id = ANY($2::bigint[])
      AND n.state = $3 AND n.due_at <= $4 AND ${freeTo("$1")}
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
  const values = [...dueValues(asked), archiveId, asked.mirrorId ?? null, instanceId];
  return firstDue(await documentsOf(query, DUE_QUERIES[dueText(asked)], values), asked);
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
  return firstDue(taken, asked);
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

/** The documents that `text` yields. */
async function documentsOf(
  query: Query,
  text: string,
  values: readonly unknown[],
): Promise<Document[]> {
  const { rows } = await query<DocumentRow>(text, values);
  return rows.map(documentOf);
}
