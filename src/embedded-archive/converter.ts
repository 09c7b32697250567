import { extname } from "node:path";
import PQueue from "p-queue";
import { messageOf } from "../std/fault.ts";
import { QuietThread } from "../std/quiet-thread.ts";
import type { WorkerReply, WorkerRequest } from "./conversion-worker.ts";
import { type Converted, NOTHING_FOUND } from "./document-row.ts";
import type { LoopParts } from "./loop.ts";

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
