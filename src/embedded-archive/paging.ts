import type { PageTotals } from "../wire/shapes.ts";

/** Which rows of an ordered list are wanted. */
export type Slice = { limit: number; offset: number; descending: boolean };

/** The paging parameters that every list takes. */
export type Paging = { paginationIndex: number; paginationSize: number; sortDesc: boolean };

/** The rows of a page. */
export function sliceOf(paging: Paging): Slice {
  const { paginationIndex, paginationSize, sortDesc } = paging;
  return {
    limit: paginationSize,
    // Behind every list all the same, and a number that SQLite takes for a whole one.
    offset: Math.min(paginationIndex * paginationSize, Number.MAX_SAFE_INTEGER),
    descending: sortDesc,
  };
}

/** Common conventions, 7: the number of pages follows from the number of items and the page size. */
export function pageOf(paging: Paging, total: number): PageTotals {
  const { paginationSize } = paging;
  return { paginationSize, paginationPages: Math.ceil(total / paginationSize) };
}
