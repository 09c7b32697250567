/**
 * Whether what an archive has under an id is the document that it gave this id for. An archive that was taken
 * back to a backup gives ids again, and one that was exchanged for another has other documents under them.
 *
 * A person may rename a document, and an archive may store other bytes than it was sent, or date a document in
 * its lists otherwise than in its reply: one of these alone proves nothing, unless it is known of the archive
 * that it keeps its dates.
 */
import type { Document } from "./document.ts";
import { sizeDifference, type StoredSize } from "./stored-size.ts";

/** What the archive says of a document (wire/shapes.ts). */
export type ReportedDocument = {
  readonly filename: string;
  /** Epoch ms. */
  readonly uploadedDate: number;
  /** Bytes; 0 while it does not know them. */
  readonly filesize: number;
  readonly status?: string | null | undefined;
};

/** What is known of an archive's dates and sizes. */
export type Likeness = {
  /** How far two dates of one document may differ, ms. */
  readonly toleranceMs: number;
  /** It was seen to date a document in lists as in the reply to its upload (`isKeptDate`). */
  readonly keepsDates: boolean;
  readonly storedSize: StoredSize | undefined;
};

type Sent = Pick<
  Document,
  | "documentId"
  | "sentName"
  | "sentBytes"
  | "sentAt"
  | "sentArchiveAt"
  | "uploadedAt"
  | "archiveUploadedAt"
>;

/** An archive may keep whole seconds only. */
const SECOND_MS = 1_000;

/** A date of whole minutes may be one of whole minutes, hours or days: it tells no two documents apart. */
const COARSE_MS = 60_000;

/** Where only our clocks say when it was sent. */
const DAY_MS = 24 * 3_600_000;

/** Why `told`, which has the row's document id, is another document; undefined where it may be ours. */
export function anotherDocument(
  document: Sent,
  told: ReportedDocument,
  likeness: Likeness,
): string | undefined {
  const { archiveUploadedAt: since, documentId, sentName } = document;
  const date = dateOf(document, told, likeness.toleranceMs);
  if (date === "same" || date === "unknown") return undefined;
  const isOtherName = !isSameName(told.filename, sentName ?? told.filename);
  const isOtherSize =
    isSized(told) && sizeDifference(document, told.filesize, likeness.storedSize) !== undefined;
  const differences = [isOtherName, isOtherSize, date === "other"].filter(Boolean).length;
  // Where dates are kept, one that is not the same is another, be it by a little.
  const needed = since === null || !likeness.keepsDates ? 2 : 1;
  if (differences < needed) return undefined;
  const ours = since === null ? "" : `, ours ${shown(since)}`;
  return `document ${documentId} is now another one: ${told.filename}, ${told.filesize} bytes, uploaded ${shown(told.uploadedDate)}${ours}`;
}

/** Whether an archive's date of a document is the one of its reply, and exact enough to tell it from others. */
export function isKeptDate(
  { archiveUploadedAt }: Pick<Document, "archiveUploadedAt">,
  { uploadedDate }: Pick<ReportedDocument, "uploadedDate">,
): boolean {
  if (archiveUploadedAt === null || uploadedDate % COARSE_MS === 0) return false;
  if (uploadedDate === archiveUploadedAt) return true;
  const isWhole = uploadedDate % SECOND_MS === 0;
  return isWhole && Math.abs(uploadedDate - archiveUploadedAt) < SECOND_MS;
}

/** Whether a date is not the one that the archive first gave the document; false where it gave none. */
export function isOtherDate(
  {
    archiveUploadedAt,
    sentAt,
    uploadedAt,
  }: Pick<Document, "archiveUploadedAt" | "sentAt" | "uploadedAt">,
  uploadedDate: number,
  toleranceMs: number,
): boolean {
  if (archiveUploadedAt === null) return false;
  // One archive dates a document when its first byte comes, another when its last one has.
  const sendingMs = Math.max(0, (uploadedAt ?? 0) - (sentAt ?? uploadedAt ?? 0));
  return Math.abs(uploadedDate - archiveUploadedAt) > toleranceMs + sendingMs;
}

/** An archive may list a name decomposed that it was given composed. */
export function isSameName(a: string, b: string): boolean {
  return a.normalize("NFC") === b.normalize("NFC");
}

/** `like`: it does not differ, and proves nothing. */
function dateOf(
  document: Sent,
  told: ReportedDocument,
  toleranceMs: number,
): "same" | "like" | "other" | "unknown" {
  const { archiveUploadedAt, sentArchiveAt, sentAt } = document;
  // Not said, as by archives that know no dates.
  if (told.uploadedDate <= 0) return "unknown";
  if (isKeptDate(document, told)) return "same";
  if (archiveUploadedAt !== null)
    return isOtherDate(document, told.uploadedDate, toleranceMs) ? "other" : "like";
  const about = sentArchiveAt ?? sentAt;
  // Never sent from here: when it was uploaded is not known.
  if (about === null) return "unknown";
  return Math.abs(told.uploadedDate - about) > DAY_MS ? "other" : "same";
}

/** Before it is CONVERTED, 0 bytes are no size: it is not known yet. */
export function isSized({ filesize, status }: ReportedDocument): boolean {
  return filesize !== 0 || status === "CONVERTED";
}

function shown(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}
