/** The same content twice within a mirror: the archive has it already, and pages cost money. */
import type { Document } from "../domain/document.ts";
import type { Change, ContentIndex } from "../journal/journal.ts";
import { joinRaw, type RawPath, shown } from "../std/raw-path.ts";
import { behindMs } from "./waits.ts";
import type { LiveMirror, DecisionContext } from "./context.ts";

/**
 * What becomes of a ready document by `duplicates`: it ends here when its content is archived and
 * converted under another path, and waits while that is on its way. Undefined: it is to be sent.
 */
export async function asDuplicate(
  { journal, clock }: DecisionContext<ContentIndex>,
  { settings }: LiveMirror,
  document: Document,
): Promise<Change | undefined> {
  if (settings.rules.duplicates === "upload" || document.digest === null) return undefined;
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
  const event = {
    type: "duplicated",
    at,
    // Of a duplicate, it is the one whose document that has.
    original: { ...original, id: original.duplicateOf ?? original.id, documentId },
    remark: `the same content as ${pathOf(original)}, archived as document ${documentId}; not sent`,
    after: settings.after.kind === "keep" ? null : "due",
  } as const;
  return { type: "event", id, event, from: ["pending"] };
}

/**
 * Which of the rows that were sent with a content stands for it; one that was claimed by name and size was not.
 * An earlier content of another file may be anywhere by now; only what is current counts. Where the file that was
 * sent has changed since, that is a duplicate of it.
 */
function originalAmong(sent: readonly Document[]): Document | undefined {
  const current = sent.filter((row) => row.current && row.sentBytes !== null);
  return current.find(({ duplicateOf }) => duplicateOf === null) ?? current[0];
}

/** A file manager that moves by copying removes what it copied within this, and later than it is archived. */
const GRACE_MS = 3_600_000;

/**
 * Until when (epoch ms) a duplicate is not moved or deleted: while its original may be moved or removed, nothing is done to
 * what may become the only copy that a person looks for. Undefined: it is none.
 */
export function sparedUntil({ duplicateOf, convertedAt }: Document): number | undefined {
  return duplicateOf === null ? undefined : (convertedAt ?? 0) + GRACE_MS;
}

function placeOf({ dir, name }: Document): RawPath {
  return joinRaw(dir, name);
}

function pathOf(document: Document): string {
  return shown(placeOf(document));
}
