/**
 * What the journal is asked, as ../queries.ts has it for SQLite. Each query is served by an index of
 * its own; a test reads the plans.
 */
import { isLong, isSame, isShort, startOf } from "./directories.ts";
import { SELECT_DOCUMENT } from "./documents.ts";

const KNOWN = `n.id, n.name, n.state, n.stamp, n.gone_at AS "goneAt", n.document_id AS "documentId"`;
const IN_DIRECTORY = "directories d JOIN documents n ON n.dir_id = d.id";
const BATCH = `id, mirror_id AS "mirrorId", opened_at AS "openedAt", joined_at AS "joinedAt", documents`;
/** The first characters tell batches apart well enough, in an index of a quarter of the size. */
const OF_BATCH =
  "substr(n.batch, 1, 8) = substr($1, 1, 8) AND n.batch = $1 AND n.batch IS NOT NULL";
const WAITING_FOR = `${SELECT_DOCUMENT} WHERE n.problem_code = c.code AND n.mirror_id = $2
  AND n.target_path = $3 AND n.state = 'held'`;
const SENDING = "n.state IN ('uploading', 'inDoubt')";

/** The texts, by the question they answer. */
export const QUERIES = {
  directories: `SELECT d.path, coalesce(d.fingerprint, '') AS fingerprint FROM directories d
    WHERE d.mirror_id = $1 AND (d.fingerprint IS NOT NULL OR EXISTS (SELECT 1 FROM documents n
      WHERE n.dir_id = d.id AND n.current = 1 AND n.gone_at IS NULL)) ORDER BY d.path`,
  rowsIn: `SELECT ${KNOWN} FROM ${IN_DIRECTORY}
    WHERE d.mirror_id = $1 AND ${isSame("d.path", "$2::bytea")} AND n.current = 1 ORDER BY n.name`,
  rowsBelow: `SELECT ${KNOWN} FROM ${IN_DIRECTORY}
    WHERE d.mirror_id = $1 AND d.path >= $2 AND d.path < $3 AND n.current = 1
      AND ${startOf("d.path")} BETWEEN ${startOf("$2::bytea")} AND ${startOf("$3::bytea")}
    ORDER BY d.path, n.name`,
  document: `${SELECT_DOCUMENT} WHERE n.id = $1`,
  currentAt: `SELECT n.*, d.path AS dir FROM ${IN_DIRECTORY}
    WHERE d.mirror_id = $1 AND ${isSame("d.path", "$2::bytea")} AND n.name = $3 AND n.current = 1`,
  // What is held in doubt ($4) by code and size, since an index has these: of one size few are in doubt.
  sentWith: `SELECT x.* FROM (${SELECT_DOCUMENT} WHERE n.mirror_id = $1
      AND substr(n.digest, 1, 12) = substr($2, 1, 12) AND n.digest = $2 AND n.state IN ('uploading', 'inDoubt', 'uploaded', 'converted')
    UNION ALL ${SELECT_DOCUMENT} WHERE n.archive_id = (SELECT archive_id FROM mirrors WHERE id = $1)
      AND n.problem_code = ANY($4::text[]) AND n.size_bytes = $3 AND n.state = 'held'
      AND n.mirror_id = $1 AND n.digest = $2 AND n.doubt_at IS NOT NULL) x ORDER BY x.id`,
  ignoredWith: `${SELECT_DOCUMENT} WHERE n.mirror_id = $1 AND n.ignored_digest = $2 ORDER BY n.id`,
  conflicts: `${SELECT_DOCUMENT} WHERE n.folder_id = $1 AND n.sent_name = $2 AND n.archive_id = $3
    AND (${SENDING} OR n.doubt_at IS NOT NULL) ORDER BY n.id`,
  claimed: `SELECT n.document_id AS id, coalesce(n.sent_archive_at, n.sent_at) AS "sentAt" FROM documents n
    WHERE n.document_id = ANY($1::bigint[]) AND n.archive_id = $2
      AND ($3::bigint[] IS NULL OR n.mirror_id = ANY($3))
    UNION ALL SELECT r.document_id, NULL FROM tombstones r
    WHERE r.document_id = ANY($1::bigint[]) AND r.archive_id = $2
      AND ($3::bigint[] IS NULL OR r.mirror_id = ANY($3))`,
  duplicates: `SELECT count(*) AS documents, coalesce(sum(pages), 0) AS pages FROM documents
    WHERE duplicate_of IS NOT NULL`,
  outstanding: `SELECT folder_id AS "folderId", count(*) AS documents,
      count(*) FILTER (WHERE due_at <= $1) AS due
    FROM documents WHERE archive_id = $2 AND state = 'uploaded'
    GROUP BY folder_id ORDER BY folder_id`,
  outstandingIn: `${SELECT_DOCUMENT} WHERE n.archive_id = $1 AND n.folder_id = $2
    AND n.state = 'uploaded' ORDER BY n.due_at NULLS LAST, n.id LIMIT $3`,
  afterDue: `${SELECT_DOCUMENT} WHERE n.archive_id = $1 AND n.state IN ('converted', 'held')
    AND n.after_state = 'due' AND coalesce(n.due_at, 0) <= $2
    ORDER BY coalesce(n.due_at, 0), n.id LIMIT $3`,
  afterDueIn: `${SELECT_DOCUMENT} WHERE n.archive_id = $1 AND n.state IN ('converted', 'held')
    AND n.after_state = 'due' AND coalesce(n.due_at, 0) <= $2 AND n.mirror_id = ANY($4::bigint[])
    ORDER BY coalesce(n.due_at, 0), n.id LIMIT $3`,
  // Whose sender is there is being sent; a sender without a row is not.
  underWay: `${SELECT_DOCUMENT} WHERE n.archive_id = $1 AND n.state = 'uploading'
    AND NOT EXISTS (SELECT 1 FROM instances m WHERE m.id = n.sender AND NOT m.lost)
    ORDER BY n.id LIMIT $2`,
  // Each code's rows come in the order of an index.
  heldWith: `SELECT x.* FROM unnest($1::text[]) c (code) CROSS JOIN LATERAL (
      ${SELECT_DOCUMENT} WHERE n.problem_code = c.code AND n.state = 'held' AND n.archive_id = $2
      ORDER BY n.id LIMIT $3) x ORDER BY x.id LIMIT $3`,
  heldFor: `SELECT x.* FROM unnest($1::text[]) c (code) CROSS JOIN LATERAL (
      (${WAITING_FOR} AND ${isShort("n.target_path")} ORDER BY n.id LIMIT $4)
      UNION ALL (${WAITING_FOR} AND ${isLong("n.target_path")} ORDER BY n.id LIMIT $4)) x
    ORDER BY x.id LIMIT $4`,
  smallestHeld: `SELECT x.* FROM unnest($1::text[]) c (code) CROSS JOIN LATERAL (
      ${SELECT_DOCUMENT} WHERE n.archive_id = $2 AND n.problem_code = c.code AND n.state = 'held'
      AND n.mirror_id = ANY($3::bigint[]) ORDER BY n.size_bytes, n.id LIMIT 1) x
    ORDER BY x.size_bytes, x.id LIMIT 1`,
  moved: `${SELECT_DOCUMENT} WHERE n.moved_at IS NOT NULL AND n.gone_at IS NULL AND n.current = 1
    AND n.mirror_id = ANY($1::bigint[]) ORDER BY n.moved_at DESC, n.id DESC LIMIT $2`,
  movedCount: `SELECT count(*) AS documents FROM documents WHERE moved_at IS NOT NULL
    AND gone_at IS NULL AND current = 1 AND mirror_id = ANY($1::bigint[])`,
  movedAway: `${SELECT_DOCUMENT} WHERE n.moved_from = $1 AND n.mirror_id = $2 ORDER BY n.id DESC LIMIT 1`,
  afterPending: `${SELECT_DOCUMENT} WHERE n.archive_id = $1 AND n.state IN ('converted', 'held')
    AND n.after_state = 'due' AND n.after_message IS NOT NULL
    AND (coalesce(n.due_at, 0), n.id) > ($2, $3)
    ORDER BY coalesce(n.due_at, 0), n.id LIMIT $4`,
  afterFailed: `SELECT mirror_id AS "mirrorId", count(*) AS documents, min(id) AS first FROM documents
    WHERE after_state = 'refused' AND current = 1 AND gone_at IS NULL
    GROUP BY mirror_id ORDER BY mirror_id`,
  waitingFolders: [isShort, isLong]
    .map(
      (is) => `SELECT mirror_id AS "mirrorId",
      target_path AS "targetPath", problem_code AS code, count(*) AS documents
    FROM documents WHERE state = 'held' AND problem_code = ANY($1::text[]) AND ${is("target_path")}
    GROUP BY problem_code, mirror_id, target_path`,
    )
    .join(" UNION ALL "),
  // Each mirror's states one by one: ranges of an index, which alone is read but for the oldest.
  counts: `SELECT m.id AS "mirrorId", s.state, c.documents, n.first_seen_at AS "oldestAt"
    FROM mirrors m CROSS JOIN unnest($1::text[]) s (state)
      CROSS JOIN LATERAL (SELECT count(*) AS documents, min(id) AS oldest FROM documents
        WHERE mirror_id = m.id AND state = s.state) c
      JOIN documents n ON n.id = c.oldest
    ORDER BY m.id, s.state COLLATE "C"`,
  withProblem: `SELECT problem_code AS code, state, count(*) AS documents, min(id) AS first
    FROM documents WHERE problem_code IS NOT NULL GROUP BY problem_code, state
    ORDER BY problem_code, state`,
  withProblemOf: `SELECT problem_code AS code, state, count(*) AS documents, min(id) AS first
    FROM documents WHERE problem_code IS NOT NULL AND mirror_id = ANY($1::bigint[])
    GROUP BY problem_code, state ORDER BY problem_code, state`,
  lastBatch: `SELECT ${BATCH} FROM (SELECT * FROM batches WHERE mirror_id = $1
      ORDER BY number DESC LIMIT 1) b WHERE receipt_at IS NULL`,
  contents: `SELECT document_id AS "documentId", filename, size_bytes AS "sizeBytes", pages
    FROM contents WHERE document = $1 ORDER BY position`,
  mirrors: `SELECT id, name, source, device, archive_id AS "archiveId" FROM mirrors ORDER BY id`,
  usageBuckets: `SELECT mirror_id AS "mirrorId", at, uploaded, uploaded_bytes AS "uploadedBytes",
      converted, pages, charged, saved, failed
    FROM usage_buckets WHERE at >= $1 AND at < $2 ORDER BY at, mirror_id`,
  latestBatches: `SELECT ${BATCH} FROM batches ORDER BY number DESC LIMIT $1`,
  ofBatches: `SELECT n.batch, n.state, count(*) AS documents, coalesce(sum(n.pages), 0) AS pages
    FROM unnest($1::text[]) b (id)
      JOIN documents n ON substr(n.batch, 1, 8) = substr(b.id, 1, 8) AND n.batch = b.id
    WHERE n.batch IS NOT NULL GROUP BY n.batch, n.state`,
  openBatches: `SELECT number, ${BATCH} FROM batches WHERE receipt_at IS NULL AND number > $1
    AND mirror_id IN (SELECT id FROM mirrors WHERE archive_id = $2) ORDER BY number LIMIT $3`,
  inBatch: `${SELECT_DOCUMENT} WHERE ${OF_BATCH} ORDER BY n.id LIMIT $2`,
  waitingPages: `SELECT m.id AS "mirrorId", n.* FROM mirrors m CROSS JOIN LATERAL (
      SELECT state, count(*) AS documents, coalesce(sum(estimate), 0) AS pages,
        count(*) - count(estimate) AS unknown
      FROM documents WHERE mirror_id = m.id AND state IN ('pending', 'held') GROUP BY state) n
    ORDER BY m.id, n.state`,
  pendingOver: `SELECT count(*) AS documents
    FROM documents WHERE mirror_id = $1 AND state = 'pending' AND estimate > $2`,
  // One look at both: what is stored goes from one to the other.
  pagesUsed: `SELECT "mirrorId", sum(pages) AS pages FROM (
      SELECT n.mirror_id AS "mirrorId", coalesce(sum(n.charge), 0) AS pages FROM documents n
        WHERE (${SENDING} OR n.doubt_at IS NOT NULL) GROUP BY n.mirror_id
      UNION ALL SELECT mirror_id, sum(charged) FROM usage_buckets WHERE at >= $1 AND at < $2
        GROUP BY mirror_id) s GROUP BY "mirrorId"`,
  outboxEntries: `SELECT number, mirror_id AS "mirrorId", outcome, at, document, tries,
      due_at AS "dueAt"
    FROM outbox WHERE mirror_id = $1 AND due_at <= $2 ORDER BY due_at, number LIMIT $3`,
  undelivered: `SELECT mirror_id AS "mirrorId", count(*) AS "outboxEntries" FROM outbox
    GROUP BY mirror_id ORDER BY mirror_id`,
  history: `SELECT h.number, h.at, h.from_state AS "from", h.to_state AS "to", h.event, h.detail, h.times
    FROM history h WHERE h.document = $1`,
  forgotten: `SELECT h.number, h.at, h.from_state AS "from", h.to_state AS "to", h.event, h.detail, h.times
    FROM forgotten f JOIN history h ON h.document = f.document
    WHERE f.mirror_id = $1 AND sha256(f.path) = sha256($2::bytea) ORDER BY h.document, h.number`,
  attempts: `SELECT started_at AS "startedAt", ended_at AS "endedAt", digest,
      sent_name AS "sentName", folder_id AS "folderId", batch, outcome, document_id AS "documentId"
    FROM attempts WHERE document = $1 ORDER BY number`,
  tombstones: `SELECT r.document_id AS "documentId", r.folder_id AS "folderId" FROM tombstones r
    WHERE r.mirror_id = $1 AND r.digest = $2 AND (r.place IS NULL OR r.place = $3)
    ORDER BY r.number DESC`,
} as const;
