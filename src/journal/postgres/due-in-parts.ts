/**
 * What is due of some parts of a mirror (src/domain/division.ts). Nobody takes these rows: each part is
 * one member's alone. The parts are reckoned row by row, of what is due: others, who have the rest, keep
 * that short.
 */
import type { Division } from "../../domain/division.ts";
import type { Document } from "../../domain/document.ts";
import { invariant } from "../../std/invariant.ts";
import type { DueQuery } from "../journal.ts";
import { LARGE_INDEX_BYTES } from "../schema.ts";
import { documentsOf, SELECT_DOCUMENT } from "./documents.ts";
import type { PgSession } from "./session.ts";

/** `d`: the directory. The first of its names, and a part by the first 24 bits of its digest. */
const SLASH = "position('\\x2f'::bytea IN d.path)";
const TOP = `CASE ${SLASH} WHEN 0 THEN d.path ELSE substring(d.path FROM 1 FOR ${SLASH} - 1) END`;
const BITS = `('x' || encode(substring(sha256(${TOP}) FROM 1 FOR 3), 'hex'))::bit(24)::integer`;

/** Whether a directory belongs to one of these parts, of so many. */
const inParts = (own: string, of: string) =>
  `(CASE WHEN length(d.path) = 0 THEN 1 ELSE 1 + ${BITS} % ${of}::bigint END) = ANY(${own}::bigint[])`;

const DUE = `n.mirror_id = $1 AND n.state = $2 AND n.due_at <= $3 AND n.due_at > $4
  AND n.size_bytes > $5 AND n.size_bytes <= $6`;
const OWN_DUE = `${inParts("$8", "$9")} ORDER BY n.due_at, n.id LIMIT $7`;

/** The texts, by what they are for. */
export const PART_QUERIES = {
  any: `${SELECT_DOCUMENT} WHERE ${DUE} AND ${OWN_DUE}`,
  large: `${SELECT_DOCUMENT} WHERE ${DUE} AND n.size_bytes > ${LARGE_INDEX_BYTES} AND ${OWN_DUE}`,
  after: `${SELECT_DOCUMENT} WHERE n.archive_id = $1 AND n.state IN ('converted', 'held')
    AND n.after_state = 'due' AND coalesce(n.due_at, 0) <= $2 AND n.mirror_id = ANY($4::bigint[])
    AND ${inParts("$5", "$6")} ORDER BY coalesce(n.due_at, 0), n.id LIMIT $3`,
} as const;

/** See `Journal.due`. */
export function dueInParts(
  session: PgSession,
  asked: DueQuery,
  { own, of }: Division,
): Promise<Document[]> {
  const { state, now, limit, mirrorId, after = -1, order = "oldest" } = asked;
  const { sizeOverBytes: over = -1, sizeMaxBytes: max = Number.MAX_SAFE_INTEGER } = asked;
  invariant(mirrorId !== undefined && order === "oldest", "parts are of one mirror, in its order");
  const text = over >= LARGE_INDEX_BYTES ? PART_QUERIES.large : PART_QUERIES.any;
  const values = [mirrorId, state, now, after, over, max, limit, own, of];
  return session.read((query) => documentsOf(query, text, values));
}
