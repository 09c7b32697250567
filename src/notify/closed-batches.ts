/** Finds batches whose last document has become CONVERTED; each once, also over restarts. */
import type { Batches, Registry } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { counted } from "../std/wording.ts";
import type { Notice } from "./alert.ts";
import { receiptOf } from "./message.ts";

/** So many batches are looked at after a start, for what a crash kept from being told. */
const LATEST = 50;

/** So many are known to be told; older ones are not among the latest any more. */
const TOLD_MAX = 4 * LATEST;

export class ClosedBatches {
  readonly #journal: Batches & Registry;
  readonly #clock: Clock;
  readonly #quietMs: number;
  /** Batches of which a document was converted since they were looked at. */
  readonly #candidates = new Set<string>();
  #isFirst = true;

  /** `quietMs`: a batch that nothing joined for this long is not joined any more. */
  constructor(journal: Batches & Registry, clock: Clock, quietMs: number) {
    this.#journal = journal;
    this.#clock = clock;
    this.#quietMs = quietMs;
  }

  /** A document of this batch was converted. */
  converted(batch: string): void {
    this.#candidates.add(batch);
  }

  /**
   * What was closed since, given what was sent; null when that was not asked for before: what is
   * closed by then is no news.
   */
  async look(told: readonly string[] | null): Promise<{ notices: Notice[]; told: string[] }> {
    if (this.#isFirst) {
      for (const { id } of await this.#journal.latestBatches(LATEST)) this.#candidates.add(id);
      this.#isFirst = false;
    }
    const known = new Set(told);
    const notices: Notice[] = [];
    for (const batch of this.#candidates) {
      if (known.has(batch)) {
        this.#candidates.delete(batch);
        continue;
      }
      const receipt = await receiptOf(this.#journal, batch);
      if (receipt && (await this.#mayGrow(batch))) continue;
      this.#candidates.delete(batch);
      if (!receipt) continue;
      known.add(batch);
      const { mirror, pages, documents } = receipt;
      const title = `A batch of ${mirror} is archived: ${counted(documents.length, "document")}, ${pages} pages`;
      const detail = `Batch ${batch}: every document is CONVERTED.`;
      notices.push({ kind: "batch", cause: `batch:${batch}`, title, detail, hint: "", batch });
    }
    return { notices: told === null ? [] : notices, told: [...known].slice(-TOLD_MAX) };
  }

  async #mayGrow(batch: string): Promise<boolean> {
    const now = this.#clock.now();
    for (const { id } of await this.#journal.mirrors()) {
      const last = await this.#journal.lastBatch(id);
      if (last?.id === batch) return Math.abs(now - last.joinedAt) < this.#quietMs;
    }
    return false;
  }
}
