/**
 * This daemon among the cluster of a journal in PostgreSQL: its lease, who else is there, its assignments.
 *
 * All of it happens in turns, on a connection of its own so that no long transaction can keep the
 * lease from being renewed: one every third of a lease, and one whenever another instance says that
 * the cluster changed.
 */
import type { Clock } from "../../std/clock.ts";
import {
  isSame,
  type Assignment,
  type Cluster,
  type ClusterChange,
  type Instance,
} from "../cluster.ts";
import { leaseLost } from "../journal-fault.ts";
import type { Absence } from "./reconnect.ts";
import * as statements from "./cluster-statements.ts";
import { Wishes } from "./fair-share.ts";
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
  #wishes: Wishes;
  /** Of these, those of mirrors whose file system is this host's. */
  #local: readonly Assignment[] = [];
  #held: readonly Assignment[] = [];
  #others = new Map<number, Instance>();
  /** The turn that runs, and those that wait for it. */
  #turns: Promise<void> = Promise.resolve();
  #cancelAlarm = () => {};
  #isWoken = false;

  private constructor(work: ClusterWork, instanceId: number, askedAt: Moment) {
    this.#with = work;
    this.instanceId = instanceId;
    this.leaseMs = work.leaseMs;
    this.#wishes = new Wishes([], work.leaseMs);
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
    return this.#held.some(isSame(assignment));
  }

  /** Those that it gets at once are not told as gained. */
  async seek(assignments: readonly Assignment[], local: readonly Assignment[] = []): Promise<void> {
    this.#wishes = new Wishes(assignments, this.leaseMs);
    this.#local = local;
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
    this.#held = [];
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
    const now = await statements.renew(query, this.instanceId, this.leaseMs, this.#local);
    if (now === undefined) {
      this.lose();
      return;
    }
    this.#askedAt = askedAt;
    this.#clockOffsetMs = now - (askedAt.wall + clock.now()) / 2;
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
    const { link, clock } = this.#with;
    const connection = await link.connection();
    const me = this.instanceId;
    const gone = await statements.localToGone(connection.query, this.leaseMs);
    const wanted = this.#wishes.toTake({ me, living, gone }, clock.monotonic());
    const taken = wanted.length > 0 ? await statements.take(connection, me, wanted) : [];
    const mine = living.find(({ id }) => id === me)?.assignments ?? [];
    const held = [...mine, ...taken];
    const gained = held.filter((assignment) => !this.owns(assignment));
    this.#held = held;
    if (gained.length > 0) changes.push({ type: "gained", assignments: gained });
    // Another instance that looked at the same moment was quicker: its share lies among the others.
    if (taken.length < wanted.length) this.wake();
  }
}

function momentOf(clock: Clock): Moment {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}
