import type { Document } from "../domain/document.ts";
import type { Journal } from "../journal/journal.ts";
import type { Remembered } from "../journal/tidiness.ts";
import { joinRaw } from "../std/raw-path.ts";
import type { AfterActions } from "./after-actions.ts";

/** Sent rows, and dropped ones, whose file was found already; none can be in two places. */
export type Followed = {
  readonly rows: Set<number>;
  readonly remembered: Set<number>;
  readonly afterActions: AfterActions;
};

/** What is remembered of a file with these bytes that was sent long ago; taken for this one then. */
export async function recall(
  journal: Journal,
  { mirrorId, dir, name }: Pick<Document, "mirrorId" | "dir" | "name">,
  digest: string,
  { remembered }: Pick<Followed, "remembered">,
): Promise<Remembered | undefined> {
  const all = await journal.remembered(mirrorId, digest, joinRaw(dir, name));
  const known = all.find(({ documentId }) => !remembered.has(documentId));
  if (known) remembered.add(known.documentId);
  return known;
}
