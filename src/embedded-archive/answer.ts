import { gzipSync } from "node:zlib";
import type { FastifyReply } from "fastify";
import type { Context } from "./archive-context.ts";
import type { Settings } from "./archive-options.ts";
import type { FaultAction } from "./faults.ts";
import { Refusal } from "./refusal.ts";

/** Common conventions, 3. */
export const JSON_TYPE = "application/json;charset=UTF-8";

/** What a reply holds in addition to `response`. */
export type ReplyFields = Record<string, unknown>;

/** A reply before it goes out. */
type OperationReply = { status: number; body: ReplyFields };

/** Errors, 4 and 5: the status and how the code is wrapped are open, so the settings decide. */
export function refused(settings: Settings, { message: code, status }: Refusal): OperationReply {
  const responseDescription = settings.errorStyle === "object" ? { code } : code;
  return {
    status: status ?? settings.errorHttp,
    body: { response: "ERROR", responseDescription },
  };
}

/** Answers with it, in the interface's form. */
export async function send(reply: FastifyReply, { status, body }: OperationReply): Promise<void> {
  await reply.code(status).header("content-type", JSON_TYPE).send(JSON.stringify(body));
}

const BOMB_BYTES = 256 * 1024 * 1024;

/**
 * Does the work and sends its outcome, or has the fault befall it. Faults that concern the work
 * itself (`stale`, `convert`) are none of this function's business; those go out as usual.
 */
export async function answer(
  reply: FastifyReply,
  fault: FaultAction | undefined,
  doWork: () => ReplyFields | Promise<ReplyFields>,
  context: Context,
): Promise<void> {
  const { settings, closing } = context;
  const work = () => outcomeOf(settings, doWork);
  // A closing archive waits for nothing, but what was to be stored late is stored.
  const wait = (ms: number) => settings.clock.sleep(ms, closing).catch(() => {});
  switch (fault?.do) {
    case "delay":
      await wait(fault.ms);
      return send(reply, await work());
    case "dropBefore":
      return drop(reply);
    case "dropAfter":
      await work();
      return drop(reply);
    case "storeLate":
      drop(reply);
      await wait(fault.ms);
      await work();
      return;
    case "status":
      if (fault.stored) await work();
      return sendStatus(reply, fault);
    case "redirect":
      return sendText(reply.code(307).header("location", fault.url), "");
    case "garbage":
      await work();
      return sendText(reply, "\u0000%PDF-1.7 not what you asked for", JSON_TYPE);
    case "truncate":
      return sendText(reply, firstHalf(await work()), JSON_TYPE);
    case "bomb":
      await work();
      return sendBomb(reply, fault.bytes ?? BOMB_BYTES);
    case "misreport":
      return send(reply, misreported(await work(), fault));
    case "wrongDocument":
      return send(reply, withAnother(await work()));
    case "error":
      if (fault.stored) await work();
      return send(reply, refused(settings, new Refusal(fault.code, fault.status)));
    case "hollow":
      return send(reply, hollow(await work(), fault.lists));
    default:
      return send(reply, await work());
  }
}

/** Runs an operation; its refusal is an outcome, too. */
async function outcomeOf(
  settings: Settings,
  work: () => ReplyFields | Promise<ReplyFields>,
): Promise<OperationReply> {
  try {
    return { status: 200, body: { response: "OK", ...(await work()) } };
  } catch (error) {
    if (error instanceof Refusal) return refused(settings, error);
    throw error;
  }
}

/** An OK with a made-up document, sent while the request is still coming in. */
export function answerEarly(reply: FastifyReply, filename: string): void {
  const empty = { pages: 0, filesize: 0, status: "UPLOADED" };
  const document = { id: 999_999_999, folderId: 1, filename, ...empty };
  reply.hijack();
  reply.raw.writeHead(200, { "content-type": JSON_TYPE, connection: "close" });
  reply.raw.end(JSON.stringify({ response: "OK", document }));
}

function drop(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.destroy();
}

async function sendStatus(
  reply: FastifyReply,
  { status, retryAfter, html = false }: Extract<FaultAction, { do: "status" }>,
): Promise<void> {
  if (retryAfter !== undefined) reply.header("retry-after", retryAfter);
  reply.code(status);
  if (!html) return sendText(reply, `status ${status}`, "text/plain");
  return sendText(reply, `<html><h1>${status}</h1><p>nginx</p></html>`, "text/html");
}

async function sendText(reply: FastifyReply, text: string, type?: string): Promise<void> {
  if (type !== undefined) reply.header("content-type", type);
  await reply.send(text);
}

function firstHalf({ body }: OperationReply): string {
  const text = JSON.stringify(body);
  return text.slice(0, Math.ceil(text.length / 2));
}

/** A gzip stream may be many, one behind the other: so one small piece makes any number of bytes. */
async function sendBomb(reply: FastifyReply, bytes: number): Promise<void> {
  const piece = gzipSync(Buffer.alloc(1024 * 1024, " "));
  const pieces = Array.from({ length: Math.ceil(bytes / (1024 * 1024)) }, () => piece);
  reply.header("content-type", JSON_TYPE).header("content-encoding", "gzip");
  await reply.send(Buffer.concat(pieces));
}

/** A list's and a look-up's documents alike. */
function misreported(
  { status, body }: OperationReply,
  { field, value }: Extract<FaultAction, { do: "misreport" }>,
): OperationReply {
  const wrong = (_key: string, item: Record<string, unknown> | null) => {
    if (item?.["status"] !== "CONVERTED") return item;
    return { ...item, [field]: typeof item[field] === "number" ? Number(value) : value };
  };
  return { status, body: JSON.parse(JSON.stringify(body), wrong) as OperationReply["body"] };
}

function withAnother(outcome: OperationReply): OperationReply {
  const { document } = outcome.body;
  if (typeof document !== "object" || document === null) return outcome;
  const another = { id: 1_000_000_007, documentName: "another", filename: "another.pdf" };
  return { ...outcome, body: { ...outcome.body, document: { ...document, ...another } } };
}

function hollow(outcome: OperationReply, lists: "absent" | "null" | "empty"): OperationReply {
  const { documents, folders, ...rest } = outcome.body;
  const named = Object.entries({ documents, folders }).filter(([, list]) => Array.isArray(list));
  if (named.length === 0 || lists === "absent") return { ...outcome, body: rest };
  const empty = Object.fromEntries(named.map(([name]) => [name, lists === "null" ? null : []]));
  const pages = lists === "empty" ? { paginationPages: 2 } : {};
  return { ...outcome, body: { ...rest, ...pages, ...empty } };
}
