/**
 * Many writes, one commit, as in ../group-commit.ts: writes queue up while a transaction runs, and
 * the next one takes them all, in the order they were issued.
 *
 * - A write that throws (a bug, a breach of a rule) is undone alone: the group is run without
 *   savepoints, and again with one for each write only where one threw.
 * - Each transaction counts up the session's writer session, first of all. Where a commit stays without an
 *   answer, the writer session tells whether it was committed: asking waits until that transaction is over,
 *   and holds whatever became of the server since. The number of a transaction would not do: one
 *   that did not reach the disk is given away again after a crash.
 * - A session whose writer session was taken away writes nothing any more.
 * - While the database is away the group waits, and is run again.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { codeOf, Fault, invariant, InvariantError } from "../../std/fault.ts";
import { leaseLost } from "../journal-fault.ts";
import type { Absence } from "./reconnect.ts";
import { takeWriterSession } from "./cluster-statements.ts";
import type { Connection, Link } from "./link.ts";
import { asJournalFault, isAway, isRace } from "./postgres-fault.ts";
import type { Query } from "./query.ts";

/** More writes make the next group: a group may have to be run again. */
const GROUP_MAX = 256;

/**
 * What a write does. `careful`: an earlier try of its group failed; whatever it does for several
 * callers it is to do for each apart now, that of one who is refused undone.
 */
export type Run<T> = (query: Query, careful: boolean) => Promise<T>;

type Write = {
  readonly run: Run<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly committed: ((value: never) => void) | undefined;
};

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** What a group commit works with. */
export type Commits = {
  readonly link: Link;
  /** The session's writer session is known by this. */
  readonly session: string;
  readonly absence: Absence;
  /** Aborts when the session closes and waits for the database no longer. */
  readonly ending: AbortSignal;
  /** What faults call the journal. */
  readonly shown: string;
  /** False: a command's session, which has no writer session until it writes. */
  readonly isInstance: boolean;
  /** Told after every commit. */
  readonly onCommit: () => void;
  /** Told when the writer session is found to be taken away. */
  readonly onLost: () => void;
};

/** A try of a group, to be gone on with by the next one. */
type Group = {
  readonly writes: readonly Write[];
  /** What the writer session counts when this group is committed. */
  readonly number: number;
  /** Set when COMMIT was sent and not answered: what the writes returned in that try. */
  unsure: readonly Outcome[] | undefined;
};

export class PgGroupCommit {
  readonly #with: Commits;
  #queue: Write[] = [];
  #isWorking = false;
  #hasWriterSession: boolean;
  /** Settles, never rejects, when the last write that was issued did. */
  #last: Promise<unknown> = Promise.resolve();
  #number = 0;
  #refusal: Fault | undefined;

  constructor(commits: Commits) {
    this.#with = commits;
    this.#hasWriterSession = commits.isInstance;
  }

  /** Queues `run`; resolves once it is committed. `committed` runs before those who await it. */
  enqueue<T>(run: Run<T>, committed?: (value: T) => void): Promise<T> {
    if (this.#refusal) return Promise.reject(this.#refusal);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#queue.push({ run, resolve, reject, committed });
    this.#last = promise.catch(() => undefined);
    if (!this.#isWorking) void this.#work();
    return promise;
  }

  /** Resolves once every write issued so far is committed or was rejected. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** Refuses everything from now on; the first refusal stands. */
  refuse(refusal: Fault): void {
    this.#refusal ??= refusal;
    const queued = this.#queue;
    this.#queue = [];
    for (const { reject } of queued) reject(this.#refusal);
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    // All that is issued in one go belongs together.
    await nextTurn();
    while (this.#queue.length > 0) {
      const writes = this.#queue.splice(0, GROUP_MAX);
      const group: Group = { writes, number: ++this.#number, unsure: undefined };
      try {
        const { absence, ending } = this.#with;
        settle(writes, await absence.persist("writing", ending, () => this.#try(group)));
      } catch (error) {
        this.#fail(writes, error);
      }
    }
    this.#isWorking = false;
  }

  #fail(writes: readonly Write[], error: unknown): void {
    const { shown, onLost } = this.#with;
    const fault = this.#refusal ?? asJournalFault(error, shown);
    for (const { reject } of writes) reject(fault);
    if (!(fault instanceof Fault) || fault.code !== "LEASE_LOST" || this.#refusal) return;
    this.refuse(fault);
    onLost();
  }

  /** Commits the group; rejects when this try failed. */
  async #try(group: Group): Promise<readonly Outcome[]> {
    const connection = await this.#with.link.connection();
    if (!this.#hasWriterSession) {
      await takeWriterSession(connection.query, this.#with.session);
      this.#hasWriterSession = true;
    }
    if (group.unsure) {
      const committed = await this.#wasCommitted(connection, group.number);
      if (committed) return group.unsure;
      group.unsure = undefined;
    }
    for (let careful = false; ; ) {
      try {
        return await this.#run(connection, group, careful);
      } catch (error) {
        if (!connection.broken) {
          await connection.query("ROLLBACK");
          // It lives: what it answered was a refusal, not the last that was heard of it.
          group.unsure = undefined;
        }
        if (error instanceof Thrown) {
          // Each was run under a savepoint: none of them threw that, and none was committed.
          if (careful) return group.writes.map(() => ({ error: this.#breachOf(error.cause) }));
          careful = true;
        } else if (!isRace(error)) throw error;
      }
    }
  }

  async #run(connection: Connection, group: Group, careful: boolean): Promise<readonly Outcome[]> {
    const { query } = connection;
    const began = query("BEGIN", []);
    const counted = query(
      "UPDATE writer_sessions SET commits = $2 WHERE session = $1 AND NOT taken",
      [this.#with.session, group.number],
    );
    // Sent together, and both awaited before anything is thrown.
    const [begin, writerSession] = await Promise.allSettled([began, counted]);
    if (begin.status === "rejected") throw begin.reason;
    if (writerSession.status === "rejected") throw writerSession.reason;
    if (writerSession.value.count === 0) throw leaseLost(this.#with.shown);
    const outcomes: Outcome[] = [];
    for (const write of group.writes) {
      outcomes.push(
        careful
          ? await this.#attempt(query, write)
          : { value: await write.run(query, false).catch(thrownUnlessAway) },
      );
    }
    group.unsure = outcomes;
    const { command } = await query("COMMIT");
    group.unsure = undefined;
    if (command !== "COMMIT") throw new Thrown(HIDDEN, { cause: new InvariantError(HIDDEN) });
    this.#with.onCommit();
    return outcomes;
  }

  /** One write under a savepoint. */
  async #attempt(query: Query, write: Write): Promise<Outcome> {
    await query("SAVEPOINT write", []);
    try {
      const value = await write.run(query, true);
      await query("RELEASE write", []);
      return { value };
    } catch (error) {
      if (isAway(error) || isRace(error)) throw error;
      await query("ROLLBACK TO write; RELEASE write");
      return { error: this.#breachOf(error) };
    }
  }

  #breachOf(error: unknown): unknown {
    if (codeOf(error) === AFTER_FAILURE) return new InvariantError(HIDDEN, { cause: error });
    return asJournalFault(error, this.#with.shown);
  }

  /** Whether the transaction that counted the writer session to `number` was committed; waits until it is over. */
  async #wasCommitted({ query }: Connection, number: number): Promise<boolean> {
    const { rows } = await query<{ commits: number }>(
      "SELECT commits FROM writer_sessions WHERE session = $1 FOR UPDATE",
      [this.#with.session],
    );
    const writerSession = rows[0];
    if (!writerSession) throw leaseLost(this.#with.shown);
    return writerSession.commits >= number;
  }
}

/** PostgreSQL's code for whatever comes after a statement that failed. */
const AFTER_FAILURE = "25P02";

const HIDDEN = "a write hid that a statement of it failed";

/** What a write threw, as told from what the database did. */
class Thrown extends Error {}

function thrownUnlessAway(error: unknown): never {
  if (isAway(error) || isRace(error)) throw error;
  throw new Thrown("a write threw", { cause: error });
}

function settle(writes: readonly Write[], outcomes: readonly Outcome[]): void {
  for (const [at, write] of writes.entries()) {
    const outcome = outcomes[at];
    invariant(outcome, "each write has an outcome");
    if ("value" in outcome) write.resolve(outcome.value as never);
    else write.reject(outcome.error);
  }
  for (const [at, { committed }] of writes.entries()) {
    const outcome = outcomes[at];
    if (outcome && "value" in outcome) committed?.(outcome.value as never);
  }
}
