import type { Archive } from "../archive/archive.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import type { Document } from "../domain/document.ts";

/** The first of two keys: why the archive's answer does not allow an after-action; undefined when it does. */
export async function denied(
  document: Document,
  archive: Pick<Archive, "document">,
  signal: AbortSignal,
): Promise<string | undefined> {
  const id = document.documentId ?? 0;
  let there;
  try {
    there = await archive.document(id, signal);
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "DOC_NOT_EXIST") {
      return `the archive does not know document ${id} any more`;
    }
    throw error;
  }
  if (there.id !== id || there.status !== "CONVERTED") return `document ${id} is ${there.status}`;
  // An archive may list a name decomposed that it was given composed.
  if (there.filename.normalize("NFC") !== document.sentName?.normalize("NFC"))
    return `document ${id} is now named ${there.filename}`;
  if (there.folderId !== document.folderId)
    return `document ${id} is now in folder ${there.folderId}`;
  return undefined;
}
