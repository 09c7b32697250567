/**
 * What the journal is asked, in SQLite and in PostgreSQL alike. Each query is served by an index of its own; a test
 * reads the plans.
 */
import { DOUBT_CODES, FOLDER_CODES } from "../domain/code-sets.ts";
import { type Dialect, selectDocument } from "./dialect.ts";
import { listQueriesIn } from "./list-queries.ts";

const BATCH = `b.id, b.mirror_id AS "mirrorId", b.opened_at AS "openedAt", b.joined_at AS "joinedAt",
  b.documents`;
const LINE = `h.number, h.at, h.from_state AS "from", h.to_state AS "to", h.event, h.detail, h.times`;
const MIRROR = `SELECT id, name, source, device, archive_id AS "archiveId" FROM mirrors`;
const SENDING = "n.state IN ('uploading', 'inDoubt')";
const MAY_BE_ARCHIVED = `(${SENDING} OR n.doubt_at IS NOT NULL)`;
const AFTER = `n.archive_id = $1 AND n.state IN ('converted', 'held') AND n.after_state = 'due'`;
const AFTER_ORDER = "ORDER BY coalesce(n.due_at, 0), n.id";
const IN_PROBLEM = `SELECT problem_code AS code, state, count(*) AS documents, min(id) AS first
  FROM documents`;
const IN_DOUBT = DOUBT_CODES.map((code) => `'${code}'`).join();

const COUNTED = `FROM document_counts c GROUP BY c.mirror_id, c.state HAVING sum(c.documents) > 0`;
/** Enough to find the oldest: an index of all by state and id would be written nine times in a document's life. */
const LONGEST_DUE = `SELECT n.id FROM documents n WHERE n.mirror_id = c.mirror_id AND n.state = c.state
  ORDER BY n.due_at LIMIT 1000`;
const sum = (column: string) => `CAST(sum(c.${column}) AS bigint) AS ${column}`;

/** Documents of a batch. The first characters distinguish batches well enough, in an index of a quarter of the size. */
export function ofBatch(id: string): string {
  return `substr(n.batch, 1, 8) = substr(${id}, 1, 8) AND n.batch = ${id} AND n.batch IS NOT NULL`;
}

/** The texts, by the question they answer. */
export type Queries = ReturnType<typeof queriesIn>;

/** The texts in a dialect. */
export function queriesIn(dialect: Dialect) {
  const { by, isAmong, isPath, join, listed, textKinds, unhexed, unindexed } = dialect;
  const DOCUMENT = selectDocument(dialect);
  const IN_DIRECTORY = `directories d ${join} documents n ON n.dir_id = d.id`;
  const KNOWN = `SELECT n.id, n.name, n.state, n.stamp, n.gone_at AS "goneAt",
    n.document_id AS "documentId" FROM ${IN_DIRECTORY}`;

  /** The first rows of each code, in one answer: only code by code does an index give them in order. */
  const eachOf = (codes: number, select: (code: string) => string, firstParameter: number) =>
    Array.from({ length: codes }, (_, at) => select(`$${firstParameter + at}`))
      .map((text) => `SELECT * FROM (${text}) x`)
      .join(" UNION ALL ");

  return {
    list: listQueriesIn(dialect),
    counts: `SELECT c.mirror_id AS "mirrorId", c.state, ${sum("documents")},
        (SELECT n.first_seen_at FROM documents n WHERE n.id = (SELECT min(due.id) FROM (${LONGEST_DUE}) due))
          AS "oldestAt"
      ${COUNTED} ORDER BY c.mirror_id, c.state`,
    waitingPages: `SELECT c.mirror_id AS "mirrorId", c.state, ${sum("documents")}, ${sum("pages")},
        ${sum("unknown")}
      ${COUNTED} AND c.state IN ('pending', 'held') ORDER BY c.mirror_id, c.state`,
    directories: `SELECT d.path, coalesce(d.fingerprint, '') AS fingerprint FROM directories d
      WHERE d.mirror_id = $1 AND (d.fingerprint IS NOT NULL OR EXISTS (SELECT 1 FROM documents n
        WHERE n.dir_id = d.id AND n.current = 1 AND n.gone_at IS NULL)) ORDER BY d.path`,
    rowsIn: `${KNOWN} WHERE d.mirror_id = $1 AND ${isPath("d.path", 2)} AND n.current = 1
      ORDER BY n.name`,
    rowsBelow: `${KNOWN} WHERE d.mirror_id = $1 AND ${dialect.isPathBetween("d.path", 2, 3)}
      AND n.current = 1 ORDER BY d.path, n.name`,
    document: `${DOCUMENT} WHERE n.id = $1`,
    currentAt: `SELECT n.*, d.path AS dir FROM ${IN_DIRECTORY}
      WHERE d.mirror_id = $1 AND ${isPath("d.path", 2)} AND n.name = $3 AND n.current = 1`,
    // What is held in doubt by code and size, since an index has these: of one size few are in doubt.
    sentWith: `${DOCUMENT} WHERE n.mirror_id = $1
        AND substr(n.digest, 1, 12) = substr($2, 1, 12) AND n.digest = $2
        AND n.state IN ('uploading', 'inDoubt', 'uploaded', 'converted')
      UNION ALL ${DOCUMENT} WHERE n.problem_code IN (${IN_DOUBT}) AND n.size_bytes = $3
        AND n.archive_id = (SELECT archive_id FROM mirrors WHERE id = $1) AND n.state = 'held'
        AND ${unindexed("n.mirror_id")} = $1 AND n.digest = $2 AND n.doubt_at IS NOT NULL`,
    knownContents: `SELECT c.value AS digest FROM mirrors m ${join} ${listed(2, "c")} ON true ${join} documents n
        ON n.mirror_id = m.id AND substr(n.digest, 1, 12) = substr(c.value, 1, 12) AND n.digest = c.value
      WHERE m.archive_id = $1 AND n.state IN ('uploading', 'inDoubt', 'uploaded', 'converted')
      UNION ALL SELECT n.digest FROM documents n WHERE n.archive_id = $1 AND n.state = 'held'
        AND n.problem_code IN (${IN_DOUBT}) AND ${isAmong("n.size_bytes", 4, "bigint")}
        AND n.doubt_at IS NOT NULL AND ${isAmong("n.digest", 2, "text")}
      UNION ALL SELECT c.value FROM mirrors m ${join} ${listed(2, "c")} ON true ${join} documents n
        ON n.mirror_id = m.id AND n.ignored_digest = c.value WHERE m.archive_id = $1
      UNION ALL SELECT c.value FROM mirrors m ${join} ${listed(3, "c")} ON true ${join} tombstones r
        ON r.mirror_id = m.id AND r.digest = ${unhexed("c.value")} WHERE m.archive_id = $1`,
    ignoredWith: `${DOCUMENT} WHERE n.mirror_id = $1 AND n.ignored_digest = $2 ORDER BY n.id`,
    conflicts: `${DOCUMENT} WHERE n.sent_name = $1 AND n.archive_id = $2 AND n.folder_id = $3
      AND ${MAY_BE_ARCHIVED} ORDER BY n.id`,
    conflictsAnywhere: `${DOCUMENT} WHERE n.id IN (SELECT n.id
      FROM documents n${by("documents_conflicts")} WHERE n.sent_name = $1 AND n.archive_id = $2
        AND ${MAY_BE_ARCHIVED}) ORDER BY n.id`,
    claimed: `SELECT n.document_id AS id, coalesce(n.sent_archive_at, n.sent_at) AS "sentAt"
      FROM documents n WHERE ${isAmong("n.document_id", 1, "bigint")} AND n.archive_id = $2
        AND ${isAmong("n.mirror_id", 3, "bigint", "orAny")}
      UNION ALL SELECT r.document_id, NULL FROM tombstones r
      WHERE ${isAmong("r.document_id", 1, "bigint")} AND r.archive_id = $2
        AND ${isAmong("r.mirror_id", 3, "bigint", "orAny")}`,
    duplicates: `SELECT count(*) AS documents, coalesce(sum(pages), 0) AS pages FROM documents
      WHERE duplicate_of IS NOT NULL`,
    outstanding: `SELECT folder_id AS "folderId", count(*) AS documents,
        count(*) FILTER (WHERE due_at <= $1) AS due
      FROM documents WHERE archive_id = $2 AND state = 'uploaded'
      GROUP BY folder_id ORDER BY folder_id`,
    outstandingIn: `${DOCUMENT} WHERE n.archive_id = $1 AND n.folder_id = $2
      AND n.state = 'uploaded' ORDER BY n.due_at NULLS LAST, n.id LIMIT $3`,
    afterDue: `${DOCUMENT} WHERE ${AFTER} AND coalesce(n.due_at, 0) <= $2
      AND ${isAmong("n.mirror_id", 4, "bigint", "orAny")} ${AFTER_ORDER} LIMIT $3`,
    afterPending: `${DOCUMENT} WHERE ${AFTER} AND n.after_message IS NOT NULL
      AND (coalesce(n.due_at, 0), n.id) > ($2, $3) ${AFTER_ORDER} LIMIT $4`,
    afterFailed: `SELECT mirror_id AS "mirrorId", count(*) AS documents, min(id) AS first
      FROM documents WHERE after_state = 'refused' AND current = 1 AND gone_at IS NULL
      GROUP BY mirror_id ORDER BY mirror_id`,
    /** Values: archive, limit, and so many codes. */
    heldWith: (codes: number) =>
      eachOf(
        codes,
        (code) => `${DOCUMENT} WHERE n.problem_code = ${code} AND n.state = 'held'
          AND n.archive_id = $1 ORDER BY n.id LIMIT $2`,
        3,
      ),
    /** Values: mirror, folder, limit, and so many codes. */
    heldFor: (codes: number) =>
      textKinds
        .map((isOfKind) =>
          eachOf(
            codes,
            (code) => `${DOCUMENT} WHERE n.problem_code = ${code} AND n.mirror_id = $1
              AND n.target_path = $2 AND ${isOfKind("n.target_path")} AND n.state = 'held'
              ORDER BY n.id LIMIT $3`,
            4,
          ),
        )
        .join(" UNION ALL "),
    /** Values: archive, mirrors, and so many codes. */
    smallestHeld: (codes: number) =>
      eachOf(
        codes,
        (code) => `${DOCUMENT} WHERE n.archive_id = $1 AND n.problem_code = ${code}
          AND n.state = 'held' AND ${isAmong("n.mirror_id", 2, "bigint")}
          ORDER BY n.size_bytes, n.id LIMIT 1`,
        3,
      ),
    moved: `${DOCUMENT} WHERE n.moved_at IS NOT NULL AND n.gone_at IS NULL AND n.current = 1
      AND ${isAmong(unindexed("n.mirror_id"), 1, "bigint")} ORDER BY n.moved_at DESC, n.id DESC LIMIT $2`,
    movedCount: `SELECT count(*) AS documents FROM documents WHERE moved_at IS NOT NULL
      AND gone_at IS NULL AND current = 1 AND ${isAmong(unindexed("mirror_id"), 1, "bigint")}`,
    movedAway: `${DOCUMENT} WHERE n.moved_from = $1 AND ${unindexed("n.mirror_id")} = $2
      ORDER BY n.id DESC LIMIT 1`,
    waitingFolders: FOLDER_CODES.flatMap((code) =>
      textKinds.map(
        (isOfKind) => `SELECT mirror_id AS "mirrorId", target_path AS "targetPath",
            problem_code AS code, count(*) AS documents
          FROM documents WHERE state = 'held' AND problem_code = '${code}'
            AND ${isOfKind("target_path")}
          GROUP BY problem_code, mirror_id, target_path`,
      ),
    ).join(" UNION ALL "),
    withProblem: `${IN_PROBLEM} WHERE problem_code IS NOT NULL GROUP BY problem_code, state`,
    withProblemOf: `${IN_PROBLEM}${by("documents_with_problem")}
      WHERE problem_code IS NOT NULL AND ${isAmong("mirror_id", 1, "bigint")}
      GROUP BY problem_code, state`,
    contents: `SELECT document_id AS "documentId", filename, size_bytes AS "sizeBytes", pages
      FROM contents WHERE document = $1 ORDER BY position`,
    dropContents: "DELETE FROM contents WHERE document = $1",
    addContent: `INSERT INTO contents
        (document, position, document_id, filename, size_bytes, pages)
      VALUES ($1, $2, $3, $4, $5, $6)`,
    history: `SELECT ${LINE} FROM history h WHERE h.document = $1`,
    forgotten: `SELECT ${LINE} FROM forgotten f ${join} history h ON h.document = f.document
      WHERE f.mirror_id = $1 AND ${dialect.isForgottenPath("f.path", 2)}
      ORDER BY h.document, h.number`,
    attempts: `SELECT started_at AS "startedAt", ended_at AS "endedAt", digest,
        sent_name AS "sentName", folder_id AS "folderId", batch, outcome,
        document_id AS "documentId"
      FROM attempts WHERE document = $1 ORDER BY number`,
    tombstones: `SELECT r.document_id AS "documentId", r.folder_id AS "folderId" FROM tombstones r
      WHERE r.mirror_id = $1 AND r.digest = $2 AND (r.place IS NULL OR r.place IN ($3, $4))
      ORDER BY r.number DESC`,

    lastBatch: `SELECT ${BATCH} FROM (SELECT * FROM batches WHERE mirror_id = $1
      ORDER BY number DESC LIMIT 1) b WHERE b.receipt_at IS NULL`,
    latestBatches: `SELECT ${BATCH} FROM batches b ORDER BY b.number DESC LIMIT $1`,
    ofBatches: `SELECT n.batch, n.state, count(*) AS documents, coalesce(sum(n.pages), 0) AS pages
      FROM ${listed(1, "b")} ${join} documents n ON ${ofBatch("b.value")}
      GROUP BY n.batch, n.state`,
    openBatches: `SELECT b.number, ${BATCH},
        (SELECT 1 FROM documents n WHERE ${ofBatch("b.id")} LIMIT 1) AS begun,
        (SELECT 1 FROM documents n WHERE ${ofBatch("b.id")} AND n.state <> 'converted' LIMIT 1) AS open
      FROM batches b WHERE b.receipt_at IS NULL AND b.number > $1
        AND ${unindexed("b.mirror_id")} IN (SELECT id FROM mirrors WHERE archive_id = $2)
      ORDER BY b.number LIMIT $3`,
    inBatch: `${DOCUMENT} WHERE ${ofBatch("$1")} ORDER BY n.id LIMIT $2`,
    // Nobody joins it from here on: who does, writes to its row first.
    lockBatch: dialect.lock("batches", "id = $1"),
    setReceipt: `UPDATE batches SET receipt_at = $3 WHERE id = $1 AND $2 > 0
      AND $2 = (SELECT count(*) FROM documents n WHERE ${ofBatch("$1")})
      AND NOT EXISTS (SELECT 1 FROM documents n WHERE ${ofBatch("$1")} AND n.state <> 'converted')`,
    usageBuckets: `SELECT mirror_id AS "mirrorId", at, uploaded, uploaded_bytes AS "uploadedBytes",
        converted, pages, charged, saved, failed
      FROM usage_buckets WHERE at >= $1 AND at < $2 ORDER BY at, mirror_id`,
    pendingOver: `SELECT count(*) AS documents
      FROM documents WHERE mirror_id = $1 AND state = 'pending' AND estimate > $2`,
    // One look at both: what is stored goes from one to the other.
    pagesUsed: `SELECT "mirrorId", sum(pages) AS pages FROM (
        SELECT n.mirror_id AS "mirrorId", coalesce(sum(n.charge), 0) AS pages
          FROM documents n${by("documents_conflicts")} WHERE ${MAY_BE_ARCHIVED} GROUP BY n.mirror_id
        UNION ALL SELECT mirror_id, sum(charged) FROM usage_buckets
          WHERE at >= $1 AND at < $2 GROUP BY mirror_id) s
      GROUP BY "mirrorId"`,

    outboxEntries: `SELECT number, mirror_id AS "mirrorId", outcome, at, document, tries,
        due_at AS "dueAt"
      FROM outbox WHERE mirror_id = $1 AND due_at <= $2 ORDER BY due_at, number LIMIT $3`,
    undelivered: `SELECT mirror_id AS "mirrorId", count(*) AS "outboxEntries" FROM outbox
      GROUP BY mirror_id ORDER BY mirror_id`,
    keepOutboxEntries: `UPDATE mirrors
      SET tells = CASE WHEN ${isAmong("id", 1, "bigint")} THEN 1 ELSE 0 END`,
    endOutboxEntry: "DELETE FROM outbox WHERE number = $1",
    putOffOutboxEntry: "UPDATE outbox SET tries = $2, due_at = $3 WHERE number = $1",
    pullInOutboxEntries: "UPDATE outbox SET due_at = $3 WHERE mirror_id = $1 AND due_at > $2",

    makeArchive: `INSERT INTO archives (name, url)
      SELECT $1, $2 WHERE NOT EXISTS (SELECT 1 FROM archives WHERE name = $1)
      ON CONFLICT (name) DO NOTHING`,
    moveArchive: "UPDATE archives SET url = $2 WHERE name = $1 AND url IS DISTINCT FROM $2",
    archives: "SELECT id, name, url FROM archives ORDER BY id",
    retireArchive: "UPDATE archives SET name = name || $2, url = NULL WHERE id = $1",
    retireMirrors: "UPDATE mirrors SET name = name || $2 WHERE archive_id = $1",
    mirrors: `${MIRROR} ORDER BY id`,
    mirror: `${MIRROR} WHERE name = $1`,
    makeMirror: `INSERT INTO mirrors (name, source, archive_id)
      SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM mirrors WHERE name = $1)
      ON CONFLICT (name) DO NOTHING`,
    // Waits for anyone who adds rows to it, and makes the next one wait.
    lockMirror: dialect.lock("mirrors", "name = $1"),
    // To another archive only while the one it had has, and may have, nothing of it.
    bindMirror: `UPDATE mirrors SET archive_id = $2, first_run_over_at = NULL
      WHERE name = $1 AND archive_id <> $2
        AND NOT EXISTS (SELECT 1 FROM tombstones r WHERE r.mirror_id = mirrors.id)
        AND NOT EXISTS (SELECT 1 FROM documents n WHERE n.mirror_id = mirrors.id
          AND (n.document_id IS NOT NULL OR ${MAY_BE_ARCHIVED}))`,
    bindDocuments: `UPDATE documents SET archive_id = $2 WHERE archive_id <> $2
      AND mirror_id = (SELECT id FROM mirrors WHERE name = $1 AND archive_id = $2)`,
    // What its old source was on says nothing then.
    moveMirror: `UPDATE mirrors SET source = $2, device = CASE WHEN source = $2 THEN device END
      WHERE name = $1 AND archive_id = $3`,
    renameMirror: "UPDATE mirrors SET name = $2 WHERE id = $1",
    setDevice: "UPDATE mirrors SET device = $2 WHERE id = $1",
    /** Values: archive, and 1 where those that are over are asked for, too. */
    firstRuns: `SELECT id FROM mirrors
      WHERE archive_id = $1 AND ($2 = 1 OR first_run_over_at IS NULL) ORDER BY id`,
    endFirstRun: "UPDATE mirrors SET first_run_over_at = $2 WHERE id = $1",
    gate: `SELECT gate_closed_at AS "closedAt", gate_code AS code, gate_message AS message,
        gate_probes AS probes, gate_next_probe_at AS "nextProbeAt" FROM archives WHERE id = $1`,
    setGate: `UPDATE archives SET gate_closed_at = $2, gate_code = $3, gate_message = $4,
      gate_probes = $5, gate_next_probe_at = $6 WHERE id = $1`,
    pace: `SELECT pace_limit AS "limit", pace_paused_at AS "pausedAt",
        pace_paused_until AS "pausedUntil", pace_code AS code, pace_message AS message
      FROM archives WHERE id = $1`,
    setPace: `UPDATE archives SET pace_limit = $2, pace_paused_at = $3, pace_paused_until = $4,
      pace_code = $5, pace_message = $6 WHERE id = $1`,
    warned: `SELECT allowance_from AS "from", allowance_warned AS level FROM archives WHERE id = $1`,
    setWarned: "UPDATE archives SET allowance_from = $2, allowance_warned = $3 WHERE id = $1",
    paused: "SELECT paused FROM account",
    setPaused: "UPDATE account SET paused = $1",
    keyValue: "SELECT text FROM key_values WHERE name = $1",
    setKeyValue: `INSERT INTO key_values (name, text) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET text = excluded.text`,
  };
}
