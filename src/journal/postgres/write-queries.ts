/** The statements that write a change set. */
import { DIRECTORIES, directoriesAt, PATH_KEY } from "./directories.ts";
import { recordset } from "./recordset.ts";
import { USAGE_COLUMNS } from "../usage-bucket.ts";
import { typesIn } from "./tables.ts";

/**
 * Sets these columns of the rows in $1; `was` is the state they must be in. What was done to a row
 * ends its being taken; $2 is the instance whose claim it is. $3, the rows' ids once more, tells that
 * they are few: of JSON a hundred rows are expected, for which a small table would be read whole.
 */
export function updateOf(columns: readonly string[]): string {
  const set = columns.filter((column) => column !== "was");
  return `UPDATE documents n SET ${set.map((column) => `${column} = u.${column}`).join()},
      taken_by = NULL, taken_until = NULL, sender = CASE WHEN n.state = u.state THEN n.sender
        WHEN u.state = 'uploading' THEN $2::bigint END
    FROM ${recordset(1, "u", { id: "bigint", was: "text", ...typesIn("documents", set) })}
    WHERE n.id = u.id AND n.state = u.was AND n.id = ANY($3::bigint[])`;
}

/**
 * Inserts rows with these columns, in $1. The first line of a history, where a row does not tell it, is written with
 * the row, as only here its number is known.
 */
export function insertOf(columns: readonly string[]): string {
  const line = typesIn("history", ["event", "detail"]);
  const news = { ord: "bigint", ...typesIn("documents", columns), ...line };
  return `WITH u AS MATERIALIZED (SELECT * FROM ${recordset(1, "u", news)}),
    made AS (INSERT INTO documents (archive_id, ${columns.join()})
      SELECT m.archive_id, ${columns.map((column) => `u.${column}`).join()}
      FROM u JOIN mirrors m ON m.id = u.mirror_id ORDER BY u.ord RETURNING id, dir_id, name),
    told AS (INSERT INTO history (document, number, at, from_state, to_state, event, detail)
      SELECT made.id, 1, u.first_seen_at, NULL, u.state, u.event, u.detail
      FROM made JOIN u ON u.dir_id = made.dir_id AND u.name = made.name WHERE u.event IS NOT NULL)
    SELECT u.ord, made.id FROM made JOIN u ON u.dir_id = made.dir_id AND u.name = made.name`;
}

const ATTEMPT = typesIn("attempts", ["document", "number"]);
const END = typesIn("attempts", ["ended_at", "outcome", "document_id"]);
const OPENED = {
  ...ATTEMPT,
  ...typesIn("attempts", ["started_at", "digest", "sent_name", "folder_id", "batch"]),
  ...END,
};
const BATCHES = {
  ord: "bigint",
  ...typesIn("batches", ["id", "mirror_id", "opened_at", "joined_at", "documents"]),
};
const USAGE_BUCKETS = {
  part: "bigint",
  ...typesIn("usage_buckets", ["at", "mirror_id", ...USAGE_COLUMNS]),
};
const DOCUMENT_COUNTS = {
  part: "bigint",
  ...typesIn("document_counts", ["mirror_id", "state", "documents", "pages", "unknown"]),
};
const LINE = ["document", "number", "at", "from_state", "to_state", "event", "detail", "times"];
const LINES = typesIn("history", LINE);
const OUTBOX_ENTRIES = {
  ord: "bigint",
  ...typesIn("outbox", ["mirror_id", "outcome", "at", "document"]),
};

const names = (columns: object) => Object.keys(columns).join();
const sums = (counts: readonly string[]) =>
  counts.map((count) => `${count} = t.${count} + excluded.${count}`).join();

/** The texts, by what they do. */
export const WRITE_QUERIES = {
  relink: `UPDATE documents n SET supersedes = u.supersedes
    FROM ${recordset(1, "u", { id: "bigint", supersedes: "bigint" })}
    WHERE n.id = u.id AND n.id = ANY($2::bigint[])`,
  remove: "DELETE FROM documents WHERE id = ANY($1::bigint[])",
  history: `INSERT INTO history (${names(LINES)}) SELECT ${names(LINES)} FROM ${recordset(1, "u", LINES)}
    ON CONFLICT (document, number) DO UPDATE SET at = excluded.at, from_state = excluded.from_state,
      to_state = excluded.to_state, event = excluded.event, detail = excluded.detail, times = excluded.times`,
  dropHistory: `DELETE FROM history h USING ${recordset(1, "u", { document: "bigint" })}
    WHERE h.document = u.document AND h.document = ANY($2::bigint[])`,
  forgotten: `INSERT INTO forgotten (document, mirror_id, path) SELECT document, mirror_id, path
    FROM ${recordset(1, "u", { document: "bigint", mirror_id: "bigint", path: "bytea" })}`,
  dropAttempts: `DELETE FROM attempts a USING ${recordset(1, "u", ATTEMPT)}
    WHERE a.document = u.document AND a.number = u.number AND a.document = ANY($2::bigint[])`,
  openAttempts: `INSERT INTO attempts (${names(OPENED)})
    SELECT ${names(OPENED)} FROM ${recordset(1, "u", OPENED)}`,
  endAttempts: `UPDATE attempts a SET ended_at = u.ended_at, outcome = u.outcome,
      document_id = u.document_id
    FROM ${recordset(1, "u", { ...ATTEMPT, ...END })}
    WHERE a.document = u.document AND a.number = u.number AND a.document = ANY($2::bigint[])`,
  usageBuckets: `INSERT INTO usage_bucket_parts AS t (${names(USAGE_BUCKETS)})
    SELECT ${names(USAGE_BUCKETS)} FROM ${recordset(1, "u", USAGE_BUCKETS)}
    ON CONFLICT (at, mirror_id, part) DO UPDATE
    SET ${sums(USAGE_COLUMNS)}`,
  documentCounts: `INSERT INTO document_counts AS t (${names(DOCUMENT_COUNTS)})
    SELECT ${names(DOCUMENT_COUNTS)} FROM ${recordset(1, "u", DOCUMENT_COUNTS)}
    ON CONFLICT (mirror_id, state, part) DO UPDATE SET ${sums(["documents", "pages", "unknown"])}`,
  outboxEntries: `INSERT INTO outbox (mirror_id, outcome, at, document, due_at)
    SELECT mirror_id, outcome, at, document, at FROM ${recordset(1, "u", OUTBOX_ENTRIES)} ORDER BY ord`,
  dropTombstone: `DELETE FROM tombstones r
    USING ${recordset(1, "u", { document_id: "bigint", archive_id: "bigint" })}
    WHERE r.document_id = u.document_id AND r.archive_id = u.archive_id`,
  // Written to first, so that no number is used up by a batch that is there.
  batches: `WITH u AS MATERIALIZED (SELECT * FROM ${recordset(1, "u", BATCHES)}),
    changed AS (UPDATE batches b SET mirror_id = u.mirror_id, opened_at = u.opened_at,
        joined_at = u.joined_at, documents = u.documents, receipt_at = NULL
      FROM u WHERE b.id = u.id RETURNING b.id)
    INSERT INTO batches (id, mirror_id, opened_at, joined_at, documents)
    SELECT id, mirror_id, opened_at, joined_at, documents FROM u
    WHERE NOT EXISTS (SELECT 1 FROM changed WHERE changed.id = u.id) ORDER BY u.ord`,
  makeDirectories: `INSERT INTO directories (mirror_id, path)
    SELECT mirror_id, path FROM ${recordset(1, "u", DIRECTORIES)} ORDER BY mirror_id, path
    ON CONFLICT (${PATH_KEY}) DO NOTHING
    RETURNING id, mirror_id AS "mirrorId", path`,
  lockDirectories: `SELECT d.id, d.mirror_id AS "mirrorId", d.path FROM directories d
    WHERE d.id = ANY(${directoriesAt(1)}) ORDER BY d.id FOR KEY SHARE`,
  setFingerprints: `INSERT INTO directories (mirror_id, path, fingerprint)
    SELECT mirror_id, path, fingerprint
    FROM ${recordset(1, "u", { ...DIRECTORIES, fingerprint: "text" })} ORDER BY mirror_id, path
    ON CONFLICT (${PATH_KEY}) DO UPDATE SET fingerprint = excluded.fingerprint`,
  dropFingerprints: `UPDATE directories d SET fingerprint = NULL
    WHERE d.id = ANY(${directoriesAt(1)})`,
  lockTidied: `SELECT 1 FROM directories d WHERE d.id = ANY(${directoriesAt(1)})
    ORDER BY d.id FOR UPDATE`,
  // Each is looked into on its own: joined, all documents would be read to find that there are some.
  tidyDirectories: `DELETE FROM directories d
    WHERE d.id = ANY(${directoriesAt(1)}) AND d.fingerprint IS NULL
      AND (SELECT n.id FROM documents n WHERE n.dir_id = d.id AND n.current = 1 LIMIT 1) IS NULL
      AND (SELECT n.id FROM documents n WHERE n.dir_id = d.id AND n.current = 0 LIMIT 1) IS NULL`,
} as const;
