import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import multipart from "@fastify/multipart";
import Fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from "fastify";
import { guardConnections } from "../std/connection-guard.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import { type Operation, PATHS } from "../wire/shapes.ts";
import type { Context } from "./archive-context.ts";
import { PLAIN_HEADERS } from "./admin.ts";
import { isPartAFile, MULTIPART_LIMITS } from "./receive.ts";
import { JSON_TYPE, refused, send } from "./answer.ts";
import { serveReading } from "./readings.ts";
import type { Fields } from "./parameters.ts";
import { addPages } from "./pages.ts";
import { Refusal } from "./refusal.ts";
import { serveUpload } from "./upload.ts";

/** Bytes of a url-encoded body; the interface's fields take a few kilobytes. */
const FORM_BYTES_MAX = 1024 * 1024;
const FORM_TYPE = "application/x-www-form-urlencoded";
/** Uploads share the process's descriptors; one network may hold a good part of them, as a large office does. */
const CONNECTIONS = { connections: 500, perNetwork: 250 };
const HEADERS_TIMEOUT_MS = 20_000;
/** A connection on which nothing moves. */
const SILENCE_MS_MAX = 120_000;
/** A request from its first to its last byte; ample for gigabytes on a slow line. */
const REQUEST_MS_MAX = 3_600_000;

/** The HTTP side: routes, bodies, limits, and an answer in the interface's form to all else. */
export async function serverOf(context: Context): Promise<FastifyInstance> {
  const app = Fastify({
    bodyLimit: FORM_BYTES_MAX,
    connectionTimeout: SILENCE_MS_MAX,
    requestTimeout: REQUEST_MS_MAX,
    // Clients keep connections; closing must not wait until they tire of that.
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    // Node would answer on its own, and not in the interface's form.
    http: { requireHostHeader: false },
    frameworkErrors: (error, _request, reply) => {
      void send(reply.headers(PLAIN_HEADERS), refused(context.settings, refusalOf(error)));
    },
    clientErrorHandler: (error, socket) => answerBroken(context, error, socket),
  });
  guardConnections(app.server, CONNECTIONS);
  app.server.headersTimeout = HEADERS_TIMEOUT_MS;
  answerOurselves(app);
  await takeBodies(app);
  for (const operation of Object.keys(PATHS) as Operation[])
    app.post(PATHS[operation], (request, reply) =>
      context.traffic.track(operation, async () => {
        refuseOtherBodies(request, operation);
        if (operation === "upload") return serveUpload(context, request, reply);
        return serveReading(context, operation, (request.body as Fields | undefined) ?? [], reply);
      }),
    );
  answerTheRest(app, context);
  await app.register(async (pages) => addPages(pages, context));
  return app;
}

/** Forms in both encodings; any other body is read and thrown away, so that it can be answered. */
async function takeBodies(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(FORM_TYPE, { parseAs: "buffer" }, (_request, body, done) =>
    done(null, [...new URLSearchParams(body.toString())]),
  );
  await app.register(multipart, {
    limits: MULTIPART_LIMITS,
    isPartAFile,
    throwFileSizeLimit: false,
  });
  app.addContentTypeParser("*", (_request, payload, done) => {
    let length = 0;
    payload.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > FORM_BYTES_MAX) done(new Refusal("REQUEST_TOO_LARGE", 413));
    });
    payload.on("end", () => done(null, undefined));
    payload.on("error", (error) => done(error));
  });
}

/** What Node answers with a status and nothing else where nobody listens. */
function answerOurselves(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ raw, headers }, reply) => {
    reply.headers(PLAIN_HEADERS);
    if (raw.httpVersion === "1.1" && headers.host === undefined)
      throw new Refusal("MALFORMED_REQUEST", 400);
  });
  // Nothing but 100-continue is ever to be expected; anyone who asks for more is answered all the same.
  app.server.on("checkExpectation", (request, reply) => app.server.emit("request", request, reply));
}

/** Errors that the interface does not know, in its form. */
function answerTheRest(app: FastifyInstance, { settings }: Context): void {
  const paths = new Set<string>(Object.values(PATHS));
  app.setNotFoundHandler(async (request, reply) => {
    const isKnown = paths.has(request.url.split("?")[0] ?? "");
    if (isKnown) reply.header("allow", "POST");
    const refusal = isKnown
      ? new Refusal("METHOD_NOT_ALLOWED", 405)
      : new Refusal("NOT_FOUND", 404);
    await send(reply, refused(settings, refusal));
  });
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    // Nobody is left to read a reply, and a client that goes away is no fault of the archive.
    if (request.raw.destroyed && !request.raw.complete) {
      reply.hijack();
      return;
    }
    const refusal = error instanceof Refusal ? error : refusalOf(error);
    if (refusal.status === 500) settings.log({ event: "fault", why: messageOf(error) });
    // What is left of the body is not going to be read.
    reply.header("connection", "close");
    await send(reply, refused(settings, refusal));
  });
}

/** What is no HTTP at all, or breaks off before anyone can be asked to answer it. */
function answerBroken({ settings }: Context, error: Error, socket: Socket): void {
  if (codeOf(error) === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const isTooLong = codeOf(error) === "HPE_HEADER_OVERFLOW";
  const refusal = isTooLong
    ? new Refusal("REQUEST_TOO_LARGE", 431)
    : new Refusal("MALFORMED_REQUEST", 400);
  const { status, body } = refused(settings, refusal);
  const text = JSON.stringify(body);
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${JSON_TYPE}`,
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
    ...Object.entries(PLAIN_HEADERS).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${headers.join("\r\n")}\r\n\r\n${text}`);
}

function refusalOf({ statusCode, message }: FastifyError): Refusal {
  if (statusCode === 413) return new Refusal("REQUEST_TOO_LARGE", 413);
  const isClients = statusCode !== undefined && statusCode >= 400 && statusCode < 500;
  // What the multipart parser throws has no status; its needle is a boundary, of up to 256 bytes.
  const isBroken = /multipart|terminated early|premature|needle/i.test(message);
  if (isClients || isBroken) return new Refusal("MALFORMED_REQUEST", 400);
  return new Refusal("INTERNAL_ERROR", 500);
}

/** Bodies are forms; multipart is for uploads. A missing body has no type and no fields. */
function refuseOtherBodies(request: FastifyRequest, operation: Operation): void {
  const type = request.headers["content-type"];
  const isForm = type === undefined || /^application\/x-www-form-urlencoded\b/i.test(type);
  if (!isForm && !(operation === "upload" && request.isMultipart()))
    throw new Refusal("UNSUPPORTED_MEDIA_TYPE", 415);
}
