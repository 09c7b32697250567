/**
 * Which documents are due, the longest due first or in another order.
 *
 * With a million rows waiting and a hundred mirrors, a filter that is applied row by row would
 * read them all to find few. So the mirrors are asked one by one, each by an index, and their
 * answers merged; and large documents, which are looked for on their own, have an index of their
 * own.
 */
import type { Document } from "../domain/document.ts";
import { byOrder } from "../domain/feed.ts";
import type { Values } from "./driver.ts";
import { LARGE_INDEX_BYTES } from "./indexes.ts";
import type { DueQuery } from "./journal.ts";

const DUE = "n.state = $1 AND n.due_at <= $2 AND n.due_at > $3";
const WITHIN = `n.size_bytes > $4 AND n.size_bytes <= $5
  AND (n.estimate IS NULL OR n.estimate <= CAST($6 AS double precision))`;
const ORDER = "ORDER BY n.due_at, n.id LIMIT $7";
const NEWEST = "ORDER BY n.due_at DESC, n.id DESC LIMIT $7";
// The literals show that a partial index holds all that are asked for.
const LARGE = `n.size_bytes > ${LARGE_INDEX_BYTES}`;

/** The texts by which due rows are found; `$1` to `$7` are `dueValues`, and `each` asks each mirror. */
export function dueQueriesIn(each: (where: string, order: string) => string) {
  return {
    any: each(`${DUE} AND ${WITHIN}`, ORDER),
    large: each(`${DUE} AND ${LARGE} AND ${WITHIN}`, ORDER),
    newest: each(`${DUE} AND ${WITHIN}`, NEWEST),
    newestLarge: each(`${DUE} AND ${LARGE} AND ${WITHIN}`, NEWEST),
  };
}

/** The text that finds what `query` asks for; of large documents alone, by the index of those. */
export function dueText({ order = "oldest", sizeOverBytes = -1 }: DueQuery) {
  const isLarge = sizeOverBytes >= LARGE_INDEX_BYTES;
  if (order === "newest") return isLarge ? "newestLarge" : "newest";
  return isLarge ? "large" : "any";
}

/** The first values of each text. */
export function dueValues({ state, now, after = -1, limit, ...within }: DueQuery): Values {
  const { sizeOverBytes: over = -1, sizeMaxBytes: max = Number.MAX_SAFE_INTEGER } = within;
  return [state, now, after, over, max, within.pagesMax ?? Number.POSITIVE_INFINITY, limit];
}

/** The first of what was found in all mirrors, by the order asked for. */
export function firstDue(found: Document[], { order = "oldest", limit }: DueQuery): Document[] {
  return found.sort(byOrder(order)).slice(0, limit);
}
