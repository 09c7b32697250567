/** How the list of documents is read; see document-list.ts. */
import { type Dialect, selectDocument } from "./dialect.ts";

/** Rows of a page at most; one with fewer is the last. */
export const PAGE_ROWS = 500;
/** So many matches are sorted at once; more are found by walking the directories. */
export const SORTED_ROWS_MAX = 10_000;

/** The texts in a dialect, by what they give. */
export function listQueriesIn(dialect: Dialect) {
  const { isAmong, join } = dialect;
  const DOCUMENT = selectDocument(dialect);
  const IN_DIRECTORY = "n.dir_id = $1 AND (n.name, n.id) > ($2, $3)";
  return {
    /** Ids in any order: of a state, a code, a mirror. How many these are, costs little, however many they are. */
    ofState: "SELECT id FROM documents WHERE mirror_id IN (SELECT id FROM mirrors) AND state = $1",
    countOfState: "SELECT sum(documents) AS n FROM document_counts WHERE state = $1",
    ofCode: "SELECT id FROM documents WHERE problem_code = $1",
    countOfCode: `SELECT count(*) AS n FROM (SELECT 1 FROM documents WHERE problem_code = $1
      LIMIT ${SORTED_ROWS_MAX + 1}) few`,
    ofMirror: "SELECT id FROM documents WHERE mirror_id = $1",
    countOfMirror: "SELECT sum(documents) AS n FROM document_counts WHERE mirror_id = $1",
    /** These ids in path order. */
    inOrder: `SELECT n.id FROM documents n ${join} directories d ON d.id = n.dir_id
      WHERE ${isAmong("n.id", 1, "bigint")} ORDER BY n.mirror_id, d.path, n.name, n.id`,
    /** Documents of these ids, in any order. */
    byId: `${DOCUMENT} WHERE ${isAmong("n.id", 1, "bigint")}`,
    /** Documents before an id, the greatest first. */
    latest: `${DOCUMENT} WHERE n.id < $1 ORDER BY n.id DESC LIMIT $2`,
    /** Those that were uploaded, the latest first. */
    uploaded: `${DOCUMENT} WHERE n.uploaded_at IS NOT NULL
      ORDER BY n.uploaded_at DESC, n.id DESC LIMIT $1`,
    /** Of so many ids before an id the `last`, how many were `looked` at, and those that may hold a text. */
    named: `SELECT min(id) AS last, count(*) AS looked,
        string_agg(CAST(id AS TEXT), ',') FILTER (WHERE ${dialect.mayHold("path", "$3")}) AS ids
      FROM (SELECT n.id, ${dialect.asciiPath} AS path
        FROM documents n ${join} directories d ON d.id = n.dir_id
        WHERE n.id < $1 ORDER BY n.id DESC LIMIT $2) looked`,
    /** Directories of a mirror between two paths, both excluded, a page. */
    directories: `SELECT id, path FROM directories
      WHERE mirror_id = $1 AND ${dialect.isPathBetween("path", 2, 3)} AND path > $2
      ORDER BY ${dialect.pathOrder("path")} LIMIT ${PAGE_ROWS}`,
    directory: `SELECT id, path FROM directories
      WHERE mirror_id = $1 AND ${dialect.isPath("path", 2)}`,
    /** Documents of a directory, without `dir`, behind a name and id, by these, a page. */
    inDirectory: `SELECT * FROM documents n WHERE ${IN_DIRECTORY} AND n.current = 1
      UNION ALL SELECT * FROM documents n WHERE ${IN_DIRECTORY} AND n.current = 0
      ORDER BY name, id LIMIT ${PAGE_ROWS}`,
    /** Documents of one path by id. */
    atPath: `${DOCUMENT} WHERE n.dir_id = $1 AND n.name = $2 AND n.current = 1
      UNION ALL ${DOCUMENT} WHERE n.dir_id = $1 AND n.name = $2 AND n.current = 0
      ORDER BY id`,
  };
}
