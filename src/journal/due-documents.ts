/**
 * Which documents are due, the longest due first.
 *
 * With a million rows waiting and a hundred mirrors, a filter that is applied row by row would
 * read them all to find few. So the mirrors are asked one by one, each by an index, and their
 * answers merged; and large documents, which are looked for on their own, have an index of their
 * own.
 */
import type { Document } from "../domain/document.ts";
import { type DocumentRow, documentOf } from "./columns.ts";
import { SELECT_DOCUMENT } from "./documents-table.ts";
import type { DueQuery } from "./journal.ts";
import { LARGE_INDEX_BYTES } from "./schema.ts";
import type { Statements } from "./statements.ts";

const DUE =
  "n.mirror_id = @mirrorId AND n.state = @state AND n.due_at <= @now AND n.due_at > @after";
const WITHIN = "n.size_bytes > @over AND n.size_bytes <= @max";
const ORDER = "ORDER BY n.due_at, n.id LIMIT @limit";

/** The texts, by what they are for. */
export const DUE_QUERIES = {
  any: `${SELECT_DOCUMENT} WHERE ${DUE} AND ${WITHIN} ${ORDER}`,
  // The literal lets SQLite see that the index of large rows holds all that are asked for.
  large: `${SELECT_DOCUMENT} WHERE ${DUE} AND n.size_bytes > ${LARGE_INDEX_BYTES} AND ${WITHIN} ${ORDER}`,
} as const;

/** Rows of the archive's mirrors that are due, the longest due first. */
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
    .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || a.id - b.id)
    .slice(0, query.limit);
}

function dueOf(sql: Statements, mirrorId: number, query: DueQuery): Document[] {
  const { state, now, limit, sizeMaxBytes: max = Number.MAX_SAFE_INTEGER } = query;
  const over = query.sizeOverBytes ?? -1;
  const after = query.after ?? -1;
  const text = over >= LARGE_INDEX_BYTES ? DUE_QUERIES.large : DUE_QUERIES.any;
  return sql
    .of<DocumentRow>(text)
    .all({ mirrorId, state, now, after, limit, max, over })
    .map(documentOf);
}
