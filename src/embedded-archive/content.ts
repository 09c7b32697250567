import { open } from "node:fs/promises";
import type { FastifyReply } from "fastify";
import { type FileFormat, kindOf } from "../formats/file-format.ts";
import type { StoredDocumentRow } from "./document-row.ts";
import { type Blobs, HEAD_BYTES } from "./blobs.ts";

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

/** What a document is, by its first bytes alone: a name says what anyone wants. */
export async function kindOfContent(blobs: Blobs, { sha256 }: StoredDocumentRow) {
  await using handle = await open(blobs.pathOf(sha256), "r");
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return kindOf(buffer.subarray(0, bytesRead), "");
}

/**
 * Sends a document's bytes as they were uploaded. They come from anyone, so they are saved unless they are a
 * preview, to be shown in a frame, and a browser's own viewer can; and what shows them runs nothing of them. Rejects
 * when they are not there.
 */
export async function sendContent(
  blobs: Blobs,
  row: StoredDocumentRow,
  reply: FastifyReply,
  isPreview = false,
): Promise<FastifyReply> {
  const kind = await kindOfContent(blobs, row);
  const handle = await open(blobs.pathOf(row.sha256), "r");
  const name = encodeURIComponent(row.filename.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  reply.headers({
    "content-type": TYPES[kind] ?? "application/octet-stream",
    "content-length": String(row.size),
    "content-disposition": `${isPreview && isShown(kind) ? "inline" : "attachment"}; filename*=UTF-8''${name}`,
    // The viewer of images has a style of its own.
    "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  });
  // The stream closes the file, also when the client goes away.
  return reply.send(handle.createReadStream());
}
