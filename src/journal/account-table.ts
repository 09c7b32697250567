/** What the journal knows beside documents: mirrors, the account's gate and pause, contents. */
import type { Content, GateRow, MirrorRow, PaceRow } from "./journal.ts";
import type { Statements } from "./statements.ts";
import { troubleOf } from "./columns.ts";

type GateColumns = {
  readonly closedAt: number | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly probes: number;
  readonly nextProbeAt: number | null;
};

type PaceColumns = Omit<PaceRow, "trouble"> & Pick<GateColumns, "code" | "message">;

export class AccountTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  gate(): GateRow {
    const row = this.#sql
      .of<GateColumns>(`SELECT gate_closed_at AS closedAt, gate_code AS code,
          gate_message AS message, gate_probes AS probes, gate_next_probe_at AS nextProbeAt
        FROM account`)
      .get();
    const { closedAt = null, code, message, probes = 0, nextProbeAt = null } = row ?? {};
    return { closedAt, trouble: troubleOf(code, message), probes, nextProbeAt };
  }

  setGate({ closedAt, trouble, probes, nextProbeAt }: GateRow): void {
    this.#sql
      .of(`UPDATE account SET gate_closed_at = ?, gate_code = ?, gate_message = ?,
        gate_probes = ?, gate_next_probe_at = ?`)
      .run(closedAt, trouble?.code ?? null, trouble?.message ?? null, probes, nextProbeAt);
  }

  pace(): PaceRow {
    const row = this.#sql
      .of<PaceColumns>(`SELECT pace_limit AS "limit", pace_paused_at AS pausedAt,
          pace_paused_until AS pausedUntil, pace_code AS code, pace_message AS message
        FROM account`)
      .get();
    const { limit = null, pausedAt = null, pausedUntil = null, code, message } = row ?? {};
    return { limit, pausedAt, pausedUntil, trouble: troubleOf(code, message) };
  }

  setPace({ limit, pausedAt, pausedUntil, trouble }: PaceRow): void {
    this.#sql
      .of(`UPDATE account SET pace_limit = ?, pace_paused_at = ?, pace_paused_until = ?,
        pace_code = ?, pace_message = ?`)
      .run(limit, pausedAt, pausedUntil, trouble?.code ?? null, trouble?.message ?? null);
  }

  paused(): boolean {
    return this.#sql.of<{ paused: number }>("SELECT paused FROM account").get()?.paused === 1;
  }

  setPaused(paused: boolean): void {
    this.#sql.of("UPDATE account SET paused = ?").run(Number(paused));
  }

  memo(name: string): string | null {
    const sql = "SELECT text FROM memos WHERE name = ?";
    return this.#sql.of<{ text: string }>(sql).get(name)?.text ?? null;
  }

  setMemo(name: string, text: string): void {
    this.#sql
      .of(`INSERT INTO memos (name, text) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET text = excluded.text`)
      .run(name, text);
  }

  mirror(name: string): MirrorRow | undefined {
    return this.#sql
      .of<MirrorRow>("SELECT id, name, source, device FROM mirrors WHERE name = ?")
      .get(name);
  }

  /** Makes the mirror's row, or gives it another source: what its old one was on says nothing then. */
  setMirror(name: string, source: string): void {
    this.#sql
      .of(`INSERT INTO mirrors (name, source) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET source = excluded.source,
          device = CASE WHEN source = excluded.source THEN device END`)
      .run(name, source);
  }

  setDevice(mirrorId: number, device: string): void {
    this.#sql.of("UPDATE mirrors SET device = ? WHERE id = ?").run(device, mirrorId);
  }

  firstRuns(): number[] {
    return this.#sql
      .of<{ id: number }>("SELECT id FROM mirrors WHERE first_run_over_at IS NULL ORDER BY id")
      .all()
      .map(({ id }) => id);
  }

  endFirstRun(mirrorId: number, at: number): void {
    this.#sql.of("UPDATE mirrors SET first_run_over_at = ? WHERE id = ?").run(at, mirrorId);
  }

  setContents(id: number, contents: readonly Content[]): void {
    this.#sql.of("DELETE FROM contents WHERE document = ?").run(id);
    const insert = this.#sql.of(`INSERT INTO contents
      (document, position, document_id, filename, size_bytes, pages) VALUES (?, ?, ?, ?, ?, ?)`);
    for (const [position, { documentId, filename, sizeBytes, pages }] of contents.entries()) {
      insert.run(id, position, documentId, filename, sizeBytes, pages);
    }
  }
}
