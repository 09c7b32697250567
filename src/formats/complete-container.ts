import type { Completeness } from "./completeness.ts";
import type { RandomAccess } from "./random-access.ts";

/** Zeros behind the end mark of a GIF that are put up with. */
const PADDING_BYTES = 1024;
/** No compressed picture ends with so many zeros. */
const BLANK_BYTES = 64;
/** Boxes at the top of a HEIF file: a handful; a bound for hostile files. */
const BOXES_MAX = 1000;

/** A GIF ends with an empty block and the trailer 3B. */
export async function completenessOfGif(file: RandomAccess): Promise<Completeness> {
  const from = Math.max(0, file.size - PADDING_BYTES - 2);
  const tail = await file.read(from, file.size - from);
  const last = tail.findLastIndex((byte) => byte !== 0);
  return tail[last] === 0x3b && tail[last - 1] === 0 ? "complete" : "unfinished";
}

/** A RIFF file states its length at its front. */
export async function completenessOfWebp(file: RandomAccess, head: Buffer): Promise<Completeness> {
  if (head.length < 8) return "unfinished";
  const end = head.readUInt32LE(4) + 8;
  return (await isWrittenUpTo(file, end)) ? "complete" : "unfinished";
}

/** A HEIF file is a row of boxes that state their lengths; two of them make an image. */
export async function completenessOfHeic(file: RandomAccess): Promise<Completeness> {
  const needed = new Set(["meta", "mdat"]);
  let at = 0;
  for (let boxes = 0; boxes < BOXES_MAX && at < file.size; boxes++) {
    const head = await file.read(at, 16);
    if (head.length < 8) return "unfinished";
    const stated = head.readUInt32BE(0);
    needed.delete(head.toString("latin1", 4, 8));
    // Length 0 means up to the end of the file, wherever that is.
    if (stated === 0) return head.readUInt32BE(4) === 0 ? "unfinished" : "unknown";
    if (stated === 1 && head.length < 16) return "unfinished";
    const length = stated === 1 ? Number(head.readBigUInt64BE(8)) : stated;
    if (length < 8) return "unfinished";
    at += length;
  }
  const whole = at === file.size && needed.size === 0 && (await isWrittenUpTo(file, at));
  return whole ? "complete" : "unfinished";
}

/** Whether the file reaches `end`, and not merely with the zeros of space set aside. */
async function isWrittenUpTo(file: RandomAccess, end: number): Promise<boolean> {
  if (end > file.size) return false;
  const from = Math.max(0, end - BLANK_BYTES);
  return (await file.read(from, end - from)).some((byte) => byte !== 0);
}
