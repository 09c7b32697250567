/**
 * This daemon among the crew of a journal in PostgreSQL: its lease, who else is there, its duties.
 *
 * All of it happens in turns, on a connection of its own so that no long transaction can keep the
 * lease from being renewed: one every third of a lease, and one whenever another member says that
 * the crew changed.
 */
import type { Clock } from "../../std/clock.ts";
import type { Crew, CrewChange, Duty, Member } from "../crew.ts";
import { leaseLost } from "../journal-fault.ts";
import type { Absence } from "./absence.ts";
import * as statements from "./crew-statements.ts";
import { dutiesToTake, takersOf, type Wish } from "./fair-share.ts";
import type { Link } from "./link.ts";
import { whyOf } from "./postgres-fault.ts";

/** A lease is renewed so many times while it lasts. */
const RENEWALS_PER_LEASE = 3;

/** Sending ends so long before the lease does, milliseconds; for a short lease a fifth of it. */
const MARGIN_MS_MAX = 2_000;

/** What a crew works with. */
export type CrewWork = {
  readonly link: Link;
  readonly session: string;
  readonly channel: string;
  readonly clock: Clock;
  readonly absence: Absence;
  readonly ending: AbortSignal;
  readonly leaseMs: number;
  readonly shown: string;
  readonly tell: (change: CrewChange) => void;
  readonly listen: Crew["listen"];
  readonly members: Crew["members"];
};

/** Both of this host's clocks at one moment. */
type Moment = { readonly monotonic: number; readonly wall: number };

export class PgCrew implements Crew {
  readonly memberId: number;
  readonly leaseMs: number;
  readonly #with: CrewWork;
  #askedAt: Moment;
  #clockOffsetMs = 0;
  #isLost = false;
  #isOver = false;
  #sought: readonly Duty[] = [];
  /** Of these, those of mirrors whose file system is this host's. */
  #near: readonly Duty[] = [];
  #isNearTold = true;
  #held = new Set<Duty>();
  /** Since when nobody has a duty that this member seeks, by the monotonic clock. */
  readonly #freeSince = new Map<Duty, number>();
  #others = new Map<number, Member>();
  /** The turn that runs, and those that wait for it. */
  #turns: Promise<void> = Promise.resolve();
  #cancelAlarm = () => {};
  #isWoken = false;

  private constructor(work: CrewWork, memberId: number, askedAt: Moment) {
    this.#with = work;
    this.memberId = memberId;
    this.leaseMs = work.leaseMs;
    this.#askedAt = askedAt;
  }

  /** Joins the crew; the lease begins. */
  static async join(work: CrewWork, newcomer: statements.Newcomer): Promise<PgCrew> {
    const { link, session, leaseMs, clock } = work;
    const askedAt = momentOf(clock);
    const { query } = await link.connection();
    const memberId = await statements.join(query, session, newcomer, leaseMs);
    const crew = new PgCrew(work, memberId, askedAt);
    await crew.#turn([]);
    crew.#wait();
    return crew;
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

  leads(duty: Duty): boolean {
    return this.#held.has(duty);
  }

  /** Those that it gets at once are not told as gained. */
  async seek(duties: readonly Duty[], near: readonly Duty[] = []): Promise<void> {
    this.#sought = duties;
    this.#near = near;
    this.#isNearTold = false;
    this.#freeSince.clear();
    const first: CrewChange[] = [];
    await this.#next(first);
    if (this.#isLost) throw leaseLost(this.#with.shown);
    for (const change of first) if (change.type !== "gained") this.#with.tell(change);
  }

  listen(listener: (change: CrewChange) => void): () => void {
    return this.#with.listen(listener);
  }

  members(): Promise<Member[]> {
    return this.#with.members();
  }

  /** Tells others where this daemon's page is. */
  async announce(web: string | null): Promise<void> {
    const { link, absence, ending } = this.#with;
    await absence.persist("the crew", ending, async () => {
      await statements.announce((await link.connection()).query, this.memberId, web);
    });
  }

  /** Somebody came or went: a turn now, instead of later on. */
  wake(): void {
    if (this.#isWoken || this.#isOver || this.#isLost) return;
    this.#isWoken = true;
    this.#cancelAlarm();
    void this.#loop();
  }

  /** The pen was taken away: another member declared this one lost. */
  lose(): void {
    if (this.#isLost || this.#isOver) return;
    this.#isLost = true;
    this.#cancelAlarm();
    this.#held.clear();
    this.#with.tell({ type: "lost" });
  }

  /** Ends the turns and leaves: duties are free at once. */
  async leave(): Promise<void> {
    this.#isOver = true;
    this.#cancelAlarm();
    await this.#turns;
    if (this.#isLost) return;
    const { link, session, channel } = this.#with;
    // One who cannot say so leaves all the same: the lease runs out.
    await link
      .connection()
      .then(({ query }) => statements.leave(query, this.memberId, session, channel))
      .catch(() => undefined);
  }

  /** A turn, told to whoever listens, and an alarm for the next one. */
  async #loop(): Promise<void> {
    const changes: CrewChange[] = [];
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
  #next(changes: CrewChange[]): Promise<void> {
    const { absence, ending } = this.#with;
    this.#turns = this.#turns.then(async () => {
      if (this.#isOver || this.#isLost) return;
      this.#isWoken = false;
      try {
        await absence.persist("the crew", ending, () => this.#turn(changes));
      } catch (error) {
        // Whatever it is: who cannot renew the lease loses it.
        if (!ending.aborted) absence.leave("the crew", whyOf(error));
      }
    });
    return this.#turns;
  }

  async #turn(changes: CrewChange[]): Promise<void> {
    const { link, clock, channel, session } = this.#with;
    const connection = await link.connection();
    const { query } = connection;
    const askedAt = momentOf(clock);
    const now = await statements.renew(query, this.memberId, this.leaseMs);
    if (now === undefined) {
      this.lose();
      return;
    }
    this.#askedAt = askedAt;
    this.#clockOffsetMs = now - (askedAt.wall + clock.now()) / 2;
    if (!this.#isNearTold) await statements.tellNear(query, this.memberId, this.#near);
    this.#isNearTold = true;
    await statements.declareLost(connection, session, channel);
    const living = await statements.living(query);
    this.#look(living, changes);
    await this.#gain(living, changes);
  }

  #look(living: readonly Member[], changes: CrewChange[]): void {
    const others = living.filter(({ id }) => id !== this.memberId);
    const there = new Map(others.map((member) => [member.id, member]));
    const gone = [...this.#others.values()].filter(({ id }) => !there.has(id));
    this.#others = there;
    if (gone.length > 0) changes.push({ type: "others-lost", members: gone });
  }

  async #gain(living: readonly Member[], changes: CrewChange[]): Promise<void> {
    const { link } = this.#with;
    const connection = await link.connection();
    const { query } = connection;
    const holder = new Map(living.flatMap(({ id, duties }) => duties.map((duty) => [duty, id])));
    const holderOf = this.#holders(holder);
    const isFree = this.#sought.some((duty) => !holder.has(duty));
    const gone = isFree ? await statements.nearOfGone(query, this.leaseMs) : new Set<Duty>();
    const crew = { me: this.memberId, members: living, gone };
    const wishes = this.#sought.map(
      (duty): Wish => ({ duty, holder: holderOf(duty), takers: takersOf(duty, crew) }),
    );
    const mine = this.#sought.filter((duty) => holder.get(duty) === this.memberId);
    const wanted = dutiesToTake(wishes);
    const taken = wanted.length > 0 ? await statements.take(connection, this.memberId, wanted) : [];
    const held = new Set([...mine, ...taken]);
    const gained = [...held].filter((duty) => !this.#held.has(duty));
    this.#held = held;
    if (gained.length > 0) changes.push({ type: "gained", duties: gained });
    // Somebody who looked at the same moment was quicker: its share lies among the others.
    if (taken.length < wanted.length) this.wake();
  }

  /** Who has a duty just now, as far as that decides who takes it. */
  #holders(holder: ReadonlyMap<Duty, number>): (duty: Duty) => Wish["holder"] {
    const now = this.#with.clock.monotonic();
    return (duty) => {
      const id = holder.get(duty);
      if (id !== undefined) {
        this.#freeSince.delete(duty);
        return id === this.memberId ? "me" : "other";
      }
      const since = this.#freeSince.get(duty) ?? now;
      this.#freeSince.set(duty, since);
      // Others had their turns meanwhile, and left it.
      return now - since >= this.leaseMs / 4 ? "left" : "nobody";
    };
  }
}

function momentOf(clock: Clock): Moment {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}
