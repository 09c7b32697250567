/**
 * One opening of a journal in PostgreSQL: its connections, the queue of writes, its place in the
 * cluster, and its end. Knows nothing of what is read or written.
 *
 * A daemon has four connections: one writes, two read, and one is for the cluster and for hearing of
 * what others wrote. A command has as many as it needs.
 */
import { randomBytes } from "node:crypto";
import { LEASE_MS, shownServer } from "../../network/journal-place.ts";
import { type Clock, systemClock } from "../../std/clock.ts";
import { guestCluster, type Cluster, type ClusterChange, type Instance } from "../cluster.ts";
import { journalFault } from "../journal-fault.ts";
import { Absence } from "./reconnect.ts";
import { PgCluster } from "./cluster.ts";
import { living, type Joining } from "./cluster-statements.ts";
import { PgGroupCommit, type Run } from "./group-commit.ts";
import { channelOf, Hearing } from "./hearing.ts";
import { Link, type Way } from "./link.ts";
import { asJournalFault } from "./postgres-fault.ts";
import type { Query } from "./query.ts";
import { assertFit } from "./assert-server.ts";

export type { Query } from "./query.ts";

/** `owner`: a daemon; `guest`: a command that writes; `reader`: one that only looks. */
export type PgRole = "owner" | "guest" | "reader";

/** See `PgSessionOptions.patience`. */
export type Patience = {
  readonly signal: AbortSignal;
  readonly onAway?: (why: string) => void;
  readonly lastMs?: number;
};

export type PgSessionOptions = {
  /** `postgres://user@host:port/database`, with what else `pg` takes there; no password, no `schema`. */
  readonly url: string;
  /** Asked for whenever a connection is made, so that another one holds from then on. */
  readonly password?: (() => string) | undefined;
  /** The namespace that the tables are in. */
  readonly schema: string;
  readonly role: PgRole;
  /** What others learn about this daemon; without it an `owner` is no instance of the cluster. */
  readonly instance?: Joining;
  /** How long a lease lasts, milliseconds. */
  readonly leaseMs?: number;
  /** Brings the tables up to date before anything else is asked; the role `owner` needs `instances`. */
  readonly prepare?: (query: Query) => Promise<void>;
  /**
   * Wait for a database that is away until this aborts, instead of failing at once (as without
   * `onAway`, which gets the reason, once). Opened by then, nothing waits for one `lastMs` later.
   */
  readonly patience?: Patience;
  readonly clock?: Clock;
};

/** An answer that does not come for so long will not come, milliseconds. */
const WRITE_PATIENCE_MS = 60_000;
const READ_PATIENCE_MS = 300_000;

/** A transaction of a command that stands still is ended after so long, milliseconds. */
const GUEST_IDLE_MS = 60_000;

/** A session that closes waits so long for a database that is away, milliseconds. */
const CLOSING_MS = 3_000;
/** And so long for one that only does not answer. */
const CLOSING_MS_MAX = 9_000;

const READING_LINKS = 2;

export class PgSession {
  readonly #options: PgSessionOptions;
  readonly #key: string;
  readonly #shown: string;
  readonly #clock: Clock;
  readonly #absence: Absence;
  readonly #ending = new AbortController();
  readonly #listeners = new Set<(change: ClusterChange) => void>();
  readonly #way: Way;
  readonly #writing: Link;
  readonly #reading: readonly Link[];
  readonly #reads: number[];
  readonly #clusterLink: Link | undefined;
  readonly #hearing: Hearing;
  readonly #guestCluster: Cluster;
  readonly #commits: PgGroupCommit;
  #pgCluster: PgCluster | undefined;
  #wasReached = false;
  #cancelGivingUp = () => {};
  #closed: Promise<void> | undefined;

  private constructor(options: PgSessionOptions) {
    const { clock = systemClock, url, schema, password, role, leaseMs = LEASE_MS } = options;
    this.#options = options;
    this.#clock = clock;
    this.#key = randomBytes(9).toString("base64url");
    this.#shown = shownServer(url, schema);
    this.#absence = new Absence(clock, role !== "owner", (change) => this.#tell(change));
    this.#way = { url, password, schema, clock, wasReached: () => this.#wasReached };
    const idleMs = role === "owner" ? leaseMs : GUEST_IDLE_MS;
    const link = (name: string, patienceMs: number, byKeys = false) =>
      new Link(this.#way, { name: `scanferry ${this.#key} ${name}`, patienceMs, idleMs, byKeys });
    this.#writing = link("writing", WRITE_PATIENCE_MS, true);
    this.#reading = Array.from({ length: role === "owner" ? READING_LINKS : 1 }, (_, at) =>
      link(`reading ${at + 1}`, READ_PATIENCE_MS),
    );
    this.#reads = this.#reading.map(() => 0);
    this.#guestCluster = guestCluster(() => this.#instances());
    this.#hearing = new Hearing(this.#key, channelOf(schema), clock, () => this.#pgCluster?.wake());
    if (role === "owner") this.#clusterLink = this.#linkOfCluster(leaseMs);
    this.#commits = new PgGroupCommit({
      link: this.#writing,
      session: this.#key,
      absence: this.#absence,
      ending: this.#ending.signal,
      shown: this.#shown,
      isInstance: role === "owner" && options.instance !== undefined,
      onCommit: () => this.#hearing.tell(this.#clusterLink ?? this.#writing),
      onLost: () => this.#pgCluster?.lose(),
    });
  }

  /**
   * Opens the journal. Rejects with a `Fault`: `JOURNAL_UNREACHABLE` (unless it has patience),
   * `JOURNAL_REFUSED`, `JOURNAL_UNFIT`, and whatever `prepare` rejects with.
   */
  static async open(options: PgSessionOptions): Promise<PgSession> {
    const session = new PgSession(options);
    try {
      await session.#open();
      return session;
    } catch (error) {
      await session.close();
      throw asJournalFault(error, session.#shown);
    }
  }

  /** Sees all writes issued before it. Repeated while the database is away, so it must only read. */
  async read<T>(ask: (query: Query) => Promise<T>): Promise<T> {
    this.#assertOpen();
    await this.#commits.settled();
    return this.#read(ask);
  }

  /**
   * Runs in the next group's transaction, in the order issued; one that throws is undone alone. Run
   * again from the start when that was not committed: it may change nothing but the database.
   * `committed` gets the value once it is durable, before those who await it.
   */
  async write<T>(run: Run<T>, committed?: (value: T) => void): Promise<T> {
    this.#assertOpen();
    const { role } = this.#options;
    if (role === "reader") {
      throw journalFault("JOURNAL_READ_ONLY", this.#shown, "opened for reading");
    }
    return this.#commits.enqueue(run, committed);
  }

  /** This daemon among the others; a command has no lease and no assignments. */
  get cluster(): Cluster {
    return this.#pgCluster ?? this.#guestCluster;
  }

  /** See `Journal.outsideWrites`. */
  get outsideWrites(): number {
    return this.#hearing.outside;
  }

  /** Tells others where this daemon's page is. */
  async announce(web: string | null): Promise<void> {
    await this.#pgCluster?.announce(web);
  }

  /** Commits what is queued, leaves the cluster, and closes. Every call after it rejects with `JOURNAL_CLOSED`. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #open(): Promise<void> {
    const { role, instance, prepare, leaseMs = LEASE_MS, patience } = this.#options;
    const attempt = async () => {
      const [link] = this.#reading;
      if (!link) return;
      const connection = await link.connection();
      await assertFit(connection, () => this.#writing.connection(), this.#shown);
      await prepare?.(connection.query);
      if (role !== "owner" || !this.#clusterLink || !instance) return;
      this.#pgCluster = await PgCluster.join(
        {
          link: this.#clusterLink,
          session: this.#key,
          channel: channelOf(this.#options.schema),
          clock: this.#clock,
          absence: this.#absence,
          ending: this.#ending.signal,
          leaseMs,
          shown: this.#shown,
          tell: (change) => this.#tell(change),
          listen: (listener) => this.#listen(listener),
          instances: () => this.#instances(),
        },
        instance,
      );
    };
    const { onAway, signal, lastMs } = patience ?? {};
    if (onAway && signal) {
      const stop = this.#listen((change) => {
        if (change.type === "away") onAway(change.why);
      });
      await this.#absence.persist("opening", signal, attempt).finally(stop);
    } else {
      await attempt();
    }
    const last = () => {
      if (!this.#closed && lastMs !== undefined) this.#giveUpIn(lastMs, 0);
    };
    signal?.addEventListener("abort", last, { once: true });
    this.#wasReached = true;
  }

  async #read<T>(ask: (query: Query) => Promise<T>): Promise<T> {
    const at = this.#reads.indexOf(Math.min(...this.#reads));
    const link = this.#reading[at];
    if (!link) throw journalFault("JOURNAL_CLOSED", this.#shown, "closed");
    this.#reads[at] = (this.#reads[at] ?? 0) + 1;
    try {
      return await this.#absence.persist(`reading ${at}`, this.#ending.signal, async () =>
        ask((await link.connection()).query),
      );
    } catch (error) {
      throw asJournalFault(error, this.#shown);
    } finally {
      this.#reads[at] = (this.#reads[at] ?? 1) - 1;
    }
  }

  #linkOfCluster(leaseMs: number): Link {
    return new Link(this.#way, {
      name: `scanferry ${this.#key} cluster`,
      // A third of the lease is over by then, and there is time for two more tries.
      patienceMs: leaseMs / 3,
      idleMs: leaseMs,
      listen: {
        channel: channelOf(this.#options.schema),
        began: () => this.#hearing.began(),
        heard: (payload) => this.#hearing.heard(payload),
      },
    });
  }

  #instances(): Promise<Instance[]> {
    return this.#read(living);
  }

  #listen(listener: (change: ClusterChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #tell(change: ClusterChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  async #close(): Promise<void> {
    this.#giveUpIn(CLOSING_MS);
    // Those who wrote know what the journal refused.
    await this.#commits.settled();
    this.#ending.abort();
    await this.#hearing.end(this.#clusterLink ?? this.#writing);
    await this.#pgCluster?.leave();
    await Promise.all(this.#links.map((link) => link.close()));
    this.#cancelGivingUp();
  }

  get #links(): readonly Link[] {
    return [this.#writing, ...this.#reading, ...(this.#clusterLink ? [this.#clusterLink] : [])];
  }

  /** Ends all patience: then, if the database is away; later on, if it only does not answer. */
  #giveUpIn(ms: number, waitedMs = ms): void {
    this.#cancelGivingUp();
    this.#cancelGivingUp = this.#clock.alarm(ms, () => {
      if (!this.#absence.isAway && waitedMs < CLOSING_MS_MAX) {
        this.#giveUpIn(CLOSING_MS, waitedMs + CLOSING_MS);
        return;
      }
      this.#ending.abort();
      for (const link of this.#links) link.cut();
    });
  }

  #assertOpen(): void {
    if (this.#closed) throw journalFault("JOURNAL_CLOSED", this.#shown, "closed");
  }
}
