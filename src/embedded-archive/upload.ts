import type { FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "./archive-context.ts";
import { sizeLimit } from "./archive-options.ts";
import { authenticate } from "./authentication.ts";
import { documentDetailOf } from "./document-row.ts";
import type { Draft } from "./blobs.ts";
import { answer, answerEarly, type ReplyFields } from "./answer.ts";
import type { FaultAction } from "./faults.ts";
import { fieldOf, type Fields, type ParameterValues, valuesOf } from "./parameters.ts";
import { folderAsked } from "./readings.ts";
import { receive } from "./receive.ts";
import { Refusal } from "./refusal.ts";
import type { Account, Store } from "./store.ts";

/**
 * Answers one upload. The whole body is read before anything is stored or refused: a client that
 * is still sending would not see the reply, and a body that breaks off must leave nothing.
 */
export async function serveUpload(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const upload = new Upload(context);
  try {
    const begin = (fields: Fields) => upload.begin(fields, reply);
    if (request.isMultipart()) await receive(request, begin);
    else await begin((request.body as Fields | undefined) ?? []);
    await answer(reply, upload.fault, () => upload.finish(), context);
  } catch (error) {
    if (!(error instanceof AnsweredEarly)) throw error;
  } finally {
    await upload.draft?.discard();
  }
}

/** Leaves the reading of a request that has had its reply. */
class AnsweredEarly extends Error {}

/** An upload on its way in. */
class Upload {
  readonly #context: Context;
  #admission: ReturnType<typeof admit> | undefined;
  #begunAt = 0;
  #goneAt: number | undefined;
  fault: FaultAction | undefined;
  draft: Draft | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** The fields are in; the file, if there is one, comes next. Undefined: it is refused, once it is read. */
  async begin(fields: Fields, reply: FastifyReply): Promise<Draft | undefined> {
    const { settings, blobs, faults } = this.#context;
    this.#begunAt = settings.clock.now();
    reply.raw.once("close", () => {
      this.#goneAt = settings.clock.now();
    });
    this.fault = faults.next("upload", fields);
    if (this.fault?.do === "early") {
      answerEarly(reply, fieldOf(fields, "filename") ?? "");
      throw new AnsweredEarly();
    }
    this.#admission = admit(this.#context, fields);
    const admission = await this.#admission.catch(() => undefined);
    const kept = this.fault?.do === "shorten" ? this.fault.bytes : Infinity;
    this.draft =
      admission && blobs.draft((head) => sizeLimit(settings, head, admission.asked.filename), kept);
    return this.draft;
  }

  /** Endpoints, 7, the part with the file. The body has ended as it should; what this resolves with is on the disk. */
  async finish(): Promise<ReplyFields> {
    const admission = await this.#admission;
    const { store, blobs, converter, conversion, expiry, settings } = this.#context;
    const { clock, onStored, quotaPages, convertDelayMs } = settings;
    const draft = this.draft;
    const receivedAt = clock.now();
    if (!admission || !draft || draft.size === 0) throw new Refusal("NO_FILE_DATA");
    if (draft.isTooBig) throw new Refusal("FILE_SIZE_TOO_BIG");
    const { account, asked, folderId, sha256 } = admission;
    const sealed = await draft.seal();
    if (sealed.sha256 !== (sha256 ?? sealed.sha256)) throw new Refusal("INVALID_SIG");
    const quota = () => store.quotaOf(account.id, quotaPages);
    // With an allowance the pages are counted before the document is taken, so that it is never overdrawn. Without
    // one that would be for nothing: the document is charged 1, and its true number once it is converted.
    const request = { job: "pages", path: draft.path, filename: asked.filename } as const;
    const pages = quota() === undefined ? 1 : (await converter.run(request)).pages;
    const now = clock.now();
    const given = {
      ...metadataOf(asked),
      ...sealed,
      account_id: account.id,
      folder_id: folderId,
      filename: asked.filename,
      uploaded_at: now,
      pages_charged: pages,
      batch: asked.batch ?? null,
      expire_at: asked.expireDate ?? null,
      convert_at: convertAtOf(this.fault, now, convertDelayMs),
    };
    const row = await store.add(given, quota(), () => blobs.place(draft, sealed.sha256));
    if (!row) throw new Refusal("QUOTA_LIMIT");
    conversion.poke();
    if (given.expire_at !== null) expiry.poke();
    const [begunAt, goneAt] = [this.#begunAt, this.#goneAt];
    onStored({ documentId: row.id, begunAt, receivedAt, goneAt, storedAt: clock.now() });
    return { document: documentDetailOf(row) };
  }
}

/**
 * Endpoints, 7, the part before the file. The order of the checks is ours: account and signature,
 * parameters, folder, plugin; then, with the file, its size and the allowance.
 */
async function admit(context: Context, fields: Fields) {
  const { accounts, settings, reminderPlugin, store } = context;
  const now = settings.clock.now();
  const request = { operation: "upload", fields, now } as const;
  const { account, dated } = authenticate(request, accounts, settings);
  // Also where it is refused next: sent again by another, it might be stored next to its repetition. A code of its
  // own, for INVALID_SIG would say that nothing was stored, and the first may have been.
  if (dated && !(await store.isFirst(dated, now))) throw new Refusal("REQUEST_REPEATED", 409);
  const asked = valuesOf("upload", fields);
  const folderId = folderOf(store, account, asked);
  if (asked.expireDate !== undefined && !reminderPlugin)
    throw new Refusal("PLUGIN_REMINDER_NOT_INSTALLED");
  return { account, asked, folderId, sha256: dated?.sha256 };
}

/** Which of the two counts when both are sent is open; here folderId wins. */
function folderOf(store: Store, account: Account, asked: ParameterValues<"upload">): number {
  if (asked.folderId !== undefined || asked.path === undefined)
    return folderAsked(store, account, asked.folderId).id;
  const id = store.folders.at(account.rootId, asked.path);
  if (id === undefined) throw new Refusal("FOLDER_NOT_EXISTS");
  return id;
}

/** What was sent replaces what the file says, and so does an empty text; the rest is still open. */
function metadataOf(asked: ParameterValues<"upload">) {
  return {
    title: asked.metadataTitle ?? null,
    author: asked.metadataAuthor ?? null,
    subject: asked.metadataSubject ?? null,
    keywords: asked.metadataKeywords ?? null,
    producer: asked.metadataProducer ?? null,
    description: asked.metadataDescription ?? null,
  };
}

function convertAtOf(fault: FaultAction | undefined, now: number, delayMs: number): number | null {
  if (fault?.do !== "convert") return now + delayMs;
  return fault.afterMs === "never" ? null : now + fault.afterMs;
}
