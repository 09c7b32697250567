/**
 * The thread that looks into documents. They come from anywhere: what loops, or eats memory, does
 * so here, and the archive goes on answering. Speaks `WorkerRequest` and `WorkerReply`.
 */
import { parentPort } from "node:worker_threads";
import { messageOf } from "../std/fault.ts";
import type { Converted } from "./document-table.ts";
import { extract, pagesOf } from "./extract.ts";

/** One job at a time: to count the pages of a file, or to read all that conversion finds in it. */
export type WorkerRequest = { job: "pages" | "extract"; path: string; filename: string };
/** `failed`: the file could not be looked into; the thread goes on. */
export type WorkerReply =
  | { job: "pages"; pages: number }
  | { job: "extract"; found: Converted }
  | { job: "failed"; message: string };

async function reply({ job, path, filename }: WorkerRequest): Promise<WorkerReply> {
  try {
    return job === "pages"
      ? { job, pages: await pagesOf(path, filename) }
      : { job, found: await extract(path, filename) };
  } catch (error) {
    return { job: "failed", message: messageOf(error) };
  }
}

parentPort?.on("message", (request: WorkerRequest) => {
  // `reply` never rejects.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  void reply(request).then((answer) => parentPort?.postMessage(answer));
});
