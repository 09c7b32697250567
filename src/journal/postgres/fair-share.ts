/** How assignments that are free are shared among the instances of a cluster. */
import type { Assignment } from "../cluster.ts";

/** An assignment that an instance seeks. */
export type Wish = {
  readonly assignment: Assignment;
  /** Who has it, or keeps it from being taken; `left`: nobody, though everyone had the time to take it. */
  readonly holder: "me" | "other" | "nobody" | "left";
  /** How many instances, this one among them, take it as soon as it is free; 0: this one leaves it to others. */
  readonly takers: number;
};

/**
 * Which of the free ones an instance takes. Of the mirrors each takes its share at once, and later on
 * what others left; what an instance has stays its own while it lives. An account goes to anyone who comes
 * first: there are few of them.
 */
export function assignmentsToTake(wishes: readonly Wish[]): Assignment[] {
  const mirrors = wishes.filter(isMirror);
  let room = shareOf(mirrors) - mirrors.filter(({ holder }) => holder === "me").length;
  return wishes
    .filter((wish) => {
      if (wish.holder === "me" || wish.holder === "other") return false;
      if (wish.holder === "left" || !isMirror(wish)) return true;
      return wish.takers > 0 && room-- > 0;
    })
    .map(({ assignment }) => assignment);
}

/** Of every mirror that several would take at once, a part; all of them together, rounded up. */
function shareOf(mirrors: readonly Wish[]): number {
  const share = mirrors.reduce((sum, { takers }) => sum + (takers > 0 ? 1 / takers : 0), 0);
  // Thirds do not add up to a whole in binary.
  return Math.ceil(share - 1e-9);
}

/**
 * How many take a mirror's assignment at once: the instances that are near to it, or all where none is. 0 for
 * one that is not near while another is, or was a moment ago.
 */
export function takersOf(
  assignment: Assignment,
  cluster: {
    readonly me: number;
    readonly instances: readonly Local[];
    readonly gone: Set<Assignment>;
  },
): number {
  const local = cluster.instances.filter((instance) => instance.local.includes(assignment));
  if (local.some(({ id }) => id === cluster.me)) return local.length;
  return local.length > 0 || cluster.gone.has(assignment) ? 0 : cluster.instances.length;
}

/** An instance, and what it is near to. */
type Local = { readonly id: number; readonly local: readonly Assignment[] };

function isMirror({ assignment }: { readonly assignment: Assignment }): boolean {
  return assignment.startsWith("mirror:");
}
