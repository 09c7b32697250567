/** The same content twice within a mirror: the archive has it already, and pages cost money. */
import type { Document } from "../domain/document.ts";
import type { Change } from "../journal/journal.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import { behindMs } from "./behind.ts";
import type { LiveMirror, SyncContext } from "./context.ts";

/**
 * What becomes of a ready document by `duplicates`: it ends here when its content is archived and
 * converted under another path, and waits while that is on its way. Undefined: it is to be sent.
 */
export async function asDuplicate(
  { journal, clock }: SyncContext,
  { settings }: LiveMirror,
  document: Document,
): Promise<Change | undefined> {
  const { duplicates } = settings.rules;
  if (duplicates === "upload" || document.digest === null) return undefined;
  const sent = await journal.sentWith(document.mirrorId, document.digest, document.seen.sizeBytes);
  // An earlier content of another file may be anywhere by now; only what is current counts.
  const [original] = sent.filter(
    ({ id, current, duplicateOf }) => current && duplicateOf === null && id !== document.id,
  );
  if (!original) return undefined;
  const at = clock.now();
  const { id } = document;
  const { documentId } = original;
  if (original.state !== "converted" || documentId === null) {
    const why = `the same content as ${pathOf(original)}, which is on its way`;
    const dueAt = at + behindMs(original, at);
    return { type: "note", id, at, why, set: { dueAt }, from: ["pending"] };
  }
  const after = duplicates === "skip" ? settings.rules.afterDuplicate : settings.after;
  const event = {
    type: "duplicated",
    at,
    original: { ...original, documentId },
    remark: `the same content as ${pathOf(original)}, archived as document ${documentId}; not sent`,
    after: after.kind === "keep" ? null : "due",
  } as const;
  return { type: "event", id, event, from: ["pending"] };
}

function pathOf({ dir, name }: Document): string {
  return shown(joinRaw(dir, name));
}
