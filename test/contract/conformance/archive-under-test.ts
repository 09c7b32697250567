import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import {
  EmbeddedArchive,
  type EmbeddedArchiveOptions,
} from "../../../src/embedded-archive/embedded-archive.ts";
import { RemoteArchive, type Reply } from "./remote-archive.ts";

export { outcomeOf, type Reply } from "./remote-archive.ts";

/** An embedded archive over a directory of its own, which goes with it. */
export class ArchiveUnderTest implements AsyncDisposable {
  readonly archive: EmbeddedArchive;
  /** The same archive as anybody sees it. */
  readonly remote: RemoteArchive;
  readonly dataDir: string;

  private constructor(archive: EmbeddedArchive, dataDir: string) {
    this.archive = archive;
    this.remote = new RemoteArchive(archive.url);
    this.dataDir = dataDir;
  }

  static async open(options: Partial<EmbeddedArchiveOptions> = {}): Promise<ArchiveUnderTest> {
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "embedded-archive-")));
    const listen = { host: "127.0.0.1", port: 0 };
    try {
      const archive = await EmbeddedArchive.open({
        listen,
        convertDelayMs: 0,
        ...options,
        dataDir,
      });
      return new ArchiveUnderTest(archive, dataDir);
    } catch (error) {
      if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
      throw error;
    }
  }

  /** Asks with a url-encoded body, signed. */
  ask(...given: Parameters<RemoteArchive["ask"]>): Promise<Reply> {
    return this.remote.ask(...given);
  }

  /** Uploads, signed; without `file` the body has no file part. */
  upload(...given: Parameters<RemoteArchive["upload"]>): Promise<Reply> {
    return this.remote.upload(...given);
  }

  /** Uploads and returns the document of the reply. */
  async store(
    filename: string,
    file: Uint8Array | string = "content",
    fields: Record<string, string> = {},
  ) {
    const { body } = await this.upload({ filename, ...fields }, file);
    if (body.response !== "OK") throw new Error(`not stored: ${JSON.stringify(body)}`);
    return body["document"] as { id: number; folderId: number };
  }

  post(...given: Parameters<RemoteArchive["post"]>): Promise<Reply> {
    return this.remote.post(...given);
  }

  /** The files with the documents' bytes, in the order of the uploads; the archive may be closed. */
  stored(): string[] {
    const db = new Database(join(this.dataDir, "archive.db"), { readonly: true });
    try {
      const digests = db
        .prepare<[], string>("SELECT sha256 FROM document WHERE digidoc_id IS NULL ORDER BY id")
        .pluck()
        .all();
      return digests.map((sha256) => join(this.dataDir, "blobs", sha256.slice(0, 2), sha256));
    } finally {
      db.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.archive.close();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
