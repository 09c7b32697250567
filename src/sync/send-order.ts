import type { Document } from "../domain/document.ts";
import { sentNameOf } from "../domain/naming.ts";
import type { SendOrder } from "../reader/protocol.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import { LIMITS } from "../wire/shapes.ts";

/** What the reader is told to send: the intent as it was committed, and in which pieces. */
export function sendOrder(document: Document, pieceBytes: number | null): SendOrder {
  const { mended } = sentNameOf(document.name);
  return {
    mirrorId: document.mirrorId,
    path: joinRaw(document.dir, document.name),
    seen: document.seen,
    digest: document.digest ?? "",
    folderId: document.folderId ?? 0,
    filename: document.sentName ?? "",
    batch: document.batch ?? "",
    title: mended ? shown(document.name).slice(0, LIMITS.metadataTitle) : null,
    pieceBytes,
  };
}
