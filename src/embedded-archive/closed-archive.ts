import { open, stat } from "node:fs/promises";
import { createReadStream, existsSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { join } from "node:path";
import type { Clock } from "../std/clock.ts";
import { codeOf } from "../std/fault.ts";
import { digestOf } from "./blobs.ts";
import { type StoredDocument, storedDocumentOf } from "./document-row.ts";
import type { FolderDescription } from "./folder-table.ts";
import { unusable } from "./refusal.ts";
import { openStorage } from "./store.ts";

type Parts = Awaited<ReturnType<typeof openStorage>> & {
  readonly clock: Clock;
  readonly opened: AsyncDisposableStack;
};

/** An archive that does not run, held by its data directory: to look at, and for small changes. */
export class ClosedArchive implements AsyncDisposable {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Rejects with a Fault: EMBEDDED_ARCHIVE_OPTIONS where no archive is, EMBEDDED_ARCHIVE_IN_USE
   * while it runs, EMBEDDED_ARCHIVE_TOO_NEW. Sweeps nothing away.
   */
  static async open(dataDir: string, clock: Clock): Promise<ClosedArchive> {
    if (!existsSync(join(dataDir, "archive.db")))
      throw unusable(
        `${dataDir} is no archive's data directory`,
        "Name the directory that serve-archive was given.",
      );
    await using opened = new AsyncDisposableStack();
    const storage = await openStorage(dataDir, opened);
    return new ClosedArchive({ ...storage, clock, opened: opened.move() });
  }

  /**
   * Compares rows and files: every blob is read and its digest compared. Changes nothing; `total` grows meanwhile.
   * `temporary` and `orphan` are what a crash may leave; the next start finishes or removes them.
   */
  async *check(total: CheckTotal): AsyncGenerator<CheckFinding> {
    const { store, blobs } = this.#parts;
    for (const line of store.damage()) yield { what: "database", message: line };
    for (const { key, pages_used, charged } of store.wrongCharges())
      yield {
        what: "charges",
        message: `account ${key} was charged ${pages_used} pages, its documents make ${charged}`,
      };
    const incoming = new Set<string>();
    for await (const { name, sha256 } of blobs.unfinished()) {
      incoming.add(sha256);
      yield { what: "temporary", message: `incoming/${name} is an unfinished upload` };
    }
    for (const { id } of store.accounts())
      for (const count of store.documents.counts(id, "status").values()) total.documents += count;
    const known = new Map([...store.documents.blobs()].map((blob) => [blob.sha256, blob]));
    for await (const { name, path, sha256 } of blobs.files()) {
      const finding = await checkFile(path, sha256, known, total);
      if (finding) yield { ...finding, message: `blobs/${name} ${finding.message}` };
    }
    for (const [sha256, { id }] of known)
      if (!blobs.has(sha256) && !incoming.has(sha256))
        yield { what: "missing", message: `document ${id} has no bytes: ${sha256} is not there` };
  }

  /** The account's documents, oldest first; without a key the first account's. */
  documents(key?: string): Iterable<StoredDocument> {
    return this.#parts.store.audit(this.#account(key).id);
  }

  /**
   * Writes a document's bytes into a new file and returns what they are. Rejects with a Fault
   * where there is no such document, the file exists, or the bytes are not those of the upload.
   */
  async export(id: number, path: string): Promise<StoredDocument> {
    const { store, blobs } = this.#parts;
    const row = store.documents.uploadedById(id);
    if (!row) throw unusable(`there is no document ${id}`, "List the documents for their ids.");
    const file = await open(path, "wx").catch((error: unknown) => {
      throw unusable(
        `${path} cannot be made: ${codeOf(error)}`,
        "Name a file that does not exist yet, in a directory that does.",
      );
    });
    const bytes = createReadStream(blobs.pathOf(row.sha256));
    await pipeline(bytes, file.createWriteStream({ flush: true }));
    if ((await digestOf(path)) !== row.sha256)
      throw unusable(`the bytes of document ${id} are damaged`, "Run the check; take the backup.");
    return storedDocumentOf(row, store.folders.pathOf(row.folder_id));
  }

  /** Makes the folder `/A/B` and all above it, and sets what it says of its own; returns its id. */
  createFolder(path: string, description: FolderDescription = {}, key?: string): number {
    const { store, clock } = this.#parts;
    return store.makeFolder(this.#account(key).id, path, clock.now(), description);
  }

  /** Pages for the next runs; `unlimited`, or `default`: as the options of the run say. */
  setQuota(pages: number | "unlimited" | "default", key?: string): void {
    const { id } = this.#account(key);
    this.#parts.store.setQuota(id, pages === "unlimited" ? undefined : pages);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.opened.disposeAsync();
  }

  #account(key: string | undefined) {
    const accounts = this.#parts.store.accounts();
    const account = key === undefined ? accounts[0] : accounts.find((one) => one.key === key);
    if (account) return account;
    const keys = accounts.map((one) => one.key).join(", ");
    throw unusable(`there is no account ${JSON.stringify(key)}`, `Name one of these: ${keys}.`);
  }
}

/** Something that is not as it should be. */
export type CheckFinding = {
  what: "missing" | "damaged" | "orphan" | "temporary" | "foreign" | "charges" | "database";
  /** One line: the file below the data directory or the document, and what is wrong with it. */
  message: string;
};

/** What a check looked at. */
export type CheckTotal = { documents: number; blobs: number; bytes: number };

async function checkFile(
  path: string,
  sha256: string | undefined,
  known: ReadonlyMap<string, { size: number; id: number }>,
  total: CheckTotal,
): Promise<CheckFinding | undefined> {
  if (sha256 === undefined) return { what: "foreign", message: "is none of the archive's files" };
  const row = known.get(sha256);
  if (!row) return { what: "orphan", message: "belongs to no document" };
  const { size } = await stat(path);
  total.blobs += 1;
  total.bytes += size;
  if (size !== row.size)
    return { what: "damaged", message: `has ${size} bytes, document ${row.id} has ${row.size}` };
  if ((await digestOf(path)) === sha256) return undefined;
  return { what: "damaged", message: `of document ${row.id} has another digest than its name` };
}
