/** What the journal is asked in SQLite; see queries.ts. */
import { SQLITE, selectDocument } from "./dialect.ts";
import { dueQueriesIn } from "./due-documents.ts";
import { queriesIn } from "./queries.ts";
import { SQLITE_SETS } from "./row-sets.ts";
import { tidyQueriesIn } from "./tidy.ts";
import { writeQueriesIn } from "./write-queries.ts";

/** Every query that yields documents begins like this; `n` is the row, `d` its directory. */
export const SELECT_DOCUMENT = selectDocument(SQLITE);

/** The texts, by the question they answer. */
export const QUERIES = queriesIn(SQLITE);

/** Those of retention, by what they are for. */
export const TIDY_QUERIES = tidyQueriesIn(SQLITE);

/** Those that write what was decided. */
export const WRITE_QUERIES = writeQueriesIn(SQLITE, SQLITE_SETS);

/** What is due of the mirror $8. */
export const DUE_QUERIES = dueQueriesIn(
  (where, order) => `${SELECT_DOCUMENT} WHERE n.mirror_id = $8 AND ${where} ${order}`,
);

/** Those that PostgreSQL answers in another way: here nobody else may be sending, or writing. */
export const OWN_QUERIES = {
  mirrorIds: "SELECT id FROM mirrors WHERE archive_id = $1",
  underWay: `${SELECT_DOCUMENT} WHERE n.mirror_id IN (SELECT id FROM mirrors WHERE archive_id = $1)
    AND n.state = 'uploading' ORDER BY n.id LIMIT $2`,
  mirror: `SELECT archive_id AS "archiveId", tells FROM mirrors WHERE id = $1`,
  lastId: "SELECT seq FROM sqlite_sequence WHERE name = 'documents'",
  directoryId: "SELECT id FROM directories WHERE mirror_id = $1 AND path = $2",
  currentId: "SELECT id FROM documents WHERE dir_id = $1 AND name = $2 AND current = 1",
  successorIds: "SELECT id FROM documents WHERE supersedes = $1 AND supersedes IS NOT NULL",
  ownerId: `SELECT id FROM documents WHERE document_id = $1 AND archive_id = $2
    AND duplicate_of IS NULL`,
  tombstone: "SELECT number AS id FROM tombstones WHERE document_id = $1 AND archive_id = $2",
  lastLines: `SELECT number, at, from_state AS "from", to_state AS "to", event, detail, times
    FROM history WHERE document = $1 ORDER BY number DESC LIMIT 2`,
  // What keeps a document from being sent alone: `isInTheWay`.
  sentAs: `SELECT id FROM documents WHERE folder_id = $1 AND sent_name = $2 AND archive_id = $3
    AND id <> $4 AND (state IN ('uploading', 'inDoubt') OR doubt_at IS NOT NULL)`,
  twins: `SELECT id FROM documents WHERE mirror_id = $1
    AND substr(digest, 1, 12) = substr($2, 1, 12) AND digest = $2 AND id <> $3
    AND state IN ('uploading', 'inDoubt')`,
} as const;
