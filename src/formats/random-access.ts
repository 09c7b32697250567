/**
 * A file that can be asked for any piece of its own: an open file of the source, or bytes already
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

/** The first `size` bytes of a file, as if there were no more. */
export function beginningOf(file: RandomAccess, size: number): RandomAccess {
  return {
    size: Math.min(size, file.size),
    read: (position, length) => file.read(position, Math.max(0, Math.min(length, size - position))),
  };
}

/** The bytes of a file from `start` on, as if there were none before. */
export function fromOn(file: RandomAccess, start: number): RandomAccess {
  return {
    size: Math.max(0, file.size - start),
    read: (position, length) => file.read(start + position, length),
  };
}

/** Bytes that are looked through at a time. */
const PIECE_BYTES = 64 << 10;

/**
 * Where `needle` (Latin-1) begins last before `before`, looked for in the `within` bytes in front of that;
 * undefined when it is not there.
 */
export async function lastIndexOf(
  file: RandomAccess,
  needle: string,
  before: number,
  within: number,
): Promise<number | undefined> {
  const bytes = Buffer.from(needle, "latin1");
  const floor = Math.max(0, before - within);
  for (let to = before; to > floor; ) {
    const from = Math.max(floor, to - PIECE_BYTES);
    // One that lies across the edge of a piece is found, too.
    const piece = await file.read(from, Math.min(before, to + bytes.length - 1) - from);
    const at = piece.lastIndexOf(bytes);
    if (at >= 0) return from + at;
    to = from;
  }
  return undefined;
}

/** The bytes from `from` to `to`, piece by piece; fewer where the file ends before. */
export async function* pieces(
  file: RandomAccess,
  from: number,
  to: number,
): AsyncGenerator<{ readonly at: number; readonly bytes: Buffer }> {
  for (let at = from; at < to; ) {
    const bytes = await file.read(at, Math.min(PIECE_BYTES, to - at));
    if (bytes.length === 0) return;
    yield { at, bytes };
    at += bytes.length;
  }
}
