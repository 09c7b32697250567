/** Claims documents that are in the archive already for the files that wait to be sent. */
import type { Archive } from "../archive/archive.ts";
import {
  type Adoption,
  AS_NEW,
  adoptions,
  adoptionsElsewhere,
  type WaitingFile,
} from "../domain/adopt.ts";
import { FOLDER_CODES, GATE_CODES } from "../domain/code-sets.ts";
import type { Document } from "../domain/document.ts";
import type { Candidate } from "../domain/reconcile.ts";
import type { StoredSize } from "../domain/stored-size.ts";
import type {
  ArchiveState,
  Change,
  ContentIndex,
  DocumentReader,
  Documents,
  Registry,
} from "../journal/journal.ts";
import { ahead } from "../std/ahead.ts";
import type { Clock } from "../std/clock.ts";
import { mayBeDecidedAgain, WAITING_STATES } from "./decided-again.ts";
import { Folders } from "./folders.ts";
import { conflictsOf, documentsIn, isForeign } from "./foreign-documents.ts";
import { goOn, recheck } from "./retry.ts";
import type { Known, WholeArchive } from "./whole-archive.ts";

/** Codes of what is held without a due time after it was decided how it is sent, and goes on as it is. */
export const READY_CODES = ["FIRST_RUN", ...GATE_CODES, ...FOLDER_CODES];

/** What has to be known of a document to look for it: there may be a million. */
export type UnsentDocument = Pick<
  Document,
  | ("id" | "mirrorId" | "dir" | "name" | "state" | "problem" | "doubtAt" | "documentId")
  | ("seen" | "digest" | "sentName" | "targetPath" | "archiveBytes")
>;

/** What was found for one file. */
export type AdoptionMatch = Adoption & {
  readonly document: UnsentDocument;
  /** People have filed it in another folder than it belongs in. */
  readonly isFiled: boolean;
  /** When the file was last written, by the archive's clock; epoch ms. */
  readonly writtenAt: number;
};

/** Of the archive: `storedSize` is the configuration's, and `mirrorIds` are the mirrors in it. */
type Parts = {
  readonly journal: ArchiveState & ContentIndex & Documents & Registry;
  readonly archive: Archive;
  readonly clock: Clock;
};
type Looking = Omit<Parts, "clock"> & {
  readonly mirrorIds: ReadonlySet<number>;
  /** What lies in other folders than files belong in. */
  readonly whole: WholeArchive;
  readonly storedSize?: StoredSize | undefined;
};

/** A folder that was looked through: what was found, what is left, and documents that it lists. */
type Looked = {
  readonly found: readonly AdoptionMatch[];
  readonly left: readonly UnsentDocument[];
  readonly listed: readonly Known[];
};

/** Folders that are looked through at a time: each is a request and more, and the archive may be far away. */
const FOLDERS_AT_A_TIME = 4;

/**
 * Looks up every file that waits (see `toBeSent`), folder by folder, and what is in none of those in the whole archive.
 * Changes nothing.
 */
export async function* findArchived(
  looking: Looking,
  waiting: readonly UnsentDocument[],
  signal: AbortSignal,
): AsyncGenerator<AdoptionMatch> {
  for await (const match of matchesOf(looking, waiting, signal)) {
    const { document, taken } = match;
    // What may be another file's, which is in doubt, is left to a user.
    const isFree = !taken || (await conflictsOf(looking.journal, document, [taken])).length === 0;
    yield isFree ? match : { ...match, taken: null, unclear: [taken] };
  }
}

async function* matchesOf(
  ...[looking, waiting, signal]: Parameters<typeof findArchived>
): AsyncGenerator<AdoptionMatch> {
  const folders = new Folders(looking.archive);
  const looked = ahead(
    Map.groupBy(waiting, (each) => each.targetPath ?? "/"),
    FOLDERS_AT_A_TIME,
    async ([targetPath, documents], over): Promise<Looked> => {
      const place = await folders.resolve(targetPath, over);
      if (place.kind !== "found") return { found: [], left: documents, listed: [] };
      return foundIn(place.folderId, documents, looking, over);
    },
    signal,
  );
  const left: UnsentDocument[] = [];
  const known: Known[] = [];
  const used: number[] = [];
  for await (const folder of looked) {
    yield* folder.found;
    left.push(...folder.left);
    known.push(...folder.listed);
    used.push(...folder.found.flatMap(({ taken }) => taken?.id ?? []));
  }
  yield* await foundElsewhere(left, { known, used }, looking, signal);
}

/** What people have filed elsewhere since it was sent; `used` are documents that other files have taken. */
async function foundElsewhere(
  documents: readonly UnsentDocument[],
  { known, used }: { readonly known: readonly Known[]; readonly used: readonly number[] },
  { journal, archive, whole, storedSize }: Looking,
  signal: AbortSignal,
): Promise<AdoptionMatch[]> {
  const filed = new Map<number, Candidate>();
  for (const { sentName } of documents) {
    const named = await whole.named(sentName ?? "", known, signal);
    for (const each of named) filed.set(each.id, each);
  }
  for (const id of [...(await journal.claimed([...filed.keys()])).keys(), ...used])
    filed.delete(id);
  const files = documents.map((document) => waitingOf(document, archive));
  const paired = adoptionsElsewhere(files, [...filed.values()], storedSize);
  return documents.flatMap((document) => {
    const adoption = paired.get(document.id);
    const { writtenAt } = waitingOf(document, archive);
    return adoption ? [{ document, isFiled: true, writtenAt, ...adoption }] : [];
  });
}

function waitingOf(
  { id, sentName, seen }: UnsentDocument,
  { clockOffsetMs = 0 }: Archive,
): WaitingFile {
  const writtenAt = seen.modifiedAt + clockOffsetMs;
  return { id, sentName: sentName ?? "", sizeBytes: seen.sizeBytes, writtenAt };
}

/** What these mirrors send once their first run is over, unless it is claimed: also behind the gate, or without a folder yet. */
export async function* toBeSent(
  journal: DocumentReader,
  mirrorIds: ReadonlySet<number>,
): AsyncGenerator<UnsentDocument> {
  for (const state of WAITING_STATES) {
    for await (const document of journal.list({ state, currentOnly: true })) {
      if (!mirrorIds.has(document.mirrorId)) continue;
      if (state === "pending" || isReady(document)) yield unsent(document);
    }
  }
}

function unsent(document: Document): UnsentDocument {
  const { id, mirrorId, dir, name, state, problem, doubtAt, documentId } = document;
  const { seen, digest, sentName, targetPath, archiveBytes } = document;
  const row = { id, mirrorId, dir, name, state, problem, doubtAt, documentId };
  return { ...row, seen, digest, sentName, targetPath, archiveBytes };
}

/** Held as it is to be sent, of which the archive has nothing that the journal knows. */
function isReady({ problem, digest, doubtAt, documentId }: Document): boolean {
  const isNew = digest !== null && doubtAt === null && documentId === null;
  return isNew && READY_CODES.includes(problem?.code ?? "");
}

async function foundIn(
  folderId: number,
  documents: readonly UnsentDocument[],
  { journal, archive, mirrorIds, storedSize }: Looking,
  signal: AbortSignal,
): Promise<Looked> {
  const archived = await Array.fromAsync(documentsIn({ folderId }, { archive, journal }, signal));
  const files = documents.map((document) => waitingOf(document, archive));
  const paired = adoptions(files, archived.filter(isForeign), storedSize);
  const found: AdoptionMatch[] = [];
  const left: UnsentDocument[] = [];
  for (const document of documents) {
    const { taken, unclear } = paired.get(document.id) ?? { taken: null, unclear: [] };
    const others = await sentForOthers(document, { journal, mirrorIds });
    const theirs = archived.filter((each) => !isForeign(each) && others.has(each.id));
    const candidates = [...unclear, ...theirs];
    const { writtenAt } = waitingOf(document, archive);
    if (taken === null && candidates.length === 0) left.push(document);
    else found.push({ document, isFiled: false, writtenAt, taken, unclear: candidates });
  }
  return { found, left, listed: archived.map(({ id, filename }) => ({ id, filename })) };
}

/**
 * Ids of what was sent with the bytes of a held file for mirrors that are not configured here. The guard held it for
 * that; where settling could not take it over, as next to other daemons, it is no reason to let it go.
 */
async function sentForOthers(
  { state, digest, seen }: UnsentDocument,
  { journal, mirrorIds }: Pick<Looking, "journal" | "mirrorIds">,
): Promise<Set<number | null>> {
  const ids = new Set<number | null>();
  if (state !== "held" || digest === null) return ids;
  for (const { id, archiveId } of await journal.mirrors()) {
    if (archiveId !== journal.archiveId || mirrorIds.has(id)) continue;
    const sent = await journal.sentWith(id, digest, seen.sizeBytes);
    for (const { documentId } of sent) ids.add(documentId);
  }
  return ids;
}

/** The changes that make a found document the file's own; conversion is followed from there. */
export function adopting({ document, taken }: AdoptionMatch, at: number): Change[] {
  if (taken === null) return [];
  const { id: documentId, folderId, status, uploadedDate } = taken;
  const place = { documentId, folderId, status, uploadedDate, sentBytes: null };
  const event = { type: "adopted", at, dueAt: at, ...place } as const;
  const adopted: Change = { type: "event", id: document.id, event, from: ["pending"] };
  return document.state === "held" ? [goOn(document, at), adopted] : [adopted];
}

/** What the history of a document says of such a choice. */
export const ASKED_AS_NEW = "asked to be sent as a new document";

/** A person has a held document sent although the archive may have it: this content alone. */
export function asNew(row: Document, at: number): Change[] {
  const why = ASKED_AS_NEW;
  return [
    { type: "note", id: row.id, at, why, set: { remark: AS_NEW }, from: ["held"] },
    goOn(row, at),
  ];
}

/** Files of a mirror that could not be compared yet: they are not finished, or cannot be read. */
export async function uncompared(journal: DocumentReader, mirrorId: number): Promise<number> {
  let count = 0;
  for (const state of ["settling", "held"] as const) {
    for await (const row of journal.list({ mirrorId, state, currentOnly: true }))
      if (state === "settling" || (row.dueAt !== null && !isReady(row))) count += 1;
  }
  return count;
}

/**
 * A person has chosen: what the first run held and nothing was found for is to be sent, but for `unclear` rows. Without
 * any, the first run of a mirror that was `readWhole`, and all files compared, is over; else its guard stays.
 */
export async function endFirstRuns(
  { journal, clock }: Omit<Parts, "archive">,
  mirrorIds: ReadonlySet<number>,
  unclear: ReadonlySet<number>,
  readWhole: ReadonlySet<number>,
): Promise<void> {
  for (const mirrorId of mirrorIds) {
    const held = journal.list({ mirrorId, state: "held", code: "FIRST_RUN" });
    const rows = (await Array.fromAsync(held)).filter(({ id }) => !unclear.has(id));
    const isChosen = unclear.size === 0;
    const isRead = readWhole.has(mirrorId) && (await uncompared(journal, mirrorId)) === 0;
    const isOver = isChosen && isRead;
    const at = clock.now();
    const again = (await claimedByContent(journal, mirrorId)).filter(({ id }) => !unclear.has(id));
    const ids = new Set(again.map(({ id }) => id));
    const others = rows.filter(({ id }) => !ids.has(id));
    const released = (row: Document) => (isChosen && !isOver ? asNew(row, at) : goOn(row, at));
    await journal.apply([...again.map((row) => recheck(row, at)), ...others.flatMap(released)]);
    if (isOver) await journal.endFirstRun(mirrorId, at);
  }
}

/**
 * What waits in a mirror with a content that was claimed for another file meanwhile: it may be that file, moved before
 * a scan found it gone, and is looked at again.
 */
async function claimedByContent(
  journal: ContentIndex & DocumentReader,
  mirrorId: number,
): Promise<Document[]> {
  const waiting: (Document & { readonly digest: string })[] = [];
  for (const state of WAITING_STATES) {
    for await (const row of journal.list({ mirrorId, state })) {
      const { digest } = row;
      if (digest !== null && mayBeDecidedAgain(row)) waiting.push({ ...row, digest });
    }
  }
  const known = await journal.knownContents(
    waiting.map(({ digest, seen: { sizeBytes } }) => ({ digest, sizeBytes })),
  );
  return waiting.filter(({ digest }) => known.has(digest));
}
