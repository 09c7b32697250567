/** Claims documents that are in the archive already for the files that wait to be sent. */
import type { Archive } from "../archive/archive.ts";
import { allDocuments } from "../archive/paging.ts";
import { adoptions } from "../domain/adopt.ts";
import type { Document } from "../domain/document.ts";
import type { Candidate } from "../domain/reconcile.ts";
import type { Change, Journal } from "../journal/journal.ts";
import { ahead } from "../std/ahead.ts";
import type { Clock } from "../std/clock.ts";
import { Folders } from "./folders.ts";
import { goOn } from "./retry.ts";

/** What was found for one file. `taken`: its document; `unclear`: documents it could be. */
export type Found = {
  readonly document: Document;
  readonly folderId: number;
  readonly taken: Candidate | null;
  readonly unclear: readonly Candidate[];
};

type Parts = { readonly journal: Journal; readonly archive: Archive; readonly clock: Clock };

/** Folders that are looked through at a time: each is a request and more, and the archive may be far away. */
const FOLDERS_AT_A_TIME = 4;

/** Looks up every file that waits (see `toBeSent`), folder by folder. Changes nothing. */
export async function* findArchived(
  { journal, archive }: Omit<Parts, "clock">,
  waiting: readonly Document[],
  signal: AbortSignal,
): AsyncGenerator<Found> {
  const folders = new Folders(archive);
  const looked = ahead(
    Map.groupBy(waiting, (each) => each.targetPath ?? "/"),
    FOLDERS_AT_A_TIME,
    async ([targetPath, documents], over) => {
      const place = await folders.resolve(targetPath, over);
      if (place.kind !== "found") return [];
      return foundIn(place.folderId, documents, { journal, archive }, over);
    },
    signal,
  );
  for await (const found of looked) yield* found;
}

/** What these mirrors send once their first run is over, unless it is claimed. */
export async function* toBeSent(
  journal: Journal,
  mirrorIds: ReadonlySet<number>,
): AsyncGenerator<Document> {
  for (const query of [{ state: "pending" }, { state: "held", code: "FIRST_RUN" }] as const) {
    for await (const document of journal.list({ ...query, currentOnly: true })) {
      if (mirrorIds.has(document.mirrorId)) yield document;
    }
  }
}

async function foundIn(
  folderId: number,
  documents: readonly Document[],
  { journal, archive }: Omit<Parts, "clock">,
  signal: AbortSignal,
): Promise<Found[]> {
  const archived: Candidate[] = [];
  for await (const item of allDocuments(archive, { folderId, paginationSize: 1_000 }, signal)) {
    const { id, filename, uploadedDate, filesize, status } = item;
    archived.push({ id, filename, uploadedDate, filesize, status: status ?? null });
  }
  const claimed = await journal.claimed(archived.map(({ id }) => id));
  const files = documents.map(({ id, sentName, seen }) => {
    return { id, sentName: sentName ?? "", sizeBytes: seen.sizeBytes };
  });
  const { taken: sure, unclear } = adoptions(files, archived, claimed);
  const takenBy = new Map(sure.map(({ id, candidate }) => [id, candidate]));
  const unclearFor = new Map(unclear.map(({ id, candidates }) => [id, candidates]));
  return documents
    .map((document): Found => {
      const taken = takenBy.get(document.id) ?? null;
      return { document, folderId, taken, unclear: unclearFor.get(document.id) ?? [] };
    })
    .filter((found) => found.taken !== null || found.unclear.length > 0);
}

/** The changes that make a found document the file's own; conversion is followed from there. */
export function adopting({ document, folderId, taken }: Found, at: number): Change[] {
  if (taken === null) return [];
  const { id: documentId, status } = taken;
  const event = { type: "adopted", at, dueAt: at, documentId, folderId, status } as const;
  const adopted: Change = { type: "event", id: document.id, event, from: ["pending"] };
  return document.state === "held" ? [goOn(document, at), adopted] : [adopted];
}

/** A person has chosen: what the first run held and nothing was found for is to be sent. */
export async function endFirstRuns(
  { journal, clock }: Omit<Parts, "archive">,
  mirrorIds: ReadonlySet<number>,
): Promise<void> {
  for (const mirrorId of mirrorIds) {
    const held = journal.list({ mirrorId, state: "held", code: "FIRST_RUN" });
    const rows = await Array.fromAsync(held);
    await journal.apply(rows.map((row) => goOn(row, clock.now())));
    await journal.endFirstRun(mirrorId, clock.now());
  }
}
