/**
 * What the wall clock skipped: the times between where it stood and where it was set forward to.
 * A moment before such a gap lies less far back than it seems, by as much as was skipped.
 *
 * A host that slept has a clock that skipped, too. Its sleep counts as time in which nobody looked:
 * to a share others may have written then, and nothing here would have told about it.
 */

/** Wall-clock times, epoch milliseconds: from where the clock stood to where it was set. */
export type ClockGap = { readonly from: number; readonly to: number };

/** As many gaps are kept apart: a step every minute for a week, or one a day for decades. */
export const GAPS_MAX = 10_000;

/** The gaps, oldest first, after the clock was set forward over `gap`. */
export function withGap(gaps: readonly ClockGap[], gap: ClockGap): readonly ClockGap[] {
  const all = [...gaps, gap];
  const [first, second, ...later] = all;
  if (all.length <= GAPS_MAX || !first || !second) return all;
  // What passed between the two oldest is taken for skipped, too: to wait for longer is the safe side.
  return [{ from: first.from, to: second.to }, ...later];
}

/** The gaps after the clock was set back to `now`: what it comes to once more, it does not skip. */
export function withoutFuture(gaps: readonly ClockGap[], now: number): readonly ClockGap[] {
  if ((gaps.at(-1)?.to ?? now) <= now) return gaps;
  return gaps
    .filter(({ from }) => from < now)
    .map(({ from, to }) => ({ from, to: Math.min(to, now) }));
}

/** How much of the time since `at` was skipped, milliseconds. */
export function skippedSince(at: number, gaps: readonly ClockGap[]): number {
  return gaps.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, at)), 0);
}
