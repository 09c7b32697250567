import { COMPLETE, type Judged, type Judgement, notWritten, unfinished } from "./completeness.ts";
import { type ContentGap, gapWithin } from "./gaps.ts";
import { pieces, type RandomAccess } from "./random-access.ts";

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

/** What a row of zero bits would stand for among a JPEG's image data: by its tables, no picture holds much of it. */

/** Markers of frames whose data are Huffman codes: baseline, extended, progressive. */
const SEQUENTIAL: readonly number[] = [0xc0, 0xc1];
const PROGRESSIVE = 0xc2;
const HUFFMAN_TABLES = 0xc4;

/** What zero bits mean by each Huffman table, its key as in the file: class and number. */
type FirstSymbols = Map<number, number>;

/** The first code of each Huffman table is all zeros (ITU T.81, C.2), so that its first symbol is what they stand for. */
type Scan = {
  readonly tables: readonly { readonly dc: number | undefined; readonly ac: number | undefined }[];
  /** The first coefficient that is in it; from 1 on there are only others than the average. */
  readonly first: number;
  /** Whether it adds a bit to what is known. */
  readonly refines: boolean;
};

/**
 * Whether the zeros at `at` cannot be image data of the JPEG that `file` begins with: their bits would be a picture
 * whose every block has the same long pattern, or grows darker without an end. Blank paper has zeros if its tables
 * give "no difference" and "nothing more in this block" codes of zeros; then, and where it cannot be told: false.
 *
 * @param tables another JPEG without a picture, whose tables apply where `file` has none of its own
 */
export async function cannotHoldZeros(
  file: RandomAccess,
  at: number,
  tables?: RandomAccess,
): Promise<boolean> {
  const symbols: FirstSymbols = new Map();
  if (tables) await scanAt(tables, tables.size, symbols);
  const { frame, scan } = await scanAt(file, at, symbols);
  return scan !== undefined && isAbsurd(scan, frame);
}

/** The frame, and the scan whose data are at `at`; adds the tables in front of it. */
async function scanAt(file: RandomAccess, at: number, symbols: FirstSymbols) {
  let frame = 0;
  let scan: Scan | undefined;
  for await (const { marker, at: begin, to } of jpegSegments(file, 2)) {
    if (begin >= at) break;
    scan = undefined;
    if (to > at) break;
    if (marker === PROGRESSIVE || SEQUENTIAL.includes(marker)) frame = marker;
    if (marker !== HUFFMAN_TABLES && marker !== START_OF_SCAN) continue;
    const content = await file.read(begin + 4, to - begin - 4);
    if (marker === HUFFMAN_TABLES) addTables(content, symbols);
    else scan = scanOf(content, symbols);
  }
  return { frame, scan };
}

/** Each table: class and number, how many codes there are of each of 16 lengths, and their symbols. */
function addTables(content: Buffer, symbols: FirstSymbols): void {
  for (let at = 0; at + 17 < content.length; ) {
    const count = content.subarray(at + 1, at + 17).reduce((sum, many) => sum + many, 0);
    symbols.set(content[at] ?? 0, content[at + 17] ?? 0);
    at += 17 + count;
  }
}

function scanOf(content: Buffer, symbols: FirstSymbols): Scan {
  const count = content[0] ?? 0;
  const tables = Array.from({ length: count }, (_, index) => {
    const numbers = content[2 + 2 * index] ?? 0;
    return { dc: symbols.get(numbers >> 4), ac: symbols.get(0x10 | (numbers & 0xf)) };
  });
  const [first = 0, , approximation = 0] = content.subarray(1 + 2 * count);
  return { tables, first, refines: approximation >> 4 !== 0 };
}

function isAbsurd({ tables, first, refines }: Scan, frame: number): boolean {
  const drifts = tables.some(({ dc = 0 }) => dc !== 0);
  // A symbol is how many coefficients are zero, and how many bits the next one has; of none, the block or more end.
  const goesOn = tables.some(({ ac = 0 }) => (ac & 0xf) !== 0 || ac === 0xf0);
  if (SEQUENTIAL.includes(frame)) return drifts || goesOn;
  return frame === PROGRESSIVE && !refines && (first === 0 ? drifts : goesOn);
}

/** More segments than any JPEG has; a bound for hostile files. */
const SEGMENTS_MAX = 5000;

const START_OF_IMAGE = 0xd8;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;

/** A marker, and where its segment ends. */
type Segment = { readonly marker: number; readonly at: number; readonly to: number };

/** The segments of a JPEG from `from` on, image data between them; they end where one is not all there. */
async function* jpegSegments(file: RandomAccess, from: number): AsyncGenerator<Segment> {
  let at = from;
  for (let segments = 0; segments < SEGMENTS_MAX; segments++) {
    const found = await nextMarker(file, at);
    if (!found) return;
    const isAlone = found.marker === START_OF_IMAGE || found.marker === END_OF_IMAGE;
    const to = isAlone ? found.at + 2 : await endOfSegment(file, found.at);
    if (to === undefined) return;
    yield { ...found, to };
    at = to;
  }
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
