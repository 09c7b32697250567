/** How duties that are free are shared among the members of a crew. */
import type { Duty } from "../crew.ts";

/** A duty that a member seeks. */
export type Wish = {
  readonly duty: Duty;
  /** Who has it, or keeps it from being taken; `left`: nobody, though everybody had the time to take it. */
  readonly holder: "me" | "other" | "nobody" | "left";
  /** How many members, this one among them, take it as soon as it is free; 0: this one leaves it to others. */
  readonly takers: number;
};

/**
 * Which of the free ones a member takes. Of the mirrors each takes its share at once, and later on
 * what others left; what somebody has stays his while he lives. An account goes to whoever comes
 * first: there are few of them.
 */
export function dutiesToTake(wishes: readonly Wish[]): Duty[] {
  const mirrors = wishes.filter(isMirror);
  let room = shareOf(mirrors) - mirrors.filter(({ holder }) => holder === "me").length;
  return wishes
    .filter((wish) => {
      if (wish.holder === "me" || wish.holder === "other") return false;
      if (wish.holder === "left" || !isMirror(wish)) return true;
      return wish.takers > 0 && room-- > 0;
    })
    .map(({ duty }) => duty);
}

/** Of every mirror that several would take at once, a part; all of them together, rounded up. */
function shareOf(mirrors: readonly Wish[]): number {
  const share = mirrors.reduce((sum, { takers }) => sum + (takers > 0 ? 1 / takers : 0), 0);
  // Thirds do not add up to a whole in binary.
  return Math.ceil(share - 1e-9);
}

/**
 * How many take a mirror's duty at once: the members that are near to it, or all where none is. 0 for
 * one that is not near while another is, or was a moment ago.
 */
export function takersOf(
  duty: Duty,
  crew: { readonly me: number; readonly members: readonly Near[]; readonly gone: Set<Duty> },
): number {
  const near = crew.members.filter((member) => member.near.includes(duty));
  if (near.some(({ id }) => id === crew.me)) return near.length;
  return near.length > 0 || crew.gone.has(duty) ? 0 : crew.members.length;
}

/** A member, and what it is near to. */
type Near = { readonly id: number; readonly near: readonly Duty[] };

function isMirror({ duty }: { readonly duty: Duty }): boolean {
  return duty.startsWith("mirror:");
}
