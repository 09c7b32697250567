/**
 * Who is let in, decided before a body is read. In this order: the name the listener was called by,
 * the page the request comes from, the form of a request that changes something, the token.
 */
import type { FastifyRequest } from "fastify";
import { type Address, isCalledBy } from "./address.ts";
import type { Pass } from "./pass.ts";
import { Refusal } from "./refusal.ts";

/** Answer without a token, so that supervisors and load balancers need none. */
const OPEN_PATHS = ["/healthz", "/readyz"];

export type Gatehouse = {
  readonly address: Address;
  /** Absent: no token is configured. */
  readonly pass: Pass | undefined;
};

/** Throws a `Refusal` unless the request may be answered. */
export function admit(request: FastifyRequest, gatehouse: Gatehouse): void {
  assertOurName(request, gatehouse.address);
  assertOurPage(request);
  if (request.method === "POST") assertDeliberate(request);
  if (!OPEN_PATHS.includes(pathOf(request))) assertKnown(request, gatehouse);
}

/** True when the request may see more than that the daemon is well. */
export function isTrusted(request: FastifyRequest, { address, pass }: Gatehouse): boolean {
  if (pass === undefined) return address.isLoopback && !isForwarded(request);
  return pass.admits(request.headers) || showsToken(request, pass);
}

/** A proxy on this host makes everybody a caller from this host. Not every proxy says that it is one. */
function isForwarded({ headers }: FastifyRequest): boolean {
  return ["forwarded", "x-forwarded-for", "x-real-ip", "via"].some((name) => name in headers);
}

/** True when the address bar brought the token: `/?token=…`. */
export function showsToken(request: FastifyRequest, pass: Pass | undefined): boolean {
  if (pathOf(request) !== "/") return false;
  const token = new URL(request.url, "http://listener").searchParams.get("token");
  return token !== null && (pass?.isToken(token) ?? false);
}

/** The path of the request's target, without its query. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split("?", 1)[0] ?? "";
}

function assertOurName(request: FastifyRequest, address: Address): void {
  if (isCalledBy(request.headers.host, address)) return;
  throw new Refusal(
    421,
    "WRONG_HOST",
    "this listener does not go by that name",
    "Call it by the host of `web.listen`, or name what you call it by in `web.names`.",
  );
}

/**
 * Browsers tell where a request comes from. Another page may link to this one and nothing else: not
 * even read, since an open event stream takes a place.
 */
function assertOurPage(request: FastifyRequest): void {
  const { origin, host } = request.headers;
  const site = request.headers["sec-fetch-site"];
  const isRead = request.method === "GET" || request.method === "HEAD";
  const isLink = isRead && pathOf(request) === "/" && origin === undefined;
  const isOurs = site === undefined || site === "same-origin" || (isRead && site === "none");
  if ((isOurs || isLink) && (origin === undefined || hostOfOrigin(origin) === host)) return;
  throw new Refusal(
    403,
    "CROSS_SITE",
    "the request comes from another page",
    "Open the dashboard itself and ask there.",
  );
}

/** `host:port` of an origin; undefined for `null` and what is none. */
function hostOfOrigin(origin: string): string | undefined {
  return /^https?:\/\/([^/?#\s]+)$/i.exec(origin)?.[1];
}

/** What a form or an image of another page cannot send: a header of our own, and JSON. */
function assertDeliberate(request: FastifyRequest): void {
  if (request.headers["x-scanferry"] !== "1")
    throw new Refusal(
      403,
      "HEADER_MISSING",
      "the header x-scanferry is missing",
      "Send `x-scanferry: 1` with every request that changes something.",
    );
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/json\s*(;\s*charset=utf-8\s*)?$/i.test(type))
    throw new Refusal(
      415,
      "NOT_JSON",
      "the body is not declared as JSON",
      "Send `content-type: application/json`.",
    );
}

function assertKnown(request: FastifyRequest, gatehouse: Gatehouse): void {
  if (isTrusted(request, gatehouse)) return;
  if (gatehouse.pass === undefined)
    throw new Refusal(
      403,
      "NO_TOKEN_CONFIGURED",
      "the listener is open to the network, or to a proxy, and has no token",
      "Give the web listener a token (`web.tokenFile`), or set `web.listen` to 127.0.0.1.",
    );
  throw new Refusal(
    401,
    "TOKEN_NEEDED",
    "the token is missing or wrong",
    "Open `/?token=…` in the browser, or send `Authorization: Bearer …`.",
  );
}
