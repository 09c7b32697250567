/**
 * The audit: what the journal says is in the archive against what the archive's folders list. One
 * list a folder instead of one request a document; what is not listed where it should be is asked
 * for by itself, since it may have been moved.
 */
import type { Archive } from "../archive/archive.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import { allDocuments } from "../archive/paging.ts";
import type { Document } from "../domain/document.ts";
import type { Journal } from "../journal/journal.ts";
import { ahead } from "../std/ahead.ts";
import { exact, joinRaw } from "../std/raw-path.ts";
import type { DocumentDetail } from "../wire/shapes.ts";

/** How a document differs from what the journal says of it. */
export type Difference = "moved" | "renamed" | "resized";

/** What the audit says of one document. */
export type AuditLine = {
  /** `unconverted`: for longer than anything takes that is still to be converted. */
  readonly kind: "same" | "missing" | "changed" | "unconverted" | "unknown";
  /** What changed; empty but for `changed`. */
  readonly changes: readonly Difference[];
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
  /** As the archive counted them when it converted the document; 0 while it has not. */
  readonly sizeBytes: number;
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
};

/** Documents a page; the interface allows 10,000. */
const PAGE_SIZE = 1_000;

/** Folders that are audited at a time: each is a request and more, and the archive may be far away. */
const FOLDERS_AT_A_TIME = 4;

/**
 * Audits the mirrors of one archive, folder by folder; `journal` speaks for it. Rejects with
 * `ArchiveError` when the archive cannot be asked.
 */
export async function* audit(
  { journal, archive, archiveId, folderIds, convertedBefore }: AuditOptions,
  signal: AbortSignal,
): AsyncGenerator<AuditLine> {
  const folders = await expectations(journal, archiveId, convertedBefore);
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
async function expectations(
  journal: Journal,
  archiveId: number,
  convertedBefore: number,
): Promise<Map<number | null, Map<number, Expected>>> {
  const mirrors = (await journal.mirrors()).filter((mirror) => mirror.archiveId === archiveId);
  const names = new Map(mirrors.map(({ id, name }) => [id, name]));
  const folders = new Map<number | null, Map<number, Expected>>();
  // A failed one has an id when the archive denied, before it was converted, that it knows it.
  for (const state of ["uploaded", "converted", "failed"] as const) {
    for await (const document of journal.list({ state })) {
      const mirror = names.get(document.mirrorId);
      const each = mirror === undefined ? undefined : expectedOf(document, mirror, convertedBefore);
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
  convertedBefore: number,
): Expected | undefined {
  const { documentId, folderId, sentName, archiveBytes, state, uploadedAt } = document;
  // A duplicate stands for another row's document, which has that row's name and folder.
  if (documentId === null || document.duplicateOf !== null) return undefined;
  const path = exact(joinRaw(document.dir, document.name));
  const sizeBytes = archiveBytes ?? 0;
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
  // Oldest first: what arrives meanwhile does not push others to a page already read.
  const query = { folderId, sortBy: "UPLOADED_DATE", paginationSize: PAGE_SIZE } as const;
  const lines: AuditLine[] = [];
  const strangers: DocumentDetail[] = [];
  try {
    for await (const found of allDocuments(archive, query, signal)) {
      const each = expected.get(found.id);
      if (!each) strangers.push(found);
      else {
        expected.delete(found.id);
        lines.push(compared(each, found));
      }
    }
  } catch (error) {
    // The folder is gone; its documents may be elsewhere.
    if (!(error instanceof ArchiveError) || error.code !== "FOLDER_NOT_EXISTS") throw error;
  }
  // One that was moved here is known too; its own folder's audit tells of it.
  const claimed = await journal.claimed(strangers.map(({ id }) => id));
  for (const { id, filename } of strangers) {
    if (claimed.has(id)) continue;
    const detail = `${filename}, in folder ${folderId}`;
    const stranger = { documentId: id, mirror: null, path: filename, folderId };
    lines.push({ kind: "unknown", changes: [], ...stranger, detail });
  }
  return lines;
}

async function lookFor(each: Expected, archive: Archive, signal: AbortSignal): Promise<AuditLine> {
  try {
    return compared(each, await archive.document(each.documentId, signal));
  } catch (error) {
    if (!(error instanceof ArchiveError) || error.code !== "DOC_NOT_EXIST") throw error;
    return lineOf("missing", each, [], "the archive has no such document");
  }
}

function compared(each: Expected, found: DocumentDetail): AuditLine {
  const told: [Difference, string][] = [];
  if (found.folderId !== each.folderId) told.push(["moved", `now in folder ${found.folderId}`]);
  if (each.name !== null && !isSameName(found.filename, each.name)) {
    told.push(["renamed", `now named ${found.filename}`]);
  }
  // 0 is not a size: it was not known yet.
  if (found.filesize !== 0 && each.sizeBytes !== 0 && found.filesize !== each.sizeBytes) {
    told.push(["resized", `now ${found.filesize} bytes, were ${each.sizeBytes}`]);
  }
  const isConverted = found.status === undefined || found.status === "CONVERTED";
  const changes = told.map(([change]) => change);
  const status = isConverted ? [] : [`${found.status}, not CONVERTED${each.isDue ? "" : " yet"}`];
  const detail = [...told.map(([, text]) => text), ...status].join(", ");
  if (!isConverted && each.isDue) return lineOf("unconverted", each, changes, detail);
  return lineOf(changes.length === 0 ? "same" : "changed", each, changes, detail);
}

/** Archives may normalise Unicode; the name is the same for every reader. */
function isSameName(a: string, b: string): boolean {
  return a.normalize("NFC") === b.normalize("NFC");
}

function lineOf(
  kind: AuditLine["kind"],
  { documentId, mirror, path, folderId }: Expected,
  changes: readonly Difference[],
  detail: string,
): AuditLine {
  return { kind, changes, documentId, mirror, path, folderId, detail };
}
