import type { Clock } from "../std/clock.ts";

/** A moment after which a request is given up; it can be pushed back while there is progress. */
export class Deadline {
  readonly timeoutMs: number;
  readonly #clock: Clock;
  #due: number;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.timeoutMs = timeoutMs;
    this.#due = clock.monotonic() + timeoutMs;
  }

  /** The whole timeout again, from now. */
  restart(): void {
    this.#due = this.#clock.monotonic() + this.timeoutMs;
  }

  /** Resolves once the deadline has passed; rejects when `over` aborts first. */
  async passed(over: AbortSignal): Promise<void> {
    for (;;) {
      const left = this.#due - this.#clock.monotonic();
      if (left <= 0) return;
      await this.#clock.sleep(left, over);
    }
  }
}
