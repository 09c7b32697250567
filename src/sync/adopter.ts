/** Claims documents that are in the archive already for the files that wait to be sent. */
import type { Archive } from "../archive/archive.ts";
import { allDocuments } from "../archive/paging.ts";
import { adoptions } from "../domain/adopt.ts";
import type { Document } from "../domain/document.ts";
import type { Candidate } from "../domain/reconcile.ts";
import type { Change, Journal } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { Folders } from "./folders.ts";

/** What was found for one file. `taken`: its document; `unclear`: documents it could be. */
export type Found = {
  readonly document: Document;
  readonly folderId: number;
  readonly taken: Candidate | null;
  readonly unclear: readonly Candidate[];
};

type Parts = { readonly journal: Journal; readonly archive: Archive; readonly clock: Clock };

/** Looks up every file that waits, folder by folder. Changes nothing. */
export async function* findArchived(
  { journal, archive }: Parts,
  mirrorIds: ReadonlySet<number>,
  signal: AbortSignal,
): AsyncGenerator<Found> {
  const folders = new Folders(archive);
  const waiting: Document[] = [];
  for await (const document of journal.list({ state: "pending", currentOnly: true })) {
    if (mirrorIds.has(document.mirrorId)) waiting.push(document);
  }
  for (const [targetPath, documents] of Map.groupBy(waiting, (each) => each.targetPath ?? "/")) {
    const place = await folders.resolve(targetPath, signal);
    if (place.kind !== "found") continue;
    yield* foundIn(place.folderId, documents, { journal, archive }, signal);
  }
}

async function* foundIn(
  folderId: number,
  documents: readonly Document[],
  { journal, archive }: Omit<Parts, "clock">,
  signal: AbortSignal,
): AsyncGenerator<Found> {
  const archived: Candidate[] = [];
  for await (const item of allDocuments(archive, { folderId, paginationSize: 1_000 }, signal)) {
    const { id, filename, uploadedDate, filesize, status } = item;
    archived.push({ id, filename, uploadedDate, filesize, status: status ?? null });
  }
  const claimed = await journal.claimed(archived.map(({ id }) => id));
  const files = documents.map(({ id, sentName, seen }) => {
    return { id, sentName: sentName ?? "", sizeBytes: seen.sizeBytes };
  });
  const { taken, unclear } = adoptions(files, archived, claimed);
  const takenBy = new Map(taken.map(({ id, candidate }) => [id, candidate]));
  const unclearFor = new Map(unclear.map(({ id, candidates }) => [id, candidates]));
  for (const document of documents) {
    const candidate = takenBy.get(document.id) ?? null;
    const candidates = unclearFor.get(document.id) ?? [];
    if (candidate !== null || candidates.length > 0) {
      yield { document, folderId, taken: candidate, unclear: candidates };
    }
  }
}

/** The change that makes a found document the file's own; conversion is followed from there. */
export function adopting({ document, folderId, taken }: Found, at: number): Change | undefined {
  if (taken === null) return undefined;
  const { id: documentId, status } = taken;
  const event = { type: "adopted", at, dueAt: at, documentId, folderId, status } as const;
  return { type: "event", id: document.id, event, from: ["pending"] };
}
