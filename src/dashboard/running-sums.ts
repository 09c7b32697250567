import type { Reports } from "../journal/journal.ts";
import { addTo, sumOf, type UsageBucket, type UsageBucketCounts } from "../journal/usage-bucket.ts";

/** What was tallied longer ago than this changes no more, but for what a clock that is set back adds. */
const SETTLED_MS = 24 * 3_600_000;

/**
 * What was tallied since some time, by mirror. Most of it is read once: a journal of some years has
 * hundreds of thousands of usage buckets, and is asked several times a minute.
 */
export class RunningSums {
  readonly #journal: Pick<Reports, "usageBuckets">;
  readonly #beginOf: (now: number) => number;
  #past = new Map<number, UsageBucketCounts>();
  #begin = 0;
  /** Before it, all from `#begin` on is in `#past`. */
  #until = 0;

  /** From `beginOf` on, epoch milliseconds; of all time, where there is none. */
  constructor(journal: Pick<Reports, "usageBuckets">, beginOf: (now: number) => number = () => 0) {
    this.#journal = journal;
    this.#beginOf = beginOf;
  }

  /** The sums at `now`, by the mirror's id. */
  async sums(now: number): Promise<ReadonlyMap<number, UsageBucketCounts>> {
    const begin = this.#beginOf(now);
    if (begin !== this.#begin) {
      this.#begin = begin;
      this.#until = begin;
      this.#past = new Map();
    }
    const [past, from] = [this.#past, this.#until];
    const until = now - SETTLED_MS;
    if (until > from) {
      const settled = await this.#journal.usageBuckets(from, until);
      // Anyone who asked at the same time may have added them, or begun again.
      if (this.#past === past && this.#until === from) {
        addAll(past, settled);
        this.#until = until;
      }
    }
    const [known, read] = [new Map(this.#past), this.#until];
    addAll(known, await this.#journal.usageBuckets(read, Number.MAX_SAFE_INTEGER));
    return known;
  }
}

function addAll(sums: Map<number, UsageBucketCounts>, usageBuckets: readonly UsageBucket[]): void {
  for (const [mirrorId, own] of Map.groupBy(usageBuckets, (usageBucket) => usageBucket.mirrorId)) {
    const sum = sumOf(own);
    addTo(sum, sums.get(mirrorId) ?? sumOf([]));
    sums.set(mirrorId, sum);
  }
}
