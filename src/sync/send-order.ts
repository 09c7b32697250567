import type { Document } from "../domain/document.ts";
import { metadataOf } from "../domain/attributes.ts";
import type { SendOrder } from "../reader/protocol.ts";
import { joinRaw } from "../std/raw-path.ts";

/** What the reader has to send: the intent as it was committed, and in which pieces. */
export function sendOrder(document: Document, pieceBytes: number | null): SendOrder {
  return {
    mirrorId: document.mirrorId,
    path: joinRaw(document.dir, document.name),
    seen: document.seen,
    digest: document.digest ?? "",
    folderId: document.folderId ?? 0,
    filename: document.sentName ?? "",
    batch: document.batch ?? "",
    metadata: metadataOf(document.attributes),
    expireDate: document.attributes?.expiry?.sent ?? null,
    pieceBytes,
  };
}
