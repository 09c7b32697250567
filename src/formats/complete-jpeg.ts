import { COMPLETE, type Judged, type Judgement, notWritten, unfinished } from "./completeness.ts";
import { type ContentGap, gapWithin } from "./gaps.ts";
import {
  END_OF_IMAGE,
  jpegSegments,
  type Segment,
  START_OF_IMAGE,
  START_OF_SCAN,
} from "./jpeg-segments.ts";
import { cannotHoldZeros } from "./jpeg-zeros.ts";
import type { RandomAccess } from "./random-access.ts";

/** Padding behind the end mark within which the mark is looked for first. */
const PADDING_BYTES = 1024;

/**
 * A JPEG ends where its image data do: at the first marker FFD9 behind them, which cannot occur inside
 * them. It does occur inside the preview that cameras put in front of them; so the way there is followed,
 * segment by segment. What is behind the end belongs to phones and cameras (further pictures, a film, padding) and
 * does not matter.
 */
export async function completenessOfJpeg({ file, gaps, loose }: Judged): Promise<Judgement> {
  const begin = await follow(file, 2, START_OF_SCAN, gaps);
  if (!begin) return unfinished("its image data do not begin");
  // Most end with the mark, which then needs no look through all of the data.
  if (gaps.length + loose.length === 0 && (await endsWithMark(file, begin.to))) return COMPLETE;
  const end = await follow(file, begin.to, END_OF_IMAGE);
  if (!end) return unfinished("its image data do not end: the mark FFD9 is missing");
  const gap = gapWithin(gaps, begin.to, end.at);
  if (gap) return notWritten(gap);
  for (const run of loose)
    if (gapWithin([run], begin.to, end.at) && (await cannotHoldZeros(file, run.from)))
      return notWritten(run);
  return COMPLETE;
}

async function endsWithMark(file: RandomAccess, scanAt: number): Promise<boolean> {
  const from = Math.max(scanAt, file.size - PADDING_BYTES - 2);
  const tail = await file.read(from, file.size - from);
  const end = tail.lastIndexOf(Buffer.of(0xff, END_OF_IMAGE));
  return end >= 0 && tail.subarray(end + 2).every(isPadding);
}

function isPadding(byte: number): boolean {
  return byte === 0 || byte === 0xff || byte === 0x0a || byte === 0x0d || byte === 0x20;
}

/**
 * The next segment with this marker from `from` on; undefined when the file ends before it does, or one of these
 * gaps is where a segment was to begin.
 */
async function follow(
  file: RandomAccess,
  from: number,
  wanted: number,
  gaps: readonly ContentGap[] = [],
): Promise<Segment | undefined> {
  let at = from;
  for await (const found of jpegSegments(file, from)) {
    if (gapWithin(gaps, at, found.at)) return undefined;
    // A further image begins: the one before has ended, mark or not.
    const isEnd = wanted === END_OF_IMAGE && found.marker === START_OF_IMAGE;
    if (found.marker === wanted || isEnd) return found;
    at = found.to;
  }
  return undefined;
}
