import { type Operation, PATHS } from "../wire/shapes.ts";

/** Requests under way, and how many there were. */
export class Traffic {
  readonly #counts = new Map<Operation, number>();
  readonly #active = new Set<Promise<void>>();

  /** Counts the request whatever becomes of it. Rejects as `work` does. */
  async track(operation: Operation, work: () => Promise<void>): Promise<void> {
    this.#counts.set(operation, (this.#counts.get(operation) ?? 0) + 1);
    const active = work();
    this.#active.add(active);
    try {
      await active;
    } finally {
      this.#active.delete(active);
    }
  }

  /** Resolves once nothing is under way, what began meanwhile included. */
  async quiet(): Promise<void> {
    while (this.#active.size > 0) await Promise.allSettled(this.#active);
  }

  /** Since the start, of every operation: 0 of those that nobody asked. */
  counts(): { operation: Operation; count: number }[] {
    return (Object.keys(PATHS) as Operation[]).map((operation) => ({
      operation,
      count: this.#counts.get(operation) ?? 0,
    }));
  }
}
