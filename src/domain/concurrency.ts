/**
 * How many uploads run at the same time: additive increase, multiplicative decrease. An archive that
 * asks for patience halves it, at most once a round trip, since what was under way at that moment
 * shows the same load; what it accepts lets it grow back, one at a time.
 */

/** Documents accepted, one after another, before one more may run next to them. A guess. */
export const GROW_AFTER = 8;

/** The number, and what it rests on. */
export type Concurrency = {
  /** At least 1. */
  readonly limit: number;
  /** Accepted since it last changed. */
  readonly accepted: number;
  /** When it was last halved, by a clock that only grows; attempts begun by then tell nothing new. */
  readonly cutAt: number;
};

/** A start at `limit`. */
export function concurrencyOf(limit: number): Concurrency {
  return { limit: Math.max(1, Math.floor(limit)), accepted: 0, cutAt: Number.NEGATIVE_INFINITY };
}

/** The archive asked for patience, or took too long, at `now`, in an attempt begun at `begunAt`. */
export function pressed(was: Concurrency, begunAt: number, now: number): Concurrency {
  if (begunAt <= was.cutAt) return was;
  return { limit: Math.max(1, Math.floor(was.limit / 2)), accepted: 0, cutAt: now };
}

/** The archive accepted what was begun at `begunAt`; it grows to `max` at most. */
export function accepted(was: Concurrency, begunAt: number, max: number): Concurrency {
  if (begunAt <= was.cutAt || was.limit >= max) return was;
  if (was.accepted + 1 < GROW_AFTER) return { ...was, accepted: was.accepted + 1 };
  return { ...was, limit: was.limit + 1, accepted: 0 };
}
