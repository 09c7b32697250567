import { LineCut } from "../reader/line.ts";
import { isAbortOf } from "../std/abort.ts";

/** Runs loops until `stopping` aborts; rejects with the first failure of any, which ends the others. */
export async function together(
  stopping: AbortSignal,
  start: (signal: AbortSignal) => readonly Promise<unknown>[],
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([stopping, failed.signal]);
  const outcomes = await Promise.allSettled(
    start(signal).map(async (running) => {
      try {
        await running;
      } catch (error) {
        const stopped = isAbortOf(stopping, error) || isAbortOf(signal, error);
        if (stopped || (signal.aborted && error instanceof LineCut)) return;
        failed.abort(error);
        throw error;
      }
    }),
  );
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
