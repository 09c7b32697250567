/** What the journal knows next to documents: archives, mirrors, a person's pause, key-value entries, contents. */
import { invariant } from "../../std/invariant.ts";
import { archiveChanged, type GateColumns, gateOf, type PaceColumns, paceOf } from "../accounts.ts";
import type { ArchiveRow, Content, GateRow, MirrorRow, PaceRow, WarnedRow } from "../journal.ts";
import type { Query } from "./query.ts";
import { asRows, kept, recordset } from "./recordset.ts";

const CONTENTS = {
  position: "bigint",
  document_id: "bigint",
  filename: "text",
  size_bytes: "bigint",
  pages: "bigint",
};

/** The texts, by what they are for. */
export const ACCOUNT_QUERIES = {
  archives: "SELECT id, name, url FROM archives ORDER BY id",
  moveArchive: "UPDATE archives SET url = $2 WHERE name = $1 AND url IS DISTINCT FROM $2",
  makeArchive: `INSERT INTO archives (name, url)
    SELECT $1, $2 WHERE NOT EXISTS (SELECT 1 FROM archives WHERE name = $1)
    ON CONFLICT (name) DO NOTHING`,
  mirror: `SELECT id, name, source, device, archive_id AS "archiveId" FROM mirrors WHERE name = $1`,
  // Waits for anyone who adds rows to it, and makes the next one wait.
  lockMirror: "SELECT 1 FROM mirrors WHERE name = $1 FOR UPDATE",
  makeMirror: `INSERT INTO mirrors (name, source, archive_id)
    SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM mirrors WHERE name = $1)
    ON CONFLICT (name) DO NOTHING`,
  moveMirror: `UPDATE mirrors SET source = $2, device = CASE WHEN source = $2 THEN device END
    WHERE name = $1`,
  isSent: `SELECT EXISTS (SELECT 1 FROM documents WHERE mirror_id = $1
      AND (document_id IS NOT NULL OR doubt_at IS NOT NULL OR state IN ('uploading', 'inDoubt')))
    OR EXISTS (SELECT 1 FROM tombstones WHERE mirror_id = $1) AS is`,
  bindMirror: "UPDATE mirrors SET archive_id = $2, first_run_over_at = NULL WHERE id = $1",
  bindDocuments: "UPDATE documents SET archive_id = $2 WHERE mirror_id = $1",
  firstRuns: `SELECT id FROM mirrors WHERE archive_id = $1 AND first_run_over_at IS NULL ORDER BY id`,
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
  setKeyValue: `INSERT INTO key_values (name, text) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET text = excluded.text`,
  setContents: `INSERT INTO contents (document, position, document_id, filename, size_bytes, pages)
    SELECT $2, position, document_id, filename, size_bytes, pages
    FROM ${recordset(1, "u", CONTENTS)}`,
} as const;

/** Every archive's row. */
export async function archives(query: Query): Promise<ArchiveRow[]> {
  return (await query<ArchiveRow>(ACCOUNT_QUERIES.archives, [])).rows;
}

/** Makes the archive's row where it is missing, and remembers where the archive is. */
export async function setArchive(query: Query, name: string, url: string): Promise<ArchiveRow> {
  await query(ACCOUNT_QUERIES.makeArchive, [name, url]);
  await query(ACCOUNT_QUERIES.moveArchive, [name, url]);
  const row = (await archives(query)).find((archive) => archive.name === name);
  invariant(row, `archive ${name} was just made`);
  return row;
}

/** The row of the mirror of that name; undefined: it has none yet. */
export async function mirrorOf(query: Query, name: string): Promise<MirrorRow | undefined> {
  return (await query<MirrorRow>(ACCOUNT_QUERIES.mirror, [name])).rows[0];
}

/** Makes the mirror's row, or gives it another source or archive; see `Journal.mirror`. */
export async function setMirror(
  query: Query,
  name: string,
  source: string,
  archiveId: number,
): Promise<MirrorRow> {
  await query(ACCOUNT_QUERIES.makeMirror, [name, source, archiveId]);
  await query(ACCOUNT_QUERIES.lockMirror, [name]);
  const before = await mirrorOf(query, name);
  if (before && before.archiveId !== archiveId) await bind(query, before, archiveId);
  await query(ACCOUNT_QUERIES.moveMirror, [name, source]);
  const made = await mirrorOf(query, name);
  invariant(made, `mirror ${name} was just made`);
  return made;
}

/** Carries the mirror into this archive from now on, unless another one has, or may have, its files. */
async function bind(query: Query, mirror: MirrorRow, archiveId: number): Promise<void> {
  const { id } = mirror;
  const { rows } = await query<{ is: boolean }>(ACCOUNT_QUERIES.isSent, [id]);
  if (rows[0]?.is) throw archiveChanged(mirror, await archives(query), archiveId);
  await query(ACCOUNT_QUERIES.bindMirror, [id, archiveId]);
  await query(ACCOUNT_QUERIES.bindDocuments, [id, archiveId]);
}

/** The archive's gate; open where nothing was written of it yet. */
export async function gate(query: Query, archiveId: number): Promise<GateRow> {
  return gateOf((await query<GateColumns>(ACCOUNT_QUERIES.gate, [archiveId])).rows[0]);
}

/** Writes all of the gate; what its problem says is kept as far as PostgreSQL has room for it. */
export async function setGate(query: Query, archiveId: number, row: GateRow): Promise<void> {
  const { closedAt, problem, probes, nextProbeAt } = row;
  const said = [kept(problem?.code ?? null), kept(problem?.message ?? null)];
  await query(ACCOUNT_QUERIES.setGate, [archiveId, closedAt, ...said, probes, nextProbeAt]);
}

/** The archive's pace; that of the configuration where nothing was written of it yet. */
export async function pace(query: Query, archiveId: number): Promise<PaceRow> {
  return paceOf((await query<PaceColumns>(ACCOUNT_QUERIES.pace, [archiveId])).rows[0]);
}

/** Writes all of the pace, as `setGate` does the gate. */
export async function setPace(query: Query, archiveId: number, row: PaceRow): Promise<void> {
  const { limit, pausedAt, pausedUntil, problem } = row;
  const said = [kept(problem?.code ?? null), kept(problem?.message ?? null)];
  await query(ACCOUNT_QUERIES.setPace, [archiveId, limit, pausedAt, pausedUntil, ...said]);
}

/** The last warning about pages; level 0 where there was none. */
export async function warned(query: Query, archiveId: number): Promise<WarnedRow> {
  const { rows } = await query<WarnedRow>(ACCOUNT_QUERIES.warned, [archiveId]);
  return rows[0] ?? { from: null, level: 0 };
}

/** Replaces what is known of a container's contents. */
export async function setContents(
  query: Query,
  id: number,
  contents: readonly Content[],
): Promise<void> {
  await query("DELETE FROM contents WHERE document = $1", [id]);
  const rows = contents.map(({ documentId, filename, sizeBytes, pages }, position) => {
    return { position, document_id: documentId, filename, size_bytes: sizeBytes, pages };
  });
  if (rows.length > 0) await query(ACCOUNT_QUERIES.setContents, [asRows(rows), id]);
}
