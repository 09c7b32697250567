import type { Journal } from "../journal/journal.ts";
import { addTo, sumOf, type UsageBucket, type UsageBucketCounts } from "../journal/usage-bucket.ts";

/** What was tallied longer ago than this changes no more, but for what a clock that is set back adds. */
const SETTLED_MS = 24 * 3_600_000;

/**
 * What was tallied since the journal was made, by mirror. Most of it is read once: a journal of some
 * years has hundreds of thousands of usage buckets, and is asked several times a minute.
 */
export class Ever {
  readonly #journal: Pick<Journal, "usageBuckets">;
  readonly #past = new Map<number, UsageBucketCounts>();
  #until = 0;

  constructor(journal: Pick<Journal, "usageBuckets">) {
    this.#journal = journal;
  }

  /** The sums at `now`, by the mirror's id. */
  async sums(now: number): Promise<ReadonlyMap<number, UsageBucketCounts>> {
    const from = this.#until;
    const until = now - SETTLED_MS;
    if (until > from) {
      const settled = await this.#journal.usageBuckets(from, until);
      // Anyone who asked at the same time may have added them.
      if (this.#until === from) {
        addAll(this.#past, settled);
        this.#until = until;
      }
    }
    const sums = new Map(this.#past);
    addAll(sums, await this.#journal.usageBuckets(this.#until, Number.MAX_SAFE_INTEGER));
    return sums;
  }
}

function addAll(sums: Map<number, UsageBucketCounts>, usageBuckets: readonly UsageBucket[]): void {
  for (const [mirrorId, own] of Map.groupBy(usageBuckets, (usageBucket) => usageBucket.mirrorId)) {
    const sum = sumOf(own);
    addTo(sum, sums.get(mirrorId) ?? sumOf([]));
    sums.set(mirrorId, sum);
  }
}
