import Fastify, { type FastifyError, type FastifyInstance } from "fastify";
import { guardConnections } from "../std/connection-guard.ts";
import { Fault, messageOf } from "../std/fault.ts";
import { accountOf, ACTIONS, type Body, Unusable } from "./admin-actions.ts";
import { sendContent } from "./content.ts";
import type { Context } from "./archive-context.ts";
import { isLocal, isLoopback, PLAIN_HEADERS } from "./local.ts";
import { integer, MALFORMED } from "./reading.ts";
import type { Traffic } from "./traffic.ts";

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
export function adminOf(context: Context, traffic: Traffic, host: string): FastifyInstance {
  if (!isLoopback(host))
    throw new Fault(
      "EMBEDDED_ARCHIVE_OPTIONS",
      `administration cannot listen on ${host}: it is not an address of this machine alone`,
      "Use 127.0.0.1, ::1 or localhost.",
    );
  const app = Fastify({ bodyLimit: BODY_BYTES_MAX, forceCloseConnections: true });
  guardConnections(app.server, CONNECTIONS);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(PLAIN_HEADERS);
    if (!isLocal(request.raw)) throw new Unusable("call this address by the name it has here", 404);
  });
  app.removeContentTypeParser("text/plain");
  for (const [path, act] of Object.entries(ACTIONS))
    app.post(path, async ({ body }) => act(context, bodyOf(body)));
  addReads(app, context, traffic);
  app.setNotFoundHandler(async () => {
    throw new Unusable("there is nothing at this address", 404);
  });
  app.setErrorHandler(async (error: FastifyError, _request, reply) => {
    const status = statusOf(error);
    if (status === 500) context.settings.log({ event: "fault", why: messageOf(error) });
    return reply.code(status).send({ error: messageOf(error) });
  });
  return app;
}

function addReads(app: FastifyInstance, context: Context, traffic: Traffic): void {
  const { store, blobs } = context;
  app.get<{ Querystring: Record<string, string> }>("/documents", async ({ query }) => {
    const account = accountOf(context, query["account"]);
    const limit = Math.min(numberOf(query["limit"] ?? DOCUMENTS_DEFAULT), DOCUMENTS_MAX);
    const documents = store.audit(account.id, numberOf(query["after"] ?? 0), limit);
    const last = documents.at(-1);
    return { documents, next: documents.length === limit && last ? last.id : null };
  });
  app.get<{ Params: { id: string } }>("/documents/:id/content", async ({ params }, reply) => {
    const row = store.documents.uploadedById(numberOf(params.id));
    if (!row) throw new Unusable(`there is no document ${params.id}`, 404);
    return sendContent(blobs, row, reply);
  });
  app.get("/stats", async () => ({
    accounts: [...context.accounts.values()].map(({ id, key }) => ({
      key,
      ...store.holdings.stateCounts(id),
      pagesUsed: store.pagesUsed(id),
      pages: context.quotas.get(id) ?? null,
    })),
    notices: store.notices.counts(),
    reminder: context.reminderPlugin,
    requests: Object.fromEntries(traffic.counts().map((c) => [c.operation, c.count])),
    memoryBytes: process.memoryUsage.rss(),
  }));
}

function bodyOf(body: unknown): Body {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Body;
  throw new Unusable("the body is no JSON object");
}

function numberOf(value: string | number): number {
  const number = integer(String(value));
  if (number === MALFORMED || number < 0) throw new Unusable(`${value} is no whole number`);
  return number;
}

function statusOf(error: FastifyError): number {
  if (error instanceof Unusable) return error.status;
  if (error instanceof Fault) return 400;
  const { statusCode = 500 } = error;
  return statusCode >= 400 && statusCode < 500 ? statusCode : 500;
}
