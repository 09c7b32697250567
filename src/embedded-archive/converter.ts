import { extname } from "node:path";
import PQueue from "p-queue";
import { messageOf } from "../std/fault.ts";
import { QuietThread } from "../std/quiet-thread.ts";
import type { WorkerReply, WorkerRequest } from "./conversion-worker.ts";
import type { Blobs } from "./blobs.ts";
import { type Converted, NOTHING_FOUND, type StoredDocumentRow } from "./document-row.ts";
import { Loop, type LoopParts } from "./loop.ts";
import type { Store } from "./store.ts";

/** Before a document that could not be converted is tried again. A guess. */
const RETRY_MS = 10_000;
/** A document that takes longer than this is taken to never end. A guess. */
const JOB_MS_MAX = 60_000;
const HEAP_MB_MAX = 1024;
/** Uploads wait for their pages, conversions for nobody. */
const PRIORITY = { pages: 1, extract: 0 } as const;

/** Looks into documents in a thread of its own, one at a time. Never rejects: what cannot be read is one page. */
export class Converter {
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #parts: Pick<LoopParts, "log" | "closing">;
  readonly #jobMsMax: number;
  // The source and what is built from it differ in the extension, and nobody rewrites a URL.
  readonly #thread = new QuietThread(
    new URL(`./conversion-worker${extname(import.meta.url)}`, import.meta.url),
    HEAP_MB_MAX,
  );

  constructor(parts: Pick<LoopParts, "log" | "closing">, jobMsMax = JOB_MS_MAX) {
    this.#parts = parts;
    this.#jobMsMax = jobMsMax;
  }

  /** What the job finds in the file; given up when the archive closes. */
  run(request: WorkerRequest): Promise<Converted> {
    const { log, closing } = this.#parts;
    const look = async () => {
      try {
        closing.throwIfAborted();
        const enough = AbortSignal.any([closing, AbortSignal.timeout(this.#jobMsMax)]);
        const reply = (await this.#thread.ask(request, enough)) as WorkerReply;
        if ("found" in reply) return reply.found;
        throw new Error(reply.failed);
      } catch (error) {
        const { filename } = request;
        if (!closing.aborted) log({ event: "unreadable", filename, why: messageOf(error) });
        return NOTHING_FOUND;
      }
    };
    return this.#queue.add(look, { priority: PRIORITY[request.job] });
  }

  /** Ends the thread once nothing is asked of it. */
  async close(): Promise<void> {
    await this.#queue.onIdle();
    await this.#thread.running?.terminate();
  }
}

/**
 * Turns UPLOADED documents into CONVERTED ones, each when it is due, one after another. What is
 * still to do is in the store, so a restart goes on where the last run stopped.
 */
export class Conversion extends Loop<
  LoopParts & { store: Store; blobs: Blobs; converter: Converter }
> {
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
      if (!closing.aborted) store.unhurried(() => store.documents.convert(row, found, clock.now()));
    } catch (error) {
      log({ event: "not converted", id: row.id, why: messageOf(error) });
      // Behind the others, so that it stops none of them.
      store.documents.postpone(row.id, clock.now() + RETRY_MS);
    }
  }
}
