/**
 * How many documents there are of each mirror and state, and the pages that wait. Triggers keep the table with every
 * write, in its transaction. So no question reads all rows, and a crash or another process leaves nothing to count again.
 *
 * In PostgreSQL a mirror's state may have several rows, as many as there are writers at the same time: each changes
 * one that no other transaction has locked, so that writers never wait for one another. The sum is what counts.
 */
import { STATES } from "../domain/document.ts";

/** What is there already. */
const BEGIN = `
  INSERT INTO document_counts SELECT mirror_id, state, count(*), coalesce(sum(estimate), 0),
    count(*) - count(estimate) FROM documents GROUP BY mirror_id, state;
`;

const EMPTY = `s.value, 0, 0, 0 FROM json_each('${JSON.stringify(STATES)}') s`;

/** For the one writer of SQLite: a row of each state is there from the beginning, as a change costs half of an upsert. */
export const SQLITE_COUNTS = `
  CREATE TABLE document_counts (
    mirror_id INTEGER NOT NULL, -- mirrors.id
    state     TEXT NOT NULL,
    documents INTEGER NOT NULL, -- count
    pages     INTEGER NOT NULL, -- count, of those that have an estimate
    unknown   INTEGER NOT NULL, -- count of documents without an estimate
    PRIMARY KEY (mirror_id, state)
  ) STRICT, WITHOUT ROWID;
  ${BEGIN}
  INSERT OR IGNORE INTO document_counts SELECT m.id, ${EMPTY}, mirrors m;
  CREATE TRIGGER mirrors_joined AFTER INSERT ON mirrors
    BEGIN INSERT INTO document_counts SELECT new.id, ${EMPTY}; END;
  CREATE TRIGGER documents_joined AFTER INSERT ON documents BEGIN ${counted("new", "+")} END;
  CREATE TRIGGER documents_left AFTER DELETE ON documents BEGIN ${counted("old", "-")} END;
  CREATE TRIGGER documents_changed AFTER UPDATE OF mirror_id, state, estimate ON documents
    BEGIN ${counted("old", "-")} ${counted("new", "+")} END;
`;

function counted(row: "old" | "new", sign: "+" | "-"): string {
  return `UPDATE document_counts SET documents = documents ${sign} 1,
      pages = pages ${sign} coalesce(${row}.estimate, 0),
      unknown = unknown ${sign} (${row}.estimate IS NULL)
    WHERE mirror_id = ${row}.mirror_id AND state = ${row}.state;`;
}

const JOINED = "SELECT mirror_id, state, estimate, 1 AS n FROM joined";
const GONE = "SELECT mirror_id, state, estimate, -1 AS n FROM gone";

/** For the many of PostgreSQL; a statement's rows are counted at once. */
export const POSTGRES_COUNTS = `
  CREATE TABLE document_counts (
    mirror_id bigint NOT NULL,
    state     text COLLATE "C" NOT NULL,
    documents bigint NOT NULL,
    pages     bigint NOT NULL,
    unknown   bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE INDEX document_counts_of ON document_counts (mirror_id, state);
  ${BEGIN}
  ${trigger("inserted", "INSERT", "NEW TABLE AS joined", JOINED)}
  ${trigger("deleted", "DELETE", "OLD TABLE AS gone", GONE)}
  ${trigger("updated", "UPDATE", "OLD TABLE AS gone NEW TABLE AS joined", `${JOINED} UNION ALL ${GONE}`)}
`;

function trigger(name: string, event: string, tables: string, rows: string): string {
  return `
  CREATE FUNCTION documents_${name}() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    d record;
    place tid;
  BEGIN
    FOR d IN SELECT mirror_id, state, sum(n) AS documents, coalesce(sum(n * estimate), 0) AS pages,
        coalesce(sum(n) FILTER (WHERE estimate IS NULL), 0) AS unknown
      FROM (${rows}) r GROUP BY mirror_id, state
    LOOP
      CONTINUE WHEN d.documents = 0 AND d.pages = 0 AND d.unknown = 0;
      SELECT ctid INTO place FROM document_counts c WHERE c.mirror_id = d.mirror_id AND c.state = d.state
        LIMIT 1 FOR UPDATE SKIP LOCKED;
      IF FOUND THEN
        -- A statement of its own, as it has to see the row as it was locked.
        UPDATE document_counts c SET documents = c.documents + d.documents, pages = c.pages + d.pages,
          unknown = c.unknown + d.unknown WHERE ctid = place;
      ELSE
        INSERT INTO document_counts VALUES (d.mirror_id, d.state, d.documents, d.pages, d.unknown);
      END IF;
    END LOOP;
    RETURN NULL;
  END $$;
  CREATE TRIGGER documents_${name} AFTER ${event} ON documents REFERENCING ${tables}
    FOR EACH STATEMENT EXECUTE FUNCTION documents_${name}();`;
}
