/** Blocks of file systems and pages of memory are of this size, or multiples of it. Bytes. */
export const BLOCK_BYTES = 4096;

/** A run of zeros that holds a block or more; `from` and `to` in bytes, those of whole blocks. */
export type ContentGap = {
  readonly from: number;
  readonly to: number;
  /** Whether it begins exactly where a block does. */
  readonly begins: boolean;
};

/** The zeros of a file. */
export type ZeroRuns = {
  /**
   * Those that begin or end exactly where a block does: so does what a parallel writer, or a network file system's
   * client, has not written yet. Zeros that belong to a content begin and end anywhere: a blank page as JPEG or WebP
   * may have 100 KB of them, and one run in 2048 looks like a gap by chance.
   */
  readonly gaps: readonly ContentGap[];
  /** Those that do neither: not written yet only where the format says that they are no content. */
  readonly loose: readonly ContentGap[];
};

/** More of a kind are not told about; one is enough. */
const GAPS_MAX = 16;

const ZEROS = Buffer.alloc(BLOCK_BYTES);

/** Finds the zeros of a file whose bytes pass by in order, for next to nothing next to hashing them. */
export class GapFinder implements ZeroRuns {
  readonly gaps: ContentGap[] = [];
  readonly loose: ContentGap[] = [];
  /** Bytes of blocks that hold nothing but zeros, be they gaps or not; the last block counts as a whole one. */
  zeroBytes = 0;
  #at = 0;
  #before = 1;
  #run: ContentGap | undefined;

  /** The next bytes; all but the last of them end where a block does. */
  add(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
      const to = Math.min(from + BLOCK_BYTES, bytes.length);
      const first = bytes[from];
      const isZero = first === 0 && bytes.compare(ZEROS, 0, to - from, from, to) === 0;
      if (isZero)
        this.#extend(this.#at + from, this.#at + to, from > 0 ? bytes[from - 1] : this.#before);
      else this.#close(first !== 0);
    }
    this.#at += bytes.length;
    this.#before = bytes.at(-1) ?? this.#before;
  }

  /** There are no more bytes. */
  end(): this {
    this.#close(false);
    return this;
  }

  #extend(from: number, to: number, before: number | undefined): void {
    const isWhole = to - from === BLOCK_BYTES;
    this.zeroBytes += BLOCK_BYTES;
    if (this.#run) this.#run = { ...this.#run, to };
    else if (isWhole) this.#run = { from, to, begins: before !== 0 };
  }

  #close(ends: boolean): void {
    const run = this.#run;
    this.#run = undefined;
    const like = run?.begins === true || ends ? this.gaps : this.loose;
    if (run && like.length < GAPS_MAX) like.push(run);
  }
}

/** The first gap that reaches into the bytes from `from` to `to`. */
export function gapWithin(
  gaps: readonly ContentGap[],
  from: number,
  to: number,
): ContentGap | undefined {
  return gaps.find((gap) => gap.from < to && gap.to > from);
}

/** What people learn about a gap. */
export function wordsOf({ from, to }: ContentGap): string {
  return `${to - from} bytes from byte ${from} on are zeros, not written yet`;
}
