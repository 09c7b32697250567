/**
 * The loop that writes receipts. A batch is closed when all of its documents are CONVERTED and no
 * other may join it. Its files are written first and remembered in the journal then, so that a crash
 * in between writes the same files once more; none is ever left out, since each pass asks the journal
 * what has none.
 *
 * A folder that cannot be written to, or hangs, holds nothing else up: it is reported once, and tried again.
 */
import { type Receipt, receiptOf, RECEIPT_DOCUMENTS_MAX } from "../receipts/receipt.ts";
import type { Batch, Batches, Registry } from "../journal/journal.ts";
import { aborted, unlessAborted } from "../std/abort.ts";
import { Wakeup } from "../std/wakeup.ts";
import { Fault } from "../std/fault.ts";
import type { SyncContext } from "./context.ts";
import { loop } from "./loop.ts";

/** Batches of one question to the journal: some milliseconds. */
const BATCHES_MAX = 100;

/** Documents are converted many a second: they share a pass. */
const COOL_DOWN_MS = 1_000;

/** After a folder refused a receipt; and how long it may take for one until that is reported. */
const PATIENCE_MS = 30_000;

export class Receipts {
  readonly #context: SyncContext<Batches & Registry>;
  readonly #wakeup = new Wakeup();
  /** The pass that goes on, or the last one: two never write at the same time. */
  #pass: Promise<number> = Promise.resolve(0);
  #passedAt = Number.NEGATIVE_INFINITY;
  #isRefused = false;

  constructor(context: SyncContext<Batches & Registry>) {
    this.#context = context;
  }

  /** A batch may have been closed. */
  notify(): void {
    this.#wakeup.notify();
  }

  /** Runs until `stopping` aborts; without a folder for receipts it only waits for that. */
  async run(stopping: AbortSignal): Promise<never> {
    if (!this.#context.receipts) return aborted(stopping);
    return loop(this.#wakeup, this.#context, stopping, () => this.#step(stopping));
  }

  /**
   * At the end of a run: writes the receipts of batches that could still have been joined, too; what
   * comes later is another batch. Gives up when `deadline` aborts.
   */
  async conclude(deadline: AbortSignal): Promise<void> {
    if (!this.#context.receipts || deadline.aborted) return;
    const over = aborted(deadline).catch(() => 0);
    await Promise.race([this.#passAfter(true, deadline), over]);
    if (deadline.aborted)
      this.#context.log.warn(
        {},
        "some receipts were not written in time; the next run writes them",
      );
  }

  async #step(stopping: AbortSignal): Promise<number> {
    const { clock } = this.#context;
    // Each document that is converted meanwhile rings; a folder that refused is left alone all the same.
    const restMs = this.#isRefused ? PATIENCE_MS : COOL_DOWN_MS;
    const waitMs = this.#passedAt + restMs - clock.monotonic();
    if (waitMs > 0) return waitMs;
    const nextMs = await this.#passAfter(false, stopping);
    this.#passedAt = clock.monotonic();
    return nextMs;
  }

  #passAfter(isLast: boolean, signal: AbortSignal): Promise<number> {
    this.#pass = this.#pass.then(() => this.#writeAll(isLast, signal));
    return this.#pass;
  }

  /** Resolves with how long it is until another batch may be closed. */
  async #writeAll(isLast: boolean, signal: AbortSignal): Promise<number> {
    const { journal, log } = this.#context;
    let nextMs = Number.POSITIVE_INFINITY;
    let after: number | null = 0;
    while (after !== null && !signal.aborted) {
      const { batches, next } = await journal.unreceipted(after, BATCHES_MAX);
      for (const batch of batches) {
        if (signal.aborted) break;
        const openMs = isLast ? 0 : this.#openMs(batch);
        if (openMs > 0) {
          nextMs = Math.min(nextMs, openMs);
          continue;
        }
        try {
          await this.#write(batch, signal);
        } catch (error) {
          if (!(error instanceof Fault) || error.code !== "RECEIPT_UNWRITABLE") throw error;
          if (!this.#isRefused) log.warn({ code: error.code, hint: error.hint }, error.message);
          this.#isRefused = true;
          return PATIENCE_MS;
        }
      }
      after = next;
    }
    return nextMs;
  }

  /** For how long a document may still join. */
  #openMs({ documents, joinedAt }: Batch): number {
    const { config, clock } = this.#context;
    const { quietMs, maxDocuments } = config.batch;
    const sinceMs = Math.abs(clock.now() - joinedAt);
    if (documents >= maxDocuments || sinceMs > quietMs) return 0;
    return quietMs - sinceMs + 1;
  }

  async #write({ id, mirrorId }: Batch, signal: AbortSignal): Promise<void> {
    const { journal, clock, log } = this.#context;
    const documents = await journal.inBatch(id, RECEIPT_DOCUMENTS_MAX);
    const mirror = (await journal.mirrors()).find((row) => row.id === mirrorId)?.name ?? "";
    const receipt = receiptOf({ batch: id, mirror, documents });
    // Something happened to it since it was asked for: a later pass comes back to it.
    if (receipt.closedAt === null) return;
    const files = await this.#writeFiles(receipt, signal);
    this.#isRefused = false;
    if (await journal.setReceipt(id, documents.length, clock.now())) {
      log.debug({ batch: id, mirror, documents: documents.length, files }, "receipt written");
    }
  }

  /** Resolves with their paths. A folder that hangs is reported; it is left alone once `signal` aborts. */
  async #writeFiles(receipt: Receipt, signal: AbortSignal): Promise<readonly string[]> {
    const { receipts, clock, log } = this.#context;
    if (!receipts) return [];
    const tell = () =>
      log.warn(
        { batch: receipt.batch },
        "the receipts folder does not answer; everything else continues",
      );
    const answered = clock.alarm(PATIENCE_MS, tell);
    try {
      return await unlessAborted(receipts.write(receipt, signal), signal);
    } finally {
      answered();
    }
  }
}
