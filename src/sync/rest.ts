import type { Clock } from "../std/clock.ts";
import type { QueueState } from "./send-queue.ts";

/**
 * While more is ready than can leave, a group of small files is followed by a rest this many times as long as the
 * group took: what is sent needs the same processors, and the first of thousands are not to wait for the last.
 */
const REST_PER_GROUP = 3;
/** But no longer than this, milliseconds: an archive that takes its time needs no processor. */
const REST_MS_MAX = 250;
/** How often it is looked whether what is ready is about to run out, milliseconds. */
const REST_LOOK_MS = 10;

/** The rests of those who look at files while others are sent. */
export class Rest {
  readonly #clock: Clock;
  readonly #stream: Pick<QueueState, "isSupplied"> | undefined;
  /** When small files may be looked at again, by the monotonic clock. */
  #until = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, stream: Pick<QueueState, "isSupplied"> | undefined) {
    this.#clock = clock;
    this.#stream = stream;
  }

  /** Takes a step unless it rests; resolves with how long to wait before the next, milliseconds. */
  async between(step: () => Promise<number>): Promise<number> {
    const begunAt = this.#clock.monotonic();
    const restMs = this.#stream?.isSupplied ? this.#until - begunAt : 0;
    if (restMs > 0) return Math.min(restMs, REST_LOOK_MS);
    const waitMs = await step();
    const endedAt = this.#clock.monotonic();
    this.#until = endedAt + Math.min(REST_PER_GROUP * (endedAt - begunAt), REST_MS_MAX);
    return waitMs;
  }
}
