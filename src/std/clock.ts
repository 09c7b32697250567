import { setTimeout as delay } from "node:timers/promises";

/**
 * Where time comes from. Nothing outside `std` reads the host's clock or sets a timer itself, so
 * that every decision can be tested at any moment of any day.
 */
export interface Clock {
  /** Wall-clock time, epoch milliseconds. May jump either way. */
  now(): number;
  /** Milliseconds that only ever grow; for measuring how long something took. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** `setTimeout` takes at most 2^31-1 ms (24.8 days); a longer sleep is cut into pieces. */
const TIMER_MS_MAX = 2_147_483_647;

/** The host's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    signal.throwIfAborted();
    let left = Math.max(0, ms);
    try {
      do {
        await delay(Math.min(left, TIMER_MS_MAX), undefined, { signal });
        left -= TIMER_MS_MAX;
      } while (left > 0);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  },
};

/** A number in [0, 1). Injected wherever jitter or an id is made. */
export type Random = () => number;

/** The host's own randomness. */
export const systemRandom: Random = () => Math.random();
