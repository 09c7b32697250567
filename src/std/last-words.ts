import type { Readable } from "node:stream";

/** What is kept of it: the end. */
const BYTES_MAX = 2_000;

/** Reads the standard error of a program to its end; gives the end of what it said so far, in one line that may be shown. */
export function lastWordsOf(stderr: Readable): () => string {
  let kept = Buffer.alloc(0);
  stderr.on("data", (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-BYTES_MAX);
  });
  return () => {
    const text = kept
      .toString("utf8")
      .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
      .trim();
    return text.slice(-500).toWellFormed();
  };
}
