/**
 * This daemon among the cluster of a journal in PostgreSQL: its lease, who else is there, its assignments.
 *
 * All of it happens in turns, on a connection of its own so that no long transaction can keep the
 * lease from being renewed: one every third of a lease, and one whenever another instance says that
 * the cluster changed.
 */
import type { Clock } from "../../std/clock.ts";
import type { Cluster, ClusterChange, Assignment, Instance } from "../cluster.ts";
import { leaseLost } from "../journal-fault.ts";
import type { Absence } from "./reconnect.ts";
import * as statements from "./cluster-statements.ts";
import { assignmentsToTake, takersOf, type Wish } from "./fair-share.ts";
import type { Link } from "./link.ts";
import { whyOf } from "./postgres-fault.ts";

/** A lease is renewed so many times while it lasts. */
const RENEWALS_PER_LEASE = 3;

/** Sending ends so long before the lease does, milliseconds; for a short lease a fifth of it. */
const MARGIN_MS_MAX = 2_000;

/** What a cluster works with. */
export type ClusterWork = {
  readonly link: Link;
  readonly session: string;
  readonly channel: string;
  readonly clock: Clock;
  readonly absence: Absence;
  readonly ending: AbortSignal;
  readonly leaseMs: number;
  readonly shown: string;
  readonly tell: (change: ClusterChange) => void;
  readonly listen: Cluster["listen"];
  readonly instances: Cluster["instances"];
};

/** Both of this host's clocks at one moment. */
type Moment = { readonly monotonic: number; readonly wall: number };

export class PgCluster implements Cluster {
  readonly instanceId: number;
  readonly leaseMs: number;
  readonly #with: ClusterWork;
  #askedAt: Moment;
  #clockOffsetMs = 0;
  #isLost = false;
  #isOver = false;
  #sought: readonly Assignment[] = [];
  /** Of these, those of mirrors whose file system is this host's. */
  #local: readonly Assignment[] = [];
  #isLocalSet = true;
  #held = new Set<Assignment>();
  /** Since when nobody has an assignment that this instance seeks, by the monotonic clock. */
  readonly #freeSince = new Map<Assignment, number>();
  #others = new Map<number, Instance>();
  /** The turn that runs, and those that wait for it. */
  #turns: Promise<void> = Promise.resolve();
  #cancelAlarm = () => {};
  #isWoken = false;

  private constructor(work: ClusterWork, instanceId: number, askedAt: Moment) {
    this.#with = work;
    this.instanceId = instanceId;
    this.leaseMs = work.leaseMs;
    this.#askedAt = askedAt;
  }

  /** Joins the cluster; the lease begins. */
  static async join(work: ClusterWork, joining: statements.Joining): Promise<PgCluster> {
    const { link, session, leaseMs, clock } = work;
    const askedAt = momentOf(clock);
    const { query } = await link.connection();
    const instanceId = await statements.join(query, session, joining, leaseMs);
    const cluster = new PgCluster(work, instanceId, askedAt);
    await cluster.#turn([]);
    cluster.#wait();
    return cluster;
  }

  get sendLeftMs(): number {
    if (this.#isLost || this.#isOver) return 0;
    const now = momentOf(this.#with.clock);
    const passed = Math.max(now.monotonic - this.#askedAt.monotonic, now.wall - this.#askedAt.wall);
    return this.leaseMs - passed - Math.min(MARGIN_MS_MAX, this.leaseMs / 5);
  }

  get clockOffsetMs(): number {
    return this.#clockOffsetMs;
  }

  owns(assignment: Assignment): boolean {
    return this.#held.has(assignment);
  }

  /** Those that it gets at once are not told as gained. */
  async seek(assignments: readonly Assignment[], local: readonly Assignment[] = []): Promise<void> {
    this.#sought = assignments;
    this.#local = local;
    this.#isLocalSet = false;
    this.#freeSince.clear();
    const first: ClusterChange[] = [];
    await this.#next(first);
    if (this.#isLost) throw leaseLost(this.#with.shown);
    for (const change of first) if (change.type !== "gained") this.#with.tell(change);
  }

  listen(listener: (change: ClusterChange) => void): () => void {
    return this.#with.listen(listener);
  }

  instances(): Promise<Instance[]> {
    return this.#with.instances();
  }

  /** Tells others where this daemon's page is. */
  async announce(web: string | null): Promise<void> {
    const { link, absence, ending } = this.#with;
    await absence.persist("the cluster", ending, async () => {
      await statements.announce((await link.connection()).query, this.instanceId, web);
    });
  }

  /** An instance came or went: a turn now, instead of later on. */
  wake(): void {
    if (this.#isWoken || this.#isOver || this.#isLost) return;
    this.#isWoken = true;
    this.#cancelAlarm();
    void this.#loop();
  }

  /** The writer session was taken away: another instance declared this one lost. */
  lose(): void {
    if (this.#isLost || this.#isOver) return;
    this.#isLost = true;
    this.#cancelAlarm();
    this.#held.clear();
    this.#with.tell({ type: "lost" });
  }

  /** Ends the turns and leaves: assignments are free at once. */
  async leave(): Promise<void> {
    this.#isOver = true;
    this.#cancelAlarm();
    await this.#turns;
    if (this.#isLost) return;
    const { link, session, channel } = this.#with;
    // One who cannot say so leaves all the same: the lease runs out.
    await link
      .connection()
      .then(({ query }) => statements.leave(query, this.instanceId, session, channel))
      .catch(() => undefined);
  }

  /** A turn, told to anyone who listens, and an alarm for the next one. */
  async #loop(): Promise<void> {
    const changes: ClusterChange[] = [];
    await this.#next(changes);
    for (const change of changes) this.#with.tell(change);
    this.#wait();
  }

  #wait(): void {
    if (this.#isOver || this.#isLost) return;
    this.#cancelAlarm();
    const { clock } = this.#with;
    this.#cancelAlarm = clock.alarm(this.leaseMs / RENEWALS_PER_LEASE, () => void this.#loop());
  }

  /** A turn after those that were asked for before. */
  #next(changes: ClusterChange[]): Promise<void> {
    const { absence, ending } = this.#with;
    this.#turns = this.#turns.then(async () => {
      if (this.#isOver || this.#isLost) return;
      this.#isWoken = false;
      try {
        await absence.persist("the cluster", ending, () => this.#turn(changes));
      } catch (error) {
        // Whatever it is: who cannot renew the lease loses it.
        if (!ending.aborted) absence.leave("the cluster", whyOf(error));
      }
    });
    return this.#turns;
  }

  async #turn(changes: ClusterChange[]): Promise<void> {
    const { link, clock, channel, session } = this.#with;
    const connection = await link.connection();
    const { query } = connection;
    const askedAt = momentOf(clock);
    const now = await statements.renew(query, this.instanceId, this.leaseMs);
    if (now === undefined) {
      this.lose();
      return;
    }
    this.#askedAt = askedAt;
    this.#clockOffsetMs = now - (askedAt.wall + clock.now()) / 2;
    if (!this.#isLocalSet) await statements.setLocal(query, this.instanceId, this.#local);
    this.#isLocalSet = true;
    await statements.declareLost(connection, session, channel);
    const living = await statements.living(query);
    this.#look(living, changes);
    await this.#gain(living, changes);
  }

  #look(living: readonly Instance[], changes: ClusterChange[]): void {
    const others = living.filter(({ id }) => id !== this.instanceId);
    const there = new Map(others.map((instance) => [instance.id, instance]));
    const gone = [...this.#others.values()].filter(({ id }) => !there.has(id));
    this.#others = there;
    if (gone.length > 0) changes.push({ type: "others-lost", instances: gone });
  }

  async #gain(living: readonly Instance[], changes: ClusterChange[]): Promise<void> {
    const { link } = this.#with;
    const connection = await link.connection();
    const { query } = connection;
    const holder = new Map(
      living.flatMap(({ id, assignments }) => assignments.map((assignment) => [assignment, id])),
    );
    const holderOf = this.#holders(holder);
    const isFree = this.#sought.some((assignment) => !holder.has(assignment));
    const gone = isFree ? await statements.localToGone(query, this.leaseMs) : new Set<Assignment>();
    const cluster = { me: this.instanceId, instances: living, gone };
    const wishes = this.#sought.map(
      (assignment): Wish => ({
        assignment,
        holder: holderOf(assignment),
        takers: takersOf(assignment, cluster),
      }),
    );
    const mine = this.#sought.filter((assignment) => holder.get(assignment) === this.instanceId);
    const wanted = assignmentsToTake(wishes);
    const taken =
      wanted.length > 0 ? await statements.take(connection, this.instanceId, wanted) : [];
    const held = new Set([...mine, ...taken]);
    const gained = [...held].filter((assignment) => !this.#held.has(assignment));
    this.#held = held;
    if (gained.length > 0) changes.push({ type: "gained", assignments: gained });
    // Another instance that looked at the same moment was quicker: its share lies among the others.
    if (taken.length < wanted.length) this.wake();
  }

  /** Who has an assignment just now, as far as that decides who takes it. */
  #holders(holder: ReadonlyMap<Assignment, number>): (assignment: Assignment) => Wish["holder"] {
    const now = this.#with.clock.monotonic();
    return (assignment) => {
      const id = holder.get(assignment);
      if (id !== undefined) {
        this.#freeSince.delete(assignment);
        return id === this.instanceId ? "me" : "other";
      }
      const since = this.#freeSince.get(assignment) ?? now;
      this.#freeSince.set(assignment, since);
      // Others had their turns meanwhile, and left it.
      return now - since >= this.leaseMs / 4 ? "left" : "nobody";
    };
  }
}

function momentOf(clock: Clock): Moment {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}
