import { ChannelClosed } from "../reader/rpc-channel.ts";
import { isAbortOf } from "../std/abort.ts";
import { ArchiveError } from "../archive/archive-error.ts";

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
