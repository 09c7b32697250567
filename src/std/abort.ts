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

/** The reason given when the daemon is asked to stop. */
export class Stopping extends Error {
  override readonly name = "Stopping";
  constructor(why = "asked to stop") {
    super(why);
  }
}
