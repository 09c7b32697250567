import type { Document } from "../../src/domain/document.ts";
import { SENT_STATES } from "../../src/domain/document.ts";
import { FOLDER_CODES } from "../../src/domain/verdict.ts";
import { byPath, isWanted } from "../../src/journal/document-list.ts";
import type {
  Applied,
  AttemptRow,
  Batch,
  BatchProgress,
  Change,
  Content,
  Duplicates,
  DueQuery,
  GateRow,
  HistoryRow,
  Journal,
  Known,
  ListQuery,
  MirrorRow,
  PaceRow,
  Unreceipted,
  WaitingFolder,
} from "../../src/journal/journal.ts";
import { journalFault } from "../../src/journal/journal-fault.ts";
import type { Tally } from "../../src/journal/tally.ts";
import { invariant } from "../../src/std/invariant.ts";
import { dirOf, joinRaw, nameOf, type RawPath } from "../../src/std/raw-path.ts";
import { MemoryStore, placeKey } from "./memory-store.ts";
import { isAtOrBelow, longestDue, order } from "./memory-order.ts";
import {
  batchProgressOf,
  countsOf,
  outstandingOf,
  recentOf,
  waitingFoldersOf,
} from "./memory-tallies.ts";
import { tidyIn } from "./memory-tidy.ts";
import {
  placeOf,
  type Remembered,
  type Tidied,
  type TidyRequest,
} from "../../src/journal/tidiness.ts";
import { applyTo } from "./memory-writer.ts";

/**
 * A journal in memory, for tests and simulations. It keeps the contract of `Journal` but for
 * durability: what outlives a `MemoryJournal` is its store, which another one may open, as a
 * process that starts again, or one that writes beside it, would.
 *
 * Queries read everything: it is meant for thousands of rows, not millions.
 */
export class MemoryJournal implements Journal {
  readonly store: MemoryStore;
  readonly #onApplied: (applied: Applied[]) => void;
  #ownWrites: number;
  #isClosed = false;

  constructor(options: { store?: MemoryStore; onApplied?: (applied: Applied[]) => void } = {}) {
    this.store = options.store ?? new MemoryStore();
    this.#onApplied = options.onApplied ?? (() => undefined);
    this.#ownWrites = this.store.writes;
  }

  async mirror(name: string, source: string): Promise<MirrorRow> {
    const known = this.#open.mirrors.get(name);
    if (known?.source === source) return known;
    const id = known?.id ?? this.store.mirrors.size + 1;
    const mirror = { id, name, source, device: null };
    this.#write(() => this.store.set(this.store.mirrors, name, mirror));
    return mirror;
  }

  async mirrors(): Promise<MirrorRow[]> {
    return [...this.#open.mirrors.values()];
  }

  async setDevice(mirrorId: number, device: string): Promise<void> {
    for (const mirror of this.#open.mirrors.values()) {
      if (mirror.id !== mirrorId) continue;
      this.#write(() => this.store.set(this.store.mirrors, mirror.name, { ...mirror, device }));
    }
  }

  async firstRuns(): Promise<number[]> {
    const ids = [...this.#open.mirrors.values()].map(({ id }) => id);
    return ids.filter((id) => !this.store.firstRunsOver.has(id));
  }

  async endFirstRun(mirrorId: number, at: number): Promise<void> {
    this.#write(() => this.store.set(this.store.firstRunsOver, mirrorId, at));
  }

  async apply(changes: readonly Change[]): Promise<Applied[]> {
    const applied = this.#write(() => changes.map((change) => applyTo(this.store, change)));
    this.#onApplied(applied);
    return applied;
  }

  async directories(mirrorId: number): Promise<[dir: RawPath, fingerprint: string][]> {
    return [...this.#open.directories.values()]
      .filter((directory) => directory.mirrorId === mirrorId)
      .map(({ dir, print }): [RawPath, string] => [dir, print])
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  async rowsIn(mirrorId: number, dir: RawPath): Promise<Known[]> {
    return this.#known(mirrorId, (document) => document.dir === dir);
  }

  async rowsBelow(mirrorId: number, dir: RawPath): Promise<Known[]> {
    return this.#known(mirrorId, (document) => isAtOrBelow(document.dir, dir));
  }

  async document(id: number): Promise<Document | undefined> {
    return this.#open.documents.get(id);
  }

  async currentAt(mirrorId: number, path: RawPath): Promise<Document | undefined> {
    const id = this.#open.current.get(placeKey(mirrorId, dirOf(path), nameOf(path)));
    return this.store.documents.get(id ?? 0);
  }

  async sentWith(mirrorId: number, digest: string): Promise<Document[]> {
    return this.#rows(
      (row) =>
        row.mirrorId === mirrorId && row.digest === digest && SENT_STATES.includes(row.state),
    );
  }

  async due(query: DueQuery): Promise<Document[]> {
    const { state, now, after = -1, limit, mirrorId, sizeMaxBytes, sizeOverBytes } = query;
    return this.#rows(
      (row) =>
        row.state === state &&
        row.dueAt !== null &&
        row.dueAt <= now &&
        row.dueAt > after &&
        (mirrorId === undefined || row.mirrorId === mirrorId) &&
        (sizeMaxBytes === undefined || row.seen.sizeBytes <= sizeMaxBytes) &&
        (sizeOverBytes === undefined || row.seen.sizeBytes > sizeOverBytes),
    )
      .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
      .slice(0, limit);
  }

  async underWay(limit: number): Promise<Document[]> {
    return this.#rows(({ state }) => state === "uploading").slice(0, limit);
  }

  async rivals(folderId: number, sentName: string): Promise<Document[]> {
    return this.#rows(
      (row) =>
        (row.state === "uploading" || row.state === "inDoubt" || row.doubtAt !== null) &&
        row.folderId === folderId &&
        row.sentName === sentName,
    );
  }

  async claimed(documentIds: readonly number[]): Promise<Set<number>> {
    const ids = new Set<number | null>(this.#open.remembered.keys());
    for (const { documentId } of this.#open.documents.values()) ids.add(documentId);
    return new Set(documentIds.filter((id) => ids.has(id)));
  }

  async outstanding(now: number): Promise<{ folderId: number; documents: number; due: number }[]> {
    return outstandingOf(
      this.#rows(() => true),
      now,
    );
  }

  async outstandingIn(folderId: number, limit: number): Promise<Document[]> {
    const rows = this.#rows((row) => row.state === "uploaded" && row.folderId === folderId);
    return longestDue(rows, Number.POSITIVE_INFINITY).slice(0, limit);
  }

  async afterDue(now: number, limit: number): Promise<Document[]> {
    const rows = this.#rows(
      ({ state, after, dueAt }) => state === "converted" && after === "due" && (dueAt ?? 0) <= now,
    );
    return longestDue(rows, 0).slice(0, limit);
  }

  async heldWith(
    codes: readonly string[],
    limit: number,
    place?: { mirrorId: number; targetPath: string },
  ): Promise<Document[]> {
    return this.#held(codes)
      .filter(
        ({ mirrorId, targetPath }) =>
          !place || (place.mirrorId === mirrorId && place.targetPath === targetPath),
      )
      .slice(0, limit);
  }

  async smallestHeld(
    codes: readonly string[],
    mirrorIds: readonly number[],
  ): Promise<Document | undefined> {
    return this.#held(codes)
      .filter(({ mirrorId }) => mirrorIds.includes(mirrorId))
      .sort((a, b) => a.seen.sizeBytes - b.seen.sizeBytes)[0];
  }

  async moved(limit: number): Promise<Document[]> {
    return this.#rows(({ movedFrom }) => movedFrom !== null).slice(0, limit);
  }

  async waitingFolders(): Promise<WaitingFolder[]> {
    return waitingFoldersOf(this.#held(FOLDER_CODES));
  }

  async lastBatch(mirrorId: number): Promise<Batch | undefined> {
    const last = [...this.#open.batches.values()].findLast((batch) => batch.mirrorId === mirrorId);
    return last && this.store.receipts.has(last.id) ? undefined : last;
  }

  async unreceipted(after: number, limit: number): Promise<Unreceipted> {
    const open = [...this.#open.batches.values()]
      .map((batch, index) => ({ batch, number: index + 1 }))
      .filter(({ batch, number }) => number > after && !this.store.receipts.has(batch.id))
      .slice(0, limit);
    return {
      batches: open.map(({ batch }) => batch).filter(({ id }) => this.#closedWith(id) > 0),
      next: open.length < limit ? null : (open.at(-1)?.number ?? null),
    };
  }

  async setReceipt(batch: string, documents: number, at: number): Promise<boolean> {
    if (this.#closedWith(batch) !== documents || !this.store.batches.has(batch)) return false;
    this.#write(() => this.store.set(this.store.receipts, batch, at));
    return true;
  }

  async latestBatches(limit: number): Promise<BatchProgress[]> {
    const latest = [...this.#open.batches.values()].toReversed().slice(0, limit);
    return latest.map((batch) =>
      batchProgressOf(
        batch,
        this.#rows((row) => row.batch === batch.id),
      ),
    );
  }

  async inBatch(batch: string, limit: number): Promise<Document[]> {
    return this.#rows((row) => row.batch === batch).slice(0, limit);
  }

  async recent(limit: number): Promise<Document[]> {
    return recentOf(this.#rows(() => true)).slice(0, limit);
  }

  async tallies(from: number, to: number): Promise<Tally[]> {
    return [...this.#open.tallies.values()]
      .filter(({ at }) => at >= from && at < to)
      .sort((a, b) => a.at - b.at || a.mirrorId - b.mirrorId);
  }

  async gate(): Promise<GateRow> {
    return this.#open.gate;
  }

  async setGate(gate: GateRow): Promise<void> {
    this.#write(() => {
      this.store.gate = gate;
    });
  }

  async pace(): Promise<PaceRow> {
    return this.#open.pace;
  }

  async setPace(pace: PaceRow): Promise<void> {
    this.#write(() => {
      this.store.pace = pace;
    });
  }

  async paused(): Promise<boolean> {
    return this.#open.paused;
  }

  async setPaused(paused: boolean): Promise<void> {
    this.#write(() => {
      this.store.paused = paused;
    });
  }

  async setContents(id: number, contents: readonly Content[]): Promise<void> {
    this.#write(() => {
      invariant(contents.length === 0 || this.store.documents.has(id), `no document ${id}`);
      this.store.set(this.store.contents, id, [...contents]);
    });
  }

  async contents(id: number): Promise<Content[]> {
    return [...(this.#open.contents.get(id) ?? [])];
  }

  async duplicates(): Promise<Duplicates> {
    const rows = this.#rows(({ duplicateOf }) => duplicateOf !== null);
    return {
      documents: rows.length,
      pages: rows.reduce((sum, { pages }) => sum + (pages ?? 0), 0),
    };
  }

  async counts(): ReturnType<Journal["counts"]> {
    return countsOf(this.#rows(() => true));
  }

  async *list(query: ListQuery): AsyncGenerator<Document> {
    const { path } = query;
    const isThere = (row: Document) =>
      !path ||
      (row.mirrorId === path.mirrorId && isAtOrBelow(joinRaw(row.dir, row.name), path.path));
    yield* this.#rows((row) => isWanted(row, query) && isThere(row)).sort(byPath);
  }

  async history(id: number): Promise<HistoryRow[]> {
    return [...(this.#open.history.get(id) ?? [])];
  }

  async forgotten(mirrorId: number, path: RawPath): Promise<HistoryRow[]> {
    return [...this.#open.forgotten]
      .filter(([, row]) => row.mirrorId === mirrorId && row.path === path)
      .map(([id]) => id)
      .sort(order)
      .flatMap((id) => this.store.history.get(id) ?? []);
  }

  async attempts(id: number): Promise<AttemptRow[]> {
    return (this.#open.attempts.get(id) ?? []).map(({ number, ...row }) => {
      invariant(number > 0, "attempts are numbered from 1");
      return row;
    });
  }

  async tidy(request: TidyRequest): Promise<Tidied> {
    return this.#write(() => tidyIn(this.store, request));
  }

  async remembered(mirrorId: number, digest: string, path: RawPath): Promise<Remembered[]> {
    const place = placeOf(path);
    return [...this.#open.remembered.values()]
      .filter((each) => each.mirrorId === mirrorId && each.digest === digest)
      .filter((each) => each.place === null || each.place === place)
      .map(({ documentId, folderId }) => ({ documentId, folderId }))
      .toReversed();
  }

  async outsideWrites(): Promise<number> {
    return this.#open.writes - this.#ownWrites;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Documents of a batch that is closed; 0 for one that is not. */
  #closedWith(batch: string): number {
    const rows = this.#rows((row) => row.batch === batch);
    return rows.every(({ state }) => state === "converted") ? rows.length : 0;
  }

  get #open(): MemoryStore {
    if (this.#isClosed) throw journalFault("JOURNAL_CLOSED", "in memory", "closed");
    return this.store;
  }

  #write<T>(change: () => T): T {
    const result = this.#open.transact(change);
    this.store.writes += 1;
    this.#ownWrites += 1;
    return result;
  }

  /** In the order of their ids. */
  #rows(isMeant: (row: Document) => boolean): Document[] {
    const rows: Document[] = [];
    for (const row of this.#open.documents.values()) if (isMeant(row)) rows.push(row);
    return rows.sort((a, b) => a.id - b.id);
  }

  #held(codes: readonly string[]): Document[] {
    return this.#rows(
      ({ state, trouble }) => state === "held" && trouble !== null && codes.includes(trouble.code),
    );
  }

  #known(mirrorId: number, isMeant: (row: Document) => boolean): Known[] {
    return this.#rows((row) => row.current && row.mirrorId === mirrorId && isMeant(row))
      .sort(byPath)
      .map(({ id, name, state, seen, goneAt, documentId }) => {
        return { id, name, state, stamp: seen.stamp, goneAt, documentId };
      });
  }
}
