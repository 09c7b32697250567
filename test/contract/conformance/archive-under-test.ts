import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  EmbeddedArchive,
  type EmbeddedArchiveOptions,
} from "../../../src/embedded-archive/embedded-archive.ts";
import { type Operation, PATHS } from "../../../src/wire/shapes.ts";
import { type Credentials, type SentField, signedForm, signedUpload } from "../../fixtures/sign.ts";

/** A reply as a client gets it. */
export type Reply = {
  status: number;
  type: string | null;
  // Tests look into replies of every shape; what they expect is checked by the tests themselves.
  body: Record<string, unknown> & { response?: string; responseDescription?: unknown };
};

/** An embedded archive over a directory of its own, which goes with it. */
export class ArchiveUnderTest implements AsyncDisposable {
  readonly archive: EmbeddedArchive;
  readonly dataDir: string;

  private constructor(archive: EmbeddedArchive, dataDir: string) {
    this.archive = archive;
    this.dataDir = dataDir;
  }

  static async open(options: Partial<EmbeddedArchiveOptions> = {}): Promise<ArchiveUnderTest> {
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "embedded-archive-")));
    const listen = { host: "127.0.0.1", port: 0 };
    const archive = await EmbeddedArchive.open({ listen, convertDelayMs: 0, ...options, dataDir });
    return new ArchiveUnderTest(archive, dataDir);
  }

  /** Asks with a url-encoded body, signed. */
  async ask(
    operation: Operation,
    fields: Record<string, string> | SentField[] = {},
    credentials?: Credentials,
  ): Promise<Reply> {
    return this.post(operation, signedForm(fields, credentials));
  }

  /** Uploads, signed; without `file` the body has no file part. */
  async upload(
    fields: Record<string, string>,
    file: Uint8Array | string | undefined = "content",
    credentials?: Credentials,
  ): Promise<Reply> {
    return this.post(
      "upload",
      signedUpload(fields, file === undefined ? file : Buffer.from(file), credentials),
    );
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

  async post(
    operation: Operation,
    body: string | URLSearchParams | FormData,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await fetch(this.archive.url + PATHS[operation], {
      method: "POST",
      body,
      headers,
      redirect: "manual",
    });
    const { status } = response;
    const type = response.headers.get("content-type");
    return { status, type, body: (await response.json()) as Reply["body"] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.archive.close();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

/** The code of a refusal, or OK. */
export function outcomeOf({ body }: Reply): unknown {
  return body.response === "OK" ? "OK" : body.responseDescription;
}
