/** What is stored in SQLite, asked for when the writer needs it; nobody else writes meanwhile. */
import type { Document } from "../domain/document.ts";
import { bytesOf, type RawPath } from "../std/raw-path.ts";
import type { Statements } from "../sqlite/statements.ts";
import type { DirectoryPlace, Source } from "./source.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import type { NumberedLine } from "./history-line.ts";
import type { Alone } from "./journal.ts";
import { OWN_QUERIES, QUERIES } from "./sqlite-queries.ts";

/** So many rows are remembered; all are forgotten together, as to drop the oldest costs more than it saves. */
const KNOWN_MAX = 8_192;

type Mirror = { readonly archiveId: number; readonly tells: boolean };

export class StoredRows implements Source {
  readonly #sql: Statements;
  /** Rows as they were last read or written: most are changed several times within a short time. */
  readonly #known = new Map<number, Document>();
  readonly #mirrors = new Map<number, Mirror>();
  #generation: number | undefined;
  /** The number that was last given to a row. */
  #lastId: number | undefined;
  /** The directory that was last asked for: files come by the directory. */
  #directory: (DirectoryPlace & { readonly id: number | undefined }) | undefined;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** What is remembered may be undone (see `GroupCommit.generation`) or, undefined, was changed in another way. */
  begin(generation: number | undefined): this {
    if (!generation || generation !== this.#generation) this.#known.clear();
    this.#generation = generation;
    this.#mirrors.clear();
    this.#directory = undefined;
    this.#lastId = undefined;
    return this;
  }

  /** Remembers what was just read: it is about to be changed. */
  remembered(document: Document): Document {
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(document.id, document);
    return document;
  }

  nextId(): number {
    this.#lastId ??= this.#id(OWN_QUERIES.lastId) ?? 0;
    return ++this.#lastId;
  }

  wrote(id: number, row: Document | null): void {
    if (row) this.remembered(row);
    else this.#known.delete(id);
  }

  row(id: number): Document | undefined {
    const known = this.#known.get(id);
    if (known) return known;
    const [row] = this.#sql.rows<DocumentRow>(QUERIES.document, [id]);
    return row && this.remembered(documentOf(row));
  }

  /** One daemon: nobody else takes anything. */
  isTaken(_id: number): boolean {
    return false;
  }

  currentAt(mirrorId: number, dir: RawPath, name: RawPath): number | undefined {
    const directory = this.directory(mirrorId, dir);
    return directory && this.#id(OWN_QUERIES.currentId, directory, bytesOf(name));
  }

  successors(id: number): readonly number[] {
    return this.#ids(OWN_QUERIES.successorIds, id);
  }

  ownerOf(documentId: number, archiveId: number): number | undefined {
    return this.#id(OWN_QUERIES.ownerId, documentId, archiveId);
  }

  hasTombstone(documentId: number, archiveId: number): boolean {
    return this.#id(OWN_QUERIES.tombstone, documentId, archiveId) !== undefined;
  }

  lastLines(id: number): readonly NumberedLine[] {
    return this.#sql.rows<NumberedLine>(OWN_QUERIES.lastLines, [id]);
  }

  mirror(id: number): Mirror | undefined {
    const known = this.#mirrors.get(id);
    if (known) return known;
    type Row = { readonly archiveId: number; readonly tells: number };
    const [row] = this.#sql.rows<Row>(OWN_QUERIES.mirror, [id]);
    if (!row) return undefined;
    const mirror = { archiveId: row.archiveId, tells: row.tells === 1 };
    this.#mirrors.set(id, mirror);
    return mirror;
  }

  inTheWay(document: Document, folderId: number, alone: Alone): readonly number[] {
    const { id, mirrorId, sentName, digest } = document;
    const archiveId = this.mirror(mirrorId)?.archiveId;
    const names = this.#ids(OWN_QUERIES.sentAs, folderId, sentName, archiveId, id);
    if (alone === "name") return names;
    return [...names, ...this.#ids(OWN_QUERIES.twins, mirrorId, digest, id)];
  }

  directory(mirrorId: number, dir: RawPath): number | undefined {
    const last = this.#directory;
    if (last?.mirrorId === mirrorId && last.dir === dir) return last.id;
    const id = this.#id(OWN_QUERIES.directoryId, mirrorId, bytesOf(dir));
    this.#directory = { mirrorId, dir, id };
    return id;
  }

  #id(text: string, ...values: readonly unknown[]): number | undefined {
    return this.#sql
      .of<number>(text)
      .pluck()
      .get(...values);
  }

  #ids(text: string, ...values: readonly unknown[]): number[] {
    return this.#sql.rows<{ readonly id: number }>(text, values).map(({ id }) => id);
  }
}
