/** Sums that many sets of changes add to; the row of each is written once for all that are written together. */
import { type DocumentCount, summedCounts } from "./document-counts.ts";
import type { UnitOfWork } from "./unit-of-work.ts";
import { summed, type UsageBucket } from "./usage-bucket.ts";

export class SharedRows {
  #usageBuckets: UsageBucket[] = [];
  #counts: DocumentCount[] = [];

  /** Runs a set of changes; where it throws, nothing that it added stays. */
  within<T>(run: () => T): T {
    const [usageBuckets, counts] = [this.#usageBuckets.length, this.#counts.length];
    try {
      return run();
    } catch (error) {
      this.#usageBuckets.length = usageBuckets;
      this.#counts.length = counts;
      throw error;
    }
  }

  use(usageBuckets: readonly UsageBucket[]): void {
    this.#usageBuckets.push(...usageBuckets);
  }

  count(counts: readonly DocumentCount[]): void {
    this.#counts.push(...counts);
  }

  /** Writes what was added since the last time. */
  writeTo(activity: UnitOfWork["activity"]): void {
    for (const usageBucket of summed(this.#usageBuckets)) activity.add(usageBucket);
    for (const count of summedCounts(this.#counts)) activity.count(count);
    this.clear();
  }

  /** Forgets the same. */
  clear(): void {
    this.#usageBuckets = [];
    this.#counts = [];
  }
}
