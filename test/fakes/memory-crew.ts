import type { Crew, CrewChange, Duty, Member } from "../../src/journal/crew.ts";
import { journalFault } from "../../src/journal/journal-fault.ts";
import { dutiesToTake, takersOf, type Wish } from "../../src/journal/postgres/fair-share.ts";
import type { Clock } from "../../src/std/clock.ts";
import { invariant } from "../../src/std/invariant.ts";
import type { MemoryStore } from "./memory-store.ts";

/** What is taken belongs to a member for this long. */
export const TAKEN_MS = 5_000;

/** Leases end this much earlier for sending than for others. */
const MARGIN_MS = 1_000;

/** A member as the store knows it; its duties are kept beside it. */
export type MemberRow = Omit<Member, "duties"> & { readonly lost: boolean };

/** How a member joins. */
export type Joining = {
  readonly name: string;
  /** The journal's own, which all members share. */
  readonly clock: Clock;
  /** The member's host's; default: the journal's. */
  readonly host?: Clock;
  /** Milliseconds. */
  readonly leaseMs?: number;
};

/**
 * The crew of a `MemoryStore`. Nothing happens by itself but renewals, every third of a lease once
 * `stayAlive` was called; a test or a simulation stops them to let a member be lost.
 */
export class MemoryCrew implements Crew {
  readonly memberId: number;
  readonly leaseMs: number;
  readonly #store: MemoryStore;
  readonly #freeSince = new Map<Duty, number>();
  readonly #clock: Clock;
  readonly #host: Clock;
  readonly #listeners = new Set<(change: CrewChange) => void>();
  #sought: readonly Duty[] = [];
  /** When the last renewal that succeeded was asked for, by both clocks of the host. */
  #asked: { readonly monotonic: number; readonly wall: number };
  #offsetMs: number;
  /** It can neither reach the journal nor be told of anything. */
  #isAway = false;
  #isLost = false;
  #cancel: () => void = () => undefined;
  /** What came while it was away. */
  #unheard: CrewChange[] = [];

  private constructor(store: MemoryStore, memberId: number, joining: Joining) {
    const { clock, host = clock, leaseMs = 15_000 } = joining;
    this.#store = store;
    this.memberId = memberId;
    this.leaseMs = leaseMs;
    this.#clock = clock;
    this.#host = host;
    this.#asked = { monotonic: host.monotonic(), wall: host.now() };
    this.#offsetMs = clock.now() - host.now();
  }

  /** Another member of the store's crew. */
  static join(store: MemoryStore, joining: Joining): MemoryCrew {
    const { name, clock, leaseMs = 15_000 } = joining;
    const id = store.members.size + 1;
    const now = clock.now();
    const row = {
      id,
      name,
      pid: 1_000 + id,
      version: "0.1.0",
      web: null,
      startedAt: now,
      near: [],
    };
    store.members.set(id, { ...row, renewedAt: now, leaseUntil: now + leaseMs, lost: false });
    const crew = new MemoryCrew(store, id, joining);
    store.crews.add(crew);
    return crew;
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

  leads(duty: Duty): boolean {
    return !this.#isLost && this.#store.duties.get(duty) === this.memberId;
  }

  async seek(duties: readonly Duty[], near: readonly Duty[] = []): Promise<void> {
    this.assertThere();
    this.#sought = duties;
    this.#store.members.set(this.memberId, { ...this.#row, near });
    this.#take();
  }

  async members(): Promise<Member[]> {
    return this.#store.living().map((row) => this.#memberOf(row));
  }

  listen(listener: (change: CrewChange) => void): () => void {
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

  /** One renewal: finds who is lost, this member too, and takes duties that nobody has. */
  renew(): void {
    if (this.#isAway || this.#isLost) return;
    const asked = { monotonic: this.#host.monotonic(), wall: this.#host.now() };
    const row = this.#row;
    if (row.lost) {
      this.#lose();
      return;
    }
    const now = this.#clock.now();
    this.#store.members.set(row.id, { ...row, renewedAt: now, leaseUntil: now + this.leaseMs });
    this.#asked = asked;
    this.#offsetMs = now - this.#host.now();
    this.#declareLost(({ id, leaseUntil }) => id !== this.memberId && leaseUntil <= now);
    this.#gain();
  }

  /** Ends renewals without a word, as a crash does. */
  die(): void {
    this.#cancel();
    this.#isAway = true;
    this.#store.crews.delete(this);
  }

  /** Leaves: nobody has to wait for its lease to end. */
  leave(): void {
    if (this.#isAway && !this.#store.crews.has(this)) return;
    this.die();
    if (!this.#row.lost) this.#declareLost(({ id }) => id === this.memberId);
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

  /** Throws `LEASE_LOST` where this member may write no more. */
  assertThere(): void {
    const { lost, leaseUntil } = this.#row;
    if (!lost && !this.#isLost && leaseUntil > this.#clock.now()) return;
    this.#lose();
    throw journalFault("LEASE_LOST", "in memory", `member ${this.memberId} is lost`);
  }

  /** Whether a row may be taken or claimed: no living member but this one has taken it. */
  mayTake(documentId: number): boolean {
    const taken = this.#store.taken.get(documentId);
    if (!taken || taken.by === this.memberId || taken.until <= this.#clock.now()) return true;
    return this.#store.members.get(taken.by)?.lost !== false;
  }

  take(documentId: number): void {
    const until = this.#clock.now() + TAKEN_MS;
    this.#store.taken.set(documentId, { by: this.memberId, until });
  }

  /** Whether nobody sends a row in `uploading` any more. */
  isOrphaned(documentId: number): boolean {
    const sender = this.#store.senders.get(documentId);
    return sender === undefined || this.#store.members.get(sender)?.lost !== false;
  }

  get #row(): MemberRow {
    const row = this.#store.members.get(this.memberId);
    invariant(row, `no member ${this.memberId}`);
    return row;
  }

  #memberOf({ lost, ...member }: MemberRow): Member {
    invariant(!lost, `member ${member.id} is lost`);
    const duties = [...this.#store.duties].filter(([, id]) => id === member.id);
    return { ...member, duties: duties.map(([duty]) => duty).sort() };
  }

  #declareLost(isLost: (member: MemberRow) => boolean): void {
    const store = this.#store;
    const lost = store.living().filter(isLost);
    if (lost.length === 0) return;
    const members = lost.map((row) => this.#memberOf(row));
    if (lost.some(({ id }) => id !== this.memberId)) store.markUnclean();
    for (const member of lost) {
      store.members.set(member.id, { ...member, lost: true });
      for (const [duty, id] of store.duties) if (id === member.id) store.duties.delete(duty);
    }
    for (const crew of store.crews) {
      if (crew === this || lost.some(({ id }) => id === crew.memberId)) continue;
      crew.#hear({ type: "others-lost", members });
    }
    if (!this.#isAway) this.#tell({ type: "others-lost", members });
  }

  /** What another member has found out, which is told to all. */
  #hear(change: CrewChange): void {
    if (this.#isAway) {
      this.#unheard.push(change);
      return;
    }
    this.#tell(change);
    this.#gain();
  }

  #gain(): void {
    if (this.#isAway || this.#isLost || this.#row.lost) return;
    const duties = this.#take();
    if (duties.length > 0) this.#tell({ type: "gained", duties });
  }

  #take(): Duty[] {
    const free = dutiesToTake(this.#wishes());
    for (const duty of free) this.#store.duties.set(duty, this.memberId);
    return free;
  }

  #wishes(): Wish[] {
    const now = this.#host.monotonic();
    const members = this.#store.living();
    const crew = { me: this.memberId, members, gone: new Set<Duty>() };
    return this.#sought.map((duty): Wish => {
      const takers = takersOf(duty, crew);
      const id = this.#store.duties.get(duty);
      if (id !== undefined) {
        this.#freeSince.delete(duty);
        return { duty, takers, holder: id === this.memberId ? "me" : "other" };
      }
      const since = this.#freeSince.get(duty) ?? now;
      this.#freeSince.set(duty, since);
      return { duty, takers, holder: now - since >= this.leaseMs / 4 ? "left" : "nobody" };
    });
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#cancel();
    this.#store.crews.delete(this);
    this.#tell({ type: "lost" });
  }

  #tell(change: CrewChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
