/**
 * Calls of `apply` that wait for the same transaction are read, decided and written together: a row that several of
 * them change is written once. Each call is still all or nothing: what the writer refuses is taken back in memory,
 * before anything is written; and what the tables refuse (another instance was quicker, or it is a bug) is found by
 * writing the calls one by one.
 */
import { codeOf } from "../std/fault.ts";
import { ChangeSet } from "./change-set.ts";
import type { Source } from "./source.ts";
import type { Script } from "./driver.ts";
import type { Applied, Change } from "./journal.ts";
import { type ChangeQueries, writeChangeSet } from "./write-change-set.ts";
import { Writer } from "./writer.ts";

/** More than so many changes are not decided together: a group is held in memory, and locked. */
const CHANGES_MAX = 2_000;
/** So often a call is tried again that collided with another daemon's. */
const TRIES_MAX = 5;

type Call = {
  readonly changes: readonly Change[];
  readonly resolve: (applied: Applied[]) => void;
  readonly reject: (error: unknown) => void;
  tries: number;
};

type Outcome = { readonly applied: Applied[] } | { readonly error: unknown };

/** What there is to apply changes to. */
export type Store = {
  readonly queries: ChangeQueries;
  /** The daemon in its cluster; 0: none. */
  readonly instanceId: number;
  /** Reads what the changes of these calls need to be decided. */
  load(calls: readonly { readonly changes: readonly Change[] }[]): Script<Source>;
  /** Whether a rule of the tables was broken; anything else that fails ends the transaction. */
  isBreach(error: unknown): boolean;
  /** Whether another daemon's key is in the way. */
  isCollision(error: unknown): boolean;
};

/**
 * Runs a script in a transaction to come; `committed` gets its result once that is durable. `careful`: what fails for
 * one of the calls must not fail for the others.
 */
export type Transaction = (
  script: (careful: boolean) => Script<Outcome[]>,
  committed: (outcomes: Outcome[]) => void,
  calls: readonly unknown[],
) => Promise<unknown>;

export class ApplyGroups {
  readonly #store: () => Store;
  readonly #write: Transaction;
  readonly #onApplied: (applied: Applied[]) => void;
  /** The group that still takes calls. */
  #open: { readonly calls: Call[]; changes: number } | undefined;

  constructor(store: () => Store, write: Transaction, onApplied: (applied: Applied[]) => void) {
    this.#store = store;
    this.#write = write;
    this.#onApplied = onApplied;
  }

  apply(changes: readonly Change[]): Promise<Applied[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Applied[]>();
    this.#join({ changes, resolve, reject, tries: 0 });
    return promise;
  }

  /** What is applied from now on comes after whatever else is written next. */
  seal(): void {
    this.#open = undefined;
  }

  #join(call: Call): void {
    const open = this.#open;
    if (open && open.changes + call.changes.length <= CHANGES_MAX) {
      open.calls.push(call);
      open.changes += call.changes.length;
      return;
    }
    const group = { calls: [call], changes: call.changes.length };
    this.#open = group;
    void this.#apply(group);
  }

  async #apply(group: { readonly calls: readonly Call[] }): Promise<void> {
    const { calls } = group;
    const script = (careful: boolean) => {
      if (this.#open === group) this.#open = undefined;
      return applyAll(this.#store(), calls, careful);
    };
    try {
      await this.#write(script, (outcomes) => this.#settle(calls, outcomes), calls);
    } catch (error) {
      if (this.#open === group) this.#open = undefined;
      for (const call of calls) this.#refuse(call, error);
    }
  }

  #settle(calls: readonly Call[], outcomes: readonly Outcome[]): void {
    for (const [index, call] of calls.entries()) {
      const outcome = outcomes[index];
      if (outcome && "applied" in outcome) {
        call.resolve(outcome.applied);
        this.#onApplied(outcome.applied);
      } else this.#refuse(call, outcome?.error);
    }
  }

  #refuse(call: Call, error: unknown): void {
    if (this.#store().isCollision(error) && ++call.tries < TRIES_MAX) this.#join(call);
    else call.reject(error);
  }
}

function* applyAll(store: Store, calls: readonly Call[], careful: boolean): Script<Outcome[]> {
  if (!careful || calls.length === 1) return yield* applyTogether(store, calls);
  const together = yield* within(store, applyTogether(store, calls));
  if ("value" in together) return together.value;
  const outcomes: Outcome[] = [];
  for (const call of calls) {
    const alone = yield* within(store, applyTogether(store, [call]));
    outcomes.push(...("value" in alone ? alone.value : [alone]));
  }
  return outcomes;
}

/** Undoes what a broken rule of the tables left unfinished; anything else is not ours to undo. */
function* within<T>(
  store: Store,
  script: Script<T>,
): Script<{ readonly value: T } | { readonly error: unknown }> {
  yield [["SAVEPOINT apply"]];
  try {
    const value = yield* script;
    yield [["RELEASE SAVEPOINT apply"]];
    return { value };
  } catch (error) {
    if (!store.isBreach(error)) throw error;
    yield [["ROLLBACK TO SAVEPOINT apply"], ["RELEASE SAVEPOINT apply"]];
    return { error };
  }
}

function* applyTogether(store: Store, calls: readonly Call[]): Script<Outcome[]> {
  const changeSet = new ChangeSet(yield* store.load(calls));
  const writer = new Writer(changeSet);
  const outcomes = calls.map(({ changes }): Outcome => {
    try {
      return { applied: writer.apply(changes) };
    } catch (error) {
      // What is stored cannot be read: nothing can be decided.
      if (codeOf(error)?.startsWith("SQLITE_")) throw error;
      return { error };
    }
  });
  const ids = yield* writeChangeSet(store.queries, changeSet, store.instanceId);
  if (ids.size === 0) return outcomes;
  return outcomes.map((outcome) =>
    "error" in outcome ? outcome : { applied: outcome.applied.map((one) => numbered(one, ids)) },
  );
}

/** What was done, with the numbers that new rows were given. */
function numbered(applied: Applied, ids: ReadonlyMap<number, number>): Applied {
  const id = ids.get(applied.document?.id ?? 0);
  if (id === undefined || !applied.document) return applied;
  return { ...applied, document: { ...applied.document, id } };
}
