import type { IncomingMessage } from "node:http";
import type { StoredDocumentRow } from "./document-row.ts";
import type { FileFormat } from "../formats/file-format.ts";
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

/** Whether browsers have a viewer of their own for this kind. */
export function isShown(kind: FileFormat): boolean {
  return kind in TYPES && kind !== "tiff" && kind !== "heic";
}

/**
 * The headers of a document's bytes. They come from anyone, so they are saved unless they are to be shown in
 * a frame and a browser's own viewer can; and what shows them runs nothing of them.
 */
export function contentHeaders(
  row: StoredDocumentRow,
  kind: FileFormat,
  isPreview: boolean,
): Record<string, string> {
  const name = encodeURIComponent(row.filename.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    "content-type": TYPES[kind] ?? "application/octet-stream",
    "content-length": String(row.size),
    "content-disposition": `${isPreview && isShown(kind) ? "inline" : "attachment"}; filename*=UTF-8''${name}`,
    // The viewer of images has a style of its own.
    "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
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
