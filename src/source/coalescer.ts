import type { Clock } from "../std/clock.ts";

/**
 * Collects what comes in quick succession and hands it on once, without doubles: everything waits
 * `delayMs`, and up to `windowMs` longer for company; up to `firstMs` only, if given, where nothing was handed
 * on for that long.
 */
export class Coalescer<T> {
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #firstMs: number;
  readonly #delayMs: number;
  readonly #flush: (items: T[]) => void;
  readonly #stopping: AbortSignal;
  #open: Set<T> | undefined;
  /** When a window was last closed, monotonic ms. */
  #closedAt = Number.NEGATIVE_INFINITY;

  /** Once `stopping` aborts, what waits is dropped. */
  constructor(
    clock: Clock,
    timing: { windowMs: number; firstMs?: number; delayMs: number },
    flush: (items: T[]) => void,
    stopping: AbortSignal,
  ) {
    this.#clock = clock;
    this.#windowMs = timing.windowMs;
    this.#firstMs = timing.firstMs ?? timing.windowMs;
    this.#delayMs = timing.delayMs;
    this.#flush = flush;
    this.#stopping = stopping;
  }

  add(item: T): void {
    if (this.#stopping.aborted) return;
    if (!this.#open) {
      this.#open = new Set();
      void this.#run(this.#open);
    }
    this.#open.add(item);
  }

  async #run(batch: Set<T>): Promise<void> {
    try {
      const restMs = this.#closedAt + this.#windowMs - this.#clock.monotonic();
      await this.#clock.sleep(Math.max(this.#firstMs, restMs), this.#stopping);
      this.#closedAt = this.#clock.monotonic();
      this.#open = undefined;
      if (this.#delayMs > 0) await this.#clock.sleep(this.#delayMs, this.#stopping);
    } catch {
      // A sleep ends early only by `stopping`.
      return;
    }
    this.#flush([...batch]);
  }
}
