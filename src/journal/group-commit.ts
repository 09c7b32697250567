/**
 * Many writes, one sync. Writes queue up until the event loop comes round, then run in the order
 * they were issued, in one transaction; their promises resolve once it is committed.
 *
 * - A write that throws (a bug, a breach of a rule) is undone alone; the others are committed.
 * - While another process holds the write lock the group waits, and the event loop gets its turn
 *   between two tries.
 * - When storage refuses something, the whole group is undone and rejects. A full disk refuses that
 *   group only; after anything worse (a failed sync says nothing about what reached the disk, and
 *   asking again may be answered with a lie) everything is refused from then on.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { codeOf, type Fault } from "../std/fault.ts";
import { InvariantError } from "../std/invariant.ts";
import { journalFault, storageFault } from "./journal-fault.ts";

type Write = {
  readonly run: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly committed: ((value: never) => void) | undefined;
};

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Refusals that leave the journal as it was and may pass. */
const PASSING: ReadonlySet<string> = new Set([
  "JOURNAL_FULL",
  "JOURNAL_BUSY",
  "JOURNAL_READ_ONLY",
  "JOURNAL_UNWRITABLE",
]);

/** With the connection's own patience of 5 s: a minute. */
const BUSY_TRIES_MAX = 12;

export class GroupCommit {
  readonly #db: Database;
  readonly #path: string;
  #queue: Write[] = [];
  #scheduled = false;
  #busyTries = 0;
  #refusal: Fault | undefined;

  constructor(db: Database, path: string) {
    this.#db = db;
    this.#path = path;
  }

  /**
   * Queues `run`, which writes synchronously within the group's transaction. `committed` is told
   * the value once it is durable, before anyone who awaits the promise; it must not throw.
   */
  enqueue<T>(run: () => T, committed?: (value: T) => void): Promise<T> {
    if (this.#refusal) return Promise.reject(this.#refusal);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#queue.push({ run, resolve, reject, committed });
    this.#schedule();
    return promise;
  }

  /**
   * Resolves once nothing is queued, whether it was committed or rejected: at once, unless another
   * process is writing. Rejects when the journal refuses everything.
   */
  async drain(): Promise<void> {
    while (this.#queue.length > 0) {
      this.#flush();
      if (this.#queue.length > 0) await nextTurn();
    }
    if (this.#refusal) throw this.#refusal;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#queue.length === 0) return;
    const group = this.#queue;
    this.#queue = [];
    try {
      this.#db.exec("BEGIN IMMEDIATE");
      this.#busyTries = 0;
    } catch (error) {
      this.#waitOrReject(group, error);
      return;
    }
    this.#commit(group);
  }

  #waitOrReject(group: readonly Write[], error: unknown): void {
    const isBusy = codeOf(error)?.startsWith("SQLITE_BUSY") ?? false;
    if (isBusy && this.#busyTries < BUSY_TRIES_MAX) {
      this.#busyTries += 1;
      this.#queue = [...group, ...this.#queue];
      this.#schedule();
      return;
    }
    this.#busyTries = 0;
    this.#reject(group, error);
  }

  /** Refuses everything from now on; what is queued rejects. The first refusal stands. */
  refuse(refusal: Fault): void {
    this.#refusal ??= refusal;
    const queued = this.#queue;
    this.#queue = [];
    for (const { reject } of queued) reject(this.#refusal);
  }

  /** `error` as a fault; storage that cannot be trusted any more ends the journal. */
  faultOf(error: unknown): unknown {
    const fault = storageFault(error, this.#path);
    if (!fault) return error;
    if (!PASSING.has(fault.code)) this.refuse(fault);
    return fault;
  }

  #commit(group: readonly Write[]): void {
    let outcomes: Outcome[];
    try {
      outcomes = group.map(({ run }) => this.#attempt(run));
      this.#db.exec("COMMIT");
    } catch (error) {
      this.#undo();
      this.#reject(group, error);
      return;
    }
    settle(group, outcomes);
  }

  #reject(group: readonly Write[], error: unknown): void {
    const fault = this.faultOf(error);
    for (const { reject } of group) reject(fault);
  }

  /** One write, undone alone when it breaks a rule. Throws when storage refuses it. */
  #attempt(run: () => unknown): Outcome {
    this.#db.exec("SAVEPOINT write");
    try {
      const value = run();
      this.#db.exec("RELEASE write");
      return { value };
    } catch (error) {
      // SQLite ends the whole transaction by itself after some refusals; there is nothing to keep.
      if (storageFault(error, this.#path) || !this.#db.inTransaction) throw error;
      this.#db.exec("ROLLBACK TO write; RELEASE write");
      return { error: breachOf(error) };
    }
  }

  #undo(): void {
    if (!this.#db.inTransaction) return;
    try {
      this.#db.exec("ROLLBACK");
    } catch (error) {
      // An open transaction would swallow every later group.
      this.refuse(journalFault("JOURNAL_BROKEN", this.#path, "cannot roll back", { cause: error }));
    }
  }
}

function settle(group: readonly Write[], outcomes: readonly Outcome[]): void {
  for (const [index, { resolve, reject }] of group.entries()) {
    const outcome = outcomes[index];
    if (outcome && "value" in outcome) resolve(outcome.value as never);
    else reject(outcome?.error);
  }
  for (const [index, { committed }] of group.entries()) {
    const outcome = outcomes[index];
    if (outcome && "value" in outcome) committed?.(outcome.value as never);
  }
}

/** A constraint of the tables is a rule of the journal: breaking it is a bug of the caller. */
function breachOf(error: unknown): unknown {
  if (!(error instanceof Error) || !codeOf(error)?.startsWith("SQLITE_CONSTRAINT")) return error;
  return new InvariantError(error.message, { cause: error });
}
