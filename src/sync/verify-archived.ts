import { ArchiveError } from "../archive/archive-error.ts";
import { isSameName } from "../domain/another-document.ts";
import type { Document } from "../domain/document.ts";
import { type StoredSize, sizeDifference } from "../domain/stored-size.ts";
import type { ArchiveState, Change, Documents } from "../journal/journal.ts";
import type { DocumentDetail } from "../wire/shapes.ts";
import type { AfterAction } from "../source/after.ts";
import type { Acted } from "../source/source.ts";
import { joinRaw } from "../std/raw-path.ts";
import type { SyncContext, LiveMirror } from "./context.ts";
import { backInDoubt, otherThan } from "./mistaken.ts";

/** What the first key takes to: the archive, and what tells its documents apart. */
type Asking = Pick<
  SyncContext<ArchiveState & Documents>,
  "archive" | "journal" | "config" | "clock" | "log"
>;

/** Why the archive's answer allows no after-action; `doubt`: to be journaled, as it has another document there. */
type Denial = { readonly why: string; readonly doubt?: Change };

/** The first of two keys: undefined where the archive's answer allows an after-action. */
export async function denied(
  document: Document,
  asking: Asking,
  signal: AbortSignal,
): Promise<Denial | undefined> {
  const { archive, config } = asking;
  const id = document.documentId ?? 0;
  let there;
  try {
    there = await archive.document(id, signal);
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "DOC_NOT_EXIST") {
      return { why: `the archive does not know document ${id} any more` };
    }
    throw error;
  }
  const other = there.id === id ? await otherThan(asking, document, there) : undefined;
  // What a duplicate stands for is another row's to look for.
  if (other !== undefined)
    return document.duplicateOf === null
      ? { why: other, doubt: backInDoubt(asking, document, other) }
      : { why: other };
  const why = difference(document, there, config.archive.storedSize);
  return why === undefined ? undefined : { why };
}

function difference(
  document: Document,
  there: DocumentDetail,
  storedSize: StoredSize | undefined,
): string | undefined {
  const id = document.documentId ?? 0;
  if (there.id !== id || there.status !== "CONVERTED") return `document ${id} is ${there.status}`;
  if (!isSameName(there.filename, document.sentName ?? ""))
    return `document ${id} is now named ${there.filename}`;
  if (there.folderId !== document.folderId)
    return `document ${id} is now in folder ${there.folderId}`;
  const differs = sizeDifference(document, there.filesize, storedSize);
  return differs === undefined ? undefined : `document ${id}: ${differs}`;
}

/**
 * The second of two keys: the file goes, with what was sent of what is next to it, while it has the journaled content. Rejects
 * with `ChannelClosed` when the reader is gone.
 */
export function afterAction(
  { reader, row }: LiveMirror,
  { dir, name, digest, sentAt, duplicateOf, attributes }: Document & { readonly digest: string },
  after: AfterAction,
): Promise<Acted> {
  // A duplicate's sidecar, or that of what was in the archive before, says what the archive may not have.
  const isKept = after.kind === "delete" && (sentAt === null || duplicateOf !== null);
  const sidecar = (isKept ? null : attributes?.sidecar) ?? null;
  const expected = { digest, sentAt, sidecar };
  return reader.act(row.id, joinRaw(dir, name), expected, after);
}
