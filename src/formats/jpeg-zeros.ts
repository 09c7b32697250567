/** What a row of zero bits would stand for among a JPEG's image data: by its tables, no picture holds much of it. */
import { jpegSegments, START_OF_SCAN } from "./jpeg-segments.ts";
import type { RandomAccess } from "./random-access.ts";

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
