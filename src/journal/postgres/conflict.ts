/** Which rows keep another from being sent, as `DocumentsTable.mayClaim` has it for SQLite. */
import type { Document } from "../../domain/document.ts";
import type { Alone } from "../journal.ts";

/** True when `other`, of the same archive, keeps `document` from being claimed `alone` into a folder. */
export function isInTheWay(
  other: Document,
  document: Document,
  folderId: number,
  alone: Alone,
): boolean {
  if (other.id === document.id) return false;
  const isSending = other.state === "uploading" || other.state === "inDoubt";
  if (
    (isSending || other.doubtAt !== null) &&
    other.folderId === folderId &&
    other.sentName === document.sentName
  )
    return true;
  return (
    alone === "nameAndContent" &&
    isSending &&
    other.mirrorId === document.mirrorId &&
    other.digest === document.digest
  );
}
