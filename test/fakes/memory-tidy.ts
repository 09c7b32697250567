import {
  joinedTombstone,
  tombstoneOf,
  type Tidied,
  tidiness,
  type TidyRequest,
} from "../../src/journal/tidiness.ts";
import { isOrdinary } from "../../src/journal/history-line.ts";
import type { HistoryRow } from "../../src/journal/journal.ts";
import { order } from "./memory-order.ts";
import type { MemoryStore } from "./memory-store.ts";

/** One step of retention over a store. */
export function tidyIn(store: MemoryStore, request: TidyRequest): Tidied {
  const { after, limit } = request;
  const ids = [...store.documents.keys(), ...store.forgotten.keys()]
    .filter((id) => id > after)
    .sort(order)
    .slice(0, limit);
  const done = { dropped: 0, trimmed: 0 };
  for (const id of ids) {
    const judged = rowIn(store, id, request);
    if (judged) done[judged] += 1;
  }
  const nextBatch = recordsIn(store, request);
  return { ...done, next: ids.length < limit ? null : (ids.at(-1) ?? null), nextBatch };
}

function rowIn(store: MemoryStore, id: number, { before, mirrorIds, at, receipts }: TidyRequest) {
  const row = store.documents.get(id);
  if (!row) {
    forgottenIn(store, id, before);
    return undefined;
  }
  const successor = [...store.documents.values()].find((other) => other.supersedes === id);
  const judged = tidiness(row, row.current ? undefined : successor, before);
  const isOwed = receipts && row.batch !== null && owes(store, row.batch);
  if (judged === "drop" && !isOwed && mirrorIds.includes(row.mirrorId)) {
    const next = tombstoneOf(row);
    const key = store.archivedKey(row.mirrorId, next.documentId);
    const known = store.tombstones.get(key);
    // The latest comes last, as its number is the greatest.
    store.delete(store.tombstones, key);
    const tombstone = known ? joinedTombstone(known, next) : next;
    store.set(store.tombstones, key, { ...tombstone, droppedAt: at });
    store.delete(store.attempts, id);
    store.delete(store.history, id);
    store.delete(store.contents, id);
    store.remove(row);
    return "dropped";
  }
  return judged !== "keep" && trimIn(store, id, before) ? "trimmed" : undefined;
}

/** True when the batch has documents and no receipt. */
function owes(store: MemoryStore, id: string): boolean {
  const rows = [...store.documents.values()].some(({ batch }) => batch === id);
  return rows && store.batches.has(id) && !store.receipts.has(id);
}

/** Returns how many batches the next step begins behind. */
function recordsIn(store: MemoryStore, request: TidyRequest): number {
  const { before, forgetBefore, afterBatch, limit, receipts } = request;
  const looked = [...store.batches.values()].slice(afterBatch, afterBatch + limit);
  for (const batch of looked) {
    const last = [...store.batches.values()].findLast((each) => each.mirrorId === batch.mirrorId);
    if (receipts && owes(store, batch.id)) continue;
    if (batch.joinedAt <= before && batch !== last) store.delete(store.batches, batch.id);
  }
  for (const [id, { droppedAt }] of [...store.tombstones].slice(0, limit)) {
    if (droppedAt <= forgetBefore) store.delete(store.tombstones, id);
  }
  const kept = looked.filter(({ id }) => store.batches.has(id)).length;
  return looked.length < limit ? 0 : afterBatch + kept;
}

function trimIn(store: MemoryStore, id: number, before: number): boolean {
  const attempts = store.attempts.get(id) ?? [];
  const history = store.history.get(id) ?? [];
  const isRowOrdinary = store.documents.get(id)?.ordinary === true;
  const young = attempts.filter(
    ({ endedAt }) => isRowOrdinary || endedAt === null || endedAt > before,
  );
  const isTold = (line: HistoryRow) => isRowOrdinary && isOrdinary(line);
  const last = history.findLast((line) => !isTold(line));
  const told = history.filter((line) => isTold(line) || line.at > before || line === last);
  store.set(store.attempts, id, young);
  store.set(store.history, id, told);
  return young.length < attempts.length || told.length < history.length;
}

function forgottenIn(store: MemoryStore, id: number, before: number): void {
  const last = Math.max(0, ...(store.history.get(id) ?? []).map(({ at }) => at));
  if (last > before) return;
  store.delete(store.history, id);
  store.delete(store.attempts, id);
  store.delete(store.forgotten, id);
}
