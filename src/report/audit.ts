/**
 * The audit: what the journal says is in the archive against what the archive's folders list. One
 * list a folder instead of one request a document; what is not listed where it should be is asked
 * for on its own, since it may have been moved.
 */
import type { Archive } from "../archive/archive.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import { isSameName, isSized, type ReportedDocument } from "../domain/another-document.ts";
import type { Document } from "../domain/document.ts";
import type { StoredSize } from "../domain/stored-size.ts";
import type { Journal } from "../journal/journal.ts";
import { ahead } from "../std/ahead.ts";
import { exact, joinRaw } from "../std/raw-path.ts";
import { documentsIn, isForeign } from "../sync/foreign-documents.ts";

/** How a document differs from what the journal says of it. */
export type DocumentDifference = "moved" | "renamed" | "resized";

/** What the audit says of one document. */
export type AuditLine = {
  /** `unconverted`: for longer than anything takes that is still to be converted. */
  readonly kind: "same" | "missing" | "changed" | "unconverted" | "unknown";
  /** What changed; empty but for `changed`. */
  readonly changes: readonly DocumentDifference[];
  readonly documentId: number;
  /** Null for a document that the journal does not know. */
  readonly mirror: string | null;
  /** Relative to the mirror's source; for an unknown document, its name in the archive. */
  readonly path: string;
  readonly folderId: number | null;
  readonly detail: string;
};

/** What the journal says of a document that the archive has. */
type Expected = Pick<AuditLine, "mirror" | "path"> & {
  readonly documentId: number;
  readonly folderId: number | null;
  readonly name: string | null;
  /** As sent; as the archive counted them where nobody knows that; null: neither is known. */
  readonly sizeBytes: number | null;
  /** True when it should be CONVERTED by now. */
  readonly isDue: boolean;
};

export type AuditOptions = {
  readonly journal: Journal;
  readonly archive: Archive;
  /** Its row in the journal. */
  readonly archiveId: number;
  /** The folders of the mirrors, which are looked through though nothing was sent there. */
  readonly folderIds: readonly number[];
  /** What was uploaded before this (epoch ms) should be CONVERTED. */
  readonly convertedBefore: number;
  /** Absent: `same`. */
  readonly storedSize?: StoredSize | undefined;
};

/** Folders that are audited at a time: each is a request and more, and the archive may be far away. */
const FOLDERS_AT_A_TIME = 4;

/**
 * Audits the mirrors of one archive, folder by folder; `journal` speaks for it. Rejects with
 * `ArchiveError` when the archive cannot be asked.
 */
export async function* audit(
  { journal, archive, folderIds, ...known }: AuditOptions,
  signal: AbortSignal,
): AsyncGenerator<AuditLine> {
  const folders = await expectations({ journal, ...known });
  for (const id of folderIds) if (!folders.has(id)) folders.set(id, new Map());
  const audited = ahead(
    folders,
    FOLDERS_AT_A_TIME,
    async ([folderId, expected], over) => {
      const lines =
        folderId === null ? [] : await auditFolder({ journal, archive }, folderId, expected, over);
      // What is left was not listed in its folder.
      for (const each of expected.values()) lines.push(await lookFor(each, archive, over));
      return lines;
    },
    signal,
  );
  for await (const lines of audited) yield* lines;
}

/** Archived documents by folder and document id. */
async function expectations({
  journal,
  archiveId,
  ...known
}: Omit<AuditOptions, "archive" | "folderIds">): Promise<
  Map<number | null, Map<number, Expected>>
> {
  const mirrors = (await journal.mirrors()).filter((mirror) => mirror.archiveId === archiveId);
  const names = new Map(mirrors.map(({ id, name }) => [id, name]));
  const folders = new Map<number | null, Map<number, Expected>>();
  // A failed one has an id when the archive denied, before it was converted, that it knows it.
  for (const state of ["uploaded", "converted", "failed"] as const) {
    for await (const document of journal.list({ state })) {
      const mirror = names.get(document.mirrorId);
      const each = mirror === undefined ? undefined : expectedOf(document, mirror, known);
      if (!each) continue;
      const folder = folders.get(each.folderId) ?? new Map<number, Expected>();
      folders.set(each.folderId, folder.set(each.documentId, each));
    }
  }
  return folders;
}

function expectedOf(
  document: Document,
  mirror: string,
  { convertedBefore, storedSize }: Pick<AuditOptions, "convertedBefore" | "storedSize">,
): Expected | undefined {
  const { documentId, folderId, sentName, archiveBytes, state, uploadedAt } = document;
  // A duplicate stands for another row's document, which has that row's name and folder.
  if (documentId === null || document.duplicateOf !== null) return undefined;
  const path = exact(joinRaw(document.dir, document.name));
  // Of an archive that changes documents, what it made of this one is to stay as it is.
  const sizeBytes = (storedSize === "any" ? null : document.sentBytes) ?? (archiveBytes || null);
  const isDue = state === "converted" || (uploadedAt ?? 0) < convertedBefore;
  return { documentId, folderId, mirror, path, name: sentName, sizeBytes, isDue };
}

/** Compares one folder; takes what was found out of `expected`. */
async function auditFolder(
  { journal, archive }: { journal: Journal; archive: Archive },
  folderId: number,
  expected: Map<number, Expected>,
  signal: AbortSignal,
): Promise<AuditLine[]> {
  const lines: AuditLine[] = [];
  const unknown: AuditLine[] = [];
  try {
    for await (const found of documentsIn({ folderId }, { archive, journal }, signal)) {
      const { id: documentId, filename: path } = found;
      const each = expected.get(documentId);
      if (each) lines.push(compared(each, found));
      // One that was moved here is known too; its own folder's audit reports it.
      else if (isForeign(found)) {
        const stated = { documentId, mirror: null, path, folderId, changes: [] };
        unknown.push({ kind: "unknown", ...stated, detail: `${path}, in folder ${folderId}` });
      }
      expected.delete(documentId);
    }
  } catch (error) {
    // The folder is gone; its documents may be elsewhere.
    if (!(error instanceof ArchiveError) || error.code !== "FOLDER_NOT_EXISTS") throw error;
  }
  return [...lines.reverse(), ...unknown.reverse()];
}

async function lookFor(each: Expected, archive: Archive, signal: AbortSignal): Promise<AuditLine> {
  try {
    return compared(each, await archive.document(each.documentId, signal));
  } catch (error) {
    if (!(error instanceof ArchiveError) || error.code !== "DOC_NOT_EXIST") throw error;
    return lineOf("missing", each, [], "the archive has no such document");
  }
}

function compared(
  each: Expected,
  found: ReportedDocument & { readonly folderId: number },
): AuditLine {
  const told: [DocumentDifference, string][] = [];
  if (found.folderId !== each.folderId) told.push(["moved", `now in folder ${found.folderId}`]);
  if (each.name !== null && !isSameName(found.filename, each.name)) {
    told.push(["renamed", `now named ${found.filename}`]);
  }
  const isConverted = (found.status ?? "CONVERTED") === "CONVERTED";
  if (isSized(found) && each.sizeBytes !== null && found.filesize !== each.sizeBytes) {
    told.push(["resized", `now ${found.filesize} bytes, were ${each.sizeBytes}`]);
  }
  const changes = told.map(([change]) => change);
  const status = isConverted ? [] : [`${found.status}, not CONVERTED${each.isDue ? "" : " yet"}`];
  const detail = [...told.map(([, text]) => text), ...status].join(", ");
  if (!isConverted && each.isDue) return lineOf("unconverted", each, changes, detail);
  return lineOf(changes.length === 0 ? "same" : "changed", each, changes, detail);
}

function lineOf(
  kind: AuditLine["kind"],
  { documentId, mirror, path, folderId }: Expected,
  changes: readonly DocumentDifference[],
  detail: string,
): AuditLine {
  return { kind, changes, documentId, mirror, path, folderId, detail };
}
