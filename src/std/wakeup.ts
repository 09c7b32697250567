import type { Clock } from "./clock.ts";

/**
 * Wakes one loop. A notify while nobody waits is kept, so that work announced during a step is not
 * slept through; several rings count as one.
 */
export class Wakeup {
  #rung = false;
  #wake: (() => void) | undefined;

  /** Ends the wait of anyone who waits, or else the next one before it begins. */
  notify(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** What was rung while nobody waited is of no interest. */
  still(): void {
    this.#rung = false;
  }

  /**
   * Resolves at the next notify or after `ms`, whichever comes first; rejects when `signal` aborts.
   * Without a signal, anyone who waits has to see to it that the wake-up is rung in the end.
   */
  wait(ms: number, clock: Clock, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const wake = () => {
        cancel();
        signal?.removeEventListener("abort", wake);
        this.#wake = undefined;
        this.#rung = false;
        if (signal?.aborted) reject(signal.reason);
        else resolve();
      };
      if (this.#rung) {
        this.#rung = false;
        resolve();
        return;
      }
      this.#wake = wake;
      const cancel = clock.alarm(ms, wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }
}

/** Functions that are called when something happens; each may come and go. */
export class Listeners {
  readonly #listeners = new Set<() => void>();

  /** Adds a listener; the returned function removes it. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Calls every listener, in the order they came. */
  tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
