import { extname } from "node:path";
import { QuietThread } from "../std/quiet-thread.ts";
import PQueue from "p-queue";
import { messageOf } from "../std/fault.ts";
import type { WorkerReply, WorkerRequest } from "./conversion-worker.ts";
import type { Converted } from "./document-table.ts";
import { NOTHING_FOUND } from "./extract.ts";

/** A document that takes longer than this is taken to never end. A guess. */
const JOB_MS_MAX = 60_000;
const HEAP_MB_MAX = 1024;
/** Uploads wait for their pages, conversions for nobody. */
const PRIORITY = { pages: 1, extract: 0 } as const;

/** Looks into documents in a thread of its own, one at a time. Never rejects: what cannot be read is one page. */
export class Converter {
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #log: (event: Record<string, unknown>) => void;
  readonly #jobMsMax: number;
  // The source and what is built from it differ in the extension, and nobody rewrites a URL.
  readonly #thread = new QuietThread(
    new URL(`./conversion-worker${extname(import.meta.url)}`, import.meta.url),
    HEAP_MB_MAX,
  );
  #closed = false;

  constructor(
    log: (event: Record<string, unknown>) => void,
    { jobMsMax = JOB_MS_MAX }: { jobMsMax?: number } = {},
  ) {
    this.#log = log;
    this.#jobMsMax = jobMsMax;
  }

  /** What the job finds in the file. */
  run(request: WorkerRequest): Promise<Converted> {
    const look = async () => {
      const reply = await this.#ask(request);
      if ("found" in reply) return reply.found;
      const { filename } = request;
      if (!this.#closed) this.#log({ event: "unreadable", filename, why: reply.failed });
      return NOTHING_FOUND;
    };
    return this.#queue.add(look, { priority: PRIORITY[request.job] });
  }

  /** Gives up what is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread.running?.terminate();
    await this.#queue.onIdle();
  }

  async #ask(request: WorkerRequest): Promise<WorkerReply> {
    if (this.#closed) return { failed: "the archive is closing" };
    try {
      return (await this.#thread.ask(request, AbortSignal.timeout(this.#jobMsMax))) as WorkerReply;
    } catch (error) {
      return { failed: messageOf(error) };
    }
  }
}
