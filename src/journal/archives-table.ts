/** The archives that mirrors are carried into, and what is known of each account: gate and pace. */
import { invariant } from "../std/invariant.ts";
import { archiveChanged, type GateColumns, gateOf, type PaceColumns, paceOf } from "./accounts.ts";
import type { ArchiveRow, GateRow, MirrorRow, PaceRow } from "./journal.ts";
import type { Statements } from "./statements.ts";

/** Rows that their archive has, or may have; their folder and document ids are that archive's. */
const SENT = `document_id IS NOT NULL OR doubt_at IS NOT NULL OR state IN ('uploading', 'inDoubt')`;

export class ArchivesTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  archives(): ArchiveRow[] {
    return this.#sql.of<ArchiveRow>("SELECT id, name, url FROM archives ORDER BY id").all();
  }

  /** Makes the archive's row where it is missing, and remembers where the archive is. */
  setArchive(name: string, url: string): ArchiveRow {
    this.#sql
      .of(`INSERT INTO archives (name, url) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET url = excluded.url WHERE url IS NOT excluded.url`)
      .run(name, url);
    const row = this.archives().find((archive) => archive.name === name);
    invariant(row, `archive ${name} was just made`);
    return row;
  }

  /**
   * Carries the mirror into this archive from now on. Throws `ARCHIVE_CHANGED` where another one
   * has, or may have, anything of it.
   */
  bind(mirror: MirrorRow, archiveId: number): void {
    const { id: mirrorId } = mirror;
    const isSent =
      this.#sql
        .of(`SELECT 1 FROM documents WHERE mirror_id = ? AND (${SENT})
          UNION ALL SELECT 1 FROM tombstones WHERE mirror_id = ? LIMIT 1`)
        .get(mirrorId, mirrorId) !== undefined;
    if (isSent) throw archiveChanged(mirror, this.archives(), archiveId);
    this.#sql
      .of("UPDATE mirrors SET archive_id = ?, first_run_over_at = NULL WHERE id = ?")
      .run(archiveId, mirrorId);
    this.#sql
      .of("UPDATE documents SET archive_id = ? WHERE mirror_id = ?")
      .run(archiveId, mirrorId);
  }

  /** The name alone is what configured ones are known by. */
  retire(archiveId: number, suffix: string): void {
    this.#sql
      .of("UPDATE archives SET name = name || ?, url = NULL WHERE id = ?")
      .run(suffix, archiveId);
    this.#sql.of("UPDATE mirrors SET name = name || ? WHERE archive_id = ?").run(suffix, archiveId);
  }

  gate(archiveId: number): GateRow {
    const row = this.#sql
      .of<GateColumns>(`SELECT gate_closed_at AS closedAt, gate_code AS code,
          gate_message AS message, gate_probes AS probes, gate_next_probe_at AS nextProbeAt
        FROM archives WHERE id = ?`)
      .get(archiveId);
    return gateOf(row);
  }

  setGate(archiveId: number, { closedAt, problem, probes, nextProbeAt }: GateRow): void {
    this.#sql
      .of(`UPDATE archives SET gate_closed_at = ?, gate_code = ?, gate_message = ?,
        gate_probes = ?, gate_next_probe_at = ? WHERE id = ?`)
      .run(
        closedAt,
        problem?.code ?? null,
        problem?.message ?? null,
        probes,
        nextProbeAt,
        archiveId,
      );
  }

  pace(archiveId: number): PaceRow {
    const row = this.#sql
      .of<PaceColumns>(`SELECT pace_limit AS "limit", pace_paused_at AS pausedAt,
          pace_paused_until AS pausedUntil, pace_code AS code, pace_message AS message
        FROM archives WHERE id = ?`)
      .get(archiveId);
    return paceOf(row);
  }

  setPace(archiveId: number, { limit, pausedAt, pausedUntil, problem }: PaceRow): void {
    this.#sql
      .of(`UPDATE archives SET pace_limit = ?, pace_paused_at = ?, pace_paused_until = ?,
        pace_code = ?, pace_message = ? WHERE id = ?`)
      .run(
        limit,
        pausedAt,
        pausedUntil,
        problem?.code ?? null,
        problem?.message ?? null,
        archiveId,
      );
  }
}
