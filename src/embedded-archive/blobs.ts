import { createHash, randomUUID } from "node:crypto";
import { createReadStream, existsSync, renameSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { syncDirectory } from "../std/durable.ts";
import { makeDirectory } from "../std/make-directory.ts";
import { PRIVATE_DIRECTORY, PRIVATE_FILE } from "./privacy.ts";

const SHARDS = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, "0"));
const DIGEST = /^[0-9a-f]{64}$/;

/**
 * The documents' bytes, one file for each content: `blobs/ab/abcdef…`, named after its SHA-256.
 *
 * An upload is written to `incoming/`, and its row is committed once its bytes and its name there
 * are on the disk. Only then it moves to its place. A power cut may undo the move, but leaves the
 * file under one of its two names, and `recover` makes the move again. So the directory that waits
 * for the disk is the same for all uploads, and one wait serves many of them.
 */
export class Blobs {
  readonly #root: string;
  readonly #incoming: string;
  readonly #handle: FileHandle;

  private constructor(root: string, incoming: string, handle: FileHandle) {
    this.#root = root;
    this.#incoming = incoming;
    this.#handle = handle;
  }

  /** Makes the directories if missing; touches nothing in them. Close it after use. */
  static async open(dataDir: string): Promise<Blobs> {
    const [root, incoming] = [join(dataDir, "blobs"), join(dataDir, "incoming")];
    for (const dir of [root, incoming]) makeDirectory(dir, PRIVATE_DIRECTORY);
    const there = new Set(await readdir(root));
    for (const shard of SHARDS)
      if (!there.has(shard)) await mkdir(join(root, shard), PRIVATE_DIRECTORY);
    for (const dir of [root, dataDir]) syncDirectory(dir);
    return new Blobs(root, incoming, await open(incoming, "r"));
  }

  /**
   * Finishes what a crash cut short: uploads with a row get their place, those without one go,
   * and so does every blob that no row speaks of. What is no blob's name is left alone.
   */
  async recover(isKnown: (sha256: string) => boolean): Promise<void> {
    for await (const { path, sha256 } of this.unfinished())
      if (isKnown(sha256) && !this.has(sha256)) await rename(path, this.pathOf(sha256));
      else await rm(path);
    for await (const { path, sha256 } of this.files())
      if (sha256 !== undefined && !isKnown(sha256)) await rm(path);
  }

  /** Uploads without a place, each with the digest of its bytes. */
  async *unfinished(): AsyncGenerator<{ name: string; path: string; sha256: string }> {
    for (const name of await readdir(this.#incoming)) {
      const path = join(this.#incoming, name);
      yield { name, path, sha256: await digestOf(path) };
    }
  }

  /** All that is below `blobs/`, with the digest that it is named after; undefined where it is no blob. */
  async *files(): AsyncGenerator<{ name: string; path: string; sha256: string | undefined }> {
    for (const shard of (await readdir(this.#root)).sort()) {
      const dir = join(this.#root, shard);
      // What else lies here is not looked into: it may be a link to nowhere, or another user's.
      const inside = SHARDS.includes(shard) ? (await readdir(dir)).sort() : [""];
      for (const name of inside) {
        const isBlob = name.startsWith(shard) && DIGEST.test(name);
        yield { name: join(shard, name), path: join(dir, name), sha256: isBlob ? name : undefined };
      }
    }
  }

  /** Where the bytes with this digest are. */
  pathOf(sha256: string): string {
    return join(this.#root, sha256.slice(0, 2), sha256);
  }

  has(sha256: string): boolean {
    return existsSync(this.pathOf(sha256));
  }

  /** A file to write an upload into, or no more than its first `kept` bytes. */
  draft(limitOf: LimitOf, kept = Infinity): Draft {
    return new Draft(this.#incoming, limitOf, kept);
  }

  /** The names of all sealed drafts are on the disk when this resolves. */
  async settle(): Promise<void> {
    await this.#handle.sync();
  }

  /**
   * Gives a sealed draft its place. At once, so that nobody meets a row without its bytes. Where
   * the content is there already this replaces it on its own, which changes nothing.
   */
  place(draft: Draft, sha256: string): void {
    renameSync(draft.path, this.pathOf(sha256));
    draft.isPlaced = true;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** Bytes that a file may have, given its first ones: 4 KiB, or all of a smaller file. */
type LimitOf = (head: Buffer) => number;

/** As many bytes as the kind of a document may be told from. */
export const HEAD_BYTES = 4096;
/** Bytes that are gathered before they are written: most scans then take one write. */
const PIECE_BYTES = 256 * 1024;

/** The bytes of one upload as they come in; constant memory whatever their number. */
export class Draft {
  readonly path: string;
  /** Set by anyone who moved the file away. */
  isPlaced = false;
  /** Bytes that came in, also those past the limit. */
  size = 0;
  readonly #limitOf: LimitOf;
  readonly #kept: number;
  readonly #hash = createHash("sha256");
  #head: Buffer = Buffer.alloc(0);
  #limit: number | undefined;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #file: FileHandle | undefined;

  /** @param kept of more bytes than this the rest is dropped, as if it had not come */
  constructor(dir: string, limitOf: LimitOf, kept: number) {
    this.path = join(dir, randomUUID());
    this.#limitOf = limitOf;
    this.#kept = kept;
  }

  /** Right once the head is in, or all of a smaller file. */
  get isTooBig(): boolean {
    return this.size > (this.#limit ?? this.#limitOf(this.#head));
  }

  /** Bytes past the limit are counted and thrown away. */
  async write(given: Buffer): Promise<void> {
    const chunk = given.subarray(0, this.#kept - this.size);
    if (chunk.length === 0) return;
    this.size += chunk.length;
    if (this.#limit === undefined) {
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, HEAD_BYTES - this.#head.length)]);
      if (this.#head.length === HEAD_BYTES) this.#limit = this.#limitOf(this.#head);
    }
    if (this.#limit !== undefined && this.size > this.#limit) return;
    this.#hash.update(chunk);
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes >= PIECE_BYTES) await this.#flush();
  }

  /** Ends the draft, and resolves with what it holds once its bytes are on the disk. */
  async seal(): Promise<{ sha256: string; size: number }> {
    const file = await this.#flush();
    await file.datasync();
    await this.#close();
    return { sha256: this.#hash.digest("hex"), size: this.size };
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

/** SHA-256 of a file, hexadecimal. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
