/** What the journal knows next to documents: mirrors, a person's pause, contents. */
import type { Content, MirrorRow } from "./journal.ts";
import type { Statements } from "./statements.ts";

export class AccountTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  paused(): boolean {
    return this.#sql.of<{ paused: number }>("SELECT paused FROM account").get()?.paused === 1;
  }

  setPaused(paused: boolean): void {
    this.#sql.of("UPDATE account SET paused = ?").run(Number(paused));
  }

  keyValue(name: string): string | null {
    const sql = "SELECT text FROM key_values WHERE name = ?";
    return this.#sql.of<{ text: string }>(sql).get(name)?.text ?? null;
  }

  setKeyValue(name: string, text: string): void {
    this.#sql
      .of(`INSERT INTO key_values (name, text) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET text = excluded.text`)
      .run(name, text);
  }

  mirror(name: string): MirrorRow | undefined {
    return this.#sql
      .of<MirrorRow>(`SELECT id, name, source, device, archive_id AS archiveId
        FROM mirrors WHERE name = ?`)
      .get(name);
  }

  /** Makes the mirror's row, or gives it another source: what its old one was on says nothing then. */
  setMirror(name: string, source: string, archiveId: number): void {
    this.#sql
      .of(`INSERT INTO mirrors (name, source, archive_id) VALUES (?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET source = excluded.source,
          device = CASE WHEN source = excluded.source THEN device END`)
      .run(name, source, archiveId);
  }

  renameMirror(mirrorId: number, name: string): void {
    this.#sql.of("UPDATE mirrors SET name = ? WHERE id = ?").run(name, mirrorId);
  }

  setDevice(mirrorId: number, device: string): void {
    this.#sql.of("UPDATE mirrors SET device = ? WHERE id = ?").run(device, mirrorId);
  }

  /** With `all`, those that are over, too: of what a copy lacks nothing is known. */
  firstRuns(archiveId: number, all: boolean): number[] {
    return this.#sql
      .of<{ id: number }>(`SELECT id FROM mirrors
        WHERE archive_id = ? AND (? OR first_run_over_at IS NULL) ORDER BY id`)
      .all(archiveId, all ? 1 : 0)
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
