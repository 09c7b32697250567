import { type Operation, PATHS } from "../../../src/wire/shapes.ts";
import {
  type Credentials,
  DEMO,
  type SentField,
  signedForm,
  signedUpload,
} from "../../fixtures/sign.ts";

/** A reply as a client gets it. */
export type Reply = {
  status: number;
  type: string | null;
  // Tests look into replies of every shape; what they expect is checked by the tests themselves.
  body: Record<string, unknown> & { response?: string; responseDescription?: unknown };
};

/** An archive at some address, seen from outside alone. */
export class RemoteArchive {
  readonly url: string;
  readonly credentials: Credentials;

  constructor(url: string, credentials: Credentials = DEMO) {
    this.url = url.replace(/\/$/, "");
    this.credentials = credentials;
  }

  /** Asks with a url-encoded body, signed. */
  ask(
    operation: Operation,
    fields: Record<string, string> | SentField[] = {},
    credentials: Credentials = this.credentials,
  ): Promise<Reply> {
    return this.post(operation, signedForm(fields, credentials));
  }

  /** Uploads, signed; without `file` the body has no file part. */
  upload(
    fields: Record<string, string>,
    file: Uint8Array | string | undefined = "content",
    credentials: Credentials = this.credentials,
  ): Promise<Reply> {
    const bytes = file === undefined ? file : Buffer.from(file);
    return this.post("upload", signedUpload(fields, bytes, credentials));
  }

  /** Sends any body. */
  async post(
    operation: Operation,
    body: string | URLSearchParams | FormData,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const given = { method: "POST", body, headers, redirect: "manual" } as const;
    const response = await fetch(this.url + PATHS[operation], given);
    const type = response.headers.get("content-type");
    return { status: response.status, type, body: (await response.json()) as Reply["body"] };
  }
}

/** The code of a refusal, or OK. */
export function outcomeOf({ body }: Reply): unknown {
  return body.response === "OK" ? "OK" : body.responseDescription;
}
