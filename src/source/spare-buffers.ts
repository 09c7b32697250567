/**
 * Memory to read files into that is used again: with a buffer of its own for each file, V8 looks through
 * its whole heap for garbage again and again, which takes longer than reading and hashing the files.
 */
export class SpareBuffers {
  /** What is kept for the next, bytes at most. */
  readonly #keepMax: number;
  #spare: Buffer[] = [];

  constructor(keepMax: number) {
    this.#keepMax = keepMax;
  }

  /** A buffer of at least `length` bytes, whatever is in them. */
  take(length: number): Buffer {
    const fitting = this.#spare.findIndex((buffer) => buffer.length >= length);
    const [taken] = fitting < 0 ? [] : this.#spare.splice(fitting, 1);
    return taken ?? Buffer.allocUnsafeSlow(roundedUp(length));
  }

  /**
   * A buffer that was taken, whole, belongs to the taker from now on: no one else may read from it, write to it or
   * keep a part of it any more. One of which that is not sure is not given back.
   */
  giveBack(buffer: Buffer): void {
    // The larger ones are kept: they serve more.
    let left = this.#keepMax;
    const bySize = [...this.#spare, buffer].sort((a, b) => b.length - a.length);
    this.#spare = bySize.filter(({ length }) => length <= left && (left -= length) >= 0).reverse();
  }
}

/** To a power of two, so that files that are hardly larger than the ones before find a buffer, too. */
function roundedUp(length: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(length, 1 << 16)));
}
