import type { DueQuery, WorkQueue } from "../journal/journal.ts";
import type { Wakeup } from "../std/wakeup.ts";
import type { Clock } from "../std/clock.ts";
import { ChannelClosed } from "../reader/rpc-channel.ts";
import { isAbortOf } from "../std/abort.ts";
import { ArchiveError } from "../archive/archive-error.ts";

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
  journal: WorkQueue,
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

/** Runs more loops together with those that run already. */
export type Begin = (...loops: readonly Promise<unknown>[]) => void;

/**
 * Runs loops until `stopping` aborts; rejects with the first failure of any, which ends the others. A loop
 * that runs may begin more of them.
 */
export async function together(
  stopping: AbortSignal,
  start: (signal: AbortSignal, begin: Begin) => void,
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([stopping, failed.signal]);
  const running: Promise<void>[] = [];
  const ended = async (loop: Promise<unknown>) => {
    try {
      await loop;
    } catch (error) {
      const stopped = isAbortOf(stopping, error) || isAbortOf(signal, error);
      if (stopped || (signal.aborted && error instanceof ChannelClosed)) return;
      failed.abort(error);
    }
  };
  start(signal, (...loops) => running.push(...loops.map(ended)));
  // Also those that are begun meanwhile.
  for (const loop of running) await loop;
  failed.signal.throwIfAborted();
}

/** Questions in one row that the archive may fail to answer before the row is given up. A guess. */
const UNANSWERED_MAX = 10;

/**
 * One after another. A question that the archive cannot answer keeps none behind it waiting: what it
 * failed with is thrown at the end. Where no other question would fare better it is thrown at once.
 */
export async function inTurn<T>(all: Iterable<T>, ask: (each: T) => Promise<void>): Promise<void> {
  const failed: ArchiveError[] = [];
  for (const each of all) {
    try {
      await ask(each);
    } catch (error) {
      if (!(error instanceof ArchiveError) || !isOfOneQuestion(error)) throw error;
      if (failed.push(error) >= UNANSWERED_MAX) break;
    }
  }
  if (failed[0]) throw failed[0];
}

/** The archive answered, and neither with a refusal of us nor asking for patience. */
function isOfOneQuestion(error: ArchiveError): boolean {
  const isAnswered = error.kind === "refused" || error.httpStatus !== undefined;
  return isAnswered && !error.credentials && !error.pressed;
}
