import type { Reports } from "../journal/journal.ts";
import { sumOf, type UsageBucket, type UsageBucketCounts } from "../journal/usage-bucket.ts";

/** What was tallied longer ago than this changes no more, but for what a clock that is set back adds. */
const SETTLED_MS = 24 * 3_600_000;

/**
 * What was tallied since some time, by mirror. Most of it is read once: a journal of some years has
 * hundreds of thousands of usage buckets, and is asked several times a minute.
 */
export class RunningSums {
  readonly #journal: Pick<Reports, "usageBuckets">;
  readonly #beginOf: (now: number) => number;
  /** What was tallied from `begin` to `until`. */
  #known = { begin: 0, until: 0, past: new Map<number, UsageBucketCounts>() };

  /** From `beginOf` on, epoch milliseconds. */
  constructor(journal: Pick<Reports, "usageBuckets">, beginOf: (now: number) => number = () => 0) {
    this.#journal = journal;
    this.#beginOf = beginOf;
  }

  /** The sums at `now`, by the mirror's id. */
  async sums(now: number): Promise<ReadonlyMap<number, UsageBucketCounts>> {
    const begin = this.#beginOf(now);
    if (begin !== this.#known.begin) this.#known = { begin, until: begin, past: new Map() };
    const known = this.#known;
    const from = known.until;
    const until = now - SETTLED_MS;
    if (until > from) {
      const settled = await this.#journal.usageBuckets(from, until);
      // Anyone who asked at the same time may have added them.
      if (known.until === from) {
        addAll(known.past, settled);
        known.until = until;
      }
    }
    const sums = new Map(known.past);
    addAll(sums, await this.#journal.usageBuckets(known.until, Number.MAX_SAFE_INTEGER));
    return sums;
  }
}

function addAll(sums: Map<number, UsageBucketCounts>, usageBuckets: readonly UsageBucket[]): void {
  for (const [mirrorId, own] of Map.groupBy(usageBuckets, (usageBucket) => usageBucket.mirrorId)) {
    sums.set(mirrorId, sumOf([...own, sums.get(mirrorId) ?? sumOf([])]));
  }
}
