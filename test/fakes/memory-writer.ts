import type { Document, State } from "../../src/domain/document.ts";
import { type Event, transition } from "../../src/domain/life.ts";
import { attemptEffect } from "../../src/journal/attempt-effect.ts";
import {
  eventLine,
  followLine,
  forgetLine,
  type HistoryLine,
  historyRow,
  linesFor,
  noteLine,
  seenLine,
  staysOrdinary,
  successorLine,
} from "../../src/journal/history-line.ts";
import type { Alone, Applied, Change } from "../../src/journal/journal.ts";
import {
  assertForgettable,
  checkedDue,
  firstRevision,
  followed,
  isAt,
  mayFollow,
  mayRestore,
  noted,
} from "../../src/journal/revision.ts";
import { isInTheWay } from "../../src/journal/conflict.ts";
import { talliedBy } from "../../src/journal/usage-bucket.ts";
import { toldBy } from "../../src/journal/outbox-entry.ts";
import { claimedTwice } from "../../src/journal/writer.ts";
import { InvariantError, invariant } from "../../src/std/invariant.ts";
import { joinRaw } from "../../src/std/raw-path.ts";
import type { MemoryCluster } from "./memory-cluster.ts";
import { type MemoryStore, type NumberedAttempt, placeKey } from "./memory-store.ts";

type On<T extends Change["type"]> = Extract<Change, { type: T }>;

/** Applies changes to the store, in order; throws for a change that no journal may take. */
export function applyTo(
  store: MemoryStore,
  changes: readonly Change[],
  cluster?: MemoryCluster,
): Applied[] {
  const stamps = new Map<number, string | undefined>();
  return changes.map((change) => {
    const given = "given" in change ? change.given : undefined;
    if (given && !stamps.has(given.id)) {
      stamps.set(given.id, store.documents.get(given.id)?.seen.stamp);
    }
    const place = "place" in change ? change.place : undefined;
    const now = place && beforeOf(store, change);
    const isMoved = now !== undefined && place !== undefined && !isAt(now, place);
    const holds = !isMoved && (!given || stamps.get(given.id) === given.stamp);
    return holds ? applyOne(store, change, cluster) : skipped(change, beforeOf(store, change));
  });
}

function beforeOf(store: MemoryStore, change: Change): Document | undefined {
  return "id" in change ? store.documents.get(change.id) : undefined;
}

function applyOne(store: MemoryStore, change: Change, cluster?: MemoryCluster): Applied {
  switch (change.type) {
    case "add":
      return add(store, change);
    case "event":
      return happen(store, change, cluster);
    case "note":
      return note(store, change);
    case "forget":
      return forget(store, change);
    case "follow":
      return follow(store, change);
    case "batch":
      assertMirror(store, change.batch.mirrorId);
      invariant(change.batch.id.length <= 36, "a batch id of more than 36 characters");
      store.set(store.batches, change.batch.id, change.batch);
      store.delete(store.receipts, change.batch.id);
      return done(change, undefined, undefined);
    case "directory":
      remember(store, change);
      return done(change, undefined, undefined);
    default:
      change satisfies never;
      throw new InvariantError("a change of an unknown type");
  }
}

function add(store: MemoryStore, change: On<"add">): Applied {
  const { mirrorId, dir, name, supersedes } = change.document;
  const current = store.documents.get(store.current.get(placeKey(mirrorId, dir, name)) ?? 0);
  if ((current?.id ?? null) !== supersedes) {
    return { change, document: current, from: undefined, skipped: true };
  }
  assertMirror(store, mirrorId);
  if (current) store.put({ ...current, current: false });
  const document = firstRevision(store.nextId, change.document);
  store.nextId += 1;
  store.put(document);
  tell(store, document.id, seenLine(document));
  return done(change, document, undefined);
}

function happen(
  store: MemoryStore,
  change: On<"event">,
  cluster: MemoryCluster | undefined,
): Applied {
  const { id, event, from } = change;
  const before = store.documents.get(id);
  if (!before || hasLeft(before, from)) return skipped(change, before);
  if (event.type === "claimed") {
    if (cluster?.mayTake(id) === false) return skipped(change, before);
    if (isHindered(store, before, event.folderId, change.alone)) return skipped(change, before);
    if (cluster) store.set(store.senders, id, cluster.instanceId);
  }
  const patch = transition(before, event);
  if (patch.dueAt !== undefined) checkedDue(id, patch.dueAt);
  const { documentId = null } = patch;
  for (const other of documentId === null ? [] : store.documents.values()) {
    if (event.type === "duplicated" || other.duplicateOf !== null) continue;
    if (store.archiveOf(other.mirrorId) !== store.archiveOf(before.mirrorId)) continue;
    if (other.documentId === documentId && other.id !== id) {
      if (change.unclaimed) return skipped(change, before);
      throw claimedTwice(id, event, documentId ?? 0, other.id);
    }
  }
  const key = store.archivedKey(before.mirrorId, documentId ?? 0);
  if (documentId !== null && store.tombstones.has(key)) {
    if (event.type !== "adopted") throw claimedTwice(id, event, documentId, null);
    store.delete(store.tombstones, key);
  }
  const ordinary = before.ordinary && staysOrdinary(change);
  const document: Document = { ...before, ...patch, ordinary };
  store.put(document);
  tell(store, id, eventLine(before.state, document.state, event));
  attempt(store, before, document, event);
  for (const usageBucket of talliedBy(before, event)) store.usageBucket(usageBucket);
  keepOutboxEntry(store, document, event);
  return done(change, document, before);
}

function isHindered(
  store: MemoryStore,
  document: Document,
  folderId: number,
  alone: Alone | undefined,
): boolean {
  if (alone === undefined || document.state !== "pending") return false;
  return [...store.documents.values()].some(
    (other) =>
      store.archiveOf(other.mirrorId) === store.archiveOf(document.mirrorId) &&
      isInTheWay(other, document, folderId, alone),
  );
}

function keepOutboxEntry(store: MemoryStore, document: Document, event: Event): void {
  const outcome = toldBy(event);
  const { mirrorId } = document;
  if (!outcome || !store.tells.has(mirrorId)) return;
  const { at } = event;
  const number = store.nextOutboxEntry++;
  store.set(store.outboxEntries, number, {
    number,
    mirrorId,
    outcome,
    at,
    document,
    tries: 0,
    dueAt: at,
  });
}

function note(store: MemoryStore, change: On<"note">): Applied {
  const before = store.documents.get(change.id);
  if (!before || hasLeft(before, change.from)) return skipped(change, before);
  const ordinary = before.ordinary && staysOrdinary(change);
  const document = { ...before, ...noted(before, change.set), ordinary };
  store.put(document);
  tell(store, before.id, noteLine(before, change.at, change.why));
  return done(change, document, before);
}

function forget(store: MemoryStore, change: On<"forget">): Applied {
  const before = store.documents.get(change.id);
  if (!before || hasLeft(before, change.from)) return skipped(change, before);
  assertForgettable(before);
  bury(store, before, forgetLine(before, change.at, change.why));
  if (change.traceless) {
    store.delete(store.history, before.id);
    store.delete(store.forgotten, before.id);
  }
  const predecessor = store.documents.get(before.supersedes ?? 0);
  if (change.restore && predecessor && mayRestore(before, predecessor)) {
    const gone = change.goneAt === undefined ? {} : { goneAt: change.goneAt };
    store.put({ ...predecessor, current: true, ...gone });
  }
  return done(change, undefined, before);
}

function follow(store: MemoryStore, change: On<"follow">): Applied {
  const before = store.documents.get(change.id);
  const successor = store.documents.get(change.successor);
  if (!before || !successor) return skipped(change, before);
  const fields = followed(before, successor, change);
  if (!mayFollow(before, successor)) return skipped(change, before);
  tell(store, before.id, followLine(before, successor, change.at));
  bury(store, successor, successorLine(successor, before.id, change.at));
  if (!before.current) store.unlink(before);
  const document = { ...before, ...fields };
  store.put(document);
  return done(change, document, before);
}

function remember(store: MemoryStore, { mirrorId, dir, fingerprint }: On<"directory">): void {
  const key = placeKey(mirrorId, dir);
  if (fingerprint === null) {
    store.delete(store.directories, key);
    return;
  }
  assertMirror(store, mirrorId);
  store.set(store.directories, key, { mirrorId, dir, print: fingerprint });
}

function bury(store: MemoryStore, document: Document, line: HistoryLine): void {
  const { id, mirrorId, dir, name } = document;
  tell(store, id, line);
  store.set(store.forgotten, id, { mirrorId, path: joinRaw(dir, name) });
  store.remove(document);
  store.delete(store.contents, id);
}

function tell(store: MemoryStore, id: number, line: HistoryLine): void {
  const lines = store.history.get(id) ?? [];
  const [last, before] = [1, 2].map((back) => {
    const row = lines.at(-back);
    return row && { ...row, number: 1 + lines.length - back, times: row.times ?? 1 };
  });
  const told = linesFor(line, last, before, 1);
  const first = told[0]?.number ?? 1;
  const rows = told.map(historyRow);
  store.set(store.history, id, [...lines.slice(0, first - 1), ...rows]);
}

function attempt(store: MemoryStore, before: Document, document: Document, event: Event): void {
  const effect = attemptEffect(before.state, event);
  if (!effect) return;
  const { id } = document;
  const attempts = store.attempts.get(id) ?? [];
  const of = (number: number, changed: (row: NumberedAttempt) => NumberedAttempt[]) =>
    attempts.flatMap((row) => (row.number === number ? changed(row) : [row]));
  switch (effect.type) {
    case "open":
      store.set(store.attempts, id, [...attempts, opened(document, event.at)]);
      return;
    case "drop":
      store.set(
        store.attempts,
        id,
        of(before.attempts, () => []),
      );
      return;
    case "outcome": {
      const { type: _, ...fields } = effect;
      store.set(
        store.attempts,
        id,
        of(document.attempts, (row) => [{ ...row, ...fields }]),
      );
    }
  }
}

function opened({ attempts, digest, sentName, folderId, batch }: Document, at: number) {
  invariant(
    digest !== null && sentName !== null && folderId !== null && batch !== null,
    "claimed without an intent",
  );
  const intent = { digest, sentName, folderId, batch };
  const open = { startedAt: at, endedAt: null, outcome: null, documentId: null };
  return { number: attempts, ...intent, ...open };
}

function assertMirror(store: MemoryStore, mirrorId: number): void {
  invariant(store.hasMirror(mirrorId), `no mirror ${mirrorId}`);
}

function hasLeft({ state }: Document, from: readonly State[] | undefined): boolean {
  return from !== undefined && !from.includes(state);
}

function done(change: Change, document: Document | undefined, before: Document | undefined) {
  return { change, document, from: before?.state, skipped: false };
}

function skipped(change: Change, document: Document | undefined): Applied {
  return { change, document, from: document?.state, skipped: true };
}
