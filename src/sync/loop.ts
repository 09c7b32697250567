import type { DueQuery, Journal } from "../journal/journal.ts";
import type { Wakeup } from "../std/wakeup.ts";
import type { Clock } from "../std/clock.ts";

/**
 * No loop sleeps longer than this before something that is due: clocks jump. One that waits for
 * nothing but its wake-up usually sleeps as long (`SyncContext.maxSleepMs`), so that a wake-up that was
 * missed costs at most this much.
 */
export const MAX_SLEEP_MS = 30_000;

/**
 * Runs `step` for ever, one at a time. A step says after how many milliseconds it wants to run
 * again, `Infinity` for not on its own; the wake-up wakes it sooner. Ends only by rejecting: with
 * `stopping`'s abort or a failure.
 */
export async function loop(
  wakeup: Wakeup,
  { clock, maxSleepMs }: { readonly clock: Clock; readonly maxSleepMs: number },
  stopping: AbortSignal,
  step: () => Promise<number>,
): Promise<never> {
  // One listener for as long as it runs: a signal with a listener for every wait costs more.
  const wake = () => wakeup.notify();
  stopping.addEventListener("abort", wake, { once: true });
  try {
    for (;;) {
      stopping.throwIfAborted();
      const waitMs = await step();
      const ms = waitMs === Infinity ? maxSleepMs : Math.max(0, Math.min(waitMs, MAX_SLEEP_MS));
      await wakeup.wait(ms, clock);
    }
  } finally {
    stopping.removeEventListener("abort", wake);
  }
}

/**
 * How long until the next row of this kind falls due after `now`; for ever when none does. Rows
 * that are due already wait for something else, and whatever that is rings the wake-up.
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
