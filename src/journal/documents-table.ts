import type { Statement } from "better-sqlite3";
import type { Document, State } from "../domain/document.ts";
import { invariant } from "../std/fault.ts";
import { bytesOf, type RawPath } from "../std/raw-path.ts";
import { columnsOf, documentOf, type DocumentRow } from "./columns.ts";
import type { Alone, NewDocument } from "./journal.ts";
import { firstRevision, seenFields } from "./revision.ts";
import type { Statements } from "../sqlite/statements.ts";
import { selectDocument, SQLITE } from "./dialect.ts";
import { dueQueriesIn } from "./due-documents.ts";
import { queriesIn } from "./queries.ts";
import { tidyQueriesIn } from "./tidy.ts";

/**
 * Rows of `documents` and `directories`: reading one, writing one. Decides nothing; the writer
 * does, and nobody else may call what writes.
 */

/** So many rows are remembered; all are forgotten together, as to drop the oldest costs more than it saves. */
const KNOWN_MAX = 8_192;

export class DocumentsTable {
  readonly #sql: Statements;
  /** Rows as they were last read or written: most are changed several times within a short time. */
  readonly #known = new Map<number, Document>();
  #generation = 0;
  /** Every new row has the same columns. */
  #insertion: Statement | undefined;
  /** By the names of their columns, which take less to put together than the statement. */
  readonly #updates = new Map<string, Statement>();
  /** The directory that was last asked for: files come by the directory. */
  #directory: { mirrorId: number; dir: RawPath; id: number } | undefined;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  read(id: number): Document | undefined {
    const known = this.#known.get(id);
    if (known) return known;
    const [row] = this.#sql.rows<DocumentRow>(QUERIES.document, [id]);
    return row && this.remembered(documentOf(row));
  }

  /** Remembers what was just read: it is about to be changed. */
  remembered(document: Document): Document {
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(document.id, document);
    return document;
  }

  /** The current row of a path. */
  currentAt(mirrorId: number, dir: RawPath, name: RawPath): Document | undefined {
    const place = [mirrorId, bytesOf(dir), bytesOf(name)];
    const [row] = this.#sql.rows<DocumentRow>(QUERIES.currentAt, place);
    return row && documentOf(row);
  }

  /**
   * Inserts the row of a file that was just seen, as the current one of its path, and returns it; its
   * id is of the database's choosing. Undefined where the path has a current row already.
   */
  insert(seen: NewDocument): Document | undefined {
    const { mirrorId, dir, name } = seen;
    const dirId = this.directoryId(mirrorId, dir);
    // An insertion that comes to nothing would use up an id.
    const isTaken = this.#sql
      .of("SELECT 1 FROM documents WHERE dir_id = ? AND name = ? AND current = 1")
      .get(dirId, bytesOf(name));
    if (isTaken) return undefined;
    const columns = columnsOf(seenFields(seen));
    this.#insertion ??= this.#sql.of(insertionOf(Object.keys(columns)));
    const { lastInsertRowid } = this.#insertion.run(mirrorId, dirId, ...Object.values(columns));
    return firstRevision(Number(lastInsertRowid), seen);
  }

  /**
   * Compare-and-set: writes `fields` where the row is still in the state of `before`. Only columns that change are
   * named, as SQLite rewrites every index that a named column is part of.
   */
  update(before: Document, fields: Partial<Document>): Document {
    const columns = columnsOf(fields, before);
    if (fields.dir !== undefined) {
      columns["dir_id"] = this.directoryId(fields.mirrorId ?? before.mirrorId, fields.dir);
    }
    const names = Object.keys(columns);
    if (names.length === 0) return before;
    const { changes } = this.#updateOf(names).run(
      ...Object.values(columns),
      before.id,
      before.state satisfies State,
    );
    invariant(changes === 1, `document ${before.id} left ${before.state} before it was written`);
    return this.remembered({ ...before, ...fields });
  }

  #updateOf(names: readonly string[]): Statement {
    const key = names.join();
    let update = this.#updates.get(key);
    if (!update) {
      const set = names.map((name) => `${name} = ?`).join();
      update = this.#sql.of(`UPDATE documents SET ${set} WHERE id = ? AND state = ?`);
      this.#updates.set(key, update);
    }
    return update;
  }

  /** Removes the row; a row that superseded it supersedes its predecessor instead. */
  delete(document: Document): void {
    const { id, supersedes } = document;
    this.#known.clear();
    this.#sql
      .of("UPDATE documents SET supersedes = ? WHERE supersedes = ? AND supersedes IS NOT NULL")
      .run(supersedes, id);
    this.#sql.of("DELETE FROM documents WHERE id = ?").run(id);
  }

  /** What superseded the row does so no more. */
  unlink({ id }: Document): void {
    this.#known.clear();
    this.#sql
      .of("UPDATE documents SET supersedes = NULL WHERE supersedes = ? AND supersedes IS NOT NULL")
      .run(id);
  }

  /** The other row of its archive that this document of the archive belongs to. */
  ownerOf(documentId: number, { id, mirrorId }: Document): number | undefined {
    return this.#sql
      .of<{ id: number }>(`SELECT id FROM documents WHERE document_id = ?
        AND archive_id = (SELECT archive_id FROM mirrors WHERE id = ?)
        AND duplicate_of IS NULL AND id <> ?`)
      .get(documentId, mirrorId, id)?.id;
  }

  /** One daemon: nobody else has taken the row. */
  mayClaim(document: Document, folderId: number, alone: Alone | undefined): boolean {
    if (alone === undefined) return true;
    const { id, mirrorId, sentName, digest } = document;
    const conflict = this.#sql
      .of(`SELECT 1 FROM documents WHERE folder_id = ? AND sent_name = ? AND id <> ?
        AND archive_id = (SELECT archive_id FROM mirrors WHERE id = ?)
        AND (state IN ('uploading', 'inDoubt') OR doubt_at IS NOT NULL)`)
      .get(folderId, sentName, id, mirrorId);
    if (conflict !== undefined || alone === "name") return conflict === undefined;
    const twin = this.#sql
      .of(`SELECT 1 FROM documents WHERE mirror_id = @mirrorId
        AND substr(digest, 1, 12) = substr(@digest, 1, 12) AND digest = @digest AND id <> @id
        AND state IN ('uploading', 'inDoubt')`)
      .get({ mirrorId, digest, id });
    return twin === undefined;
  }

  /** A new set of changes begins: an earlier one may have been undone; see `GroupCommit.generation`. */
  begin(generation: number): void {
    this.#directory = undefined;
    if (generation !== this.#generation) this.#known.clear();
    this.#generation = generation;
  }

  /** Rows were changed in another way; directories are looked up again for each set of changes. */
  forget(): void {
    this.#known.clear();
  }

  /** The directory's id; its row is made when missing. */
  directoryId(mirrorId: number, dir: RawPath): number {
    const last = this.#directory;
    if (last?.mirrorId === mirrorId && last.dir === dir) return last.id;
    const id = this.#directoryId(mirrorId, bytesOf(dir));
    this.#directory = { mirrorId, dir, id };
    return id;
  }

  #directoryId(mirrorId: number, path: Buffer): number {
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
    this.#directory = undefined;
    this.#sql
      .of(`DELETE FROM directories WHERE mirror_id = ? AND path = ? AND fingerprint IS NULL
        AND NOT EXISTS (SELECT 1 FROM documents n WHERE n.dir_id = directories.id AND n.current = 1)
        AND NOT EXISTS (SELECT 1 FROM documents n WHERE n.dir_id = directories.id AND n.current = 0)`)
      .run(mirrorId, bytesOf(dir));
  }
}

function insertionOf(names: readonly string[]): string {
  return `INSERT INTO documents (archive_id, dir_id, ${names.join()})
    VALUES ((SELECT archive_id FROM mirrors WHERE id = ?), ?, ${names.map(() => "?").join()})`;
}

/** Every query that yields documents begins like this; `n` is the row, `d` its directory. */
export const SELECT_DOCUMENT = selectDocument(SQLITE);

/** The texts, by the question they answer. */
export const QUERIES = queriesIn(SQLITE);

/** Those of retention, by what they are for. */
export const TIDY_QUERIES = tidyQueriesIn(SQLITE);

/** What is due of the mirror $8. */
export const DUE_QUERIES = dueQueriesIn(
  (where, order) => `${SELECT_DOCUMENT} WHERE n.mirror_id = $8 AND ${where} ${order}`,
);

/** Those that PostgreSQL answers in another way: here nobody else may be sending. */
export const OWN_QUERIES = {
  mirrorIds: "SELECT id FROM mirrors WHERE archive_id = $1",
  underWay: `${SELECT_DOCUMENT} WHERE n.mirror_id IN (SELECT id FROM mirrors WHERE archive_id = $1)
    AND n.state = 'uploading' ORDER BY n.id LIMIT $2`,
} as const;
