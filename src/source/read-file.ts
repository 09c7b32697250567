/**
 * Reading open files: asynchronous, so that the process stays responsive while a disk is slow; only
 * a small piece of a local file is read at once, which costs a fraction of a round trip through the
 * thread pool.
 */
import { createHash } from "node:crypto";
import { read, readSync } from "node:fs";
import type { PdfBytes } from "../formats/pdfium.ts";
import type { RandomAccess } from "../formats/random-access.ts";

/** A piece that is read at once from a file that is not held in memory whole. */
export const CHUNK_BYTES = 1 << 20;

/** Pieces up to this size of a local file are read at once. */
const AT_ONCE_BYTES_MAX = 1 << 20;

/** The same as `readInto` from the beginning, where the file may be on a disk of this host. */
export async function readSmall(buffer: Buffer, fd: number, network: boolean): Promise<Buffer> {
  const { length } = buffer;
  if (network || length > AT_ONCE_BYTES_MAX) return readInto(buffer, fd, 0);
  let filled = 0;
  while (filled < length) {
    const bytesRead = readSync(fd, buffer, filled, length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Up to `length` bytes from `position`; fewer only at the end of the file. */
export function readAt(fd: number, position: number, length: number): Promise<Buffer> {
  // Not from the pool: a chunk may outlive this call by long, and would keep the pool's slab.
  return readInto(Buffer.allocUnsafeSlow(length), fd, position);
}

/** Fills `buffer` from `position`; what was filled of it, less only at the end of the file. */
export async function readInto(buffer: Buffer, fd: number, position: number): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const bytesRead = await readOnce(fd, buffer, filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function readOnce(fd: number, buffer: Buffer, offset: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, offset, buffer.length - offset, position, (error, bytesRead) => {
      if (error) reject(error);
      else resolve(bytesRead);
    });
  });
}

/** An open file as something that can be asked for pieces. */
export function accessOfFd(fd: number, size: number): RandomAccess {
  return {
    size,
    read: (position, length) =>
      readAt(fd, position, Math.max(0, Math.min(length, size - position))),
  };
}

/** The first `size` bytes of an open file. It stays open while they are asked for, in whatever thread. */
export type OpenBytes = { readonly fd: number; readonly size: number };

/** The same as a PDF: read at once, so that only a thread of its own should ask. */
export function pdfBytesIn({ fd, size }: OpenBytes): PdfBytes {
  const read = (position: number, length: number) => {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - position)));
    let filled = 0;
    while (filled < bytes.length) {
      const bytesRead = readSync(fd, bytes, filled, bytes.length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  };
  return { size, read };
}

/** What was read of a file; `bytesRead` is less than its size when it became shorter meanwhile. */
export type FileDigest = { readonly digest: string; readonly bytesRead: number };

/**
 * SHA-256, hex, of the first `size` bytes, the next chunk being read while one is hashed.
 *
 * @param each is given every chunk, which is its own only until what it returns resolves
 */
export async function digestOf(
  fd: number,
  size: number,
  signal: AbortSignal,
  each: (chunk: Buffer) => void | Promise<void> = () => {},
): Promise<FileDigest> {
  const hash = createHash("sha256");
  const chunkBytes = Math.min(CHUNK_BYTES, size);
  // Two for the whole file: with a new one for each chunk, collecting them takes as long as reading.
  let [spare, other] = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)];
  const chunkAt = (position: number): Promise<Buffer> => {
    const chunk = readInto(spare.subarray(0, Math.max(0, size - position)), fd, position);
    [spare, other] = [other, spare];
    // Those who await it learn of it; until then a rejection must not count as unhandled.
    chunk.catch(() => {});
    return chunk;
  };
  let bytesRead = 0;
  let ahead = chunkAt(0);
  try {
    while (bytesRead < size) {
      const chunk = await ahead;
      signal.throwIfAborted();
      if (chunk.length === 0) break;
      ahead = chunkAt(bytesRead + chunk.length);
      hash.update(chunk);
      await each(chunk);
      bytesRead += chunk.length;
    }
  } finally {
    // The caller closes the file next, and its number may then mean another one.
    await ahead.catch(() => {});
  }
  return { digest: hash.digest("hex"), bytesRead };
}
