/**
 * Rows of `documents` and `directories`: reading one, writing one. Decides nothing; the writer
 * does, and nobody else may call what writes.
 */
import type { Document, State } from "../domain/document.ts";
import { invariant } from "../std/invariant.ts";
import { bytesOf, type RawPath } from "../std/raw-path.ts";
import { columnsOf, type DocumentRow, documentOf } from "./columns.ts";
import type { Statements } from "./statements.ts";

/** Every query that yields documents begins like this; `n` is the row, `d` its directory. */
export const SELECT_DOCUMENT = `SELECT n.*, d.path AS dir
  FROM documents n CROSS JOIN directories d ON d.id = n.dir_id`;

export const CURRENT_AT = `SELECT n.*, d.path AS dir
  FROM directories d CROSS JOIN documents n ON n.dir_id = d.id
  WHERE d.mirror_id = ? AND d.path = ? AND n.name = ? AND n.current = 1`;

export class DocumentsTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  read(id: number): Document | undefined {
    const row = this.#sql.of<DocumentRow>(`${SELECT_DOCUMENT} WHERE n.id = ?`).get(id);
    return row && documentOf(row);
  }

  /** The current row of a path. */
  currentAt(mirrorId: number, dir: RawPath, name: RawPath): Document | undefined {
    const row = this.#sql.of<DocumentRow>(CURRENT_AT).get(mirrorId, bytesOf(dir), bytesOf(name));
    return row && documentOf(row);
  }

  /** Inserts `document` with an id of the database's choosing, and returns that. */
  insert(document: Document): number {
    const { id: _, ...columns } = columnsOf(document);
    // Null is what a column holds that is not named; a row that was just seen has few others.
    const cells = Object.entries(columns).filter(([, cell]) => cell !== null);
    const names = ["dir_id", ...cells.map(([name]) => name)];
    const { lastInsertRowid } = this.#sql
      .of(`INSERT INTO documents (${names.join()}) VALUES (${names.map(() => "?").join()})`)
      .run(this.directoryId(document.mirrorId, document.dir), ...cells.map(([, cell]) => cell));
    return Number(lastInsertRowid);
  }

  /**
   * Compare-and-set: writes `fields` where the row is still in `from`. Only the columns of `fields`
   * are named, as SQLite rewrites every index that a named column is part of.
   */
  update(before: Document, fields: Partial<Document>): void {
    const columns = columnsOf(fields);
    if (fields.dir !== undefined) {
      columns["dir_id"] = this.directoryId(before.mirrorId, fields.dir);
    }
    const names = Object.keys(columns);
    if (names.length === 0) return;
    const set = names.map((name) => `${name} = ?`).join();
    const { changes } = this.#sql
      .of(`UPDATE documents SET ${set} WHERE id = ? AND state = ?`)
      .run(...Object.values(columns), before.id, before.state satisfies State);
    invariant(changes === 1, `document ${before.id} left ${before.state} before it was written`);
  }

  /** Removes the row; a row that superseded it supersedes its predecessor instead. */
  delete({ id, supersedes }: Document): void {
    this.#sql
      .of("UPDATE documents SET supersedes = ? WHERE supersedes = ? AND supersedes IS NOT NULL")
      .run(supersedes, id);
    this.#sql.of("DELETE FROM documents WHERE id = ?").run(id);
  }

  /** The directory's id; its row is made when missing. */
  directoryId(mirrorId: number, dir: RawPath): number {
    const path = bytesOf(dir);
    const known = this.#sql
      .of<{ id: number }>("SELECT id FROM directories WHERE mirror_id = ? AND path = ?")
      .get(mirrorId, path);
    if (known) return known.id;
    const { lastInsertRowid } = this.#sql
      .of("INSERT INTO directories (mirror_id, path) VALUES (?, ?)")
      .run(mirrorId, path);
    return Number(lastInsertRowid);
  }

  /** Sets or, with null, forgets a directory's fingerprint. */
  setFingerprint(mirrorId: number, dir: RawPath, fingerprint: string | null): void {
    if (fingerprint !== null) {
      this.#sql
        .of(`INSERT INTO directories (mirror_id, path, fingerprint) VALUES (?, ?, ?)
          ON CONFLICT (mirror_id, path) DO UPDATE SET fingerprint = excluded.fingerprint`)
        .run(mirrorId, bytesOf(dir), fingerprint);
      return;
    }
    this.#sql
      .of("UPDATE directories SET fingerprint = NULL WHERE mirror_id = ? AND path = ?")
      .run(mirrorId, bytesOf(dir));
    this.tidyDirectory(mirrorId, dir);
  }

  /** Removes the directory's row when it has neither fingerprint nor documents. */
  tidyDirectory(mirrorId: number, dir: RawPath): void {
    this.#sql
      .of(`DELETE FROM directories WHERE mirror_id = ? AND path = ? AND fingerprint IS NULL
        AND NOT EXISTS (SELECT 1 FROM documents n WHERE n.dir_id = directories.id AND n.current = 1)
        AND NOT EXISTS (SELECT 1 FROM documents n WHERE n.dir_id = directories.id AND n.current = 0)`)
      .run(mirrorId, bytesOf(dir));
  }
}
