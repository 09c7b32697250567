import { once } from "node:events";
import { extname } from "node:path";
import type { Worker } from "node:worker_threads";
import { unlessAborted } from "../std/abort.ts";
import { QuietThread } from "../std/quiet-thread.ts";
import type { OpenBytes } from "./read-file.ts";

/**
 * A document that takes longer than this is taken to never end. A guess: most take milliseconds. That the engine
 * is loaded first is not the document's doing, and takes seconds on a busy machine.
 */
const JOB_MS_MAX = 3_000;
const HEAP_MB_MAX = 256;
/** The thread takes tens of megabytes: it is let go of when it has had nothing to do for so long. */
const REST_MS = 30_000;

/** Counts pages in a thread of its own, one document at a time. */
export class PdfThread {
  readonly #jobMsMax: number;
  // The source and what is built from it differ in the extension, and nobody rewrites a URL.
  readonly #thread = new QuietThread(
    new URL(`./pdf-worker${extname(import.meta.url)}`, import.meta.url),
    HEAP_MB_MAX,
  );
  /** Resolves when the thread's engine is loaded, or never will be. */
  #loaded: Promise<unknown> = Promise.resolve();
  #turn: Promise<unknown> = Promise.resolve();
  #jobs = 0;

  constructor({ jobMsMax = JOB_MS_MAX }: { jobMsMax?: number } = {}) {
    this.#jobMsMax = jobMsMax;
  }

  /** The number of pages; undefined when the engine cannot tell, or not before `hurry` aborts. Never rejects. */
  pages(bytes: OpenBytes, hurry: AbortSignal): Promise<number | undefined> {
    const job = this.#turn.then(() => (hurry.aborted ? undefined : this.#ask(bytes, hurry)));
    this.#turn = job;
    return job;
  }

  async #ask(bytes: OpenBytes, hurry: AbortSignal): Promise<number | undefined> {
    this.#jobs += 1;
    const worker = this.#thread.running ?? this.#start();
    try {
      await unlessAborted(this.#loaded, hurry);
    } catch {
      // It goes on being loaded, for the next.
      this.#rest();
      return undefined;
    }
    // It broke over being loaded: there is no memory for it.
    if (this.#thread.running !== worker) return undefined;
    try {
      const signal = AbortSignal.any([hurry, AbortSignal.timeout(this.#jobMsMax)]);
      const pages = await this.#thread.ask(bytes, signal);
      this.#rest();
      return pages as number | undefined;
    } catch {
      return undefined;
    }
  }

  #rest(): void {
    const job = this.#jobs;
    const over = () => {
      if (job === this.#jobs) void this.#thread.running?.terminate();
    };
    AbortSignal.timeout(REST_MS).addEventListener("abort", over, { once: true });
  }

  #start(): Worker {
    const worker = this.#thread.start();
    this.#loaded = Promise.race([once(worker, "message"), once(worker, "exit")]).catch(() => {});
    return worker;
  }
}
