import { COMPLETE, type Judged, type Judgement, notWritten, unfinished } from "./completeness.ts";
import { type ContentGap, gapWithin } from "./gaps.ts";
import { pieces, type RandomAccess } from "./random-access.ts";

/** Padding behind the end mark within which the mark is looked for first. */
const PADDING_BYTES = 1024;
/** More segments than any JPEG has; a bound for hostile files. */
const SEGMENTS_MAX = 5000;

const START_OF_IMAGE = 0xd8;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;

/**
 * A JPEG ends where its image data do: at the first marker FFD9 behind them, which cannot occur inside
 * them. It does occur inside the preview that cameras put in front of them; so the way there is followed,
 * segment by segment. What is behind the end belongs to phones and cameras (further pictures, a film, padding) and
 * does not matter.
 */
export async function completenessOfJpeg({ file, gaps }: Judged): Promise<Judgement> {
  const begin = await follow(file, 2, START_OF_SCAN, gaps);
  if (!begin) return unfinished("its image data do not begin");
  // Most end with the mark, which then needs no look through all of the data.
  if (gaps.length === 0 && (await endsWithMark(file, begin.to))) return COMPLETE;
  const end = await follow(file, begin.to, END_OF_IMAGE);
  if (!end) return unfinished("its image data do not end: the mark FFD9 is missing");
  const gap = gapWithin(gaps, begin.to, end.at);
  return gap ? notWritten(gap) : COMPLETE;
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

/** A marker, and where its segment ends. */
type Segment = { readonly at: number; readonly to: number };

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
  for (let segments = 0; segments < SEGMENTS_MAX; segments++) {
    const found = await nextMarker(file, at);
    if (!found || gapWithin(gaps, at, found.at)) return undefined;
    // A further image begins: the one before has ended, mark or not.
    const isEnd = wanted === END_OF_IMAGE && found.marker === START_OF_IMAGE;
    const isAlone = found.marker === START_OF_IMAGE || found.marker === END_OF_IMAGE;
    const to = isAlone ? found.at + 2 : await endOfSegment(file, found.at);
    if (to === undefined) return undefined;
    if (found.marker === wanted || isEnd) return { at: found.at, to };
    at = to;
  }
  return undefined;
}

async function endOfSegment(file: RandomAccess, at: number): Promise<number | undefined> {
  const length = await file.read(at + 2, 2);
  if (length.length < 2) return undefined;
  const to = at + 2 + length.readUInt16BE(0);
  return to <= file.size ? to : undefined;
}

/**
 * The next marker from `from` on: behind image data, and behind odd bytes that some cameras leave between
 * segments. Neither FF00, which is a byte of the data, nor a restart within them.
 */
async function nextMarker(
  file: RandomAccess,
  from: number,
): Promise<{ readonly at: number; readonly marker: number } | undefined> {
  const [first, marker = 0] = await file.read(from, 2);
  if (first === 0xff && isMarker(marker)) return { at: from, marker };
  let isAfterFf = false;
  for await (const { at, bytes } of pieces(file, from, file.size)) {
    if (isAfterFf && isMarker(bytes[0] ?? 0)) return { at: at - 1, marker: bytes[0] ?? 0 };
    for (let ff = bytes.indexOf(0xff); ff >= 0; ff = bytes.indexOf(0xff, ff + 1)) {
      const next = bytes[ff + 1];
      if (next !== undefined && isMarker(next)) return { at: at + ff, marker: next };
    }
    isAfterFf = bytes.at(-1) === 0xff;
  }
  return undefined;
}

/** The first marker that is defined; below it, all are reserved, and 01 and 00 stand in data. */
const MARKER_MIN = 0xc0;

function isMarker(byte: number): boolean {
  return byte >= MARKER_MIN && byte !== 0xff && !(byte >= 0xd0 && byte <= 0xd7);
}
