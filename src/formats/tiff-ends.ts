/**
 * Where a strip of a TIFF ends whose length is not stated: by the end mark of its compression, or by the size of its
 * picture where it is not compressed. LibTIFF reads such files, too, and takes the rest of the file for the strip.
 */
import { pieces, type RandomAccess } from "./random-access.ts";
import type { TableBudget } from "./tiff-directory.ts";

/** A strip or tile without a length, the how manieth it is, and of how many. */
export type Unmeasured = {
  readonly at: number;
  readonly compression: number;
  readonly piece: number;
  readonly pieces: number;
};

/** The first value of a field of its directory. */
type ValueOf = (tag: number) => Promise<number | undefined>;

const UNCOMPRESSED = 1;
const GROUP_4 = 4;
/** The old one and the one of Technical Note 2; both end as JPEG does. */
const JPEGS: readonly number[] = [6, 7];

/**
 * Whether the data that begin at `at` have an end inside the file; false also where nothing could tell, or `budget`
 * does not allow for a longer look.
 */
export async function endsWithin(
  file: RandomAccess,
  asked: Unmeasured,
  valueOf: ValueOf,
  budget: TableBudget,
): Promise<boolean> {
  const { at, compression } = asked;
  if (compression === UNCOMPRESSED) {
    const bytes = await uncompressedBytes(asked, valueOf);
    return bytes !== undefined && at + bytes <= file.size;
  }
  const isJpeg = JPEGS.includes(compression);
  if (compression !== GROUP_4 && !isJpeg) return false;
  const isLsbFirst = (await valueOf(266)) === 2;
  const finder = isJpeg
    ? new MarkFinder(16, 0xffd9, 8, false)
    : new MarkFinder(24, 0x001001, 1, isLsbFirst);
  for await (const { bytes } of pieces(file, at, file.size)) {
    if (finder.isIn(bytes)) return true;
    budget.spend(bytes.length);
    if (budget.spent) return false;
  }
  return false;
}

/** By TIFF 6.0, section 3: rows begin on a byte, and every strip but the last has as many. */
async function uncompressedBytes(
  { piece, pieces: count }: Unmeasured,
  valueOf: ValueOf,
): Promise<number | undefined> {
  const [width, height, bits = 1, samples = 1] = [
    await valueOf(256),
    await valueOf(257),
    await valueOf(258),
    await valueOf(277),
  ];
  if (width === undefined || height === undefined) return undefined;
  const rowsAStrip = Math.min((await valueOf(278)) ?? height, height);
  const rows = Math.max(0, Math.min(rowsAStrip, height - (piece % count) * rowsAStrip));
  return Math.ceil((width * bits * samples) / 8) * rows;
}

/** Finds a pattern of up to 24 bits that may begin at every bit, or at every eighth. */
class MarkFinder {
  readonly #bits: number;
  readonly #mark: number;
  readonly #step: number;
  readonly #isLsbFirst: boolean;
  #window = 0xffffffff;

  constructor(bits: number, mark: number, step: 1 | 8, isLsbFirst: boolean) {
    this.#bits = bits;
    this.#mark = mark;
    this.#step = step;
    this.#isLsbFirst = isLsbFirst;
  }

  /** Whether the mark ends in these bytes, which follow those before. */
  isIn(bytes: Buffer): boolean {
    const mask = 2 ** this.#bits - 1;
    for (const byte of bytes) {
      this.#window = ((this.#window << 8) | (this.#isLsbFirst ? reversed(byte) : byte)) >>> 0;
      for (let shift = 0; shift < 8; shift += this.#step)
        if (((this.#window >>> shift) & mask) === this.#mark) return true;
    }
    return false;
  }
}

/** The bits of a byte in the other order. */
function reversed(byte: number): number {
  let from = byte;
  let to = 0;
  for (let bit = 0; bit < 8; bit++, from >>= 1) to = (to << 1) | (from & 1);
  return to;
}
