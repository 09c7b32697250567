import { pieces, type RandomAccess } from "./random-access.ts";

/** More segments than any JPEG has; a bound for hostile files. */
const SEGMENTS_MAX = 5000;

export const START_OF_IMAGE = 0xd8;
export const END_OF_IMAGE = 0xd9;
export const START_OF_SCAN = 0xda;

/** A marker, and where its segment ends. */
export type Segment = { readonly marker: number; readonly at: number; readonly to: number };

/** The segments of a JPEG from `from` on, image data between them; they end where one is not all there. */
export async function* jpegSegments(file: RandomAccess, from: number): AsyncGenerator<Segment> {
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
