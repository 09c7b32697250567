/** What the journal is asked in PostgreSQL; see ../queries.ts. */
import { POSTGRES } from "../dialect.ts";
import { queriesIn } from "../queries.ts";
import { SELECT_DOCUMENT } from "./documents.ts";

/** The texts, by the question they answer. */
export const QUERIES = queriesIn(POSTGRES);

/** Those that SQLite answers in another way: where several daemons write, no one knows the counts. */
export const OWN_QUERIES = {
  // Whose sender is there is being sent; a sender without a row is not.
  underWay: `${SELECT_DOCUMENT} WHERE n.archive_id = $1 AND n.state = 'uploading'
    AND NOT EXISTS (SELECT 1 FROM instances m WHERE m.id = n.sender AND NOT m.lost)
    ORDER BY n.id LIMIT $2`,
  // Each mirror's states one by one: ranges of an index, which alone is read but for the oldest.
  counts: `SELECT m.id AS "mirrorId", s.state, c.documents, n.first_seen_at AS "oldestAt"
    FROM mirrors m CROSS JOIN unnest($1::text[]) s (state)
      CROSS JOIN LATERAL (SELECT count(*) AS documents, min(id) AS oldest FROM documents
        WHERE mirror_id = m.id AND state = s.state) c
      JOIN documents n ON n.id = c.oldest
    ORDER BY m.id, s.state COLLATE "C"`,
  waitingPages: `SELECT m.id AS "mirrorId", n.* FROM mirrors m CROSS JOIN LATERAL (
      SELECT state, count(*) AS documents, coalesce(sum(estimate), 0) AS pages,
        count(*) - count(estimate) AS unknown
      FROM documents WHERE mirror_id = m.id AND state IN ('pending', 'held') GROUP BY state) n
    ORDER BY m.id, n.state`,
} as const;
