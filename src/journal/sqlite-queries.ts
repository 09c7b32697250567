/** What the journal is asked in SQLite; see queries.ts. */
import { SQLITE, selectDocument } from "./dialect.ts";
import { dueQueriesIn } from "./due-documents.ts";
import { queriesIn } from "./queries.ts";
import { tidyQueriesIn } from "./tidy.ts";

/** Every query that yields documents begins like this; `n` is the row, `d` its directory. */
export const SELECT_DOCUMENT = selectDocument(SQLITE);

/** The texts, by the question they answer. */
export const QUERIES = queriesIn(SQLITE);

/** Those of retention, by what they are for. */
export const TIDY_QUERIES = tidyQueriesIn(SQLITE);

/** What is due of the mirror $8. */
export const DUE_QUERIES = dueQueriesIn(
  (where, order) => `${SELECT_DOCUMENT} WHERE n.mirror_id = $8 AND ${where} ${order}`,
);

/** Those that PostgreSQL answers in another way: here nobody else may be sending. */
export const OWN_QUERIES = {
  mirrorIds: "SELECT id FROM mirrors WHERE archive_id = $1",
  underWay: `${SELECT_DOCUMENT} WHERE n.mirror_id IN (SELECT id FROM mirrors WHERE archive_id = $1)
    AND n.state = 'uploading' ORDER BY n.id LIMIT $2`,
} as const;
