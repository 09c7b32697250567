import { createHash } from "node:crypto";
import { createReadStream, existsSync, renameSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { syncDirectory } from "../std/durable.ts";
import { makeDirectory } from "../std/make-directory.ts";
import { Draft, type LimitOf } from "./draft.ts";
import { PRIVATE_DIRECTORY } from "./privacy.ts";

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
  readonly #durable: boolean;

  private constructor(root: string, incoming: string, handle: FileHandle, durable: boolean) {
    this.#root = root;
    this.#incoming = incoming;
    this.#handle = handle;
    this.#durable = durable;
  }

  /** Makes the directories if missing; touches nothing in them. Close it after use. */
  static async open(dataDir: string, durable = true): Promise<Blobs> {
    const [root, incoming] = [join(dataDir, "blobs"), join(dataDir, "incoming")];
    for (const dir of [root, incoming]) makeDirectory(dir, PRIVATE_DIRECTORY);
    const there = new Set(await readdir(root));
    for (const shard of SHARDS)
      if (!there.has(shard)) await mkdir(join(root, shard), PRIVATE_DIRECTORY);
    for (const dir of [root, dataDir]) syncDirectory(dir);
    return new Blobs(root, incoming, await open(incoming, "r"), durable);
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
      const inside = (await stat(dir)).isDirectory() ? (await readdir(dir)).sort() : [""];
      for (const name of inside) {
        const isBlob = SHARDS.includes(shard) && name.startsWith(shard) && DIGEST.test(name);
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
    return new Draft(this.#incoming, limitOf, this.#durable, kept);
  }

  /** The names of all sealed drafts are on the disk when this resolves. */
  async settle(): Promise<void> {
    if (this.#durable) await this.#handle.sync();
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

/** SHA-256 of a file, hexadecimal. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
