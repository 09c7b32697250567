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
  const { mirrorId, digest, seen } = document;
  const sent = await journal.sentWith(mirrorId, digest, seen.sizeBytes);
  const original = originalAmong(sent.filter(({ id }) => id !== document.id));
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
    // Of a duplicate, it is the one whose document that has.
    original: { ...original, id: original.duplicateOf ?? original.id, documentId },
    remark: `the same content as ${pathOf(original)}, archived as document ${documentId}; not sent`,
    after: after.kind === "keep" ? null : "due",
  } as const;
  return { type: "event", id, event, from: ["pending"] };
}

/**
 * Which of the rows that were sent with a content stands for it. An earlier content of another file may be anywhere
 * by now; only what is current counts. Where the file that was sent has changed since, that is a duplicate of it.
 */
export function originalAmong(sent: readonly Document[]): Document | undefined {
  const current = sent.filter((row) => row.current);
  return current.find(({ duplicateOf }) => duplicateOf === null) ?? current[0];
}

function pathOf({ dir, name }: Document): string {
  return shown(joinRaw(dir, name));
}
