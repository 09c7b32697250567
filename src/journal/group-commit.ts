/**
 * Many writes, one sync. Writes queue up until the event loop comes round, run in the order they
 * were issued, in one transaction, and their promises resolve once the disk has it.
 *
 * - The event loop does not wait for the disk: SQLite commits to its log without a sync, which a
 *   thread does. The next group gathers meanwhile; a write is acknowledged after that sync.
 * - While writes come from several at once, the disk rests three times as long as a sync took: the slower
 *   it syncs, the more writes one sync carries, and each commit writes every page that it touched. A caller
 *   that waits for each write before it issues the next is not delayed.
 * - A read that comes in between runs what is queued and sees it, without a commit of its own. What
 *   it sees may still be undone by a crash: anyone who acts on more than the journal drains first.
 * - A write that throws (a bug, a breach of a rule) is undone alone; the others are committed.
 * - While another process holds the write lock, or the disk has too little room, the group waits, and
 *   the event loop gets its turn between two tries. A daemon waits for as long as it takes.
 * - When storage refuses something, the whole group is undone and rejects. A full disk refuses that
 *   group only; after anything worse (a failed sync says nothing about what reached the disk, and
 *   asking again may be answered with a lie) everything is refused from then on.
 */
import type { Database, Statement } from "better-sqlite3";
import type { Clock } from "../std/clock.ts";
import { codeOf, type Fault, InvariantError, messageOf } from "../std/fault.ts";
import { journalFault, storageFault } from "./journal-fault.ts";
import { Blockage, type BlockageOptions } from "./blockage.ts";

type Write = {
  readonly run: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly committed: ((value: never) => void) | undefined;
  readonly shares: boolean;
};

/** What writes that run together share: written after the last of them that follow one another, or not at all. */
export type Shared = { complete(): void; discard(): void };

/** Resolves once what was committed before the call is on the disk. */
export type Flush = () => Promise<void>;

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A write that was run in the open transaction, and what it returned. */
type Run = { readonly write: Write; readonly outcome: Outcome };

/** Refusals that leave the journal as it was and may pass. */
const PASSING: ReadonlySet<string> = new Set([
  "JOURNAL_FULL",
  "JOURNAL_BUSY",
  "JOURNAL_READ_ONLY",
  "JOURNAL_UNWRITABLE",
]);

/** After a commit, the next one waits so many times as long as that one took; but nobody longer than this, milliseconds. */
const REST_TIMES = 3;
const PAUSE_MS_MAX = 50;

const NEVER = new AbortController().signal;

export class GroupCommit {
  /** For what runs within a write: changes when a write is undone, and when another process has written. */
  generation = 0;
  /** Of the writes that share. */
  shared: Shared | undefined;
  readonly #db: Database;
  readonly #path: string;
  readonly #clock: Clock;
  #queue: Write[] = [];
  /** Not committed yet; a transaction is open while there are any. */
  #open: Run[] = [];
  #scheduled = false;
  readonly #blockage: Blockage;
  readonly #sync: Flush;
  /** The sync that is under way; ends once the writes that it makes durable are settled. */
  #syncing: Promise<void> | undefined;
  /** When the next commit may begin, by the monotonic clock. */
  #restUntil = 0;
  #refusal: Fault | undefined;
  #dataVersion: unknown;
  readonly #savepoint: Statement;
  readonly #release: Statement;

  /** `sync` makes durable what was committed before it was called. */
  constructor(db: Database, path: string, clock: Clock, sync: Flush, waits: BlockageOptions = {}) {
    this.#sync = sync;
    this.#blockage = new Blockage(path, clock, waits);
    this.#db = db;
    this.#savepoint = db.prepare("SAVEPOINT write");
    this.#release = db.prepare("RELEASE write");
    this.#path = path;
    this.#clock = clock;
  }

  /**
   * Queues `run`, which writes synchronously within the group's transaction. `committed` gets the value once it
   * is durable, before anyone who awaits the promise; it must not throw. One that `shares` adds to `shared`.
   */
  enqueue<T>(run: () => T, committed?: (value: T) => void, shares = false): Promise<T> {
    if (this.#refusal) return Promise.reject(this.#refusal);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#queue.push({ run, resolve, reject, committed, shares });
    this.#schedule();
    return promise;
  }

  /**
   * Resolves once every write issued so far can be read, committed or not: at once, unless another
   * process is writing, or there is no room to read. Rejects when the journal refuses everything.
   */
  async settle(): Promise<void> {
    for (;;) {
      const full = this.#blockage.full();
      if (full && !this.#blockage.waitsFor(full)) {
        this.#refuseQueued(full);
        throw full;
      }
      if (!full && this.#run()) break;
      await this.#clock.sleep(this.#blockage.pauseMs, NEVER);
    }
    this.#blockage.over();
    if (this.#refusal) throw this.#refusal;
  }

  /** The same, and all of it is durable, or was rejected. */
  async drain(): Promise<void> {
    do {
      await this.settle();
      await this.#commit();
    } while (this.#queue.length > 0);
    if (this.#refusal) throw this.#refusal;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const restMs = this.#restUntil - this.#clock.monotonic();
    if (restMs <= 0) setImmediate(() => void this.#flush());
    else this.#clock.alarm(restMs, () => void this.#flush());
  }

  async #flush(): Promise<void> {
    if (this.#run()) await this.#commit();
    else this.#restUntil = this.#clock.monotonic() + this.#blockage.pauseMs;
    this.#scheduled = false;
    if (this.#queue.length + this.#open.length > 0) this.#schedule();
  }

  /** Runs what is queued in the open transaction; false while another process holds the lock. */
  #run(): boolean {
    if (this.#queue.length === 0) return true;
    if (this.#open.length === 0 && !this.#begin()) return this.#queue.length === 0;
    const group = this.#queue;
    this.#queue = [];
    try {
      for (const write of group) this.#open.push({ write, outcome: this.#attempt(write) });
      this.shared?.complete();
    } catch (error) {
      this.#undo(group, error);
    }
    return true;
  }

  /** Opens the transaction; false where something is in its way, and what is queued has to wait, or was refused. */
  #begin(): boolean {
    const blockage = this.#blockage.full() ?? this.#begun();
    if (!blockage) {
      this.#blockage.over();
      return true;
    }
    if (!this.#blockage.waitsFor(blockage)) this.#refuseQueued(blockage);
    return false;
  }

  #refuseQueued(why: unknown): void {
    const refused = this.#queue;
    this.#queue = [];
    this.#reject(refused, why);
  }

  /** What kept the transaction from being opened. */
  #begun(): unknown {
    try {
      this.#db.exec("BEGIN IMMEDIATE");
      const version = this.#db.pragma("data_version", { simple: true });
      if (version !== this.#dataVersion) this.generation += 1;
      this.#dataVersion = version;
      return undefined;
    } catch (error) {
      return this.faultOf(error);
    }
  }

  /** Lets others join the next commit, in proportion to how long this one took. */
  #rest(startedAt: number): void {
    const now = this.#clock.monotonic();
    this.#restUntil = now + Math.min(REST_TIMES * (now - startedAt), PAUSE_MS_MAX);
  }

  /** Refuses everything from now on; what is not committed rejects. The first refusal stands. */
  refuse(refusal: Fault): void {
    this.#refusal ??= refusal;
    const queued = this.#queue;
    this.#queue = [];
    this.#undo(queued, this.#refusal);
  }

  /** `error` as a fault; storage that cannot be trusted any more ends the journal. */
  faultOf(error: unknown): unknown {
    const fault = storageFault(error, this.#path);
    if (!fault) return error;
    if (!PASSING.has(fault.code) || codeOf(error)?.startsWith("SQLITE_IOERR")) this.refuse(fault);
    return fault;
  }

  /** Commits the open transaction; resolves once everything that ran before is durable, or was rejected. */
  async #commit(): Promise<void> {
    while (this.#syncing) await this.#syncing;
    if (this.#open.length === 0) return;
    const startedAt = this.#clock.monotonic();
    try {
      this.#db.exec("COMMIT");
    } catch (error) {
      this.#undo([], error);
      return;
    }
    const runs = this.#open;
    this.#open = [];
    this.#syncing = this.#settleDurable(runs, startedAt);
    await this.#syncing;
  }

  async #settleDurable(runs: readonly Run[], startedAt: number): Promise<void> {
    try {
      await this.#sync();
    } catch (error) {
      // They are in the file and can be read, and nobody knows whether they will be.
      this.refuse(journalFault("JOURNAL_BROKEN", this.#path, messageOf(error), { cause: error }));
    }
    this.#syncing = undefined;
    if (runs.length > 1) this.#rest(startedAt);
    if (this.#refusal) for (const { write } of runs) write.reject(this.#refusal);
    else settle(runs);
  }

  #reject(group: Iterable<Write>, error: unknown): void {
    const fault = this.faultOf(error);
    for (const { reject } of group) reject(fault);
  }

  /** One write, undone alone when it breaks a rule. Throws when storage refuses it. */
  #attempt({ run, shares }: Write): Outcome {
    // Others see it complete. Outside the savepoint, as it belongs to the writes before.
    if (!shares) this.shared?.complete();
    this.#savepoint.run();
    try {
      const value = run();
      this.#release.run();
      return { value };
    } catch (error) {
      // SQLite ends the whole transaction on its own after some refusals; there is nothing to keep.
      if (storageFault(error, this.#path) || !this.#db.inTransaction) throw error;
      this.#db.exec("ROLLBACK TO write; RELEASE write");
      this.generation += 1;
      return { error: breachOf(error) };
    }
  }

  /** Ends the open transaction without a trace of it, and rejects what ran in it, and `others`. */
  #undo(others: readonly Write[], cause: unknown): void {
    const writes = new Set([...this.#open.map(({ write }) => write), ...others]);
    this.#open = [];
    this.generation += 1;
    this.shared?.discard();
    try {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
    } catch (error) {
      // An open transaction would swallow every later group.
      this.#refusal ??= journalFault("JOURNAL_BROKEN", this.#path, "cannot roll back", {
        cause: error,
      });
    }
    this.#reject(writes, cause);
  }
}

function settle(runs: readonly Run[]): void {
  for (const { write, outcome } of runs) {
    if ("value" in outcome) write.resolve(outcome.value as never);
    else write.reject(outcome.error);
  }
  for (const { write, outcome } of runs) {
    if ("value" in outcome) write.committed?.(outcome.value as never);
  }
}

/** A constraint of the tables is a rule of the journal: breaking it is a bug of the caller. */
export function breachOf(error: unknown): unknown {
  if (!(error instanceof Error) || !codeOf(error)?.startsWith("SQLITE_CONSTRAINT")) return error;
  return new InvariantError(error.message, { cause: error });
}
