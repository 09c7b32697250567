/** How the list of documents is read from PostgreSQL; see ../document-list.ts. */
import { type ListPage, type PageReader, PAGE_ROWS, SORTED_ROWS_MAX } from "../document-list.ts";
import { isSame, startOf } from "./directories.ts";
import { SELECT_DOCUMENT } from "./documents.ts";
import type { PgSession } from "./session.ts";

const FEW = `LIMIT ${SORTED_ROWS_MAX + 1}`;
const IDS = (name: string) => `(SELECT value::bigint FROM json_array_elements_text(${name}::json))`;
const IN_DIRECTORY = "n.dir_id = $1 AND (n.name, n.id) > ($2, $3::bigint)";

/** The texts, by what they are for, and the names of their parameters. */
export const LIST_QUERIES = {
  mirrors: ["SELECT id FROM mirrors ORDER BY id"],
  ofState: [
    `SELECT id FROM documents WHERE mirror_id IN (SELECT id FROM mirrors) AND state = $1 ${FEW}`,
    "state",
  ],
  ofCode: [`SELECT id FROM documents WHERE problem_code = $1 ${FEW}`, "code"],
  ofMirror: [`SELECT id FROM documents WHERE mirror_id = $1 ${FEW}`, "mirrorId"],
  inOrder: [
    `SELECT n.id FROM documents n JOIN directories d ON d.id = n.dir_id
      WHERE n.id IN ${IDS("$1")} ORDER BY n.mirror_id, d.path, n.name, n.id`,
    "ids",
  ],
  byId: [`${SELECT_DOCUMENT} WHERE n.id IN ${IDS("$1")}`, "ids"],
  latest: [
    `${SELECT_DOCUMENT} WHERE n.id < $1::bigint ORDER BY n.id DESC LIMIT $2`,
    "before",
    "limit",
  ],
  uploaded: [
    `${SELECT_DOCUMENT} WHERE n.uploaded_at IS NOT NULL
      ORDER BY n.uploaded_at DESC, n.id DESC LIMIT $1`,
    "limit",
  ],
  // Other bytes than those of ASCII are escaped there, as a backslash is.
  named: [
    `SELECT min(id) AS last, count(*)::int AS looked, string_agg(id::text, ',')
        FILTER (WHERE strpos(path, '\\') > 0 OR strpos(lower(path), $3) > 0) AS ids
      FROM (SELECT n.id, encode(d.path || '/'::bytea || n.name, 'escape') AS path
        FROM documents n JOIN directories d ON d.id = n.dir_id
        WHERE n.id < $1::bigint ORDER BY n.id DESC LIMIT $2) looked`,
    "before",
    "limit",
    "text",
  ],
  directories: [
    `SELECT id, path FROM directories
      WHERE mirror_id = $1 AND path >= $2 AND path < $3 AND path > $4
        AND ${startOf("path")} >= ${startOf("greatest($2::bytea, $4::bytea)")}
        AND ${startOf("path")} <= ${startOf("$3::bytea")}
      ORDER BY ${startOf("path")}, path LIMIT ${PAGE_ROWS}`,
    "mirrorId",
    "from",
    "to",
    "last",
  ],
  directory: [
    `SELECT id, path FROM directories WHERE mirror_id = $1 AND ${isSame("path", "$2::bytea")}`,
    "mirrorId",
    "path",
  ],
  inDirectory: [
    `SELECT * FROM documents n WHERE ${IN_DIRECTORY} AND n.current = 1
      UNION ALL SELECT * FROM documents n WHERE ${IN_DIRECTORY} AND n.current = 0
      ORDER BY name, id LIMIT ${PAGE_ROWS}`,
    "dirId",
    "name",
    "id",
  ],
  atPath: [
    `${SELECT_DOCUMENT} WHERE n.dir_id = $1 AND n.name = $2 AND n.current = 1
      UNION ALL ${SELECT_DOCUMENT} WHERE n.dir_id = $1 AND n.name = $2 AND n.current = 0
      ORDER BY id`,
    "dirId",
    "name",
  ],
} as const satisfies Record<ListPage, readonly [text: string, ...names: string[]]>;

/** A reader of pages, each after the writes that were issued before it. */
export function pagesOf(session: PgSession): PageReader {
  return <Row extends object>(name: ListPage, values: Readonly<Record<string, unknown>>) => {
    const [text, ...names] = LIST_QUERIES[name];
    const given = names.map((each) => values[each]);
    return session.read(async (query) => (await query<Row>(text, given)).rows);
  };
}
