import type { Completeness } from "./completeness.ts";
import type { RandomAccess } from "./random-access.ts";

/** Padding behind the end mark that is put up with. */
const PADDING_BYTES = 1024;
/** More segments than any JPEG has before its image data; a bound for hostile files. */
const SEGMENTS_MAX = 2000;

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/**
 * A JPEG ends with the mark FFD9, which cannot occur inside its image data. It does occur inside
 * the preview that cameras put in front of them; so first the way there is followed, segment by
 * segment.
 */
export async function completenessOfJpeg(file: RandomAccess): Promise<Completeness> {
  const scanAt = await startOfScan(file);
  if (scanAt === undefined) return "unfinished";
  const from = Math.max(scanAt, file.size - PADDING_BYTES - 2);
  const tail = await file.read(from, file.size - from);
  const end = tail.lastIndexOf(Buffer.of(0xff, END_OF_IMAGE));
  if (end < 0) return "unfinished";
  return tail.subarray(end + 2).every(isPadding) ? "complete" : "unfinished";
}

function isPadding(byte: number): boolean {
  return byte === 0 || byte === 0xff || byte === 0x0a || byte === 0x0d || byte === 0x20;
}

/** Where the image data begin; undefined when the file ends before. */
async function startOfScan(file: RandomAccess): Promise<number | undefined> {
  let at = 2;
  for (let segments = 0; segments < SEGMENTS_MAX; segments++) {
    const head = await file.read(at, 4);
    if (head.length < 4 || head[0] !== 0xff) return undefined;
    const marker = head[1] ?? 0;
    // Any marker may be led by further FF as filling; restart marks and 01 stand alone.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (marker === START_OF_SCAN) return at + 2 + head.readUInt16BE(2);
    else at += 2 + head.readUInt16BE(2);
  }
  return undefined;
}
