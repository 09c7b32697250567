import { messageOf } from "../std/fault.ts";
import type { Blobs } from "./blobs.ts";
import type { Converter } from "./converter.ts";
import type { StoredDocumentRow } from "./document-row.ts";
import { Loop, type LoopParts } from "./loop.ts";
import type { Store } from "./store.ts";

export type ConversionParts = LoopParts & { store: Store; blobs: Blobs; converter: Converter };

/** Before a document that could not be converted is tried again. A guess. */
const RETRY_MS = 10_000;

/**
 * Turns UPLOADED documents into CONVERTED ones, each when it is due, one after another. What is
 * still to do is in the store, so a restart goes on where the last run stopped.
 */
export class Conversion extends Loop<ConversionParts> {
  // A step fails when the disk is full, most likely: then nothing else is worth trying either.
  protected readonly retryMs = RETRY_MS;
  #idle = Promise.withResolvers<void>();

  /** Resolves when no conversion is outstanding; those that never come do not count. */
  async idle(): Promise<void> {
    const { store, closing } = this.parts;
    if (!closing.aborted && store.documents.nextDue())
      await Promise.race([this.#idle.promise, this.ended]);
  }

  protected async step(): Promise<number> {
    const { store, clock } = this.parts;
    const next = store.documents.nextDue();
    if (!next) {
      this.#idle.resolve();
      this.#idle = Promise.withResolvers();
      return Infinity;
    }
    const now = clock.now();
    const waitMs = next.convert_at - now;
    // Uploaded later than it is now: the clock was set back since, and when it is due nobody can tell.
    const isStray = next.uploaded_at > now && waitMs > RETRY_MS;
    if (waitMs > 0 && !isStray) return waitMs;
    await this.#convert(next);
    return 0;
  }

  async #convert(row: StoredDocumentRow): Promise<void> {
    const { store, blobs, converter, clock, log, closing } = this.parts;
    try {
      const { sha256, filename } = row;
      const path = blobs.pathOf(sha256);
      const found = await converter.run({ job: "extract", path, filename });
      // A conversion that was cut short found nothing, and is made again by the next run.
      if (!closing.aborted) store.convert(row, found, clock.now());
    } catch (error) {
      log({ event: "not converted", id: row.id, why: messageOf(error) });
      // Behind the others, so that it stops none of them.
      store.documents.postpone(row.id, clock.now() + RETRY_MS);
    }
  }
}
