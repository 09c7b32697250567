import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** What a finished draft holds. */
export type Sealed = { sha256: string; size: number };

/**
 * The documents' bytes, one file for each content: `blobs/ab/abcdef…`, named after its SHA-256.
 * A blob comes before the row that speaks of it; one without a row is left by a crash between the
 * two, and swept away when the archive is next opened.
 */
export class Blobs {
  readonly #root: string;
  readonly #incoming: string;
  readonly #madeDirs = new Set<string>();

  private constructor(dataDir: string) {
    this.#root = join(dataDir, "blobs");
    this.#incoming = join(dataDir, "incoming");
  }

  /** Opens the blobs below `dataDir` and removes what broken-off uploads left. */
  static async open(dataDir: string, isKnown: (sha256: string) => boolean): Promise<Blobs> {
    const blobs = new Blobs(dataDir);
    await rm(blobs.#incoming, { recursive: true, force: true });
    await mkdir(blobs.#incoming, { recursive: true });
    await mkdir(blobs.#root, { recursive: true });
    await syncDirectory(dataDir);
    await blobs.#sweep(isKnown);
    return blobs;
  }

  /** Where the bytes with this digest are. */
  pathOf(sha256: string): string {
    return join(this.#root, sha256.slice(0, 2), sha256);
  }

  /** A file to write an upload into. */
  async draft(sizeMax: number): Promise<Draft> {
    const path = join(this.#incoming, randomUUID());
    return new Draft(this, path, await open(path, "wx"), sizeMax);
  }

  /** Gives a sealed draft its place: on the disk with its name when this resolves. */
  async keep(draftPath: string, sha256: string): Promise<void> {
    const dir = join(this.#root, sha256.slice(0, 2));
    if (!this.#madeDirs.has(dir)) {
      await mkdir(dir, { recursive: true });
      await syncDirectory(this.#root);
      this.#madeDirs.add(dir);
    }
    // Where the content is there already this replaces it by itself, which changes nothing.
    await rename(draftPath, this.pathOf(sha256));
    await syncDirectory(dir);
  }

  async #sweep(isKnown: (sha256: string) => boolean): Promise<void> {
    for (const dir of await readdir(this.#root))
      for (const name of await readdir(join(this.#root, dir)))
        if (!isKnown(name)) await rm(join(this.#root, dir, name));
  }
}

/** The bytes of one upload as they come in; constant memory whatever their number. */
export class Draft {
  readonly path: string;
  readonly #blobs: Blobs;
  readonly #file: FileHandle;
  readonly #sizeMax: number;
  readonly #hash = createHash("sha256");
  #size = 0;
  #open = true;
  #kept = false;
  #sha256: string | undefined;

  constructor(blobs: Blobs, path: string, file: FileHandle, sizeMax: number) {
    this.#blobs = blobs;
    this.path = path;
    this.#file = file;
    this.#sizeMax = sizeMax;
  }

  /** Bytes that came in, also those past the limit. */
  get size(): number {
    return this.#size;
  }

  get isTooBig(): boolean {
    return this.#size > this.#sizeMax;
  }

  /** Bytes past the limit are counted and thrown away. */
  async write(chunk: Buffer): Promise<void> {
    this.#size += chunk.length;
    if (this.isTooBig) return;
    this.#hash.update(chunk);
    await this.#file.writeFile(chunk);
  }

  /** Ends the draft; its bytes are on the disk when this resolves. */
  async seal(): Promise<Sealed> {
    await this.#file.sync();
    await this.#close();
    this.#sha256 = this.#hash.digest("hex");
    return { sha256: this.#sha256, size: this.#size };
  }

  /** Makes a sealed draft a blob. */
  async keep(): Promise<void> {
    if (this.#sha256 === undefined) throw new Error("a draft is sealed before it is kept");
    await this.#blobs.keep(this.path, this.#sha256);
    this.#kept = true;
  }

  /** Removes what was not kept. */
  async discard(): Promise<void> {
    await this.#close();
    if (!this.#kept) await rm(this.path, { force: true });
  }

  async #close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
