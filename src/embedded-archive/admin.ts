import type { IncomingMessage } from "node:http";
import { z } from "zod";
import Fastify from "fastify";
import type { FastifyError, FastifyInstance } from "fastify";
import { guardConnections } from "../std/connection-guard.ts";
import { Fault, messageOf } from "../std/fault.ts";
import type { Context } from "./archive-context.ts";
import { isForwarded, isLoopback, isOwnPage } from "../std/web-caller.ts";
import { sendContent } from "./content.ts";
import { integer } from "./parameters.ts";
import { FAULT_RULES, FaultSchedule } from "./faults.ts";
import { FOLDER_DESCRIPTION, type FolderDescription } from "./folder-table.ts";
import { readShape, Refusal, unusable } from "./refusal.ts";
import type { Account } from "./store.ts";

const BODY_BYTES_MAX = 1024 * 1024;
const CONNECTIONS = { connections: 100, perNetwork: 100 };
/** Documents of one answer. */
const DOCUMENTS_DEFAULT = 1_000;
const DOCUMENTS_MAX = 10_000;

/**
 * Administration: folders, allowances, the plugin, faults, the store as it is. It asks for no
 * signature, so it listens on this machine alone; what changes something takes JSON, which no
 * foreign page can send. A Fault with EMBEDDED_ARCHIVE_OPTIONS refuses any other address.
 */
export function adminOf(context: Context, host: string): FastifyInstance {
  if (!isLoopback(host))
    throw unusable(
      `administration cannot listen on ${host}: it is not an address of this machine alone`,
      "Use 127.0.0.1, ::1 or localhost.",
    );
  const app = Fastify({ bodyLimit: BODY_BYTES_MAX, forceCloseConnections: true });
  guardConnections(app.server, CONNECTIONS);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(PLAIN_HEADERS);
    if (!isLocal(request.raw)) throw new Refusal("call this address by the name it has here", 404);
  });
  app.removeContentTypeParser("text/plain");
  for (const [path, act] of Object.entries(ACTIONS))
    app.post(path, async ({ body }) => act(context, body));
  addReads(app, context);
  app.setNotFoundHandler(async () => {
    throw new Refusal("there is nothing at this address", 404);
  });
  app.setErrorHandler(async (error: FastifyError, _request, reply) => {
    const status = statusOf(error);
    if (status === 500) context.settings.log({ event: "fault", why: messageOf(error) });
    return reply.code(status).send({ error: messageOf(error) });
  });
  return app;
}

function addReads(app: FastifyInstance, context: Context): void {
  const { store, blobs, traffic } = context;
  app.get<{ Querystring: Record<string, string> }>("/documents", async ({ query }) => {
    const account = accountOf(context, query["account"]);
    const limit = Math.min(numberOf(query["limit"] ?? DOCUMENTS_DEFAULT), DOCUMENTS_MAX);
    const documents = [...store.audit(account.id, numberOf(query["after"] ?? 0), limit)];
    const last = documents.at(-1);
    return { documents, next: documents.length === limit && last ? last.id : null };
  });
  app.get<{ Params: { id: string } }>("/documents/:id/content", async ({ params }, reply) => {
    const row = store.documents.uploadedById(numberOf(params.id));
    if (!row) throw new Refusal(`there is no document ${params.id}`, 404);
    return sendContent(blobs, row, reply);
  });
  app.get("/stats", async () => ({
    accounts: [...context.accounts.values()].map(({ id, key }) => {
      const counts = store.documents.counts(id, "status");
      const [uploaded, converted] = [counts.get("UPLOADED") ?? 0, counts.get("CONVERTED") ?? 0];
      const pages = store.quotaOf(id, context.settings.quotaPages) ?? null;
      return { key, uploaded, converted, pagesUsed: store.pagesUsed(id), pages };
    }),
    notices: store.notices.counts(),
    reminder: context.reminderPlugin,
    requests: traffic.counts,
    memoryBytes: process.memoryUsage.rss(),
  }));
}

function numberOf(value: string | number): number {
  const number = integer.safeParse(String(value)).data;
  if (number === undefined || number < 0) throw new Refusal(`${value} is no whole number`);
  return number;
}

function statusOf(error: FastifyError): number {
  if (error instanceof Refusal) return error.status ?? 400;
  if (error instanceof Fault) return 400;
  const { statusCode = 500 } = error;
  return statusCode >= 400 && statusCode < 500 ? statusCode : 500;
}

/** What changes something: takes a body of this shape, and returns the reply. */
function action<S extends z.ZodRawShape>(
  shape: S,
  act: (context: Context, body: z.output<z.ZodObject<S>>) => Record<string, unknown>,
) {
  const whole = z.strictObject(shape) as unknown as z.ZodType<z.output<z.ZodObject<S>>>;
  const refuse = (why: string) => new Refusal(why);
  return (context: Context, body: unknown) => act(context, readShape(whole, body, refuse));
}

const account = z.unknown().optional();

/** By their paths. */
export const ACTIONS = {
  "/folders": action(
    { account, path: z.string(), ...FOLDER_DESCRIPTION },
    (context, { account: key, path, ...description }) => ({
      id: describeFolder(context, key, path, description),
    }),
  ),
  "/quota": action({ account, pages: z.int().min(0).nullable() }, (context, body) => {
    const { id } = accountOf(context, body.account);
    context.store.setQuota(id, body.pages ?? undefined);
    return { pagesUsed: context.store.pagesUsed(id), pages: body.pages };
  }),
  "/plugin": action({ reminder: z.boolean() }, (context, { reminder }) => {
    context.reminderPlugin = reminder;
    return { reminder };
  }),
  "/faults": action({ plan: FAULT_RULES.nullable() }, (context, { plan }) => {
    context.faults = new FaultSchedule(plan ?? []);
    return { rules: plan?.length ?? 0 };
  }),
};

/** Makes the folder `/A/B` if missing, and sets what it says of its own; returns its id. */
export function describeFolder(
  context: Context,
  key: unknown,
  path: string,
  description: FolderDescription,
): number {
  const { store, settings, expiry } = context;
  const { id: accountId } = accountOf(context, key);
  const id = store.makeFolder(accountId, path, settings.clock.now(), description);
  expiry.poke();
  return id;
}

/** The account with this key; the first one when none is given. Refuses, with the status 404, without one. */
export function accountOf({ accounts }: Context, key: unknown): Account {
  const named = typeof key === "string" ? accounts.get(key) : undefined;
  const account = key === undefined || key === null ? [...accounts.values()][0] : named;
  if (!account) throw new Refusal(`there is no account ${JSON.stringify(key)}`, 404);
  return account;
}

/**
 * Whether a request comes from the machine itself and names it so, not by way of a proxy nor sent by
 * another page. The Host is checked because a foreign page can make a browser here ask under a name of
 * its own.
 */
export function isLocal(request: IncomingMessage): boolean {
  const { method = "", headers, url } = request;
  if (isForwarded(headers) || !isOwnPage({ method, headers, isEntry: url === "/" })) return false;
  const [, v6, name] =
    /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/.exec(request.headers.host ?? "") ?? [];
  const isNamedSo = isLoopback(v6 ?? name ?? "");
  return isNamedSo && isLoopback(request.socket.remoteAddress ?? "");
}

/** Headers of every page. */
export const PLAIN_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
} as const;
