/** How often is looked whether time has passed that was nobody's. */
const LOOK_MS = 20;
/** Later than this is not only busy. */
const LATE_MS = 200;

/**
 * The time for which a machine stood still, as a process sees it that has little to do: anyone who is
 * waited for meanwhile could not go on either.
 */
export class Standstill implements Disposable {
  #ms = 0;
  #lookedAt = performance.now();
  readonly #timer = setInterval(() => this.#look(), LOOK_MS);

  get ms(): number {
    this.#look();
    return this.#ms;
  }

  #look(): void {
    const now = performance.now();
    const late = now - this.#lookedAt - LOOK_MS;
    if (late > LATE_MS) this.#ms += late;
    this.#lookedAt = now;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
