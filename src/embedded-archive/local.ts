import type { IncomingMessage } from "node:http";
import type { StoredDocumentRow } from "./document-row.ts";
import { type FileFormat, kindOf } from "../formats/file-format.ts";
import { isForwarded, isLoopbackAddress, isOwnPage } from "../std/web-caller.ts";

/** True for an address of the machine itself, and for `localhost`. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === "localhost" || isLoopbackAddress(host);
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

/** Types that a browser may know; all else is bytes. Markup is never sent as what it is. */
const TYPES: { readonly [K in FileFormat]?: string } = {
  pdf: "application/pdf",
  tiff: "image/tiff",
  jpeg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
  webp: "image/webp",
  bmp: "image/bmp",
  heic: "image/heic",
};

/**
 * The headers of a document's bytes. They come from anyone, so they are saved rather than shown,
 * and what shows them all the same runs nothing of them.
 */
export function contentHeaders(row: StoredDocumentRow, head: Buffer): Record<string, string> {
  const name = encodeURIComponent(row.filename.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    "content-type": TYPES[kindOf(head, "")] ?? "application/octet-stream",
    "content-length": String(row.size),
    "content-disposition": `attachment; filename*=UTF-8''${name}`,
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  };
}

/** Headers of every page. */
export const PLAIN_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
} as const;
