import type { Clock } from "../std/clock.ts";
import { printable } from "../std/printable.ts";
import { redactor } from "../std/log.ts";
import {
  type ArchiveDocument,
  type DocumentDetail,
  type Folder,
  type FolderDetail,
  LIMITS,
  type Operation,
  type PageTotals,
  PATHS,
} from "../wire/shapes.ts";
import type {
  Archive,
  ArchiveSettings,
  ContainedDocument,
  DigidocQuery,
  DocumentsQuery,
  FoldersQuery,
  SearchQuery,
  Upload,
} from "./archive.ts";
import { ArchiveError } from "./archive-error.ts";
import {
  type Credentials,
  credentialsOf,
  openSigner,
  type RequestField,
  type Signer,
} from "./credentials.ts";
import { exchange, type Request } from "./exchange.ts";
import type { JsonFields } from "./json-fields.ts";
import { classifyReply, dateOf } from "./classify-reply.ts";
import { type OpenTransport, openTransport } from "./transport.ts";
import { FORM_TYPE, formBody, frameOf, uploadBody, wholeBody } from "./request-body.ts";
import * as parameters from "./parameters.ts";
import * as resources from "./resources.ts";
import { fencedBody, pacedBody } from "./stepped-body.ts";
import { sizeDifference, type StoredSize } from "../domain/stored-size.ts";

const MIB = 1024 * 1024;
const REPLY_BYTES_MAX = MIB;
const LIST_REPLY_BYTES_MAX = 64 * MIB;
/** Generous for one item: its two names at 255 characters, each escaped, and every other field. */
const ITEM_BYTES_MAX = 6 * 1024;

/** One call: what is asked, with what, and how its answer is read. */
type Call<T> = {
  operation: Operation;
  fields: RequestField[];
  sha256?: Upload["sha256"];
  read: (payload: JsonFields, secrets: readonly string[]) => T;
  request: (signed: RequestField[]) => Pick<Request, "body" | "contentType" | "fence">;
  replyBytesMax: number;
};

/** The archive over HTTP/1.1, with connections kept alive. */
export class HttpArchive implements Archive {
  readonly #open: OpenTransport;
  readonly #credentials: Credentials;
  readonly #storedSize: StoredSize | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;
  /** The archive's clock minus the monotonic one: ours may be set at any moment. */
  #aheadMs: number | undefined;

  private constructor(open: OpenTransport, credentials: Credentials, storedSize?: StoredSize) {
    this.#open = open;
    this.#credentials = credentials;
    this.#storedSize = storedSize;
  }

  /**
   * Rejects with a Fault when the settings are unfit. Connects nothing yet. `signer` signs in the place of the
   * one that the settings name.
   */
  static async open(
    settings: ArchiveSettings,
    clock: Clock,
    signer?: Signer,
  ): Promise<HttpArchive> {
    const { accountKey, signing } = settings;
    const credentials = credentialsOf(accountKey, signing, signer ?? (await openSigner(signing)));
    return new HttpArchive(openTransport(settings, clock), credentials, settings.storedSize);
  }

  get clockOffsetMs(): number | undefined {
    const { clock } = this.#open.line;
    if (this.#aheadMs === undefined) return undefined;
    return Math.round(this.#aheadMs + clock.monotonic() - clock.now());
  }

  async search(
    query: SearchQuery,
    signal: AbortSignal,
  ): Promise<PageTotals & { documents: DocumentDetail[]; folders: FolderDetail[] }> {
    const fields = parameters.searchFields(query);
    const bytesMax = listBytesMax(query.paginationSize);
    return this.#ask("search", fields, bytesMax, signal, (reply) =>
      resources.foundPageOf(reply, query.paginationIndex ?? 0),
    );
  }

  async documents(
    query: DocumentsQuery,
    signal: AbortSignal,
  ): Promise<PageTotals & { documents: DocumentDetail[] }> {
    const fields = parameters.documentsFields(query);
    const bytesMax = listBytesMax(query.paginationSize);
    return this.#ask("documents", fields, bytesMax, signal, (reply) =>
      resources.documentsPageOf(reply, query.paginationIndex ?? 0, resources.documentDetailOf),
    );
  }

  async digidoc(
    query: DigidocQuery,
    signal: AbortSignal,
  ): Promise<PageTotals & { documents: ContainedDocument[] }> {
    const fields = parameters.digidocFields(query);
    const bytesMax = listBytesMax(query.paginationSize);
    return this.#ask("digidoc", fields, bytesMax, signal, (reply) =>
      resources.documentsPageOf(reply, query.paginationIndex ?? 0, resources.containedDocumentOf),
    );
  }

  async document(id: number, signal: AbortSignal): Promise<ArchiveDocument> {
    const fields = parameters.documentFields(id);
    const document = await this.#ask("document", fields, REPLY_BYTES_MAX, signal, (reply) =>
      resources.documentOf(reply.object("document")),
    );
    if (document.id !== id) throw mismatched(`asked for document ${id}, got ${document.id}`);
    return document;
  }

  async folders(
    query: FoldersQuery,
    signal: AbortSignal,
  ): Promise<PageTotals & { folders: FolderDetail[] }> {
    const fields = parameters.foldersFields(query);
    const bytesMax = listBytesMax(query.paginationSize);
    return this.#ask("folders", fields, bytesMax, signal, (reply) =>
      resources.foldersPageOf(reply, query.paginationIndex ?? 0),
    );
  }

  async folder(id: number | undefined, signal: AbortSignal): Promise<Folder> {
    const fields = parameters.folderFields(id);
    const folder = await this.#ask("folder", fields, REPLY_BYTES_MAX, signal, (reply) =>
      resources.folderOf(reply.object("folder")),
    );
    if (id !== undefined && folder.id !== id)
      throw mismatched(`asked for folder ${id}, got ${folder.id}`);
    return folder;
  }

  async upload(upload: Upload, signal: AbortSignal): Promise<DocumentDetail> {
    const call: Call<DocumentDetail> = {
      operation: "upload",
      fields: parameters.uploadFields(upload),
      sha256: upload.sha256,
      read: (reply, secrets) => {
        const document = resources.documentDetailOf(reply.object("document"));
        checkOurs(document, upload, this.#storedSize, secrets);
        return document;
      },
      request: (signed) => {
        const frame = frameOf(signed, upload.filename);
        const body = uploadBody(frame, upload.file);
        const { allowance, fence } = upload;
        const paced = allowance ? pacedBody(body, allowance) : body;
        if (!fence) return { body: paced, contentType: frame.contentType };
        return { body: fencedBody(paced, fence), contentType: frame.contentType, fence };
      },
      replyBytesMax: REPLY_BYTES_MAX,
    };
    return this.#track(this.#call(call, signal));
  }

  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#underWay).then(() => this.#open.line.pool.destroy());
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** An operation with an url-encoded body. */
  #ask<T>(
    operation: Operation,
    fields: RequestField[],
    replyBytesMax: number,
    signal: AbortSignal,
    read: (payload: JsonFields) => T,
  ): Promise<T> {
    const request = (signed: RequestField[]) => ({
      body: wholeBody(formBody(signed)),
      contentType: FORM_TYPE,
    });
    return this.#track(this.#call({ operation, fields, read, request, replyBytesMax }, signal));
  }

  async #call<T>(call: Call<T>, signal: AbortSignal): Promise<T> {
    if (this.#closing) throw new ArchiveError("notSent", "ARCHIVE_CLOSED", "the client is closed");
    const { line, prefix } = this.#open;
    const path = PATHS[call.operation];
    const signed = await this.#credentials.sign({ ...call, path }, line, signal);
    const request = {
      path: prefix + path,
      replyBytesMax: call.replyBytesMax,
      ...call.request(signed.fields),
    };
    const reply = await exchange(line, request, signal);
    const now = line.clock.now();
    const date = dateOf(reply.headers);
    this.#aheadMs = date === undefined ? undefined : date - line.clock.monotonic();
    const { operation } = call;
    const { secrets } = signed;
    const isDated = this.#credentials.isDated;
    return classifyReply(reply, { operation, now, secrets, isDated }, (payload) =>
      call.read(payload, secrets),
    );
  }

  async #track<T>(running: Promise<T>): Promise<T> {
    this.#underWay.add(running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(running);
    }
  }
}

function listBytesMax(paginationSize: number | undefined): number {
  if (paginationSize === undefined) return LIST_REPLY_BYTES_MAX;
  return Math.min(LIST_REPLY_BYTES_MAX, REPLY_BYTES_MAX + paginationSize * ITEM_BYTES_MAX);
}

function mismatched(message: string): ArchiveError {
  return new ArchiveError("inDoubt", "REPLY_MISMATCHED", message);
}

/** A reply that speaks of another document says nothing about ours. */
function checkOurs(
  document: DocumentDetail,
  { folderId, filename, file }: Upload,
  storedSize: StoredSize | undefined,
  secrets: readonly string[],
): void {
  // Another upload of this name may be under way to another folder.
  if (folderId !== undefined && document.folderId !== folderId) {
    throw mismatched(
      `document ${document.id} is in folder ${document.folderId}, it was sent to ${folderId}`,
    );
  }
  // Archives may normalise Unicode; the name is the same for every reader.
  if (document.filename.normalize() !== filename.normalize()) {
    // Who answers may repeat the request, with what is secret in it.
    const theirs = shownName(redactor(secrets)(document.filename));
    throw mismatched(`document ${document.id} is named ${theirs}, ${shownName(filename)} was sent`);
  }
  // 0 directly after upload, while the archive does not know yet.
  if (document.filesize === 0) return;
  const differs = sizeDifference({ sentBytes: file.sizeBytes }, document.filesize, storedSize);
  if (differs !== undefined) throw mismatched(`document ${document.id}: ${differs}`);
}

/** A name in quotes, and no more of it than the interface allows. */
function shownName(name: string): string {
  const cut =
    name.length > LIMITS.filename ? `${name.slice(0, LIMITS.filename).toWellFormed()}…` : name;
  return `"${printable(cut)}"`;
}
