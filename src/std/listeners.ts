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
