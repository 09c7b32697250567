import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { PRIVATE_FILE } from "./privacy.ts";

/** What a finished draft holds. */
export type Sealed = { sha256: string; size: number };

/** Bytes that a file may have, given its first ones: 4 KiB, or all of a smaller file. */
export type LimitOf = (head: Buffer) => number;

/** As many bytes as the kind of a document may be told from. */
export const HEAD_BYTES = 4096;
/** Bytes that are gathered before they are written: most scans then take one write. */
const PIECE_BYTES = 256 * 1024;

/** The bytes of one upload as they come in; constant memory whatever their number. */
export class Draft {
  readonly path: string;
  /** Set by anyone who moved the file away. */
  isPlaced = false;
  readonly #limitOf: LimitOf;
  readonly #durable: boolean;
  readonly #kept: number;
  readonly #hash = createHash("sha256");
  #head: Buffer = Buffer.alloc(0);
  #limit: number | undefined;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #file: FileHandle | undefined;
  #size = 0;

  /** @param kept of more bytes than this the rest is dropped, as if it had not come */
  constructor(dir: string, limitOf: LimitOf, durable: boolean, kept: number) {
    this.path = join(dir, randomUUID());
    this.#limitOf = limitOf;
    this.#durable = durable;
    this.#kept = kept;
  }

  /** Bytes that came in, also those past the limit. */
  get size(): number {
    return this.#size;
  }

  /** Right once the head is in, or all of a smaller file. */
  get isTooBig(): boolean {
    return this.#size > (this.#limit ?? this.#limitOf(this.#head));
  }

  /** Bytes past the limit are counted and thrown away. */
  async write(given: Buffer): Promise<void> {
    const chunk = given.subarray(0, this.#kept - this.#size);
    if (chunk.length === 0) return;
    this.#size += chunk.length;
    if (this.#limit === undefined) {
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, HEAD_BYTES - this.#head.length)]);
      if (this.#head.length === HEAD_BYTES) this.#limit = this.#limitOf(this.#head);
    }
    if (this.#limit !== undefined && this.#size > this.#limit) return;
    this.#hash.update(chunk);
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes >= PIECE_BYTES) await this.#flush();
  }

  /** Ends the draft; its bytes are on the disk when this resolves. */
  async seal(): Promise<Sealed> {
    const file = await this.#flush();
    if (this.#durable) await file.datasync();
    await this.#close();
    return { sha256: this.#hash.digest("hex"), size: this.#size };
  }

  /** Removes what was not given a place. */
  async discard(): Promise<void> {
    await this.#close();
    if (!this.isPlaced) await rm(this.path, { force: true });
  }

  async #flush(): Promise<FileHandle> {
    this.#file ??= await open(this.path, "wx", PRIVATE_FILE);
    const piece = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    await this.#file.writeFile(piece);
    return this.#file;
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}
