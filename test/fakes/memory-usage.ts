import type { Document, State } from "../../src/domain/document.ts";
import type { Batch, BatchProgress, WaitingFolder } from "../../src/journal/journal.ts";
import { byPlace, progressOf } from "../../src/journal/row-shapes.ts";

/** Rows per mirror and state; `rows` are in the order of their ids. */
export function countsOf(
  rows: readonly Document[],
): { mirrorId: number; state: State; documents: number; oldestAt: number }[] {
  return [...Map.groupBy(rows, ({ mirrorId, state }) => `${mirrorId} ${state}`).values()]
    .flatMap((group) => (group[0] ? [{ ...group[0], documents: group.length }] : []))
    .map(({ mirrorId, state, documents, firstSeenAt: oldestAt }) => {
      return { mirrorId, state, documents, oldestAt };
    })
    .sort((a, b) => a.mirrorId - b.mirrorId || (a.state < b.state ? -1 : 1));
}

/** Uploaded rows per archive folder. */
export function outstandingOf(
  rows: readonly Document[],
  now: number,
): { folderId: number; documents: number; due: number }[] {
  const uploaded = rows.filter(({ state }) => state === "uploaded");
  if (uploaded.length === 0) return [];
  return [...Map.groupBy(uploaded, ({ folderId }) => folderId ?? 0)]
    .map(([folderId, group]) => {
      const due = group.filter(({ dueAt }) => dueAt !== null && dueAt <= now).length;
      return { folderId, documents: group.length, due };
    })
    .sort((a, b) => a.folderId - b.folderId);
}

/** Held rows per folder they wait for. */
export function waitingFoldersOf(held: readonly Document[]): WaitingFolder[] {
  if (held.length === 0) return [];
  const folders = new Map<string, WaitingFolder>();
  for (const { mirrorId, targetPath, problem } of held) {
    if (targetPath === null || problem === null) continue;
    const { code } = problem;
    const key = [mirrorId, targetPath, code].join("\0");
    const documents = (folders.get(key)?.documents ?? 0) + 1;
    folders.set(key, { mirrorId, targetPath, code, documents });
  }
  return [...folders.values()].sort(byPlace);
}

/** How far `batch` has come; `rows` are its documents. */
export function batchProgressOf(batch: Batch, rows: readonly Document[]): BatchProgress {
  const states = [...Map.groupBy(rows, ({ state }) => state)].map(([state, group]) => {
    const pages = group.reduce((sum, row) => sum + (row.pages ?? 0), 0);
    return { state, documents: group.length, pages };
  });
  return progressOf(batch, states);
}
