/** What both kinds of tables make of the rows that they read. Pure. */
import type { Document, State } from "../domain/document.ts";
import { rawOf } from "../std/raw-path.ts";
import type { Batch, BatchProgress, Known, WaitingFolder } from "./journal.ts";
import type { OutboxEntry } from "./outbox-entry.ts";

/** As it is read: the name in bytes. */
export type KnownRow = Omit<Known, "name"> & { readonly name: Buffer };

export function knownOf({ id, name, state, stamp, goneAt, documentId }: KnownRow): Known {
  return { id, name: rawOf(name), state, stamp, goneAt, documentId };
}

/** As it is read: the document in JSON. */
export type OutboxEntryRow = Omit<OutboxEntry, "document"> & { readonly document: string };

/** With its document as the outcome left it, whatever became of the row since. */
export function outboxEntryOf(row: OutboxEntryRow): OutboxEntry {
  return { ...row, document: JSON.parse(row.document) as Document };
}

/** Documents of a batch in one state. */
export type InState = {
  readonly state: State;
  readonly documents: number;
  readonly pages: number;
};

/** A batch with how far its documents are. */
export function progressOf(batch: Batch, rows: readonly InState[]): BatchProgress {
  const states = Object.fromEntries(rows.map(({ state, documents }) => [state, documents]));
  return { ...batch, states, pages: rows.reduce((sum, { pages }) => sum + pages, 0) };
}

/** By mirror, then folder, then code; text by code unit, as nobody's language is meant. */
export function byPlace(a: WaitingFolder, b: WaitingFolder): number {
  return a.mirrorId - b.mirrorId || compare(a.targetPath, b.targetPath) || compare(a.code, b.code);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
