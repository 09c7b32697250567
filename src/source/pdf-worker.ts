/**
 * The thread that counts the pages of PDFs which do not state them plainly. They come from anywhere:
 * what loops, or eats memory, does so here, and the reader goes on. Its first word says that the engine is
 * loaded, each further one is an answer.
 */
import { parentPort } from "node:worker_threads";
import { pdfPages } from "../formats/pdf.ts";

const say = (word: number | undefined) =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(word);

parentPort?.on("message", (bytes: Uint8Array) => {
  // It never rejects.
  void pdfPages(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).then(say);
});

// It loads its second half with the first document, whatever that is.
void pdfPages(Buffer.from("%PDF-")).then(say);
