import { createHash } from "node:crypto";
import { createReadStream, existsSync, renameSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm } from "node:fs/promises";
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

  private constructor(dataDir: string, handle: FileHandle, durable: boolean) {
    this.#root = join(dataDir, "blobs");
    this.#incoming = incomingOf(dataDir);
    this.#handle = handle;
    this.#durable = durable;
  }

  /** Makes the directories if missing; touches nothing in them. Close it after use. */
  static async open(dataDir: string, durable = true): Promise<Blobs> {
    const root = join(dataDir, "blobs");
    makeDirectory(incomingOf(dataDir), PRIVATE_DIRECTORY);
    makeDirectory(root, PRIVATE_DIRECTORY);
    const there = new Set(await readdir(root));
    for (const shard of SHARDS)
      if (!there.has(shard)) await mkdir(join(root, shard), PRIVATE_DIRECTORY);
    for (const dir of [root, dataDir]) syncDirectory(dir);
    return new Blobs(dataDir, await open(incomingOf(dataDir), "r"), durable);
  }

  /**
   * Finishes what a crash cut short: uploads with a row get their place, those without one go,
   * and so does every blob that no row speaks of. What is no blob's name is left alone.
   */
  async recover(isKnown: (sha256: string) => boolean): Promise<void> {
    for (const name of await readdir(this.#incoming)) {
      const path = join(this.#incoming, name);
      const sha256 = await digestOf(path);
      if (isKnown(sha256) && !this.has(sha256)) await rename(path, this.pathOf(sha256));
      else await rm(path);
    }
    for await (const { sha256, path } of blobsBelow(this.#root))
      if (!isKnown(sha256)) await rm(path);
  }

  /** Where the bytes with this digest are. */
  pathOf(sha256: string): string {
    return join(this.#root, sha256.slice(0, 2), sha256);
  }

  has(sha256: string): boolean {
    return existsSync(this.pathOf(sha256));
  }

  /** A file to write an upload into. */
  draft(limitOf: LimitOf): Draft {
    return new Draft(this.#incoming, limitOf, this.#durable);
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

/** Where uploads are written before they have a row. */
export function incomingOf(dataDir: string): string {
  return join(dataDir, "incoming");
}

/** Every blob below `root`; files whose names are no digests, or in the wrong place, are none. */
async function* blobsBelow(root: string): AsyncGenerator<{ sha256: string; path: string }> {
  for (const shard of SHARDS)
    for (const name of await readdir(join(root, shard)))
      if (DIGEST.test(name) && name.startsWith(shard))
        yield { sha256: name, path: join(root, shard, name) };
}

/** SHA-256 of a file, hexadecimal. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
