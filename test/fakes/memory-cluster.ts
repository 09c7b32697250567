import {
  isSame,
  type Assignment,
  type Cluster,
  type ClusterChange,
  type Instance,
} from "../../src/journal/cluster.ts";
import { journalFault } from "../../src/journal/journal-fault.ts";
import { Wishes } from "../../src/journal/postgres/fair-share.ts";
import type { Clock } from "../../src/std/clock.ts";
import { invariant } from "../../src/std/fault.ts";
import type { MemoryStore } from "./memory-store.ts";

/** What is taken belongs to an instance for this long. */
export const TAKEN_MS = 5_000;

/** Leases end this much earlier for sending than for others. */
const MARGIN_MS = 1_000;

/** An instance as the store knows it. */
export type InstanceRow = Instance & { readonly lost: boolean };

/** How an instance joins. */
export type Joining = {
  readonly name: string;
  /** The journal's own, which all instances share. */
  readonly clock: Clock;
  /** The instance's host's; default: the journal's. */
  readonly host?: Clock;
  /** Milliseconds. */
  readonly leaseMs?: number;
};

/**
 * The cluster of a `MemoryStore`. Nothing happens on its own but renewals, every third of a lease once
 * `stayAlive` was called; a test or a simulation stops them to let an instance be lost.
 */
export class MemoryCluster implements Cluster {
  readonly instanceId: number;
  readonly leaseMs: number;
  readonly #store: MemoryStore;
  readonly #clock: Clock;
  readonly #host: Clock;
  readonly #listeners = new Set<(change: ClusterChange) => void>();
  #wishes: Wishes;
  /** When the last renewal that succeeded was asked for, by both clocks of the host. */
  #asked: { readonly monotonic: number; readonly wall: number };
  #offsetMs: number;
  /** It can neither reach the journal nor be told about anything. */
  #isAway = false;
  #isLost = false;
  #cancel: () => void = () => undefined;
  /** What came while it was away. */
  #unheard: ClusterChange[] = [];

  private constructor(store: MemoryStore, instanceId: number, joining: Joining) {
    const { clock, host = clock, leaseMs = 15_000 } = joining;
    this.#store = store;
    this.instanceId = instanceId;
    this.leaseMs = leaseMs;
    this.#clock = clock;
    this.#host = host;
    this.#asked = { monotonic: host.monotonic(), wall: host.now() };
    this.#offsetMs = clock.now() - host.now();
    this.#wishes = new Wishes([], leaseMs);
  }

  /** Another instance of the store's cluster. */
  static join(store: MemoryStore, joining: Joining): MemoryCluster {
    const { name, clock, leaseMs = 15_000 } = joining;
    const id = store.instances.size + 1;
    const now = clock.now();
    const row = {
      id,
      name,
      pid: 1_000 + id,
      version: "0.1.0",
      web: null,
      startedAt: now,
      assignments: [],
      local: [],
    };
    store.instances.set(id, { ...row, renewedAt: now, leaseUntil: now + leaseMs, lost: false });
    const cluster = new MemoryCluster(store, id, joining);
    store.clusters.add(cluster);
    return cluster;
  }

  get sendLeftMs(): number {
    if (this.#isLost) return 0;
    const { monotonic, wall } = this.#asked;
    const passed = Math.max(this.#host.monotonic() - monotonic, this.#host.now() - wall);
    return this.leaseMs - MARGIN_MS - passed;
  }

  get clockOffsetMs(): number {
    return this.#offsetMs;
  }

  owns(assignment: Assignment): boolean {
    return !this.#isLost && this.#row.assignments.some(isSame(assignment));
  }

  async seek(assignments: readonly Assignment[], local: readonly Assignment[] = []): Promise<void> {
    this.assertThere();
    this.#wishes = new Wishes(assignments, this.leaseMs);
    this.#store.instances.set(this.instanceId, { ...this.#row, local });
    this.#take();
  }

  async instances(): Promise<Instance[]> {
    return this.#store.living();
  }

  listen(listener: (change: ClusterChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Renews every third of a lease from now on. */
  stayAlive(): void {
    this.#cancel = this.#host.alarm(this.leaseMs / 3, () => {
      this.renew();
      if (!this.#isLost) this.stayAlive();
    });
  }

  /** One renewal: finds who is lost, this instance too, and takes assignments that nobody has. */
  renew(): void {
    if (this.#isAway || this.#isLost) return;
    const asked = { monotonic: this.#host.monotonic(), wall: this.#host.now() };
    const row = this.#row;
    if (row.lost) {
      this.#lose();
      return;
    }
    const now = this.#clock.now();
    this.#store.instances.set(row.id, { ...row, renewedAt: now, leaseUntil: now + this.leaseMs });
    this.#asked = asked;
    this.#offsetMs = now - this.#host.now();
    this.#declareLost(({ id, leaseUntil }) => id !== this.instanceId && leaseUntil <= now);
    this.#gain();
  }

  /** Ends renewals without a word, as a crash does. */
  die(): void {
    this.#cancel();
    this.#isAway = true;
    this.#store.clusters.delete(this);
  }

  /** Leaves: nobody has to wait for its lease to end. */
  leave(): void {
    if (this.#isAway && !this.#store.clusters.has(this)) return;
    this.die();
    if (!this.#row.lost) this.#declareLost(({ id }) => id === this.instanceId);
  }

  /** From now on it cannot reach the journal, and hears nothing. */
  goAway(why: string): void {
    this.#isAway = true;
    this.#tell({ type: "away", why });
  }

  comeBack(): void {
    this.#isAway = false;
    this.#tell({ type: "back" });
    for (const change of this.#unheard.splice(0)) this.#tell(change);
    this.renew();
  }

  /** Throws `LEASE_LOST` where this instance may write no more. */
  assertThere(): void {
    const { lost, leaseUntil } = this.#row;
    if (!lost && !this.#isLost && leaseUntil > this.#clock.now()) return;
    this.#lose();
    throw journalFault("LEASE_LOST", "in memory", `instance ${this.instanceId} is lost`);
  }

  /** Whether a row may be taken or claimed: no living instance but this one has taken it. */
  mayTake(documentId: number): boolean {
    const taken = this.#store.taken.get(documentId);
    if (!taken || taken.by === this.instanceId || taken.until <= this.#clock.now()) return true;
    return this.#store.instances.get(taken.by)?.lost !== false;
  }

  take(documentId: number): void {
    const until = this.#clock.now() + TAKEN_MS;
    this.#store.taken.set(documentId, { by: this.instanceId, until });
  }

  /** Whether nobody sends a row in `uploading` any more. */
  isOrphaned(documentId: number): boolean {
    const sender = this.#store.senders.get(documentId);
    return sender === undefined || this.#store.instances.get(sender)?.lost !== false;
  }

  get #row(): InstanceRow {
    const row = this.#store.instances.get(this.instanceId);
    invariant(row, `no instance ${this.instanceId}`);
    return row;
  }

  #declareLost(isLost: (instance: InstanceRow) => boolean): void {
    const store = this.#store;
    const lost = store.living().filter(isLost);
    if (lost.length === 0) return;
    if (lost.some(({ id }) => id !== this.instanceId)) store.markUnclean();
    for (const row of lost) store.instances.set(row.id, { ...row, assignments: [], lost: true });
    for (const cluster of store.clusters) {
      if (cluster === this || lost.some(({ id }) => id === cluster.instanceId)) continue;
      cluster.#hear({ type: "others-lost", instances: lost });
    }
    if (!this.#isAway) this.#tell({ type: "others-lost", instances: lost });
  }

  /** What another instance has found out, which is told to all. */
  #hear(change: ClusterChange): void {
    if (this.#isAway) {
      this.#unheard.push(change);
      return;
    }
    this.#tell(change);
    this.#gain();
  }

  #gain(): void {
    if (this.#isAway || this.#isLost || this.#row.lost) return;
    const assignments = this.#take();
    if (assignments.length > 0) this.#tell({ type: "gained", assignments });
  }

  #take(): Assignment[] {
    const view = { me: this.instanceId, living: this.#store.living(), gone: [] };
    const free = this.#wishes.toTake(view, this.#host.monotonic());
    const row = this.#row;
    this.#store.instances.set(row.id, { ...row, assignments: [...row.assignments, ...free] });
    return free;
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#cancel();
    this.#store.clusters.delete(this);
    this.#tell({ type: "lost" });
  }

  #tell(change: ClusterChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
