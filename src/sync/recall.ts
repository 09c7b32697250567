import type { Document } from "../domain/document.ts";
import type { Journal } from "../journal/journal.ts";
import type { DroppedDocument } from "../journal/tidiness.ts";
import { joinRaw } from "../std/raw-path.ts";
import type { AfterActions } from "./after-actions.ts";

/** Sent rows, and dropped ones, whose file was found already; none can be in two places. */
export type Followed = {
  readonly rows: Set<number>;
  readonly tombstones: Set<number>;
  readonly afterActions: AfterActions;
};

/** What is remembered of a file with these bytes that was sent long ago; taken for this one then. */
export async function recall(
  journal: Journal,
  { mirrorId, dir, name }: Pick<Document, "mirrorId" | "dir" | "name">,
  digest: string,
  { tombstones }: Pick<Followed, "tombstones">,
): Promise<DroppedDocument | undefined> {
  const all = await journal.tombstones(mirrorId, digest, joinRaw(dir, name));
  const known = all.find(({ documentId }) => !tombstones.has(documentId));
  if (known) tombstones.add(known.documentId);
  return known;
}
