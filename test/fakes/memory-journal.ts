import type { Document } from "../../src/domain/document.ts";
import { DOUBT_CODES, FOLDER_CODES } from "../../src/domain/code-sets.ts";
import { mayBeArchived } from "../../src/domain/document.ts";
import { byOrder } from "../../src/domain/feed.ts";
import { isWanted } from "../../src/journal/document-list.ts";
import { type Cluster, SOLO_CLUSTER } from "../../src/journal/cluster.ts";
import type {
  Applied,
  ArchiveRow,
  AttemptRow,
  Batch,
  BatchProgress,
  Change,
  Content,
  Duplicates,
  DocumentPage,
  DueQuery,
  GateRow,
  HistoryRow,
  Journal,
  Known,
  ListQuery,
  MirrorRow,
  Moved,
  PaceRow,
  AfterFailed,
  PageQuery,
  PutOff,
  WithProblem,
  Unreceipted,
  WaitingFolder,
  WaitingPages,
  WarnedRow,
  ClaimTimes,
} from "../../src/journal/journal.ts";
import { archiveChanged } from "../../src/journal/accounts.ts";
import { journalFault } from "../../src/journal/journal-fault.ts";
import type { UsageBucket } from "../../src/journal/usage-bucket.ts";
import type { OutboxEntry } from "../../src/journal/outbox-entry.ts";
import { invariant } from "../../src/std/invariant.ts";
import { dirOf, joinRaw, nameOf, type RawPath } from "../../src/std/raw-path.ts";
import type { MemoryCluster } from "./memory-cluster.ts";
import { MemoryStore, placeKey } from "./memory-store.ts";
import { byPath, isAtOrBelow, longestDue, order, pageOf } from "./memory-order.ts";
import { batchProgressOf, countsOf, outstandingOf, waitingFoldersOf } from "./memory-usage.ts";
import { pagesUsedOf, waitingPagesOf } from "./memory-pages.ts";
import { tidyIn } from "./memory-tidy.ts";
import {
  placeOf,
  type DroppedDocument,
  type Tidied,
  type TidyRequest,
} from "../../src/journal/tidiness.ts";
import { applyTo } from "./memory-writer.ts";

/** What is one for all archives of a journal that was opened. */
type Handle = { ownWrites: number; isClosed: boolean; readonly cluster: MemoryCluster | undefined };

const OPEN_GATE: GateRow = { closedAt: null, problem: null, probes: 0, nextProbeAt: null };
const NO_PACE: PaceRow = { limit: null, pausedAt: null, pausedUntil: null, problem: null };

/**
 * A journal in memory, for tests and simulations. It keeps the contract of `Journal` but for
 * durability: what outlives a `MemoryJournal` is its store, which another one may open, as a
 * process that starts again, or one that writes next to it, would.
 *
 * Queries read everything: it is meant for thousands of rows, not millions.
 */
export class MemoryJournal implements Journal {
  readonly store: MemoryStore;
  readonly #onApplied: (applied: Applied[]) => void;
  /** Shared by all that speak for an archive of this journal. */
  readonly #handle: Handle;
  readonly archiveId: number;

  constructor(
    options: {
      store?: MemoryStore;
      onApplied?: (applied: Applied[]) => void;
      archiveId?: number;
      handle?: Handle;
      /** As one of several on the store; without it as its only owner. */
      cluster?: MemoryCluster;
    } = {},
  ) {
    this.store = options.store ?? new MemoryStore();
    this.#onApplied = options.onApplied ?? (() => undefined);
    this.archiveId = options.archiveId ?? 1;
    const { cluster } = options;
    this.#handle = options.handle ?? { ownWrites: this.store.writes, isClosed: false, cluster };
  }

  get cluster(): Cluster {
    return this.#handle.cluster ?? SOLO_CLUSTER;
  }

  of(archiveId: number): MemoryJournal {
    const { store } = this;
    return new MemoryJournal({
      store,
      onApplied: this.#onApplied,
      archiveId,
      handle: this.#handle,
    });
  }

  async archives(): Promise<ArchiveRow[]> {
    return [...this.#open.archives.values()];
  }

  async archive(name: string, url: string): Promise<ArchiveRow> {
    const { archives } = this.#open;
    const archive = { id: archives.get(name)?.id ?? archives.size + 1, name, url };
    this.#write(() => this.store.set(archives, name, archive));
    return archive;
  }

  async mirror(name: string, source: string): Promise<MirrorRow> {
    const known = this.#open.mirrors.get(name);
    const archiveId = this.archiveId;
    if (known?.source === source && known.archiveId === archiveId) return known;
    const id = known?.id ?? this.store.mirrors.size + 1;
    const device = known?.source === source ? known.device : null;
    const mirror = { id, name, source, device, archiveId };
    this.#write(() => {
      if (known && known.archiveId !== archiveId) this.#rebind(known);
      this.store.set(this.store.mirrors, name, mirror);
    });
    return mirror;
  }

  #rebind(mirror: MirrorRow): void {
    const isSent = [...this.store.documents.values(), ...this.store.tombstones.values()].some(
      (row) =>
        row.mirrorId === mirror.id &&
        (!("state" in row) ||
          row.documentId !== null ||
          row.doubtAt !== null ||
          row.state === "uploading" ||
          row.state === "inDoubt"),
    );
    const { archives } = this.store;
    if (isSent) throw archiveChanged(mirror, [...archives.values()], this.archiveId);
    this.store.delete(this.store.firstRunsOver, mirror.id);
  }

  async retireArchive(archiveId: number, suffix: string): Promise<void> {
    const { archives, mirrors } = this.#open;
    this.#write(() => {
      for (const row of [...archives.values()].filter(({ id }) => id === archiveId)) {
        this.store.delete(archives, row.name);
        const name = `${row.name}${suffix}`;
        this.store.set(archives, name, { ...row, name, url: null });
      }
      for (const row of [...mirrors.values()].filter((each) => each.archiveId === archiveId)) {
        this.store.delete(mirrors, row.name);
        const name = `${row.name}${suffix}`;
        this.store.set(mirrors, name, { ...row, name });
      }
    });
  }

  async mirrors(): Promise<MirrorRow[]> {
    return [...this.#open.mirrors.values()];
  }

  async renameMirror(mirrorId: number, name: string): Promise<void> {
    const mirror = [...this.#open.mirrors.values()].find(({ id }) => id === mirrorId);
    if (!mirror) return;
    this.#write(() => {
      this.store.delete(this.store.mirrors, mirror.name);
      this.store.set(this.store.mirrors, name, { ...mirror, name });
    });
  }

  async setDevice(mirrorId: number, device: string): Promise<void> {
    for (const mirror of this.#open.mirrors.values()) {
      if (mirror.id !== mirrorId) continue;
      this.#write(() => this.store.set(this.store.mirrors, mirror.name, { ...mirror, device }));
    }
  }

  async firstRuns(): Promise<number[]> {
    const ids = [...this.#open.mirrors.values()]
      .filter(({ archiveId }) => archiveId === this.archiveId)
      .map(({ id }) => id);
    return ids.filter((id) => !this.store.firstRunsOver.has(id));
  }

  async endFirstRun(mirrorId: number, at: number): Promise<void> {
    this.#write(() => this.store.set(this.store.firstRunsOver, mirrorId, at));
  }

  async apply(changes: readonly Change[]): Promise<Applied[]> {
    const { cluster } = this.#handle;
    const applied = this.#write(() => applyTo(this.store, changes, cluster));
    this.#onApplied(applied);
    return applied;
  }

  async directories(mirrorId: number): Promise<[dir: RawPath, fingerprint: string][]> {
    const there = this.#rows((row) => row.mirrorId === mirrorId && row.current && !row.goneAt);
    const listed = [...this.#open.directories.values()].filter(
      (directory) => directory.mirrorId === mirrorId,
    );
    const prints = new Map(there.map(({ dir }): [RawPath, string] => [dir, ""]));
    for (const { dir, print } of listed) prints.set(dir, print);
    return [...prints].sort(([a], [b]) => (a < b ? -1 : 1));
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

  async sentWith(mirrorId: number, digest: string, sizeBytes: number): Promise<Document[]> {
    return this.#rows(
      (row) =>
        row.mirrorId === mirrorId &&
        row.digest === digest &&
        mayBeArchived(row) &&
        (row.state !== "held" || isOfDoubt(row, sizeBytes)),
    );
  }

  async ignoredWith(mirrorId: number, digest: string): Promise<Document[]> {
    return this.#rows((row) => row.mirrorId === mirrorId && row.ignoredDigest === digest);
  }

  async due(query: DueQuery): Promise<Document[]> {
    const { state, now, after = -1, limit, mirrorId, sizeMaxBytes, sizeOverBytes } = query;
    const { pagesMax = Number.POSITIVE_INFINITY } = query;
    return this.#rows(
      (row) =>
        row.state === state &&
        row.dueAt !== null &&
        row.dueAt <= now &&
        row.dueAt > after &&
        (mirrorId === undefined ? this.#isOwn(row) : row.mirrorId === mirrorId) &&
        (sizeMaxBytes === undefined || row.seen.sizeBytes <= sizeMaxBytes) &&
        (sizeOverBytes === undefined || row.seen.sizeBytes > sizeOverBytes) &&
        (row.estimate ?? 0) <= pagesMax,
    )
      .sort(byOrder(query.order ?? "oldest"))
      .slice(0, limit);
  }

  async take(query: DueQuery): Promise<Document[]> {
    const { cluster } = this.#handle;
    if (!cluster) return this.due(query);
    const due = await this.due({ ...query, limit: Number.POSITIVE_INFINITY });
    return this.#taken(due.filter(({ id }) => cluster.mayTake(id)).slice(0, query.limit));
  }

  async waitingPages(): Promise<WaitingPages[]> {
    return waitingPagesOf(this.#rows(() => true));
  }

  async pendingOver(mirrorId: number, pages: number): ReturnType<Journal["pendingOver"]> {
    const rows = this.#rows(
      (row) => row.mirrorId === mirrorId && row.state === "pending" && (row.estimate ?? 0) > pages,
    );
    return rows.length;
  }

  async pagesUsed(from: number, to: number): ReturnType<Journal["pagesUsed"]> {
    const usageBuckets = [...this.#open.usageBuckets.values()].filter(
      ({ at }) => at >= from && at < to,
    );
    return pagesUsedOf(
      usageBuckets,
      this.#rows(() => true),
    );
  }

  async warned(): Promise<WarnedRow> {
    const { warned } = this.#open;
    return warned.get(this.archiveId) ?? { from: null, level: 0 };
  }

  async setWarned(warned: WarnedRow): Promise<void> {
    this.#write(() => this.store.set(this.store.warned, this.archiveId, warned));
  }

  async underWay(limit: number): Promise<Document[]> {
    const { cluster } = this.#handle;
    return this.#own(
      ({ id, state }) => state === "uploading" && (!cluster || cluster.isOrphaned(id)),
    ).slice(0, limit);
  }

  async conflicts(folderId: number, sentName: string): Promise<Document[]> {
    return this.#own(
      (row) =>
        (row.state === "uploading" || row.state === "inDoubt" || row.doubtAt !== null) &&
        row.folderId === folderId &&
        row.sentName === sentName,
    );
  }

  async claimed(
    documentIds: readonly number[],
    mirrorIds?: readonly number[],
  ): Promise<ClaimTimes> {
    const isMeant = (row: { mirrorId: number; documentId: number | null }) =>
      mirrorIds?.includes(row.mirrorId) !== false &&
      this.#isOwn(row) &&
      documentIds.includes(row.documentId ?? 0);
    const dropped = [...this.#open.tombstones.values()].filter(isMeant);
    const rows = [...this.store.documents.values()].filter(isMeant);
    return new Map([
      ...dropped.map((row) => [row.documentId ?? 0, null] as const),
      ...rows.map((row) => [row.documentId ?? 0, row.sentArchiveAt ?? row.sentAt] as const),
    ]);
  }

  async outstanding(now: number): Promise<{ folderId: number; documents: number; due: number }[]> {
    return outstandingOf(
      this.#own(() => true),
      now,
    );
  }

  async outstandingIn(folderId: number, limit: number): Promise<Document[]> {
    const rows = this.#own((row) => row.state === "uploaded" && row.folderId === folderId);
    return longestDue(rows, Number.POSITIVE_INFINITY).slice(0, limit);
  }

  async keepOutboxEntries(mirrorIds: readonly number[]): Promise<void> {
    this.#write(() => {
      for (const { id } of this.store.mirrors.values()) {
        if (mirrorIds.includes(id)) this.store.set(this.store.tells, id, true);
        else this.store.delete(this.store.tells, id);
      }
    });
  }

  async outboxEntries(mirrorId: number, now: number, limit: number): Promise<OutboxEntry[]> {
    return [...this.#open.outboxEntries.values()]
      .filter((outboxEntry) => outboxEntry.mirrorId === mirrorId && outboxEntry.dueAt <= now)
      .sort((a, b) => a.dueAt - b.dueAt || a.number - b.number)
      .slice(0, limit);
  }

  async endOutboxEntry(number: number): Promise<void> {
    this.#write(() => this.store.delete(this.store.outboxEntries, number));
  }

  async putOffOutboxEntry(number: number, tries: number, dueAt: number): Promise<void> {
    const outboxEntry = this.#open.outboxEntries.get(number);
    if (!outboxEntry) return;
    this.#write(() =>
      this.store.set(this.store.outboxEntries, number, { ...outboxEntry, tries, dueAt }),
    );
  }

  async pullInOutboxEntries(mirrorId: number, laterThan: number, dueAt: number): Promise<void> {
    const late = await this.outboxEntries(mirrorId, Number.MAX_SAFE_INTEGER, Infinity);
    for (const { number, tries } of late.filter((outboxEntry) => outboxEntry.dueAt > laterThan))
      await this.putOffOutboxEntry(number, tries, dueAt);
  }

  async undelivered(): Promise<{ mirrorId: number; outboxEntries: number }[]> {
    const byMirror = Map.groupBy(this.#open.outboxEntries.values(), ({ mirrorId }) => mirrorId);
    return [...byMirror]
      .map(([mirrorId, { length }]) => ({ mirrorId, outboxEntries: length }))
      .sort((a, b) => a.mirrorId - b.mirrorId);
  }

  async afterDue(now: number, limit: number, mirrorIds?: readonly number[]): Promise<Document[]> {
    const rows = this.#own(
      ({ state, after, dueAt, mirrorId }) =>
        (!mirrorIds || mirrorIds.includes(mirrorId)) &&
        (state === "converted" || state === "held") &&
        after === "due" &&
        (dueAt ?? 0) <= now,
    );
    return longestDue(rows, 0).slice(0, limit);
  }

  async heldWith(
    codes: readonly string[],
    limit: number,
    place?: { mirrorId: number; targetPath: string },
  ): Promise<Document[]> {
    return this.#held(codes)
      .filter((row) => this.#isOwn(row))
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
      .filter((row) => this.#isOwn(row) && mirrorIds.includes(row.mirrorId))
      .sort((a, b) => a.seen.sizeBytes - b.seen.sizeBytes)[0];
  }

  async moved(mirrorIds: readonly number[], limit: number): Promise<Moved> {
    const rows = this.#rows(
      ({ mirrorId, movedAt, goneAt, current }) =>
        mirrorIds.includes(mirrorId) && movedAt !== null && goneAt === null && current,
    ).sort((a, b) => (b.movedAt ?? 0) - (a.movedAt ?? 0) || b.id - a.id);
    return { documents: rows.length, latest: rows.slice(0, limit) };
  }

  async movedAway(mirrorId: number, from: string): Promise<Document | undefined> {
    return this.#rows((row) => row.mirrorId === mirrorId && row.movedFrom === from).at(-1);
  }

  async afterPending(limit: number, last?: PutOff): Promise<Document[]> {
    const inOrder = (a: PutOff, b: PutOff) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || a.id - b.id;
    return this.#rows(
      (row) =>
        ["converted", "held"].includes(row.state) &&
        this.#isOwn(row) &&
        row.after === "due" &&
        row.afterMessage !== null &&
        (last === undefined || inOrder(row, last) > 0),
    )
      .sort(inOrder)
      .slice(0, limit);
  }

  async afterFailed(): Promise<AfterFailed[]> {
    const staying = this.#rows(
      ({ after, current, goneAt }) => after === "refused" && current && goneAt === null,
    );
    return [...Map.groupBy(staying, ({ mirrorId }) => mirrorId)]
      .map(([mirrorId, rows]) => {
        const first = Math.min(...rows.map(({ id }) => id));
        return { mirrorId, documents: rows.length, first };
      })
      .sort((a, b) => a.mirrorId - b.mirrorId);
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
      .filter(
        ({ batch, number }) =>
          number > after && this.#isOwn(batch) && !this.store.receipts.has(batch.id),
      )
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

  async usageBuckets(from: number, to: number): Promise<UsageBucket[]> {
    return [...this.#open.usageBuckets.values()]
      .filter(({ at }) => at >= from && at < to)
      .sort((a, b) => a.at - b.at || a.mirrorId - b.mirrorId);
  }

  async gate(): Promise<GateRow> {
    const { gates } = this.#open;
    return gates.get(this.archiveId) ?? OPEN_GATE;
  }

  async setGate(gate: GateRow): Promise<void> {
    this.#write(() => this.store.set(this.store.gates, this.archiveId, gate));
  }

  async pace(): Promise<PaceRow> {
    const { paces } = this.#open;
    return paces.get(this.archiveId) ?? NO_PACE;
  }

  async setPace(pace: PaceRow): Promise<void> {
    this.#write(() => this.store.set(this.store.paces, this.archiveId, pace));
  }

  async paused(): Promise<boolean> {
    return this.#open.paused;
  }

  async setPaused(paused: boolean): Promise<void> {
    this.#write(() => {
      this.store.paused = paused;
    });
  }

  async keyValue(name: string): Promise<string | null> {
    return this.#open.keyValues.get(name) ?? null;
  }

  async setKeyValue(name: string, text: string): Promise<void> {
    this.#write(() => this.store.keyValues.set(name, text));
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

  async withProblem(mirrorIds?: readonly number[]): Promise<WithProblem[]> {
    const isMeant = (mirrorId: number) => mirrorIds?.includes(mirrorId) ?? true;
    const rows = this.#rows(({ problem, mirrorId }) => problem !== null && isMeant(mirrorId));
    const groups = Map.groupBy(rows, ({ problem, state }) => `${problem?.code} ${state}`);
    return [...groups].sort(byKey).map(([, group]) => ({
      code: group[0]?.problem?.code ?? "",
      state: group[0]?.state ?? "held",
      documents: group.length,
      first: Math.min(...group.map(({ id }) => id)),
    }));
  }

  async listPage(query: PageQuery): Promise<DocumentPage> {
    return pageOf(
      this.#rows(() => true),
      query,
    );
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

  async tombstones(mirrorId: number, digest: string, path: RawPath): Promise<DroppedDocument[]> {
    const place = placeOf(path);
    return [...this.#open.tombstones.values()]
      .filter((each) => each.mirrorId === mirrorId && each.digest === digest)
      .filter((each) => each.place === null || each.place === place)
      .map(({ documentId, folderId }) => ({ documentId, folderId }))
      .toReversed();
  }

  async outsideWrites(): Promise<number> {
    return this.#open.writes - this.#handle.ownWrites;
  }

  async close(): Promise<void> {
    if (!this.#handle.isClosed) this.#handle.cluster?.leave();
    this.#handle.isClosed = true;
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
    if (this.#handle.isClosed) throw journalFault("JOURNAL_CLOSED", "in memory", "closed");
    return this.store;
  }

  #write<T>(change: () => T): T {
    this.#handle.cluster?.assertThere();
    const result = this.#open.transact(change);
    this.store.writes += 1;
    this.#handle.ownWrites += 1;
    return result;
  }

  /** Taken from now on, where several share the store. */
  #taken(rows: Document[]): Document[] {
    const { cluster } = this.#handle;
    cluster?.assertThere();
    for (const { id } of rows) cluster?.take(id);
    return rows;
  }

  /** In the order of their ids. */
  #rows(isMeant: (row: Document) => boolean): Document[] {
    const rows: Document[] = [];
    for (const row of this.#open.documents.values()) if (isMeant(row)) rows.push(row);
    return rows.sort((a, b) => a.id - b.id);
  }

  /** Those of the archive that this journal speaks for. */
  #own(isMeant: (row: Document) => boolean): Document[] {
    return this.#rows((row) => this.#isOwn(row) && isMeant(row));
  }

  #isOwn({ mirrorId }: { readonly mirrorId: number }): boolean {
    return this.store.archiveOf(mirrorId) === this.archiveId;
  }

  #held(codes: readonly string[]): Document[] {
    return this.#rows(
      ({ state, problem }) => state === "held" && problem !== null && codes.includes(problem.code),
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

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** By what an index finds it. */
function isOfDoubt({ problem, seen }: Document, sizeBytes: number): boolean {
  return DOUBT_CODES.includes(problem?.code ?? "") && seen.sizeBytes === sizeBytes;
}
