/** How duties that are free are divided among the members of a crew. */
import type { Duty } from "../crew.ts";

/** A duty that nobody has and this member seeks. */
export type Wish = {
  readonly duty: Duty;
  /** True when everybody had the time to take it, and nobody did. */
  readonly isLeft: boolean;
};

/**
 * Which of the `free` duties a member takes that seeks all of `sought` and has `mine`, of so many
 * members. Of the mirrors each takes its share at once, and later on what others left; what somebody
 * has stays his while he lives. An account goes to whoever comes first: there are few of them.
 */
export function dutiesToTake(
  sought: readonly Duty[],
  mine: readonly Duty[],
  free: readonly Wish[],
  members: number,
): Duty[] {
  const share = Math.ceil(sought.filter(isMirror).length / Math.max(1, members));
  let room = share - mine.filter(isMirror).length;
  return free
    .filter(({ duty, isLeft }) => !isMirror(duty) || isLeft || room-- > 0)
    .map(({ duty }) => duty);
}

function isMirror(duty: Duty): boolean {
  return duty.startsWith("mirror:");
}
