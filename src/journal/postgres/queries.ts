/** What the journal is asked in PostgreSQL; see ../queries.ts. */
import { POSTGRES } from "../dialect.ts";
import { queriesIn } from "../queries.ts";
import { tidyQueriesIn } from "../tidy.ts";
import { SELECT_DOCUMENT } from "./documents.ts";

/** The texts, by the question they answer. */
export const QUERIES = queriesIn(POSTGRES);

/** Those of retention, by what they are for. */
export const TIDY_QUERIES = tidyQueriesIn(POSTGRES);

/** Those that SQLite answers in another way. */
export const OWN_QUERIES = {
  // Whose sender is there is being sent; a sender without a row is not.
  underWay: `${SELECT_DOCUMENT} WHERE n.archive_id = $1 AND n.state = 'uploading'
    AND NOT EXISTS (SELECT 1 FROM instances m WHERE m.id = n.sender AND NOT m.lost)
    ORDER BY n.id LIMIT $2`,
} as const;
