import type { DocumentDetail, FolderDetail, PageTotals } from "../wire/shapes.ts";
import type {
  Archive,
  ContainedDocument,
  DigidocQuery,
  DocumentsQuery,
  FoldersQuery,
} from "./archive.ts";
import { ArchiveError } from "./archive-error.ts";

/** With the largest pages, this many hold ten million documents. A bound on a lying archive. */
export const PAGES_MAX = 1_000;

/** How often a page is asked for whose reply cannot be read; commands have nobody else who asks again. */
const ASKS_MAX = 3;

/**
 * Walks the pages of a list one after another, each only when it is wanted. How many there are is
 * asked again with every page, since lists grow while they are read. A page that cannot be read is
 * asked for again, and then ends the walk: it is never an empty one. Throws TOO_MANY_PAGES rather
 * than go on beyond `pagesMax`.
 */
export async function* pages<Reply extends PageTotals>(
  fetch: (paginationIndex: number) => Promise<Reply>,
  pagesMax = PAGES_MAX,
): AsyncGenerator<Reply> {
  for (let index = 0; ; index++) {
    if (index >= pagesMax) throw tooManyPages(pagesMax);
    const page = await readable(() => fetch(index));
    yield page;
    if (index + 1 >= page.paginationPages) return;
  }
}

/** What a list rejects with that has more than so many pages. */
export function tooManyPages(pagesMax = PAGES_MAX): ArchiveError {
  return new ArchiveError("inDoubt", "TOO_MANY_PAGES", `the list goes on after ${pagesMax} pages`);
}

async function readable<Reply>(ask: () => Promise<Reply>): Promise<Reply> {
  for (let asks = 1; ; asks++) {
    try {
      return await ask();
    } catch (error) {
      const isUnreadable = error instanceof ArchiveError && error.code === "REPLY_UNREADABLE";
      if (!isUnreadable || asks >= ASKS_MAX) throw error;
    }
  }
}

/**
 * All documents of a folder, lazily, in the order of the query. A document that moves to the next
 * page while the list is read comes once; one that moves to a page already read is missed, so list
 * in an order in which new documents do not push others forward.
 */
export function allDocuments(
  archive: Archive,
  query: Omit<DocumentsQuery, "paginationIndex">,
  signal: AbortSignal,
): AsyncGenerator<DocumentDetail> {
  const all = pages((paginationIndex) => archive.documents({ ...query, paginationIndex }, signal));
  return once(all, (page) => page.documents);
}

/** All direct subfolders of a folder, lazily. */
export function allFolders(
  archive: Archive,
  query: Omit<FoldersQuery, "paginationIndex">,
  signal: AbortSignal,
): AsyncGenerator<FolderDetail> {
  const all = pages((paginationIndex) => archive.folders({ ...query, paginationIndex }, signal));
  return once(all, (page) => page.folders);
}

/** Everything a digidoc document contains, lazily. */
export function allDigidoc(
  archive: Archive,
  query: Omit<DigidocQuery, "paginationIndex">,
  signal: AbortSignal,
): AsyncGenerator<ContainedDocument> {
  const all = pages((paginationIndex) => archive.digidoc({ ...query, paginationIndex }, signal));
  return once(all, (page) => page.documents);
}

async function* once<Reply, Item extends { id: number }>(
  all: AsyncIterable<Reply>,
  itemsOf: (page: Reply) => Item[],
): AsyncGenerator<Item> {
  const seen = new Set<number>();
  for await (const page of all) {
    for (const item of itemsOf(page)) {
      if (seen.has(item.id)) continue;
      seen.add(item.id);
      yield item;
    }
  }
}
