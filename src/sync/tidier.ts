/**
 * Retention (`journal.retain`): once a day the journal is gone through, a few rows at a time, and
 * what is long done is let go. Only of mirrors that were scanned in this run: a file that came back
 * while nothing ran must be seen first.
 */
import type { Retention } from "../journal/journal.ts";
import { Wakeup } from "../std/wakeup.ts";
import type { SyncContext } from "./context.ts";
import { loop } from "./loop.ts";

/** How often the journal is gone through. */
const EVERY_MS = 86_400_000;

/** Rows of one step: some milliseconds of one transaction. */
const ROWS_MAX = 200;

/** The wait between two steps, during which everything else is written. */
const COOL_DOWN_MS = 100;

/** Before the first scans are over there is nothing that could be let go. */
const UNSCANNED_MS = 5_000;

export class Tidier {
  readonly #context: SyncContext<Retention>;
  readonly #scanned: () => readonly number[];
  #after = 0;
  /** Goes on from one time to the next: there may be more batches than one of them looks at. */
  #afterBatch = 0;
  #dueAt = 0;
  #dropped = 0;
  #trimmed = 0;

  /** `scanned`: the mirrors whose sources were walked whole since the start. */
  constructor(context: SyncContext<Retention>, scanned: () => readonly number[]) {
    this.#context = context;
    this.#scanned = scanned;
  }

  async run(stopping: AbortSignal): Promise<never> {
    return loop(new Wakeup(), this.#context, stopping, () => this.#step());
  }

  async #step(): Promise<number> {
    const { config, journal, clock, log, receipts } = this.#context;
    const { retention } = config;
    if (!retention) return Number.POSITIVE_INFINITY;
    const waitMs = this.#dueAt - clock.monotonic();
    if (waitMs > 0) return waitMs;
    const mirrorIds = this.#scanned();
    if (mirrorIds.length === 0) return UNSCANNED_MS;
    const at = clock.now();
    const { next, nextBatch, dropped, trimmed } = await journal.tidy({
      at,
      before: at - retention.retainMs,
      forgetBefore: at - retention.rememberMs,
      mirrorIds,
      after: this.#after,
      afterBatch: this.#afterBatch,
      limit: ROWS_MAX,
      receipts: receipts !== undefined,
    });
    this.#dropped += dropped;
    this.#trimmed += trimmed;
    this.#after = next ?? 0;
    this.#afterBatch = nextBatch;
    if (next !== null) return COOL_DOWN_MS;
    if (this.#dropped + this.#trimmed > 0) {
      log.info(
        { dropped: this.#dropped, trimmed: this.#trimmed },
        "removed old details from the journal",
      );
    }
    [this.#dropped, this.#trimmed] = [0, 0];
    this.#dueAt = clock.monotonic() + EVERY_MS;
    return EVERY_MS;
  }
}
