import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import Fastify from "fastify";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { guardConnections } from "../std/connection-guard.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { admit, type Gatehouse, pathOf } from "./admission.ts";
import { HTML_TYPE } from "./assets.ts";
import { Refusal } from "./refusal.ts";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** Bounds on what another host can occupy: uploads share this process's descriptors and its thread. */
const CONNECTIONS = { connections: 200, perNetwork: 20 };
const BODY_BYTES_MAX = 64 * 1024;
const HEADER_BYTES_MAX = 8 * 1024;
const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 15_000;
const OVERDUE_CHECK_MS = 5_000;
const IDLE_MS_MAX = 10_000;
/** Longer than the pause between two events, so that a live page is not taken for a dead one. */
const SILENCE_MS_MAX = 60_000;

/** The HTTP side without routes: limits, headers, who is let in, and how a refusal looks. */
export function listenerOf(gatehouse: Gatehouse, log: Log): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_BYTES_MAX,
    connectionTimeout: SILENCE_MS_MAX,
    requestTimeout: REQUEST_MS_MAX,
    keepAliveTimeout: IDLE_MS_MAX,
    // Open event streams never end on their own.
    forceCloseConnections: true,
    frameworkErrors: (error, _request, reply) => {
      void refuse(reply.headers(SECURITY_HEADERS), refusalOf(error));
    },
    clientErrorHandler: answerBroken,
    http: {
      maxHeaderSize: HEADER_BYTES_MAX,
      connectionsCheckingInterval: OVERDUE_CHECK_MS,
    },
  });
  guardConnections(app.server, CONNECTIONS);
  app.server.headersTimeout = HEADERS_MS_MAX;
  app.removeAllContentTypeParsers();
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    await admit(request, gatehouse);
  });
  addCompression(app);
  app.setNotFoundHandler(async (request, reply) => refuse(reply, unknown(reply, pathOf(request))));
  app.setErrorHandler(async (error: FastifyError | Refusal, request, reply) => {
    const refusal = error instanceof Refusal ? error : refusalOf(error);
    const { signIn } = gatehouse;
    if (signIn && refusal.code === "TOKEN_NEEDED" && isForPerson(request)) {
      return reply.code(refusal.status).type(HTML_TYPE).send(signIn);
    }
    if (refusal.status === 500)
      log.error({ error: messageOf(error) }, "the page cannot answer a request");
    return refuse(reply, refusal);
  });
  return app;
}

/** A browser that wants something to show, and no program. */
function isForPerson({ method, headers }: FastifyRequest): boolean {
  return method === "GET" && (headers.accept ?? "").includes("text/html");
}

/** What is no HTTP, or has not come in time, with the same headers as all else. */
function answerBroken(error: Error, socket: Socket): void {
  if (codeOf(error) === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const statuses: Readonly<Record<string, number>> = {
    HPE_HEADER_OVERFLOW: 431,
    ERR_HTTP_REQUEST_TIMEOUT: 408,
  };
  const status = statuses[codeOf(error) ?? ""] ?? 400;
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
    "content-length: 0",
    "connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n`);
}

function unknown(reply: FastifyReply, path: string): Refusal {
  if (!reply.server.hasRoute({ method: "POST", url: path }))
    return new Refusal(404, "NOT_FOUND", "there is nothing here", "The page is at `/`.");
  reply.header("allow", "POST");
  return new Refusal(405, "POST_ONLY", "this changes something", "Send it as a POST.");
}

async function refuse(reply: FastifyReply, refusal: Refusal): Promise<FastifyReply> {
  const { status, code, message, hint } = refusal;
  if (status === 401) reply.header("www-authenticate", 'Bearer realm="scanferry"');
  if (status === 503) reply.header("retry-after", "5");
  // What is left of a body is not going to be read.
  if (status !== 404) reply.header("connection", "close");
  return reply.code(status).send({ error: { code, message, hint } });
}

/** What fastify refuses on its own, or a failure of ours; the latter is reported without its details. */
function refusalOf({ statusCode, message }: FastifyError): Refusal {
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new Refusal(statusCode, "BAD_REQUEST", message, "Fix the request.");
  return new Refusal(500, "INTERNAL", "the answer could not be made", "See the daemon's log.");
}

/** Sent with every answer: what a browser may do with it, which is next to nothing. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "cache-control": "no-store",
};

/** Less than this is one packet anyway. */
const BYTES_MIN = 1_024;

const compressed = promisify(gzip);

/** Compresses text of routes that are added later; streams of events stay as they are. */
function addCompression(app: FastifyInstance): void {
  // The page's files are the same at each request.
  const files = new WeakMap<Buffer, Promise<Buffer>>();
  app.addHook("onSend", async (request, reply, payload: unknown) => {
    const isText = typeof payload === "string";
    if (!isText && !Buffer.isBuffer(payload)) return payload;
    if (payload.length < BYTES_MIN || request.method === "HEAD") return payload;
    reply.header("vary", "accept-encoding");
    if (!takesGzip(request)) return payload;
    reply.header("content-encoding", "gzip").removeHeader("content-length");
    if (isText) return compressed(payload);
    const known = files.get(payload) ?? compressed(payload);
    files.set(payload, known);
    return known;
  });
}

/** Browsers take nothing else over plain http. */
function takesGzip({ headers }: FastifyRequest): boolean {
  const encodings = (headers["accept-encoding"] ?? "").split(",");
  return encodings.some((one) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(one));
}
