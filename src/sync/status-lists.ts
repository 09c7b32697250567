/** What a report names one by one: documents, folders. */
import type { Document } from "../domain/document.ts";
import type { Journal } from "../journal/journal.ts";
import { joinRaw, shown } from "../std/raw-path.ts";

/** The part of a report that names documents and folders. Times are epoch milliseconds. */
export type StatusLists = {
  /** How many sent documents' files were renamed or moved and stand there: the archive has them where they were. */
  readonly movedDocuments: number;
  /** Of these the ones that were moved last, the latest first. */
  readonly moved: readonly {
    readonly mirror: string;
    readonly path: string;
    readonly from: string;
    readonly archivedIn: string;
    readonly documentId: number | null;
  }[];
  /** Archived files that could not be moved or deleted (`after`) and are tried again; of each archive the soonest first. */
  readonly afterPending: readonly {
    readonly mirror: string;
    readonly path: string;
    readonly why: string;
    readonly nextAttemptAt: number | null;
  }[];
  /** Files whose after-action is refused for good: of each mirror how many, and the one known longest. */
  readonly afterFailed: readonly {
    readonly mirror: string;
    readonly files: number;
    readonly path: string;
    readonly why: string;
  }[];
  /** The folders to create: archive folders that documents wait for. */
  readonly foldersToCreate: readonly {
    readonly mirror: string;
    readonly path: string;
    readonly code: string;
    readonly documents: number;
  }[];
};

/** A report names no more than this many moved documents, and as many that are not moved or deleted. */
export const NAMED_MAX = 100;

type OfMirror = { readonly mirrorId: number };

/** Reads the lists. Of a mirror that was taken out a folder helps nobody. */
export async function listsOf(
  journal: Journal,
  mirrorOf: (each: OfMirror) => string,
  isConfigured: (each: OfMirror) => boolean,
): Promise<StatusLists> {
  const ids = (await journal.mirrors()).map(({ id }) => id);
  const mirrorIds = ids.filter((mirrorId) => isConfigured({ mirrorId }));
  const moved = await journal.moved(mirrorIds, NAMED_MAX);
  const kept = (await afterPending(journal)).filter(isConfigured);
  const waiting = (await journal.waitingFolders()).filter(isConfigured);
  return {
    movedDocuments: moved.documents,
    moved: moved.latest.map((document) => movedReport(document, mirrorOf(document))),
    afterPending: kept.map((document) => afterPendingReport(document, mirrorOf(document))),
    afterFailed: await afterFailed(journal, mirrorOf, isConfigured),
    foldersToCreate: waiting.map(({ targetPath: path, code, documents, ...folder }) => {
      return { mirror: mirrorOf(folder), path, code, documents };
    }),
  };
}

function movedReport(document: Document, mirror: string): StatusLists["moved"][number] {
  const { dir, name, movedFrom, targetPath, documentId } = document;
  const path = shown(joinRaw(dir, name));
  return { mirror, path, from: movedFrom ?? "", archivedIn: targetPath ?? "", documentId };
}

/** Of every archive. */
async function afterPending(journal: Journal): Promise<Document[]> {
  const archives = await journal.archives();
  const found = await Promise.all(archives.map(({ id }) => journal.of(id).afterPending(NAMED_MAX)));
  return found.flat().slice(0, NAMED_MAX);
}

function afterPendingReport(
  document: Document,
  mirror: string,
): StatusLists["afterPending"][number] {
  const { dir, name, afterMessage, dueAt } = document;
  const path = shown(joinRaw(dir, name));
  return { mirror, path, why: afterMessage ?? "", nextAttemptAt: dueAt };
}

async function afterFailed(
  journal: Journal,
  mirrorOf: (each: OfMirror) => string,
  isConfigured: (each: OfMirror) => boolean,
): Promise<StatusLists["afterFailed"]> {
  const found = (await journal.afterFailed()).filter(isConfigured);
  return Promise.all(
    found.map(async ({ first, documents: files, ...mirror }) => {
      const document = await journal.document(first);
      const path = document ? shown(joinRaw(document.dir, document.name)) : "";
      return { mirror: mirrorOf(mirror), files, path, why: document?.afterMessage ?? "" };
    }),
  );
}
