import type { Completeness } from "./completeness.ts";
import { PDF_HEADER_WITHIN } from "./kind.ts";
import type { RandomAccess } from "./random-access.ts";

/** The end mark, what leads to it and the garbage behind it must lie within so many last bytes. */
const TAIL_BYTES = 2048;
/** Garbage behind the end mark that is put up with, as by the readers of this world. */
const GARBAGE_BYTES = 1024;

/**
 * A PDF ends with `startxref`, the place of its cross-reference table, `%%EOF`; the place must fit. An updated PDF has
 * several such ends, and the last one counts. A linearized PDF has one near its front, too, but
 * states its length there, so that a piece of it is not taken for the whole.
 */
export async function completenessOfPdf(file: RandomAccess, head: Buffer): Promise<Completeness> {
  const stated = linearizedLength(head);
  if (stated !== undefined && stated > file.size) return "unfinished";
  const from = Math.max(0, file.size - TAIL_BYTES);
  const tail = (await file.read(from, file.size - from)).toString("latin1");
  const end = tail.lastIndexOf("%%EOF");
  if (end < 0 || tail.length - (end + 5) > GARBAGE_BYTES) return "unfinished";
  const start = tail.lastIndexOf("startxref", end);
  // Not as it should be, but nobody stops writing by chance behind an end mark.
  if (start < 0) return "complete";
  const place = /^startxref\s+(\d{1,16})\s/.exec(tail.slice(start, end))?.[1];
  return place !== undefined && Number(place) < from + start ? "complete" : "unfinished";
}

/** The length of the whole file, which a linearized PDF states in its first object. */
function linearizedLength(head: Buffer): number | undefined {
  const front = head.toString("latin1", 0, PDF_HEADER_WITHIN + GARBAGE_BYTES);
  const dictionary = /<<[^>]*\/Linearized\b[^>]*>>/.exec(front)?.[0];
  const length = dictionary && /\/L\s+(\d{1,16})\b/.exec(dictionary)?.[1];
  return length === undefined ? undefined : Number(length);
}
