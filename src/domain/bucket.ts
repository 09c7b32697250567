/** How far the bucket may fall behind its rate and still make up for it. */
export const BURST_MS = 500;

/**
 * A bucket of bytes that fills at a steady rate. It is kept as one moment: when everything that was
 * taken so far will have flowed out. Anyone who takes waits until then, so those who ask are served in
 * the order they asked, without a queue. What was not taken is lost but for `BURST_MS`: enough to
 * make up for a busy event loop, too little for a burst.
 */
export class Bucket {
  readonly #bytesPerSecond: number;
  /** When the last byte taken so far will have flowed out; by the clock of `reserve`. */
  #flownAt = Number.NEGATIVE_INFINITY;

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Takes `bytes` at `now` (a clock that only grows); returns how many ms to wait before using them. */
  reserve(bytes: number, now: number): number {
    const from = Math.max(this.#flownAt, now - BURST_MS);
    this.#flownAt = from + (bytes / this.#bytesPerSecond) * 1_000;
    return Math.max(0, from - now);
  }
}
