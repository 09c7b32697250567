import { type ContentGap, gapWithin, wordsOf, type ZeroRuns } from "./gaps.ts";
import { cannotHoldZeros } from "./jpeg.ts";
import { beginningOf, fromOn, pieces, type RandomAccess } from "./random-access.ts";
import {
  type Dialect,
  type Directory,
  readDirectory,
  type TableBudget,
  type TiffField,
  unsigned,
  widthOf,
} from "./tiff-directory.ts";

/** `whole`: everything is inside the file; `broken`: it is not; `limit`: not looked any further. */
export type TiffState = "whole" | "broken" | "limit";

const STRIP_LENGTHS = 279;
const OLD_JPEG = 513;
/** Tags that say where an image's data are, and how many bytes: strips, tiles, old-style JPEG. */
const PLACES = [
  [273, STRIP_LENGTHS],
  [324, 325],
  [OLD_JPEG, 514],
] as const;
/** The tag of directories below one: smaller copies of its picture, or the picture of which it is one. */
const CHILDREN = 330;
/** A bound for hostile files. */
const CHILDREN_MAX = 1000;
const COMPRESSION = 259;
const UNCOMPRESSED = 1;
const JPEG = 7;
/** The tag of the tables of all its JPEGs. */
const JPEG_TABLES = 347;
/** CCITT's three, and LZW: whatever the picture, their codes make no block of zeros. */
const WITHOUT_ZEROS: readonly number[] = [2, 3, 4, 5];

/** What a value is counted as at least: it takes its time however narrow it is. */
const VALUE_BYTES_MIN = 8;

/** Values of one table read at a time. */
const VALUES_AT_ONCE = 8192;

/** No compressed strip ends with so many zeros: the longest that encoders were seen to leave are 13. */
const BLANK_BYTES = 64;
/** Some programs of scanners fill a strip up behind the end mark of its JPEG; so many zeros are put up with. */
const PADDING_BYTES = 4096;
const JPEG_END = 0xffd9;

/** A strip or a tile; `to` is behind its last byte. */
type Piece = { readonly at: number; readonly to: number; readonly isCompressed: boolean };

const WHOLE = "whole";
type State = typeof WHOLE | "limit" | { readonly why: string };

/** Whether the data of a file's images are all inside it, and written. */
export class ImageData {
  readonly #file: RandomAccess;
  readonly #dialect: Dialect;
  readonly #gaps: readonly ContentGap[];
  /** Those too that begin and end anywhere. */
  readonly #runs: readonly ContentGap[];
  readonly #budget: TableBudget;
  /** Directories below others that were looked at. */
  readonly #children = new Set<number>();
  /** What ends last in the file. */
  #last: Piece | undefined;

  constructor(
    file: RandomAccess,
    dialect: Dialect,
    { gaps, loose }: ZeroRuns,
    budget: TableBudget,
  ) {
    this.#file = file;
    this.#dialect = dialect;
    this.#gaps = gaps;
    this.#runs = [...gaps, ...loose];
    this.#budget = budget;
  }

  /** Whether the data of this directory's image are all inside the file, and those of the ones below it. */
  async stateOf(directory: Directory): Promise<State> {
    const fieldOf = (wanted: number) => directory.fields.find(({ tag }) => tag === wanted);
    for (const [offsetsTag, lengthsTag] of PLACES) {
      const offsets = fieldOf(offsetsTag);
      // Where there are strips, an old-style JPEG is the same data, and of some writers its length is wrong.
      const isTold = offsetsTag === OLD_JPEG && fieldOf(STRIP_LENGTHS) !== undefined;
      const lengths = isTold ? undefined : fieldOf(lengthsTag);
      if (!offsets) continue;
      const state = await this.#stateOfPieces(directory, offsets, lengths);
      if (state !== WHOLE) return state;
    }
    return this.#stateBelow(directory);
  }

  async #stateBelow({ fields }: Directory): Promise<State> {
    const children = fields.find(({ tag }) => tag === CHILDREN);
    if (!children) return WHOLE;
    for (const at of await this.#valuesOf(children, 0, Math.min(children.count, VALUES_AT_ONCE))) {
      if (this.#budget.spent || this.#children.size >= CHILDREN_MAX) return "limit";
      if (this.#children.has(at)) continue;
      this.#children.add(at);
      const child = await readDirectory(this.#file, this.#dialect, at, this.#budget);
      const state = child
        ? await this.stateOf(child)
        : { why: "a directory below it is not there" };
      if (state !== WHOLE) return state;
    }
    return WHOLE;
  }

  /**
   * Space is set aside for a whole file before its data come. Where the directory comes first, they
   * are the last to come; of compressed data zeros tell that, of others only zeros that begin where a block does.
   */
  async whyTheLastIsNotWritten(): Promise<string | undefined> {
    if (!this.#last) return undefined;
    const { at, to, isCompressed } = this.#last;
    const atEnd = (gap: ContentGap) => gap.begins && gap.to === this.#file.size && gap.from < to;
    const gap = isCompressed ? undefined : this.#gaps.find(atEnd);
    if (gap) return wordsOf(gap);
    if (!isCompressed || to - at < BLANK_BYTES) return undefined;
    const from = Math.max(at, to - PADDING_BYTES);
    const tail = await this.#file.read(from, to - from);
    const end = tail.findLastIndex((byte) => byte !== 0) + 1;
    const isPadded = end >= 2 && tail.readUInt16BE(end - 2) === JPEG_END;
    return isPadded || tail.length - end < BLANK_BYTES
      ? undefined
      : "its data end in zeros, not written yet";
  }

  /** Old writers leave the lengths out for a single uncompressed strip. */
  async #stateOfPieces(
    directory: Directory,
    offsets: TiffField,
    lengths: TiffField | undefined,
  ): Promise<State> {
    const compression = (await this.#valueOf(directory, COMPRESSION)) ?? UNCOMPRESSED;
    const isCompressed = compression !== UNCOMPRESSED;
    const impossible = WITHOUT_ZEROS.includes(compression) ? this.#runs : this.#gaps;
    const count = Math.min(offsets.count, lengths?.count ?? offsets.count);
    for (let from = 0; from < count; from += VALUES_AT_ONCE) {
      if (this.#budget.spent) return "limit";
      const many = Math.min(VALUES_AT_ONCE, count - from);
      const places = await this.#valuesOf(offsets, from, many);
      const sizes = lengths && (await this.#valuesOf(lengths, from, many));
      for (const [index, at] of places.entries()) {
        const size = sizes?.[index] ?? 1;
        // A strip at 0 is one whose place is not written yet: there the header is.
        if (at === 0 || at + size > this.#file.size) return { why: "its data are not all there" };
        const asked = { at, compression, piece: from + index, pieces: count };
        // No length says nothing: some writers fill it in last, and some never do.
        if (size === 0 && !(await this.#endsWithin(asked, directory)))
          return this.#budget.spent
            ? "limit"
            : { why: "its data have no length, and no end is found" };
        const gap = isCompressed ? gapWithin(impossible, at, at + size) : undefined;
        const isJpeg = compression === JPEG && !gap;
        const torn = isJpeg ? await this.#tornIn(directory, at, at + size) : gap;
        if (torn) return { why: wordsOf(torn) };
        if (!this.#last || at + size > this.#last.to)
          this.#last = { at, to: at + size, isCompressed };
      }
    }
    return WHOLE;
  }

  /** Zeros in a JPEG that begin and end anywhere, and are no data of its. */
  async #tornIn({ fields }: Directory, at: number, to: number): Promise<ContentGap | undefined> {
    const run = gapWithin(this.#runs, at, to);
    if (!run || run.from < at) return undefined;
    const field = fields.find(({ tag }) => tag === JPEG_TABLES);
    const tables = field && beginningOf(fromOn(this.#file, field.at), field.count);
    const isTorn = await cannotHoldZeros(fromOn(this.#file, at), run.from - at, tables);
    return isTorn ? run : undefined;
  }

  #endsWithin(asked: Unmeasured, directory: Directory): Promise<boolean> {
    const valueOf = (tag: number) => this.#valueOf(directory, tag);
    return endsWithin(this.#file, asked, valueOf, this.#budget);
  }

  /** The first value of a field of the directory. */
  async #valueOf({ fields }: Directory, wanted: number): Promise<number | undefined> {
    const field = fields.find(({ tag }) => tag === wanted);
    return field && (await this.#valuesOf(field, 0, 1))[0];
  }

  async #valuesOf(field: TiffField, from: number, many: number): Promise<number[]> {
    const width = widthOf(field);
    this.#budget.spend(many * Math.max(VALUE_BYTES_MIN, width));
    const bytes = await this.#file.read(field.at + from * width, many * width);
    const count = width === 0 ? 0 : Math.floor(bytes.length / width);
    return Array.from({ length: count }, (_, index) =>
      unsigned(bytes, index * width, width, this.#dialect),
    );
  }
}

/**
 * Where a strip of a TIFF ends whose length is not stated: by the end mark of its compression, or by the size of its
 * picture where it is not compressed. LibTIFF reads such files, too, and takes the rest of the file for the strip.
 */

/** A strip or tile without a length, the how manieth it is, and of how many. */
type Unmeasured = {
  readonly at: number;
  readonly compression: number;
  readonly piece: number;
  readonly pieces: number;
};

/** The first value of a field of its directory. */
type ValueOf = (tag: number) => Promise<number | undefined>;

const GROUP_4 = 4;
/** The old one and the one of Technical Note 2; both end as JPEG does. */
const JPEGS: readonly number[] = [6, 7];

/**
 * Whether the data that begin at `at` have an end inside the file; false also where nothing could tell, or `budget`
 * does not allow for a longer look.
 */
async function endsWithin(
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
