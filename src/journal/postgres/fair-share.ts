/** How assignments that are free are shared among the instances of a cluster. */
import { isSame, type Assignment, type Instance } from "../cluster.ts";

/** An assignment that an instance seeks. */
export type Wish = {
  readonly assignment: Assignment;
  /** Who has it, or keeps it from being taken; `left`: nobody, though everyone had the time to take it. */
  readonly holder: "me" | "other" | "nobody" | "left";
  /** How many instances, this one among them, take it as soon as it is free; 0: this one leaves it to others. */
  readonly takers: number;
};

/** What an instance sees of its cluster. */
export type View = {
  readonly me: number;
  readonly living: readonly Pick<Instance, "id" | "assignments" | "local">[];
  /** What instances were near to that are gone since a moment ago, and may be back. */
  readonly gone: readonly Assignment[];
};

/** All that an instance seeks. */
export class Wishes {
  readonly #sought: readonly Assignment[];
  readonly #leaseMs: number;
  /** Since when nobody has it, by the monotonic clock. */
  readonly #freeSince = new Map<Assignment, number>();

  constructor(sought: readonly Assignment[], leaseMs: number) {
    this.#sought = sought;
    this.#leaseMs = leaseMs;
  }

  /** Those to take at this moment of the monotonic clock. */
  toTake(view: View, now: number): Assignment[] {
    return assignmentsToTake(
      this.#sought.map((assignment) => ({
        assignment,
        holder: this.#holderOf(assignment, view, now),
        takers: takersOf(assignment, view),
      })),
    );
  }

  #holderOf(assignment: Assignment, { me, living }: View, now: number): Wish["holder"] {
    const holder = living.find(({ assignments }) => assignments.some(isSame(assignment)));
    if (holder) {
      this.#freeSince.delete(assignment);
      return holder.id === me ? "me" : "other";
    }
    const since = this.#freeSince.get(assignment) ?? now;
    this.#freeSince.set(assignment, since);
    // Others had their turns meanwhile, and left it.
    return now - since >= this.#leaseMs / 4 ? "left" : "nobody";
  }
}

/**
 * Which of the free ones an instance takes. Of the mirrors each takes its share at once, and later on
 * what others left; what an instance has stays its own while it lives. An account goes to anyone who comes
 * first: there are few of them.
 */
export function assignmentsToTake(wishes: readonly Wish[]): Assignment[] {
  const isMirror = ({ assignment: { kind } }: Wish) => kind === "mirror";
  const mirrors = wishes.filter(isMirror);
  // Of every mirror that several would take at once, a part; thirds do not add up to a whole in binary.
  const share = mirrors.reduce((sum, { takers }) => sum + (takers > 0 ? 1 / takers : 0), -1e-9);
  let room = Math.ceil(share) - mirrors.filter(({ holder }) => holder === "me").length;
  return wishes
    .filter((wish) => {
      if (wish.holder === "me" || wish.holder === "other") return false;
      if (wish.holder === "left" || !isMirror(wish)) return true;
      return wish.takers > 0 && room-- > 0;
    })
    .map(({ assignment }) => assignment);
}

/**
 * How many take a mirror's assignment at once: the instances that are near to it, or all where none is. 0 for
 * one that is not near while another is, or was a moment ago.
 */
export function takersOf(assignment: Assignment, { me, living, gone }: View): number {
  const isIt = isSame(assignment);
  const local = living.filter((instance) => instance.local.some(isIt));
  if (local.some(({ id }) => id === me)) return local.length;
  return local.length > 0 || gone.some(isIt) ? 0 : living.length;
}
