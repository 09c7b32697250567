import type { FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "./archive-context.ts";
import { sizeLimit } from "./archive-options.ts";
import { authenticate } from "./authentication.ts";
import type { Draft } from "./draft.ts";
import { answer, answerEarly } from "./fault-injection.ts";
import type { FaultAction } from "./faults.ts";
import { fieldOf, type Fields } from "./parameters.ts";
import { read, type Reading, type ReplyFields } from "./readings.ts";
import { receive, type Sink } from "./receive.ts";
import { Refusal } from "./refusal.ts";
import { outcomeOf } from "./reply.ts";
import { type Admission, admit, upload } from "./upload.ts";

/** Answers one request of an operation that only reads. */
export async function serveReading(
  context: Context,
  operation: Reading,
  fields: Fields,
  reply: FastifyReply,
): Promise<void> {
  const { settings, store, accounts } = context;
  const fault = context.faults.next(operation, fields);
  const work = () => {
    const now = settings.clock.now();
    const { account } = authenticate({ operation, fields, now }, accounts, settings);
    // SQLite compares an Infinity as it should: it is larger than every integer.
    const before = fault?.do === "stale" ? now - fault.youngerThanMs : Infinity;
    return read(operation, fields, { store, account, before });
  };
  await answer(reply, fault, () => outcomeOf(settings, work), context);
}

/**
 * Answers one upload. The whole body is read before anything is stored or refused: a client that
 * is still sending would not see the reply, and a body that breaks off must leave nothing.
 */
export async function serveUpload(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const arrival = new Arrival(context, reply);
  try {
    if (request.isMultipart()) await receive(request, (fields) => arrival.begin(fields));
    else await arrival.begin((request.body as Fields | undefined) ?? []);
    const work = () => outcomeOf(context.settings, () => arrival.finish());
    await answer(reply, arrival.fault, work, context);
  } catch (error) {
    if (!(error instanceof AnsweredEarly)) throw error;
  } finally {
    await arrival.draft?.discard();
  }
}

/** Leaves the reading of a request that has had its reply. */
class AnsweredEarly extends Error {}

/** An upload on its way in. */
class Arrival {
  readonly #context: Context;
  readonly #reply: FastifyReply;
  #admission: Admission | Refusal = new Refusal("NO_FILE_DATA");
  #begunAt = 0;
  #goneAt: number | undefined;
  fault: FaultAction | undefined;
  draft: Draft | undefined;

  constructor(context: Context, reply: FastifyReply) {
    this.#context = context;
    this.#reply = reply;
  }

  /** The fields are in; the file, if there is one, comes next. */
  async begin(fields: Fields): Promise<Sink> {
    const { clock } = this.#context.settings;
    this.#begunAt = clock.now();
    this.#reply.raw.once("close", () => {
      this.#goneAt = clock.now();
    });
    this.fault = this.#context.faults.next("upload", fields);
    if (this.fault?.do === "early") {
      answerEarly(this.#reply, fieldOf(fields, "filename") ?? "");
      throw new AnsweredEarly();
    }
    this.#admission = await admit(this.#context, fields).catch(refusalOf);
    if (this.#admission instanceof Refusal) return undefined;
    const { blobs, settings } = this.#context;
    const { filename } = this.#admission.asked;
    this.draft = blobs.draft((head) => sizeLimit(settings, head, filename));
    return this.fault?.do === "shorten" ? shortened(this.draft, this.fault.bytes) : this.draft;
  }

  /** The body has ended as it should. */
  async finish(): Promise<ReplyFields> {
    if (this.#admission instanceof Refusal) throw this.#admission;
    const { clock, onStored } = this.#context.settings;
    const receivedAt = clock.now();
    const answer = await upload(this.#context, this.#admission, this.draft, this.fault);
    const [documentId, begunAt, goneAt] = [answer.document.id, this.#begunAt, this.#goneAt];
    onStored({ documentId, begunAt, receivedAt, goneAt, storedAt: clock.now() });
    return answer;
  }
}

/** Thrown once the whole body is read; any other error at once. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}

/** Takes all of a file and passes its first bytes on. */
function shortened(draft: Draft, bytes: number): Sink {
  let left = bytes;
  return {
    async write(chunk) {
      const kept = chunk.subarray(0, left);
      left -= kept.length;
      if (kept.length > 0) await draft.write(kept);
    },
  };
}
