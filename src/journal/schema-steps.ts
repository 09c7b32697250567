/**
 * What the migrations after the first add to the tables, in their order. Those of a release are
 * never edited.
 */
import { TALLY_MS } from "./tally.ts";

export const FIRST_RUNS = `
  -- ms; null: the first run over the mirror is not over, and the archive may hold its files already
  ALTER TABLE mirrors ADD COLUMN first_run_over_at REAL;
  UPDATE mirrors SET first_run_over_at = 0
    WHERE id IN (SELECT mirror_id FROM documents WHERE document_id IS NOT NULL);
`;

export const PACE = `
  -- How the archive's load slowed sending: uploads at a time (null: as configured), and a pause it asked for.
  ALTER TABLE account ADD COLUMN pace_limit INTEGER; -- count
  ALTER TABLE account ADD COLUMN pace_paused_at REAL;    -- ms
  ALTER TABLE account ADD COLUMN pace_paused_until REAL; -- ms
  ALTER TABLE account ADD COLUMN pace_code TEXT;
  ALTER TABLE account ADD COLUMN pace_message TEXT;
`;

export const REMEMBERED = `
  -- What stays of a row that retention dropped, in the order they were dropped.
  CREATE TABLE remembered (
    number      INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL UNIQUE, -- the archive's
    mirror_id   INTEGER NOT NULL,
    folder_id   INTEGER NOT NULL,
    digest      BLOB,          -- SHA-256; null: it was replaced by an edit
    place       BLOB,          -- digest of the only path that counts; null: any
    dropped_at  REAL NOT NULL  -- ms
  ) STRICT;
  CREATE INDEX remembered_digest ON remembered (mirror_id, digest) WHERE digest IS NOT NULL;
`;

/**
 * When something last happened to a document, as far as its row tells. The text stands in an index,
 * and a query is served by that only while it says the same.
 */
export const ACTIVE_AT =
  "max(first_seen_at, changed_at, coalesce(sent_at, 0), coalesce(uploaded_at, 0), coalesce(converted_at, 0))";

export const ACTIVITY = `
  -- What reached the archive, a row for each mirror's quarter of an hour in which anything did.
  CREATE TABLE tallies (
    at             REAL NOT NULL,    -- ms; when the quarter of an hour began
    mirror_id      INTEGER NOT NULL, -- mirrors.id
    uploaded       INTEGER NOT NULL, -- count of documents
    uploaded_bytes INTEGER NOT NULL, -- bytes
    converted      INTEGER NOT NULL, -- count of documents
    pages          INTEGER NOT NULL, -- count, of the converted ones
    PRIMARY KEY (at, mirror_id)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO tallies
    SELECT floor(uploaded_at / ${TALLY_MS}) * ${TALLY_MS}, mirror_id, count(*), sum(size_bytes), 0, 0
    FROM documents WHERE uploaded_at IS NOT NULL AND attempts > 0 GROUP BY 1, 2;
  INSERT INTO tallies
    SELECT floor(converted_at / ${TALLY_MS}) * ${TALLY_MS}, mirror_id, 0, 0, count(*), sum(pages)
    FROM documents WHERE converted_at IS NOT NULL AND attempts > 0 GROUP BY 1, 2
    ON CONFLICT (at, mirror_id) DO UPDATE SET converted = excluded.converted, pages = excluded.pages;

  CREATE INDEX documents_recent ON documents (${ACTIVE_AT}, id);
  CREATE INDEX documents_batch ON documents (substr(batch, 1, 8)) WHERE batch IS NOT NULL;
`;

export const SLIP = `
  -- What goes with a document (domain/slip.ts), decided before it is sent.
  ALTER TABLE documents ADD COLUMN slip TEXT; -- JSON; null: nothing
`;

export const DUPLICATES = `
  -- The row whose document in the archive this one stands for, being the same content.
  ALTER TABLE documents ADD COLUMN duplicate_of INTEGER; -- documents.id
  DROP INDEX documents_archived;
  -- One original a document of the archive, and any number of duplicates.
  CREATE UNIQUE INDEX documents_archived
    ON documents (document_id, CASE WHEN duplicate_of IS NULL THEN 0 ELSE id END)
    WHERE document_id IS NOT NULL;
  CREATE INDEX documents_duplicates ON documents (duplicate_of, pages)
    WHERE duplicate_of IS NOT NULL;
`;

export const RECEIPTS = `
  -- ms; when the receipt was written, its batch being closed; null: not yet
  ALTER TABLE batches ADD COLUMN receipt_at REAL;
  CREATE INDEX batches_open ON batches (number) WHERE receipt_at IS NULL;
`;
