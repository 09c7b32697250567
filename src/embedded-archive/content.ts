import { type FileHandle, open } from "node:fs/promises";
import type { FastifyReply } from "fastify";
import type { Blobs } from "./blobs.ts";
import type { StoredDocumentRow } from "./document-row.ts";
import { contentHeaders } from "./local.ts";

const HEAD_BYTES = 4096;

/** Sends a document's bytes as they were uploaded. Rejects when they are not there. */
export async function sendContent(
  blobs: Blobs,
  row: StoredDocumentRow,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const handle = await open(blobs.pathOf(row.sha256), "r");
  try {
    reply.headers(contentHeaders(row, await headOf(handle)));
  } catch (error) {
    await handle.close();
    throw error;
  }
  // The stream closes the file, also when the client goes away.
  return reply.send(handle.createReadStream({ start: 0 }));
}

async function headOf(handle: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}
