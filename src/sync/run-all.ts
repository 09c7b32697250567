import { ChannelClosed } from "../reader/rpc-channel.ts";
import { isAbortOf } from "../std/abort.ts";

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
