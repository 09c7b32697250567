/**
 * A file that can be asked for any piece of itself: an open file of the source, or bytes already
 * in memory. What decides over it never needs the whole file.
 */
export interface RandomAccess {
  /** Bytes in the file, as it was when it was opened. */
  readonly size: number;
  /** Up to `length` bytes from `position`; fewer at the end of the file, none beyond it. */
  read(position: number, length: number): Promise<Buffer>;
}

/** Random access to bytes in memory. */
export function accessOf(bytes: Buffer): RandomAccess {
  return {
    size: bytes.length,
    read: async (position, length) =>
      bytes.subarray(position, Math.max(position, position + length)),
  };
}
