import type { Clock } from "../std/clock.ts";

/** What is being collected, and when that is over, monotonic ms. */
type Open<T> = { readonly items: Set<T>; readonly dueAt: number };

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
  #open: Open<T> | undefined;
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

  /** May hand everything on before it returns, where the time is over and no timer could notify. */
  add(item: T): void {
    if (this.#stopping.aborted) return;
    const now = this.#clock.monotonic();
    this.#open ??= this.#begin(now);
    this.#open.items.add(item);
    // Events that come faster than they are read keep the event loop from turning, and timers from ringing.
    if (now >= this.#open.dueAt) this.#close(this.#open);
  }

  #begin(now: number): Open<T> {
    const waitMs = Math.max(this.#firstMs, this.#closedAt + this.#windowMs - now);
    const open = { items: new Set<T>(), dueAt: now + waitMs };
    this.#after(waitMs, () => this.#close(open));
    return open;
  }

  #close(open: Open<T>): void {
    if (this.#open !== open) return;
    this.#open = undefined;
    this.#closedAt = this.#clock.monotonic();
    const flush = () => this.#flush([...open.items]);
    if (this.#delayMs > 0) this.#after(this.#delayMs, flush);
    else flush();
  }

  #after(ms: number, step: () => void): void {
    this.#clock.sleep(ms, this.#stopping).then(step, () => {
      // A sleep ends early only by `stopping`.
    });
  }
}
