/** How the list of documents is read from SQLite; see document-list.ts. */
import { type ListPage, type PageReader, PAGE_ROWS, SORTED_ROWS_MAX } from "./document-list.ts";
import { SELECT_DOCUMENT } from "./sqlite-queries.ts";
import type { Statements } from "./statements.ts";

const FEW = `LIMIT ${SORTED_ROWS_MAX + 1}`;

const IN_DIRECTORY = "n.dir_id = @dirId AND (n.name, n.id) > (@name, @id)";

/** The texts, by what they are for. */
export const LIST_QUERIES = {
  mirrors: "SELECT id FROM mirrors ORDER BY id",
  ofState: `SELECT id FROM documents WHERE mirror_id IN (SELECT id FROM mirrors) AND state = @state ${FEW}`,
  ofCode: `SELECT id FROM documents WHERE problem_code = @code ${FEW}`,
  ofMirror: `SELECT id FROM documents WHERE mirror_id = @mirrorId ${FEW}`,
  inOrder: `SELECT n.id FROM documents n CROSS JOIN directories d ON d.id = n.dir_id
    WHERE n.id IN (SELECT value FROM json_each(@ids)) ORDER BY n.mirror_id, d.path, n.name, n.id`,
  latest: `${SELECT_DOCUMENT} WHERE n.id < @before ORDER BY n.id DESC LIMIT @limit`,
  byId: `${SELECT_DOCUMENT} WHERE n.id IN (SELECT value FROM json_each(@ids))`,
  uploaded: `${SELECT_DOCUMENT} WHERE n.uploaded_at IS NOT NULL
    ORDER BY n.uploaded_at DESC, n.id DESC LIMIT @limit`,
  named: `SELECT min(id) AS last, count(*) AS looked, group_concat(
      CASE WHEN path GLOB '*[^ -~]*' OR instr(lower(path), @text) THEN id END) AS ids
    FROM (SELECT n.id, CAST(d.path || '/' || n.name AS TEXT) AS path
      FROM documents n CROSS JOIN directories d ON d.id = n.dir_id
      WHERE n.id < @before ORDER BY n.id DESC LIMIT @limit)`,
  directories: `SELECT id, path FROM directories
    WHERE mirror_id = @mirrorId AND path >= @from AND path < @to AND path > @last
    ORDER BY path LIMIT ${PAGE_ROWS}`,
  directory: "SELECT id, path FROM directories WHERE mirror_id = @mirrorId AND path = @path",
  inDirectory: `SELECT * FROM documents n WHERE ${IN_DIRECTORY} AND n.current = 1
    UNION ALL SELECT * FROM documents n WHERE ${IN_DIRECTORY} AND n.current = 0
    ORDER BY name, id LIMIT ${PAGE_ROWS}`,
  atPath: `${SELECT_DOCUMENT} WHERE n.dir_id = @dirId AND n.name = @name AND n.current = 1
    UNION ALL ${SELECT_DOCUMENT} WHERE n.dir_id = @dirId AND n.name = @name AND n.current = 0
    ORDER BY id`,
} as const satisfies Record<ListPage, string>;

/** A reader of pages; each is read by `read`, after the writes that were issued before it. */
export function pagesOf(
  statements: Statements,
  read: <T>(query: () => T) => Promise<T>,
): PageReader {
  return <Row extends object>(name: ListPage, values: Readonly<Record<string, unknown>>) =>
    read(() => statements.of<Row>(LIST_QUERIES[name]).all(values));
}
