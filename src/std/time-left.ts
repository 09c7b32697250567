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
