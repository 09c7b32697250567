/**
 * The thread that looks into documents. They come from anywhere: what loops, or eats memory, does
 * so here, and the archive goes on answering. Speaks `WorkerRequest` and `WorkerReply`.
 */
import { parentPort } from "node:worker_threads";
import { messageOf } from "../std/fault.ts";
import type { Converted } from "./document-table.ts";
import { extract, NOTHING_FOUND, pagesOf } from "./extract.ts";

/** One job at a time: to count the pages of a file, or to read all that conversion finds in it. */
export type WorkerRequest = { job: "pages" | "extract"; path: string; filename: string };
/** `failed`: why the file could not be looked into; the thread goes on. */
export type WorkerReply = { found: Converted } | { failed: string };

async function reply({ job, path, filename }: WorkerRequest): Promise<WorkerReply> {
  try {
    if (job === "extract") return { found: await extract(path, filename) };
    return { found: { ...NOTHING_FOUND, pages: await pagesOf(path, filename) } };
  } catch (error) {
    return { failed: messageOf(error) };
  }
}

parentPort?.on("message", (request: WorkerRequest) => {
  // `reply` never rejects.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  void reply(request).then((answer) => parentPort?.postMessage(answer));
});
