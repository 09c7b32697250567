import type { IncomingMessage } from "node:http";
import { isForwarded, isLoopback, isOwnPage } from "../std/web-caller.ts";

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
