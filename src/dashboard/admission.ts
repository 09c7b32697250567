/**
 * Who is let in, decided before a body is read. In this order: the name the listener was called by,
 * the page the request comes from, the form of a request that changes something, the token.
 */
import type { FastifyRequest } from "fastify";
import { isForwarded, isOwnPage } from "../std/web-caller.ts";
import { type Address, isCalledBy } from "./address.ts";
import { SIGN_IN_PATHS } from "./assets.ts";
import type { Attempts, Pass } from "./pass.ts";
import { Refusal } from "./refusal.ts";

/** Answer without a token, and by whatever name, so that supervisors and load balancers need none. */
const OPEN_PATHS = ["/healthz", "/readyz"];

export type Gatehouse = {
  readonly address: Address;
  /** Absent: no token is configured. */
  readonly pass: Pass | undefined;
  readonly attempts: Attempts;
  /** What a browser without the token is shown in the place of any page; absent: the refusal as JSON. */
  readonly signIn?: Buffer | undefined;
};

/** Rejects with a `Refusal` unless the request may be answered. */
export async function admit(request: FastifyRequest, gatehouse: Gatehouse): Promise<void> {
  if (!isForMachines(request, gatehouse)) assertOurName(request, gatehouse.address);
  assertOurPage(request);
  if (request.method === "POST") assertDeliberate(request);
  if (isOpen(pathOf(request), gatehouse)) return;
  const tries = gatehouse.pass !== undefined && bringsToken(request);
  if (tries) await gatehouse.attempts.turn(request.ip);
  const isKnown = isTrusted(request, gatehouse);
  if (tries && !isKnown) gatehouse.attempts.failed(request.ip);
  assertKnown(isKnown, gatehouse);
}

/** What shows nothing of the daemon: that it is well, and the page on which to sign in. */
function isOpen(path: string, { pass }: Gatehouse): boolean {
  return OPEN_PATHS.includes(path) || (pass !== undefined && SIGN_IN_PATHS.includes(path));
}

/** True when the request may see more than that the daemon is well. */
export function isTrusted(request: FastifyRequest, { address, pass }: Gatehouse): boolean {
  const { headers } = request;
  if (pass === undefined) {
    return address.isLoopback && isCalledBy(headers.host, address) && !isForwarded(headers);
  }
  return pass.admits(headers) || showsToken(request, pass);
}

/** True when the address bar brought the token: `/?token=…`. */
export function showsToken(request: FastifyRequest, pass: Pass | undefined): boolean {
  const token = tokenInAddress(request);
  return token !== null && (pass?.isToken(token) ?? false);
}

/** True when there is a token to look at, right or wrong. */
function bringsToken(request: FastifyRequest): boolean {
  // What else a proxy asks people for is none of the page's.
  const isBearer = /^Bearer\b/i.test(request.headers.authorization ?? "");
  return isBearer || tokenInAddress(request) !== null;
}

function tokenInAddress(request: FastifyRequest): string | null {
  if (pathOf(request) !== "/") return null;
  return new URL(request.url, "http://listener").searchParams.get("token");
}

/** The path of the request's target, without its query. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split("?", 1)[0] ?? "";
}

/**
 * Machines call a service by whatever name it has in their network. A browser that was led here by such a
 * name has no token to bring (it sends a cookie to the name that set it, and no `Authorization` on its own);
 * without one it learns that the daemon is well, and no more.
 */
function isForMachines(request: FastifyRequest, { pass }: Gatehouse): boolean {
  const path = pathOf(request);
  if (OPEN_PATHS.includes(path)) return true;
  return path === "/metrics" && pass !== undefined && bringsToken(request);
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

function assertOurPage(request: FastifyRequest): void {
  const { method, headers } = request;
  if (isOwnPage({ method, headers, isEntry: pathOf(request) === "/" })) return;
  throw new Refusal(
    403,
    "CROSS_SITE",
    "the request comes from another page",
    "Open the dashboard itself and ask there.",
  );
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

function assertKnown(isKnown: boolean, { pass }: Gatehouse): void {
  if (isKnown) return;
  if (pass === undefined)
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
    "Sign in on the page, or send `Authorization: Bearer …`.",
  );
}
