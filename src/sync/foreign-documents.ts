/** What an archive holds, in a folder or as its search tells, and what of it no row of the journal accounts for. */
import type { Archive, SearchQuery } from "../archive/archive.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import { pages, PAGES_MAX, tooManyPages } from "../archive/paging.ts";
import type { Document } from "../domain/document.ts";
import { type Candidate, mayBeBytes } from "../domain/reconcile.ts";
import type { ContentIndex } from "../journal/journal.ts";
import { printable } from "../std/printable.ts";
import type { DocumentDetail } from "../wire/shapes.ts";
import type { ReadingNote } from "./reading-note.ts";

/** Documents a page; the interface allows 10,000. */
const PAGE_SIZE = 1_000;

/** So many in a row that are too old: those that follow are older still. */
const OLDER_MIN = 200;

/** So often a folder is read that is never the same, as others send to it all the time. */
const PASSES_MAX = 5;

/** One folder, or what search finds. */
export type Where = { readonly folderId: number } | SearchQuery;

/** What is read, and how far. */
type Reading = {
  readonly archive: Pick<Archive, "documents" | "search">;
  /** Speaks for the archive; without it every document is foreign. */
  readonly journal?: Pick<ContentIndex, "claimed"> | undefined;
  readonly pageSize?: number;
  /** No others are of interest: there may be a million. */
  readonly only?: (each: DocumentDetail) => boolean;
  /** Documents of before are not looked for: epoch ms, by the archive's clock; asked after each document. */
  readonly earliest?: () => number;
  readonly olderMin?: number;
  readonly pagesMax?: number;
  /** Learns of each page that search finds. */
  readonly note?: ReadingNote | undefined;
};

/** `sentAt`: when the row was sent that has the document (`Claimed`); undefined where it is foreign. */
export type Listed = Candidate & { readonly sentAt: number | null | undefined };

/** No row of the journal accounts for it. */
export function isForeign({ sentAt }: Listed): boolean {
  return sentAt === undefined;
}

/**
 * The documents there, each once, the newest first: what is uploaded meanwhile moves others to pages that are still
 * to come. Several pages are read again until they show nothing new: while a document is removed, or a copy of the
 * archive answers that is behind, others move to pages that were read already. Then the oldest come first, which the
 * latest uploads do not move. Ends after a page whose last `olderMin` documents are older than `earliest`, the newest
 * first each time. Rejects with `ArchiveError`; TOO_MANY_PAGES at once where search has more than can be read, and where
 * it repeats a page each time, and not once, as it does where as many documents as a page has are uploaded meanwhile.
 */
export async function* documentsIn(
  where: Where,
  {
    archive,
    journal,
    pageSize = PAGE_SIZE,
    only = () => true,
    earliest,
    olderMin = OLDER_MIN,
    pagesMax,
    note,
  }: Reading,
  signal: AbortSignal,
): AsyncGenerator<Listed> {
  const order = { sortBy: "UPLOADED_DATE", paginationSize: pageSize } as const;
  const isFolder = "folderId" in where;
  const seen = new Set<number>();
  for (let pass = 1; pass <= PASSES_MAX; pass++) {
    const before = seen.size;
    const sortDesc = pass === 1 || earliest !== undefined;
    const read = (paginationIndex: number) =>
      isFolder
        ? archive.documents({ ...where, ...order, sortDesc, paginationIndex }, signal)
        : archive.search({ ...where, ...order, sortDesc, paginationIndex }, signal);
    let last = new Set<number>();
    let pagesRead = 0;
    let repeats = false;
    let older = 0;
    for await (const { documents, paginationPages } of pages(read, pagesMax)) {
      pagesRead++;
      if (!isFolder) await note?.read({ page: pagesRead, of: paginationPages });
      repeats = !isFolder && documents.length > 0 && documents.every(({ id }) => last.has(id));
      if (repeats) break;
      last = new Set(documents.map(({ id }) => id));
      const page = documents.filter(({ id }) => !seen.has(id) && seen.add(id));
      const meant = new Set(page.filter(only).map(({ id }) => id));
      const claimed = meant.size > 0 ? await journal?.claimed([...meant]) : undefined;
      for (const { id, folderId, filename, uploadedDate, filesize, status = null } of page) {
        const sentAt = claimed?.get(id);
        // Of a whole archive no more is kept in memory than is asked for.
        if (meant.has(id)) yield { id, folderId, filename, uploadedDate, filesize, status, sentAt };
      }
      // It is not read for minutes in vain.
      if (!isFolder && !earliest && paginationPages > PAGES_MAX) throw tooManyPages();
      for (const { uploadedDate } of documents)
        older = earliest && uploadedDate < earliest() ? older + 1 : 0;
      if (older >= olderMin) break;
    }
    if (repeats && pass === PASSES_MAX)
      throw new ArchiveError("inDoubt", "TOO_MANY_PAGES", "its search repeats a page");
    if (!repeats && (pagesRead === 1 || seen.size === before)) return;
  }
}

/** Documents by their names, however these are composed. */
export type CandidatesByName = ReadonlyMap<string, readonly Candidate[]>;

/** All of them, by name (NFC). */
export async function byName(
  documents: AsyncIterable<Candidate> | Iterable<Candidate>,
): Promise<CandidatesByName> {
  return Map.groupBy(await Array.fromAsync(documents), ({ filename }) => filename.normalize("NFC"));
}

/**
 * Other documents of its name that are under way, and may be one of these: in its folder, or of its size, as it may have
 * been filed elsewhere before their reply came, or before they were found.
 */
export async function conflictsOf(
  journal: Pick<ContentIndex, "conflicts"> | undefined,
  { id, sentName }: { readonly id?: number; readonly sentName: string | null },
  candidates: readonly Candidate[],
): Promise<Document[]> {
  const named = (await journal?.conflicts(null, sentName ?? "")) ?? [];
  const mayBe = ({ folderId, seen }: Document) =>
    candidates.some((each) => each.folderId === folderId || mayBeBytes(each, seen.sizeBytes));
  return named.filter((row) => row.id !== id && mayBe(row));
}

/** Search is not answered, not for us, or without an end: to ask again is no use. */
export function isForGood({ kind, code, credentials, retryAfterMs }: ArchiveError): boolean {
  const isRefused = kind === "refused" && !credentials && retryAfterMs === undefined;
  return isRefused || code === "TOO_MANY_PAGES";
}

/** What may be a document that is in doubt, in words. */
export function messageOn(document: Document, candidates: readonly Candidate[]): string {
  const named = candidates.map(({ id, filename, filesize, folderId }) => {
    const where = folderId === document.folderId ? "" : `, in folder ${folderId}`;
    const as = filename === document.sentName ? "" : `, named ${printable(filename)}`;
    return `${id} (${filesize} bytes${where}${as})`;
  });
  const isMistaken = document.archiveUploadedAt !== null;
  const what = isMistaken ? "its id is another document's by now" : "sent, reply lost";
  return `${what}; the archive has ${named.join(", ")} of this name`;
}
