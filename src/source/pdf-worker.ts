/**
 * The thread that counts the pages of PDFs which do not state them plainly. They come from anywhere:
 * what loops, or eats memory, does so here, and the reader goes on.
 */
import { parentPort } from "node:worker_threads";
import { pdfPages } from "../formats/pdf.ts";

parentPort?.on("message", (bytes: Uint8Array) => {
  // It never rejects.
  void pdfPages(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).then((pages) =>
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(pages),
  );
});
