/**
 * True when `error` is `signal`'s own abort.
 *
 * The error's name is not evidence: a request timeout deep inside a call is also an AbortError,
 * and reading it as "we were asked to stop" would end a loop that should have tried again.
 */
export function isAbortOf(signal: AbortSignal, error: unknown): boolean {
  if (!signal.aborted) return false;
  return error === signal.reason || (error instanceof Error && error.cause === signal.reason);
}

/** Rejects with `signal`'s reason once it aborts. */
export function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (signal.aborted) reject(signal.reason as Error);
  else signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  return promise;
}

/** What `work` comes to; where `signal` aborts first it rejects with its reason, and `work` is left to itself. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = Promise.withResolvers<never>();
  const abort = () => over.reject(signal.reason as Error);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** What `work` comes to; undefined where it was `signal` that ended it. */
export async function unlessEnded<T>(
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isAbortOf(signal, error)) return undefined;
    throw error;
  }
}

/** The reason given when the process is asked to stop; by `signal`, where it was one. */
export class Stopping extends Error {
  override readonly name = "Stopping";
  readonly signal: "SIGINT" | "SIGTERM" | undefined;

  constructor(why = "asked to stop", signal?: Stopping["signal"]) {
    super(why);
    this.signal = signal;
  }
}
