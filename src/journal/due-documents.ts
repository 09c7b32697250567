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
import { type DocumentRow, documentOf } from "./columns.ts";
import { SELECT_DOCUMENT } from "./sqlite-queries.ts";
import { dueText } from "./due-text.ts";
import type { DueQuery } from "./journal.ts";
import { LARGE_INDEX_BYTES } from "./indexes.ts";
import type { Statements } from "../sqlite/statements.ts";

const DUE =
  "n.mirror_id = @mirrorId AND n.state = @state AND n.due_at <= @now AND n.due_at > @after";
const WITHIN =
  "n.size_bytes > @over AND n.size_bytes <= @max AND (n.estimate IS NULL OR n.estimate <= @pages)";
const ORDER = "ORDER BY n.due_at, n.id LIMIT @limit";
const NEWEST = "ORDER BY n.due_at DESC, n.id DESC LIMIT @limit";
// The literals let SQLite see that a partial index holds all that are asked for.
const LARGE = `n.size_bytes > ${LARGE_INDEX_BYTES}`;

/** The texts, by what they are for. */
export const DUE_QUERIES = {
  any: `${SELECT_DOCUMENT} WHERE ${DUE} AND ${WITHIN} ${ORDER}`,
  large: `${SELECT_DOCUMENT} WHERE ${DUE} AND ${LARGE} AND ${WITHIN} ${ORDER}`,
  newest: `${SELECT_DOCUMENT} WHERE ${DUE} AND ${WITHIN} ${NEWEST}`,
  newestLarge: `${SELECT_DOCUMENT} WHERE ${DUE} AND ${LARGE} AND ${WITHIN} ${NEWEST}`,
} as const;

/** Rows of the archive's mirrors that are due, the first ones by the order asked for. */
export function dueDocuments(sql: Statements, archiveId: number, query: DueQuery): Document[] {
  const mirrorIds =
    query.mirrorId === undefined
      ? sql
          .of<{ id: number }>("SELECT id FROM mirrors WHERE archive_id = ?")
          .all(archiveId)
          .map(({ id }) => id)
      : [query.mirrorId];
  return mirrorIds
    .flatMap((mirrorId) => dueOf(sql, mirrorId, query))
    .sort(byOrder(query.order ?? "oldest"))
    .slice(0, query.limit);
}

function dueOf(sql: Statements, mirrorId: number, query: DueQuery): Document[] {
  const { state, now, limit, sizeMaxBytes: max = Number.MAX_SAFE_INTEGER } = query;
  const over = query.sizeOverBytes ?? -1;
  const after = query.after ?? -1;
  const pages = query.pagesMax ?? Number.POSITIVE_INFINITY;
  return sql
    .of<DocumentRow>(DUE_QUERIES[dueText(query)])
    .all({ mirrorId, state, now, after, limit, max, over, pages })
    .map(documentOf);
}
