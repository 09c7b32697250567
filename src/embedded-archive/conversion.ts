import type { Clock } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import type { Blobs } from "./blobs.ts";
import type { Converter } from "./converter.ts";
import type { StoredDocumentRow } from "./document-row.ts";
import type { Store } from "./store.ts";

export type ConversionParts = {
  store: Store;
  blobs: Blobs;
  converter: Converter;
  clock: Clock;
  log: (event: Record<string, unknown>) => void;
};

/** Before a document that could not be converted is tried again. A guess. */
const RETRY_MS = 10_000;

/**
 * Turns UPLOADED documents into CONVERTED ones, each when it is due, one after another. What is
 * still to do is in the store, so a restart goes on where the last run stopped.
 */
export class Conversion {
  readonly #parts: ConversionParts;
  #wake = new AbortController();
  #stopped = false;
  #running: Promise<void> = Promise.resolve();
  #idlers: (() => void)[] = [];

  constructor(parts: ConversionParts) {
    this.#parts = parts;
  }

  /** Goes on with what the last run left; call it once. */
  start(): void {
    this.#running = this.#run();
  }

  /** Says that something may be due earlier than what is waited for. */
  poke(): void {
    this.#wake.abort();
  }

  /** Resolves when no conversion is outstanding; those that never come do not count. */
  async idle(): Promise<void> {
    if (this.#stopped || !this.#parts.store.documents.nextDue()) return;
    await new Promise<void>((resolve) => this.#idlers.push(resolve));
  }

  /** Stops after the document in hand. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.poke();
    await this.#running;
    this.#settleIdlers();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#wake = new AbortController();
      try {
        await this.#step();
      } catch (error) {
        // A full disk, most likely: nothing can be written, so nothing else is worth trying now.
        this.#parts.log({ event: "fault", why: messageOf(error) });
        await this.#rest(RETRY_MS);
      }
    }
  }

  async #step(): Promise<void> {
    const { store, clock } = this.#parts;
    const next = store.documents.nextDue();
    if (!next) this.#settleIdlers();
    const now = clock.now();
    const waitMs = next ? next.convert_at - now : Infinity;
    // Uploaded later than it is now: the clock was set back since, and when it is due nobody can tell.
    const isStray = next && next.uploaded_at > now && waitMs > RETRY_MS;
    if (next && (waitMs <= 0 || isStray)) await this.#convert(next);
    else await this.#rest(waitMs);
  }

  async #convert(row: StoredDocumentRow): Promise<void> {
    const { store, blobs, converter, clock, log } = this.#parts;
    try {
      const found = await converter.extract(blobs.pathOf(row.sha256), row.filename);
      // A conversion that was cut short found nothing, and is made again by the next run.
      if (!this.#stopped) store.convert(row, found, clock.now());
    } catch (error) {
      log({ event: "not converted", id: row.id, why: messageOf(error) });
      // Behind the others, so that it stops none of them.
      store.documents.postpone(row.id, clock.now() + RETRY_MS);
    }
  }

  async #rest(ms: number): Promise<void> {
    const { signal } = this.#wake;
    try {
      if (Number.isFinite(ms)) await this.#parts.clock.sleep(ms, signal);
      else
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #settleIdlers(): void {
    const idlers = this.#idlers;
    this.#idlers = [];
    for (const settle of idlers) settle();
  }
}
