import { closeSync, fstatSync } from "node:fs";
import type { Seen } from "../domain/document.ts";
import { isSameStamp } from "../domain/stamp.ts";
import { type Fault, invariant } from "../std/fault.ts";
import type { RawPath } from "../std/raw-path.ts";
import type { Directories } from "./directories.ts";
import { FileChanged, fileFault, FileGone, NotRegular, SourceOffline } from "./file-fault.ts";
import { openInside } from "./open-inside.ts";
import { type ContentProof, proofOf } from "./known-contents.ts";
import { CHUNK_BYTES, readInto, readSmall } from "./read-file.ts";
import { seenOf } from "./seen.ts";
import type { SourceSettings } from "./source.ts";
import { sourceStatus } from "./source-status.ts";

/**
 * The content that is sent: exactly what was hashed when the file was found whole, or nothing.
 *
 * Small files are read once into memory and proven there; the memory of all but the smallest is used
 * again once the kernel has the bytes, as collecting it would take longer than to read and to hash them.
 * Large ones are proven as they stream; the last chunk is held back until content and file have
 * been compared, so that a request with a torn file is cut off before its end and no archive takes it
 * for a whole one.
 */

/** A file's content; `chunks` may be called once. */
export type FileSnapshot = { readonly sizeBytes: number } & (
  | { readonly bytes: Buffer }
  | { readonly chunks: () => AsyncIterable<Buffer> }
);

/** What the journal remembers of the content that is to be sent. */
export type Expected = { readonly seen: Seen; readonly digest: string };

/** Files up to this size are held in memory while they are sent. */
export const IN_MEMORY_BYTES_MAX = 4 << 20;
/** From here on a file that is held in memory is sent in slices, and the memory is used again. */
export const SLICED_BYTES_MIN = 128 << 10;
const SLICE_BYTES = 256 << 10;
/** Chunks that are read ahead of the one being sent. */
const AHEAD = 2;

/**
 * Opens the content of a file that was found whole.
 *
 * The chunks of a large file reject with `FileChanged` instead of ending with the last one, when
 * the content is not what is expected. `close` may be called at any time and more than once; it
 * waits for reads that are under way.
 *
 * @throws `FileChanged`, `FileGone`, `FileUnreadable`, `SourceOffline`; the signal's reason
 */
export async function openSnapshot(
  settings: SourceSettings,
  path: RawPath,
  expected: Expected,
  signal: AbortSignal,
  directories?: Directories,
): Promise<{ file: FileSnapshot; close: () => Promise<void> }> {
  signal.throwIfAborted();
  const open = openAsExpected(settings, path, expected, directories);
  const { sizeBytes } = expected.seen;
  if (sizeBytes > IN_MEMORY_BYTES_MAX) {
    const file = { sizeBytes, chunks: () => open.chunks(signal) };
    return { file, close: () => open.close() };
  }
  try {
    const file = sizeBytes < SLICED_BYTES_MIN ? await open.whole() : await open.slices();
    signal.throwIfAborted();
    return { file, close: async () => {} };
  } finally {
    await open.close();
  }
}

function openAsExpected(
  settings: SourceSettings,
  path: RawPath,
  expected: Expected,
  directories: Directories | undefined,
): OpenFile {
  let fd: number | undefined;
  try {
    fd = openInside(settings.source, path, directories);
    const open = new OpenFile(fd, settings, path, expected);
    open.assertUnchanged();
    return open;
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    throw faultOf(error, settings, path);
  }
}

class OpenFile {
  readonly #fd: number;
  readonly #settings: SourceSettings;
  readonly #path: RawPath;
  readonly #expected: Expected;
  readonly #reads = new Set<Promise<Buffer>>();
  /** Chunks that nobody has any more: with a new one for each, 64 MB of them wait to be collected. */
  readonly #spare: Buffer[] = [];
  #begun = false;
  #closed: Promise<void> | undefined;

  constructor(fd: number, settings: SourceSettings, path: RawPath, expected: Expected) {
    this.#fd = fd;
    this.#settings = settings;
    this.#path = path;
    this.#expected = expected;
  }

  assertUnchanged(): void {
    const { stamp } = seenOf(fstatSync(this.#fd, { bigint: true }), this.#settings.network);
    if (!isSameStamp(stamp, this.#expected.seen.stamp))
      throw new FileChanged(this.#path, "was written to");
  }

  async whole(): Promise<FileSnapshot> {
    const { sizeBytes } = this.#expected.seen;
    return { sizeBytes, bytes: await this.#proven(Buffer.allocUnsafeSlow(sizeBytes)) };
  }

  async slices(): Promise<FileSnapshot> {
    const { sizeBytes } = this.#expected.seen;
    const buffer = spareBuffers.take(sizeBytes);
    const bytes = await this.#proven(buffer.subarray(0, sizeBytes));
    const chunks = async function* () {
      yield* slicesOf(bytes);
      // Anyone who asks for more than the last one has handed all of them over (`UploadFile`).
      spareBuffers.giveBack(buffer);
    };
    return { sizeBytes, chunks };
  }

  /** Reads the whole file into `place`. */
  async #proven(place: Buffer): Promise<Buffer> {
    try {
      const bytes = await this.#reading(
        readSmall(place, this.#fd, this.#settings.network),
        place.length,
      );
      const proof = proofOf(this.#expected.digest);
      proof.add(bytes);
      this.#assert(proof);
      return bytes;
    } catch (error) {
      throw faultOf(error, this.#settings, this.#path);
    }
  }

  async *chunks(signal: AbortSignal): AsyncGenerator<Buffer> {
    invariant(!this.#begun && !this.#closed, "the chunks of a snapshot are read once");
    this.#begun = true;
    const proof = proofOf(this.#expected.digest);
    const { sizeBytes } = this.#expected.seen;
    const ahead: Promise<Buffer>[] = [];
    let asked = 0;
    try {
      for (let given = 0; given < sizeBytes; ) {
        for (; ahead.length <= AHEAD && asked < sizeBytes; asked += CHUNK_BYTES)
          ahead.push(this.#readChunk(asked, Math.min(CHUNK_BYTES, sizeBytes - asked)));
        const chunk = await this.#next(ahead);
        signal.throwIfAborted();
        proof.add(chunk);
        given += chunk.length;
        if (given === sizeBytes) {
          this.#assert(proof);
          this.assertUnchanged();
        }
        yield chunk;
        // Anyone who asks for the next one has handed this one over (`UploadFile`); the last is shorter.
        this.#spare.push(chunk);
      }
    } finally {
      await this.close();
    }
  }

  /** Idempotent. A descriptor is not closed under a read: its number may be another file's next. */
  close(): Promise<void> {
    this.#closed ??= Promise.allSettled(this.#reads).then(() => closeSync(this.#fd));
    return this.#closed;
  }

  async #next(ahead: Promise<Buffer>[]): Promise<Buffer> {
    try {
      const chunk = await ahead.shift();
      invariant(chunk, "a chunk was asked for");
      return chunk;
    } catch (error) {
      throw faultOf(error, this.#settings, this.#path);
    }
  }

  #readChunk(position: number, length: number): Promise<Buffer> {
    invariant(!this.#closed, "a closed snapshot is not read");
    const chunk = this.#spare.pop() ?? Buffer.allocUnsafeSlow(length);
    return this.#reading(readInto(chunk.subarray(0, length), this.#fd, position), length);
  }

  #reading(read: Promise<Buffer>, length: number): Promise<Buffer> {
    const reading = read.then((bytes) => {
      if (bytes.length < length) throw new FileChanged(this.#path, "became shorter");
      return bytes;
    });
    this.#reads.add(reading);
    // Also keeps a chunk that is read ahead, and never asked for, from rejecting unheard.
    reading.finally(() => this.#reads.delete(reading)).catch(() => {});
    return reading;
  }

  #assert(proof: ContentProof): void {
    if (!proof.holds()) throw new FileChanged(this.#path, "has other content than was found");
  }
}

/** All of a size: one of less than 64 KiB may be on its way still when the next one is asked for. */
function* slicesOf(bytes: Buffer): Generator<Buffer> {
  const size = Math.ceil(bytes.length / Math.ceil(bytes.length / SLICE_BYTES));
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** On a share that is not mounted every file looks gone. */
function faultOf(error: unknown, settings: SourceSettings, path: RawPath): Fault {
  const fault = fileFault(error, path);
  if (!(fault instanceof FileGone) && !(fault instanceof NotRegular)) return fault;
  const status = sourceStatus(settings);
  if (status.kind === "offline") return new SourceOffline(status.why, { cause: error });
  return fault instanceof FileGone ? fault : new FileGone(path, { cause: error });
}

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

const spareBuffers = new SpareBuffers(4 << 20);
