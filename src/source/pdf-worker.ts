/**
 * The thread that counts the pages of PDFs. They come from anywhere: what loops, or eats memory, does so here, and the
 * reader goes on. Its first word says that the library is loaded, each further one is an answer.
 */
import { parentPort } from "node:worker_threads";
import { pdfBytesOf, pdfPages } from "../formats/pdf.ts";
import { type OpenBytes, pdfBytesIn } from "./read-file.ts";

const say = (word: number | undefined) =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(word);
const unknown = () => say(undefined);

parentPort?.on("message", (bytes: OpenBytes) => {
  pdfPages(pdfBytesIn(bytes)).then(say, unknown);
});

pdfPages(pdfBytesOf(Buffer.from("%PDF-"))).then(say, unknown);
