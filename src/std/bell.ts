import type { Clock } from "./clock.ts";

/**
 * Wakes one loop. A ring while nobody waits is kept, so that work announced during a step is not
 * slept through; several rings count as one.
 */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Resolves at the next ring or after `ms`, whichever comes first; rejects when `signal` aborts. */
  async wait(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#rung) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      try {
        await clock.sleep(ms, AbortSignal.any([signal, woken.signal]));
      } catch (error) {
        signal.throwIfAborted();
        if (!woken.signal.aborted) throw error;
      } finally {
        this.#wake = undefined;
      }
    }
    this.#rung = false;
  }
}
