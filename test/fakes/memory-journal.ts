import type { Document } from "../../src/domain/document.ts";
import { type Cluster, SOLO_CLUSTER } from "../../src/journal/cluster.ts";
import { DocumentsTable } from "../../src/journal/documents-table.ts";
import type { Alone, Applied, DueQuery } from "../../src/journal/journal.ts";
import { journalFault } from "../../src/journal/journal-fault.ts";
import type { JournalSession } from "../../src/journal/session.ts";
import { SqliteJournal } from "../../src/journal/sqlite-journal.ts";
import type { Tables } from "../../src/journal/tables.ts";
import { Writer } from "../../src/journal/writer.ts";
import type { MemoryCluster } from "./memory-cluster.ts";
import { MemoryStore } from "./memory-store.ts";

/** What no list of rows in memory is longer than. */
const ALL = 1_000_000_000;

/** How a journal in memory is opened. */
export type MemoryJournalOptions = {
  readonly store?: MemoryStore;
  readonly onApplied?: (applied: Applied[]) => void;
  /** As one of several on the store; without it as its only owner. */
  readonly cluster?: MemoryCluster;
};

/** An opening of a store: each write is a commit of its own, which is there when it returns. */
class MemorySession implements JournalSession {
  readonly isNew = true;
  readonly isCopy = false;
  readonly migrated = undefined;
  readonly store: MemoryStore;
  readonly instance: MemoryCluster | undefined;
  readonly tables: Tables;
  ownWrites: number;
  #isClosed = false;

  constructor(store: MemoryStore, instance: MemoryCluster | undefined) {
    this.store = store;
    this.instance = instance;
    this.ownWrites = store.writes;
    this.tables = instance ? sharedTables(store, instance) : store.tables;
  }

  get db(): MemoryStore["db"] {
    return this.store.db;
  }

  get generation(): number {
    return this.store.generation;
  }

  get cluster(): Cluster {
    return this.instance ?? SOLO_CLUSTER;
  }

  /** Each of its writes completes what it shares: `MemoryStore.transact`. */
  share(): void {}

  async read<T>(query: () => T): Promise<T> {
    this.#assertOpen();
    return query();
  }

  readDurable<T>(query: () => T): Promise<T> {
    return this.read(query);
  }

  async write<T>(run: () => T, committed?: (value: T) => void): Promise<T> {
    this.#assertOpen();
    this.instance?.assertThere();
    const value = this.store.transact(run, this.tables);
    this.ownWrites += 1;
    committed?.(value);
    return value;
  }

  /** Nobody can take a store away. */
  assertOwned(): void {}

  async close(): Promise<void> {
    if (!this.#isClosed) this.instance?.leave();
    this.#isClosed = true;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw journalFault("JOURNAL_CLOSED", "in memory", "closed");
  }
}

/**
 * The journal in SQLite, in memory and without a queue of commits: what goes on in it takes no time, and
 * no turn of the event loop. What outlives it is its store, which another one may open, as a process that
 * starts again, or one that writes next to it, would.
 */
export class MemoryJournal extends SqliteJournal {
  readonly store: MemoryStore;
  readonly #session: MemorySession;
  readonly #onApplied: (applied: Applied[]) => void;

  constructor(
    { store = new MemoryStore(), onApplied = () => undefined, cluster }: MemoryJournalOptions = {},
    session = new MemorySession(store, cluster),
    archiveId = 1,
  ) {
    super(session, claimsNoted(session, onApplied), session.tables, archiveId);
    this.store = session.store;
    this.#session = session;
    this.#onApplied = onApplied;
  }

  override of(archiveId: number): MemoryJournal {
    return new MemoryJournal({ onApplied: this.#onApplied }, this.#session, archiveId);
  }

  override async take(query: DueQuery): Promise<Document[]> {
    const { instance } = this.#session;
    if (!instance) return this.due(query);
    const due = await this.due({ ...query, limit: ALL });
    instance.assertThere();
    const taken = due.filter(({ id }) => instance.mayTake(id)).slice(0, query.limit);
    for (const { id } of taken) instance.take(id);
    return taken;
  }

  override async underWay(limit: number): Promise<Document[]> {
    const { instance } = this.#session;
    if (!instance) return super.underWay(limit);
    const rows = await super.underWay(ALL);
    return rows.filter(({ id }) => instance.isOrphaned(id)).slice(0, limit);
  }

  override outsideWrites(): Promise<number> {
    return this.#session.read(() => this.store.writes - this.#session.ownWrites);
  }
}

/** Remembers who sends what was claimed. */
function claimsNoted(
  { store, instance }: MemorySession,
  onApplied: (applied: Applied[]) => void,
): (applied: Applied[]) => void {
  if (!instance) return onApplied;
  return (applied) => {
    for (const { change, skipped } of applied) {
      if (skipped || change.type !== "event" || change.event.type !== "claimed") continue;
      store.senders.set(change.id, instance.instanceId);
    }
    onApplied(applied);
  };
}

function sharedTables({ tables }: MemoryStore, instance: MemoryCluster): Tables {
  const shared = { ...tables, documents: new SharedDocuments(tables, instance) };
  return { ...shared, writer: new Writer(shared) };
}

/** Documents of which another daemon may have taken some. */
class SharedDocuments extends DocumentsTable {
  readonly #instance: MemoryCluster;

  constructor({ statements }: Tables, instance: MemoryCluster) {
    super(statements);
    this.#instance = instance;
  }

  override mayClaim(document: Document, folderId: number, alone: Alone | undefined): boolean {
    return this.#instance.mayTake(document.id) && super.mayClaim(document, folderId, alone);
  }
}
