/** What the writer asks of what is stored. */
import type { Document } from "../domain/document.ts";
import type { RawPath } from "../std/raw-path.ts";
import type { NumberedLine } from "./history-line.ts";
import type { Alone } from "./journal.ts";

/** What is stored, as it was before the change set: asked when it is needed, or read and locked before. */
export type Source = {
  row(id: number): Document | undefined;
  /** Whether another living instance has the row in hand. */
  isTaken(id: number): boolean;
  /** The current row of a path. */
  currentAt(mirrorId: number, dir: RawPath, name: RawPath): number | undefined;
  /** Rows that superseded this one. */
  successors(id: number): readonly number[];
  /** The row that this document of the archive belongs to. */
  ownerOf(documentId: number, archiveId: number): number | undefined;
  hasTombstone(documentId: number, archiveId: number): boolean;
  /** The last lines of a row's history, the latest first: as many as `linesFor` needs. */
  lastLines(id: number): readonly NumberedLine[];
  /** The archive that a mirror is carried into, and whether a hook gets its outcomes. */
  mirror(id: number): { readonly archiveId: number; readonly tells: boolean } | undefined;
  /** All rows of the archive for which `isInTheWay` holds. */
  inTheWay(document: Document, folderId: number, alone: Alone): readonly number[];
  /** A directory's number. */
  directory(mirrorId: number, dir: RawPath): number | undefined;
  /** The number of a new row, where it is known. */
  nextId?(): number;
  /** Told how a row was written; null: removed. */
  wrote?(id: number, row: Document | null): void;
};

/** A directory of a mirror. */
export type DirectoryPlace = { readonly mirrorId: number; readonly dir: RawPath };

/** A key for a directory, or with `name` for a place in one. */
export function placeKey(mirrorId: number, dir: RawPath, name = ""): string {
  return `${mirrorId}:${dir.length}:${dir}/${name}`;
}
