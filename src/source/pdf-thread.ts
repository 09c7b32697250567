import { once } from "node:events";
import { extname } from "node:path";
import type { Worker } from "node:worker_threads";
import { unlessAborted } from "../std/abort.ts";
import { quietWorker } from "../std/quiet-worker.ts";
import type { OpenBytes } from "./read-file.ts";

/**
 * A document that takes longer than this is taken to never end. A guess: most take milliseconds. That the engine
 * is loaded first is not the document's doing, and takes seconds on a busy machine.
 */
const JOB_MS_MAX = 3_000;
const HEAP_MB_MAX = 256;
/** The thread takes tens of megabytes: it is let go of when it has had nothing to do for so long. */
const REST_MS = 30_000;

/**
 * Counts pages in a thread of its own, one document at a time, so that it is known which one broke
 * the thread; the next gets a new one.
 */
export class PdfThread {
  readonly #jobMsMax: number;
  #worker: Worker | undefined;
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
    const worker = (this.#worker ??= this.#start());
    try {
      await unlessAborted(this.#loaded, hurry);
    } catch {
      // It goes on being loaded, for the next.
      this.#rest();
      return undefined;
    }
    // It broke over being loaded: there is no memory for it.
    if (this.#worker !== worker) return undefined;
    const answered = new AbortController();
    const deadline = AbortSignal.timeout(this.#jobMsMax);
    const signal = AbortSignal.any([hurry, deadline, answered.signal]);
    try {
      // `once` rejects on 'error'; an exit without one comes from `terminate`.
      const reply = Promise.race([
        once(worker, "message", { signal }),
        once(worker, "exit", { signal }).then(() => [undefined]),
      ]);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(bytes);
      const [pages] = (await reply) as [number | undefined];
      this.#rest();
      return pages;
    } catch {
      await worker.terminate();
      return undefined;
    } finally {
      answered.abort();
    }
  }

  #rest(): void {
    const job = this.#jobs;
    const over = () => {
      if (job === this.#jobs) void this.#worker?.terminate();
    };
    AbortSignal.timeout(REST_MS).addEventListener("abort", over, { once: true });
  }

  #start(): Worker {
    // The source and what is built from it differ in the extension, and nobody rewrites a URL.
    const url = new URL(`./pdf-worker${extname(import.meta.url)}`, import.meta.url);
    const worker = quietWorker(url, HEAP_MB_MAX);
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    this.#loaded = Promise.race([once(worker, "message"), once(worker, "exit")]).catch(() => {});
    return worker;
  }
}
