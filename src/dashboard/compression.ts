/** Answers as gzip, for those who take it: browsers take nothing else over plain http. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** Less than this is one packet anyway. */
const BYTES_MIN = 1_024;

const compressed = promisify(gzip);

/** Compresses text of routes that are added later; streams of events stay as they are. */
export function addCompression(app: FastifyInstance): void {
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

function takesGzip({ headers }: FastifyRequest): boolean {
  const encodings = (headers["accept-encoding"] ?? "").split(",");
  return encodings.some((one) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(one));
}
