import type { Clock } from "./clock.ts";

/** How a rest follows from the work before it: this many times as long, but within these milliseconds. */
export type RestPolicy = {
  readonly times: number;
  readonly minMs?: number;
  readonly maxMs: number;
};

/** How long to rest after work that took so long, milliseconds. */
export function restAfterMs({ times, minMs = 0, maxMs }: RestPolicy, tookMs: number): number {
  return Math.min(maxMs, Math.max(minMs, times * tookMs));
}

/** Work that comes again and again takes at most one part in `times` + 1 of the time. */
export class WorkShare {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #policy: RestPolicy;
  #until = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">, policy: RestPolicy) {
    this.#clock = clock;
    this.#policy = policy;
  }

  /** Milliseconds of the rest that are left; 0: it may begin again. */
  get restMs(): number {
    return Math.max(0, this.#until - this.#clock.monotonic());
  }

  /** Works; the rest begins once that has succeeded. */
  async work<T>(piece: () => Promise<T>): Promise<T> {
    const begunAt = this.#clock.monotonic();
    const result = await piece();
    const endedAt = this.#clock.monotonic();
    this.#until = endedAt + restAfterMs(this.#policy, endedAt - begunAt);
    return result;
  }
}
