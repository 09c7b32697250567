/** What the journal is asked. Each query is served by an index of its own; a test reads the plans. */
import type { Document } from "../domain/document.ts";
import { DOUBT_CODES, FOLDER_CODES } from "../domain/code-sets.ts";
import { bytesOf, type RawPath, rawOf } from "../std/raw-path.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import { CURRENT_AT, SELECT_DOCUMENT } from "./documents-table.ts";
import type {
  Batch,
  Content,
  Duplicates,
  Known,
  MirrorRow,
  AfterFailed,
  PutOff,
  WithProblem,
  WaitingFolder,
  ClaimTimes,
} from "./journal.ts";
import { rangeBelow } from "./path-range.ts";
import { byPlace, knownOf, type KnownRow } from "./row-shapes.ts";
import type { Statements } from "./statements.ts";

const KNOWN = `n.id, n.name, n.state, n.stamp, n.gone_at AS goneAt, n.document_id AS documentId`;

/** The texts, by the question they answer. */
export const QUERIES = {
  directories: `SELECT d.path, coalesce(d.fingerprint, '') AS fingerprint FROM directories d
    WHERE d.mirror_id = ? AND (d.fingerprint IS NOT NULL OR EXISTS (SELECT 1 FROM documents n
      WHERE n.dir_id = d.id AND n.current = 1 AND n.gone_at IS NULL)) ORDER BY d.path`,
  rowsIn: `SELECT ${KNOWN} FROM directories d CROSS JOIN documents n ON n.dir_id = d.id
    WHERE d.mirror_id = ? AND d.path = ? AND n.current = 1 ORDER BY n.name`,
  rowsBelow: `SELECT ${KNOWN} FROM directories d CROSS JOIN documents n ON n.dir_id = d.id
    WHERE d.mirror_id = ? AND d.path >= ? AND d.path < ? AND n.current = 1
    ORDER BY d.path, n.name`,
  currentAt: CURRENT_AT,
  sentWith: `${SELECT_DOCUMENT} WHERE n.mirror_id = @mirrorId
    AND substr(n.digest, 1, 12) = substr(@digest, 1, 12) AND n.digest = @digest
    AND n.state IN ('uploading', 'inDoubt', 'uploaded', 'converted') ORDER BY n.id`,
  ignoredWith: `${SELECT_DOCUMENT} WHERE n.mirror_id = ? AND n.ignored_digest = ? ORDER BY n.id`,
  // By code and size, since an index has these: of one size few are in doubt.
  heldInDoubt: `${SELECT_DOCUMENT} WHERE n.problem_code IN (${DOUBT_CODES.map((code) => `'${code}'`).join()})
    AND n.size_bytes = @sizeBytes
    AND n.archive_id = (SELECT archive_id FROM mirrors WHERE id = @mirrorId) AND n.state = 'held'
    AND +n.mirror_id = @mirrorId AND n.digest = @digest AND n.doubt_at IS NOT NULL`,
  conflicts: `${SELECT_DOCUMENT} WHERE n.folder_id = ? AND n.sent_name = ? AND n.archive_id = ?
    AND (n.state IN ('uploading', 'inDoubt') OR n.doubt_at IS NOT NULL) ORDER BY n.id`,
  claimed: `SELECT n.document_id AS id, coalesce(n.sent_archive_at, n.sent_at) AS sentAt FROM documents n
    WHERE n.document_id IN (SELECT value FROM json_each(@ids)) AND n.archive_id = @archiveId
    UNION ALL SELECT r.document_id, NULL FROM tombstones r
    WHERE r.document_id IN (SELECT value FROM json_each(@ids)) AND r.archive_id = @archiveId`,
  claimedFor: `SELECT n.document_id AS id, coalesce(n.sent_archive_at, n.sent_at) AS sentAt FROM documents n
    WHERE n.document_id IN (SELECT value FROM json_each(@ids)) AND n.archive_id = @archiveId
      AND n.mirror_id IN (SELECT value FROM json_each(@mirrorIds))
    UNION ALL SELECT r.document_id, NULL FROM tombstones r
    WHERE r.document_id IN (SELECT value FROM json_each(@ids)) AND r.archive_id = @archiveId
      AND r.mirror_id IN (SELECT value FROM json_each(@mirrorIds))`,
  duplicates: `SELECT count(*) AS documents, coalesce(sum(pages), 0) AS pages FROM documents
    WHERE duplicate_of IS NOT NULL`,
  outstanding: `SELECT folder_id AS folderId, count(*) AS documents,
      count(*) FILTER (WHERE due_at <= ?) AS due
    FROM documents WHERE archive_id = ? AND state = 'uploaded'
    GROUP BY folder_id ORDER BY folder_id`,
  outstandingIn: `${SELECT_DOCUMENT} WHERE n.archive_id = ? AND n.folder_id = ? AND n.state = 'uploaded'
    ORDER BY n.due_at NULLS LAST, n.id LIMIT ?`,
  afterDue: `${SELECT_DOCUMENT} WHERE n.archive_id = ? AND n.state IN ('converted', 'held') AND n.after_state = 'due'
    AND coalesce(n.due_at, 0) <= ? ORDER BY coalesce(n.due_at, 0), n.id LIMIT ?`,
  afterDueIn: `${SELECT_DOCUMENT} WHERE n.archive_id = ? AND n.state IN ('converted', 'held') AND n.after_state = 'due'
    AND coalesce(n.due_at, 0) <= ? AND n.mirror_id IN (SELECT value FROM json_each(?))
    ORDER BY coalesce(n.due_at, 0), n.id LIMIT ?`,
  underWay: `${SELECT_DOCUMENT} WHERE n.mirror_id IN (SELECT id FROM mirrors WHERE archive_id = ?)
    AND n.state = 'uploading' ORDER BY n.id LIMIT ?`,
  heldWith: `${SELECT_DOCUMENT} WHERE n.problem_code = ? AND n.state = 'held' AND n.archive_id = ?
    ORDER BY n.id LIMIT ?`,
  heldFor: `${SELECT_DOCUMENT} WHERE n.problem_code = ? AND n.mirror_id = ? AND n.target_path = ?
    AND n.state = 'held' ORDER BY n.id LIMIT ?`,
  smallestHeld: `${SELECT_DOCUMENT} WHERE n.archive_id = ? AND n.problem_code = ? AND n.state = 'held'
    AND n.mirror_id IN (SELECT value FROM json_each(?))
    ORDER BY n.size_bytes, n.id LIMIT 1`,
  afterPending: `${SELECT_DOCUMENT} WHERE n.archive_id = ? AND n.state IN ('converted', 'held') AND n.after_state = 'due'
    AND (coalesce(n.due_at, 0), n.id) > (?, ?) AND n.after_message IS NOT NULL
    ORDER BY coalesce(n.due_at, 0), n.id LIMIT ?`,
  afterFailed: `SELECT mirror_id AS mirrorId, count(*) AS documents, min(id) AS first FROM documents
    WHERE after_state = 'refused' AND current = 1 AND gone_at IS NULL
    GROUP BY mirror_id ORDER BY mirror_id`,
  waitingFolders: `SELECT mirror_id AS mirrorId, target_path AS targetPath, problem_code AS code,
      count(*) AS documents
    FROM documents WHERE state = 'held' AND problem_code = ? AND target_path IS NOT NULL
    GROUP BY mirror_id, target_path`,
  withProblem: `SELECT problem_code AS code, state, count(*) AS documents, min(id) AS first
    FROM documents WHERE problem_code IS NOT NULL GROUP BY problem_code, state`,
  withProblemOf: `SELECT problem_code AS code, state, count(*) AS documents, min(id) AS first
    FROM documents INDEXED BY documents_with_problem
    WHERE problem_code IS NOT NULL AND mirror_id IN (SELECT value FROM json_each(?))
    GROUP BY problem_code, state`,
  lastBatch: `SELECT id, mirror_id AS mirrorId, opened_at AS openedAt, joined_at AS joinedAt, documents
    FROM (SELECT * FROM batches WHERE mirror_id = ? ORDER BY number DESC LIMIT 1)
    WHERE receipt_at IS NULL`,
  contents: `SELECT document_id AS documentId, filename, size_bytes AS sizeBytes, pages
    FROM contents WHERE document = ? ORDER BY position`,
  mirrors: `SELECT id, name, source, device, archive_id AS archiveId FROM mirrors ORDER BY id`,
} as const;

type Place = { readonly mirrorId: number; readonly targetPath: string };

/** Each answers as `Journal` has it under the same name, for the archive that is given. */
export class Queries {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  mirrors(): MirrorRow[] {
    return this.#sql.of<MirrorRow>(QUERIES.mirrors).all();
  }

  directories(mirrorId: number): [RawPath, string][] {
    return this.#sql
      .of<{ path: Buffer; fingerprint: string }>(QUERIES.directories)
      .all(mirrorId)
      .map(({ path, fingerprint }) => [rawOf(path), fingerprint]);
  }

  rowsIn(mirrorId: number, dir: RawPath): Known[] {
    const rows = this.#sql.of<KnownRow>(QUERIES.rowsIn).all(mirrorId, bytesOf(dir));
    return rows.map(knownOf);
  }

  rowsBelow(mirrorId: number, dir: RawPath): Known[] {
    const below = this.#sql.of<KnownRow>(QUERIES.rowsBelow).all(mirrorId, ...rangeBelow(dir));
    // Below the root is everything, the root included; elsewhere siblings sort in between.
    return dir === "" ? below.map(knownOf) : [...this.rowsIn(mirrorId, dir), ...below.map(knownOf)];
  }

  sentWith(mirrorId: number, digest: string, sizeBytes: number): Document[] {
    const held = this.#documents(QUERIES.heldInDoubt, { sizeBytes, mirrorId, digest });
    return [...this.#documents(QUERIES.sentWith, { mirrorId, digest }), ...held].sort(byId);
  }

  ignoredWith(mirrorId: number, digest: string): Document[] {
    return [...this.#documents(QUERIES.ignoredWith, mirrorId, digest)];
  }

  conflicts(archiveId: number, folderId: number, sentName: string): Document[] {
    return this.#documents(QUERIES.conflicts, folderId, sentName, archiveId);
  }

  claimed(
    archiveId: number,
    documentIds: readonly number[],
    mirrorIds?: readonly number[],
  ): ClaimTimes {
    const query = mirrorIds ? QUERIES.claimedFor : QUERIES.claimed;
    const rows = this.#sql.of<{ id: number; sentAt: number | null }>(query).all({
      archiveId,
      ids: JSON.stringify(documentIds),
      ...(mirrorIds && { mirrorIds: JSON.stringify(mirrorIds) }),
    });
    return new Map(rows.map(({ id, sentAt }) => [id, sentAt]));
  }

  outstanding(
    archiveId: number,
    now: number,
  ): { folderId: number; documents: number; due: number }[] {
    return this.#sql
      .of<{ folderId: number; documents: number; due: number }>(QUERIES.outstanding)
      .all(now, archiveId);
  }

  outstandingIn(archiveId: number, folderId: number, limit: number): Document[] {
    return this.#documents(QUERIES.outstandingIn, archiveId, folderId, limit);
  }

  afterDue(
    archiveId: number,
    now: number,
    limit: number,
    mirrorIds?: readonly number[],
  ): Document[] {
    if (!mirrorIds) return this.#documents(QUERIES.afterDue, archiveId, now, limit);
    return this.#documents(QUERIES.afterDueIn, archiveId, now, JSON.stringify(mirrorIds), limit);
  }

  underWay(archiveId: number, limit: number): Document[] {
    return this.#documents(QUERIES.underWay, archiveId, limit);
  }

  heldWith(archiveId: number, codes: readonly string[], limit: number, place?: Place): Document[] {
    // Asked code by code: only then does the index give each code's rows in order.
    return distinct(codes)
      .flatMap((code) =>
        place
          ? this.#documents(QUERIES.heldFor, code, place.mirrorId, place.targetPath, limit)
          : this.#documents(QUERIES.heldWith, code, archiveId, limit),
      )
      .sort(byId)
      .slice(0, limit);
  }

  afterPending(archiveId: number, limit: number, last?: PutOff): Document[] {
    const behind = [last?.dueAt ?? 0, last?.id ?? 0];
    return this.#documents(QUERIES.afterPending, archiveId, ...behind, limit);
  }

  afterFailed(): AfterFailed[] {
    return this.#sql.of<AfterFailed>(QUERIES.afterFailed).all();
  }

  smallestHeld(
    archiveId: number,
    codes: readonly string[],
    mirrorIds: readonly number[],
  ): Document | undefined {
    const among = JSON.stringify(mirrorIds);
    return distinct(codes)
      .flatMap((code) => this.#documents(QUERIES.smallestHeld, archiveId, code, among))
      .sort((a, b) => a.seen.sizeBytes - b.seen.sizeBytes || a.id - b.id)[0];
  }

  waitingFolders(): WaitingFolder[] {
    return FOLDER_CODES.flatMap((code) =>
      this.#sql.of<WaitingFolder>(QUERIES.waitingFolders).all(code),
    ).sort(byPlace);
  }

  duplicates(): Duplicates {
    const none = { documents: 0, pages: 0 };
    return this.#sql.of<Duplicates>(QUERIES.duplicates).get() ?? none;
  }

  withProblem(mirrorIds?: readonly number[]): WithProblem[] {
    if (!mirrorIds) return this.#sql.of<WithProblem>(QUERIES.withProblem).all();
    return this.#sql.of<WithProblem>(QUERIES.withProblemOf).all(JSON.stringify(mirrorIds));
  }

  lastBatch(mirrorId: number): Batch | undefined {
    return this.#sql.of<Batch>(QUERIES.lastBatch).get(mirrorId);
  }

  contents(id: number): Content[] {
    return this.#sql.of<Content>(QUERIES.contents).all(id);
  }

  #documents(sql: string, ...values: unknown[]): Document[] {
    return this.#sql
      .of<DocumentRow>(sql)
      .all(...values)
      .map(documentOf);
  }
}

function byId(a: Document, b: Document): number {
  return a.id - b.id;
}

function distinct(codes: readonly string[]): string[] {
  return [...new Set(codes)];
}
