/**
 * Calls of `apply` that wait for the same transaction are read, decided and written together: a few
 * statements for all of them, instead of a few for each. Each call is still all or nothing: what the
 * writer refuses is taken back in memory, before anything is written; and what the tables refuse
 * (another instance was quicker, or it is a bug) is found by writing the calls one by one.
 */
import { codeOf } from "../../std/fault.ts";
import type { Applied, Change } from "../journal.ts";
import { Writer } from "../writer.ts";
import { ChangeSet } from "./change-set.ts";
import { loadFor } from "./load-change-set.ts";
import type { PgSession, Query } from "./session.ts";
import { writeChangeSet } from "./write-change-set.ts";

/** More than so many changes are not decided together: a group is held in memory, and locked. */
const CHANGES_MAX = 2_000;
/** So often a call is tried again that collided with another daemon's. */
const TRIES_MAX = 5;

/** PostgreSQL's code of a row that another row's key is in the way of. */
const TAKEN_KEY = "23505";

type Call = {
  readonly changes: readonly Change[];
  readonly resolve: (applied: Applied[]) => void;
  readonly reject: (error: unknown) => void;
  tries: number;
};

type Outcome = { readonly applied: Applied[] } | { readonly error: unknown };

export class ApplyGroups {
  readonly #session: PgSession;
  readonly #onApplied: (applied: Applied[]) => void;
  /** The group that still takes calls. */
  #open: { readonly calls: Call[]; changes: number } | undefined;

  constructor(session: PgSession, onApplied: (applied: Applied[]) => void) {
    this.#session = session;
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
    void this.#write(group);
  }

  async #write(group: { readonly calls: readonly Call[] }): Promise<void> {
    const { instanceId } = this.#session.cluster;
    const run = (query: Query, careful: boolean) => {
      if (this.#open === group) this.#open = undefined;
      return applyAll(query, group.calls, instanceId, careful);
    };
    try {
      await this.#session.write(run, (outcomes) => this.#settle(group.calls, outcomes));
    } catch (error) {
      if (this.#open === group) this.#open = undefined;
      for (const call of group.calls) this.#refuse(call, error);
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
    if (breachOf(error) === TAKEN_KEY && ++call.tries < TRIES_MAX) this.#join(call);
    else call.reject(error);
  }
}

/** PostgreSQL's code of the rule of a table that was broken, itself or as the cause. */
export function breachOf(error: unknown): string | undefined {
  const codes = [codeOf(error), codeOf(error instanceof Error ? error.cause : undefined)];
  return codes.find((code) => code?.startsWith("23"));
}

async function applyAll(
  query: Query,
  calls: readonly Call[],
  instanceId: number,
  careful: boolean,
): Promise<Outcome[]> {
  if (!careful || calls.length === 1) return applyTogether(query, calls, instanceId);
  const apart = await within(query, () => applyTogether(query, calls, instanceId));
  if ("value" in apart) return apart.value;
  const outcomes: Outcome[] = [];
  for (const call of calls) {
    const alone = await within(query, () => applyTogether(query, [call], instanceId));
    outcomes.push(...("value" in alone ? alone.value : [alone]));
  }
  return outcomes;
}

/** Undoes what a broken rule of the tables left unfinished; anything else is not ours to undo. */
async function within<T>(
  query: Query,
  run: () => Promise<T>,
): Promise<{ readonly value: T } | { readonly error: unknown }> {
  await query("SAVEPOINT apply");
  try {
    const value = await run();
    await query("RELEASE SAVEPOINT apply");
    return { value };
  } catch (error) {
    if (breachOf(error) === undefined) throw error;
    await query("ROLLBACK TO SAVEPOINT apply");
    await query("RELEASE SAVEPOINT apply");
    return { error };
  }
}

async function applyTogether(
  query: Query,
  calls: readonly Call[],
  instanceId: number,
): Promise<Outcome[]> {
  const loaded = await loadFor(
    query,
    calls.flatMap(({ changes }) => changes),
    instanceId,
  );
  const changeSet = new ChangeSet(loaded);
  const writer = new Writer(changeSet);
  const outcomes = calls.map(({ changes }): Outcome => {
    try {
      return { applied: changeSet.run(() => writer.apply(changes)) };
    } catch (error) {
      return { error };
    }
  });
  writer.complete();
  const ids = await writeChangeSet(query, changeSet, loaded, instanceId);
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
