import type { Document } from "../../src/domain/document.ts";
import { isWanted } from "../../src/journal/document-list.ts";
import type { DocumentPage, PageQuery } from "../../src/journal/journal.ts";
import type { RawPath } from "../../src/std/raw-path.ts";

/** By time; rows without one are taken to be due at `otherwise`. */
export function longestDue(rows: Document[], otherwise: number): Document[] {
  return rows.sort((a, b) => order(a.dueAt ?? otherwise, b.dueAt ?? otherwise));
}

/** The order of `Journal.list`. */
export function byPath(a: Document, b: Document): number {
  return (
    a.mirrorId - b.mirrorId || compareRaw(a.dir, b.dir) || compareRaw(a.name, b.name) || a.id - b.id
  );
}

/** Byte order: a raw path has one character a byte. */
function compareRaw(a: RawPath, b: RawPath): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Whether `path` is `top` or below it. */
export function isAtOrBelow(path: RawPath, top: RawPath): boolean {
  return top === "" || path === top || path.startsWith(`${top}/`);
}

/** Unlike a difference, right for infinities. */
export function order(a: number, b: number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** `Journal.listPage` over these rows. */
export function pageOf(rows: readonly Document[], query: PageQuery): DocumentPage {
  const { order, after = Infinity, rows: rowsMax = 500 } = query;
  if (order === "uploaded") {
    const latest = rows
      .filter(({ uploadedAt }) => uploadedAt !== null)
      .sort((a, b) => (b.uploadedAt ?? 0) - (a.uploadedAt ?? 0) || b.id - a.id)
      .slice(0, rowsMax);
    return { documents: latest.filter((row) => isWanted(row, query)), last: null };
  }
  const all = rows.toSorted(order === "path" ? byPath : (a, b) => b.id - a.id);
  const at = all.findIndex(({ id }) => (order === "path" ? id === after : id < after));
  const isLost = at < 0 && (order === "latest" || after !== Infinity);
  const from = order === "path" ? at + 1 : at;
  const looked = isLost ? [] : all.slice(from, from + rowsMax);
  const last = looked.length < rowsMax ? null : (looked.at(-1)?.id ?? null);
  return { documents: looked.filter((row) => isWanted(row, query)), last };
}
