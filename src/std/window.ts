/**
 * Several at a time, but not more than weigh `max` together: back-pressure for one who hands things
 * over faster than they are taken. What alone weighs more than that goes on its own.
 */
export class Window {
  readonly #max: number;
  readonly #open = new Set<Promise<void>>();
  #weight = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** Starts `task` as soon as there is room, and resolves then. Rejects with the first failure. */
  async add(weight: number, task: () => void | Promise<void>): Promise<void> {
    while (this.#open.size > 0 && this.#weight + weight > this.#max) {
      await Promise.race(this.#open);
    }
    this.#throwFailure();
    const running = this.#run(weight, task).finally(() => this.#open.delete(running));
    this.#open.add(running);
  }

  /** Resolves once everything that was started has ended; rejects with the first failure. */
  async drain(): Promise<void> {
    await Promise.all(this.#open);
    this.#throwFailure();
  }

  async #run(weight: number, task: () => void | Promise<void>): Promise<void> {
    this.#weight += weight;
    try {
      await task();
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      this.#weight -= weight;
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
