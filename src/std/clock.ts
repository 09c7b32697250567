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
  /** Calls `notify` after `ms`, unless the function that is returned was called before. */
  alarm(ms: number, notify: () => void): () => void;
}

/** `setTimeout` takes at most 2^31-1 ms (24.8 days); a longer sleep is cut into pieces. */
const TIMER_MS_MAX = 2_147_483_647;

/** The host's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
  alarm(ms, notify) {
    let timer: NodeJS.Timeout | undefined;
    const wait = (left: number) => {
      const rest = left - TIMER_MS_MAX;
      timer = setTimeout(() => (rest > 0 ? wait(rest) : notify()), Math.min(left, TIMER_MS_MAX));
    };
    wait(Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

/** `Clock.sleep` by way of `Clock.alarm`. */
export function sleepOn(
  clock: Pick<Clock, "alarm">,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.alarm(ms, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    signal.addEventListener("abort", abort, { once: true });
  });
}

/** A number in [0, 1). Injected wherever jitter or an id is made. */
export type Random = () => number;

/** The host's own randomness. */
export const systemRandom: Random = () => Math.random();

/**
 * Time that several processes of a host have together, and that may end while one of them is stopped.
 * It is given as a moment, by two clocks that every process of the host reads alike: how long ago it
 * was given does not matter then, nor that one of the clocks is set or stands still meanwhile.
 */

/** Clocks of the host, in milliseconds. */
export interface HostClock {
  /** Never set; it may stand still while the host sleeps. */
  monotonic(): number;
  /** Goes on while the host sleeps; may be set. */
  wall(): number;
}

/** The host's own clocks. */
export const hostClock: HostClock = {
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  wall: () => Date.now(),
};

/** When it is over; plain data. */
export type Until = { readonly monotonic: number; readonly wall: number };

/** The moment in as many milliseconds as `leftMs` says. */
export function untilIn(leftMs: () => number, clock: HostClock = hostClock): Until {
  // Read before it is asked: stopped in between, this says too little, and never too much.
  const [monotonic, wall] = [clock.monotonic(), clock.wall()];
  const left = leftMs();
  return { monotonic: monotonic + left, wall: wall + left };
}

/** Milliseconds left, by the clock that went further; 0 or less: it is over. */
export function leftOf(until: Until, clock: HostClock = hostClock): number {
  return Math.min(until.monotonic - clock.monotonic(), until.wall - clock.wall());
}
