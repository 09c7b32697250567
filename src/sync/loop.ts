import type { DueQuery, Journal } from "../journal/journal.ts";
import type { Bell } from "../std/bell.ts";
import type { Clock } from "../std/clock.ts";

/** No loop sleeps longer than this: a wake-up that was missed costs at most this much. */
export const NAP_MS_MAX = 30_000;

/**
 * Runs `step` for ever, one at a time. A step says after how many milliseconds it wants to run
 * again; the bell wakes it sooner. Ends only by rejecting: with `stopping`'s abort or a failure.
 */
export async function loop(
  bell: Bell,
  clock: Clock,
  stopping: AbortSignal,
  step: () => Promise<number>,
): Promise<never> {
  for (;;) {
    stopping.throwIfAborted();
    const waitMs = await step();
    await bell.wait(Math.max(0, Math.min(waitMs, NAP_MS_MAX)), clock, stopping);
  }
}

/**
 * How long until the next row of this kind falls due after `now`; for ever when none does. Rows
 * that are due already wait for something else, and whatever that is rings the bell.
 */
export async function untilNext(
  journal: Journal,
  query: Omit<DueQuery, "now" | "after" | "limit">,
  now: number,
): Promise<number> {
  const [next] = await journal.due({
    ...query,
    now: Number.MAX_SAFE_INTEGER,
    after: now,
    limit: 1,
  });
  return next?.dueAt == null ? Number.POSITIVE_INFINITY : next.dueAt - now;
}
