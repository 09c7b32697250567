import Fastify, { type FastifyError, type FastifyInstance } from "fastify";
import { guardConnections } from "../std/connection-guard.ts";
import { Fault, messageOf } from "../std/fault.ts";
import { type Context, makeFolder } from "./archive-context.ts";
import { isLocal, isLoopback, PLAIN_HEADERS } from "./local.ts";
import { integer, MALFORMED } from "./reading.ts";
import type { Traffic } from "./traffic.ts";
import { sendContent } from "./blobs.ts";
import { faultRulesOf, FaultSchedule } from "./faults.ts";
import type { FolderDescription } from "./folder-table.ts";
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
      ...store.documents.stateCounts(id),
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

/** A request that administration cannot do anything with. */
export class Unusable extends Error {
  readonly status: 400 | 404;

  constructor(message: string, status: 400 | 404 = 400) {
    super(message);
    this.status = status;
  }
}

/** The body of a request: a JSON object. */
export type Body = Record<string, unknown>;

/** What can be changed; each takes the body and returns the reply. */
export const ACTIONS: {
  readonly [path: string]: (context: Context, body: Body) => Record<string, unknown>;
} = {
  "/folders": (context, body) => {
    const { account, path, ...given } = partsOf(body, "account", "path", ...DESCRIPTION);
    if (typeof path !== "string") throw new Unusable("path is no text");
    const description = descriptionOf(given);
    const id = makeFolder(context, accountOf(context, account), path);
    context.store.folders.describe(id, description);
    context.expiry.poke();
    return { id };
  },
  "/quota": (context, body) => {
    const { account, pages } = partsOf(body, "account", "pages");
    const isCount = Number.isSafeInteger(pages) && Number(pages) >= 0;
    if (pages !== null && !isCount) throw new Unusable("pages is no whole number and not null");
    const { id } = accountOf(context, account);
    setQuota(context, id, pages === null ? undefined : Number(pages));
    return { pagesUsed: context.store.pagesUsed(id), pages };
  },
  "/plugin": (context, body) => {
    const { reminder } = partsOf(body, "reminder");
    if (typeof reminder !== "boolean") throw new Unusable("reminder is neither true nor false");
    context.reminderPlugin = reminder;
    return { reminder };
  },
  "/faults": (context, body) => {
    const { plan } = partsOf(body, "plan");
    const rules = plan === null ? [] : faultRulesOf(plan);
    context.faults = new FaultSchedule(rules);
    return { rules: rules.length };
  },
};

const TEXTS = ["index", "description", "keywords"] as const;
const DESCRIPTION = [...TEXTS, "expireDate"] as const;

/** What a folder is to say of its own; what is absent stays as it is. */
function descriptionOf(
  given: { [name in (typeof DESCRIPTION)[number]]?: unknown },
): FolderDescription {
  const { expireDate } = given;
  const wrong = TEXTS.find((name) => given[name] !== undefined && typeof given[name] !== "string");
  if (wrong !== undefined) throw new Unusable(`${wrong} is no text`);
  if (expireDate !== undefined && expireDate !== null && !Number.isSafeInteger(expireDate))
    throw new Unusable("expireDate is no time in epoch milliseconds and not null");
  return given as FolderDescription;
}

/** Sets an account's page allowance, now and for later runs; undefined: unlimited. */
export function setQuota(context: Context, accountId: number, pages: number | undefined): void {
  context.store.setAllowance(accountId, pages ?? -1);
  context.quotas.set(accountId, pages);
}

/** The account with this key; the first one when none is given. Throws `Unusable`, status 404, without one. */
export function accountOf({ accounts }: Context, key: unknown): Account {
  const isNamed = key !== undefined && key !== null;
  const named = typeof key === "string" ? accounts.get(key) : undefined;
  const account = isNamed ? named : [...accounts.values()][0];
  if (!account) throw new Unusable(`there is no account ${JSON.stringify(key)}`, 404);
  return account;
}

/** The body, which may have no parts but these. */
function partsOf<const N extends string>(body: Body, ...names: N[]): { [K in N]?: unknown } {
  const unknown = Object.keys(body).find((name) => !(names as string[]).includes(name));
  if (unknown !== undefined) throw new Unusable(`there is no part ${JSON.stringify(unknown)} here`);
  return body as { [K in N]?: unknown };
}
