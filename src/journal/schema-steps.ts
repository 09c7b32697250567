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

  CREATE INDEX documents_recent ON documents (max(first_seen_at, changed_at, coalesce(sent_at, 0),
    coalesce(uploaded_at, 0), coalesce(converted_at, 0)), id);
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

/** Of being told. */
export const MEMOS = `
  -- What a part of the daemon has to know after a restart, as it writes it itself.
  CREATE TABLE memos (
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL -- JSON
  ) STRICT, WITHOUT ROWID;
`;

export const HOOKS = `
  -- Whether outcomes of its documents are kept to be told to a hook.
  ALTER TABLE mirrors ADD COLUMN tells INTEGER NOT NULL DEFAULT 0 CHECK (tells IN (0, 1));

  -- Outcomes that a hook has not been told yet; the document may be another by now, or gone.
  CREATE TABLE tellings (
    number    INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: hooks know outcomes by it
    mirror_id INTEGER NOT NULL REFERENCES mirrors (id),
    outcome   TEXT NOT NULL,
    at        REAL NOT NULL,    -- ms
    document  TEXT NOT NULL,    -- JSON (domain/document.ts), as the outcome left it
    tries     INTEGER NOT NULL DEFAULT 0, -- count
    due_at    REAL NOT NULL     -- ms
  ) STRICT;
  CREATE INDEX tellings_due ON tellings (mirror_id, due_at, number);

  -- What a hook vetoed may be put away, too.
  DROP INDEX documents_after;
  CREATE INDEX documents_after ON documents (coalesce(due_at, 0), id)
    WHERE state IN ('converted', 'held') AND after_state = 'due';
`;

/** Several archives: whatever has an archive's id is of one of them. */
export const ARCHIVES = `
  -- The archives that mirrors are carried into, each an account with its gate (closed while
  -- gate_closed_at is set) and its pace. The first is the one of journals that knew a single one.
  CREATE TABLE archives (
    id                 INTEGER PRIMARY KEY,
    name               TEXT NOT NULL UNIQUE, -- as configured
    url                TEXT,                 -- where it was last
    gate_closed_at     REAL,                 -- ms
    gate_code          TEXT,
    gate_message       TEXT,
    gate_probes        INTEGER NOT NULL DEFAULT 0, -- count
    gate_next_probe_at REAL,                 -- ms
    pace_limit         INTEGER,              -- count
    pace_paused_at     REAL,                 -- ms
    pace_paused_until  REAL,                 -- ms
    pace_code          TEXT,
    pace_message       TEXT
  ) STRICT;
  INSERT INTO archives (id, name, gate_closed_at, gate_code, gate_message, gate_probes,
      gate_next_probe_at, pace_limit, pace_paused_at, pace_paused_until, pace_code, pace_message)
    SELECT 1, 'main', gate_closed_at, gate_code, gate_message, gate_probes,
      gate_next_probe_at, pace_limit, pace_paused_at, pace_paused_until, pace_code, pace_message
    FROM account;
  ALTER TABLE account DROP COLUMN gate_closed_at;
  ALTER TABLE account DROP COLUMN gate_code;
  ALTER TABLE account DROP COLUMN gate_message;
  ALTER TABLE account DROP COLUMN gate_probes;
  ALTER TABLE account DROP COLUMN gate_next_probe_at;
  ALTER TABLE account DROP COLUMN pace_limit;
  ALTER TABLE account DROP COLUMN pace_paused_at;
  ALTER TABLE account DROP COLUMN pace_paused_until;
  ALTER TABLE account DROP COLUMN pace_code;
  ALTER TABLE account DROP COLUMN pace_message;

  ALTER TABLE mirrors ADD COLUMN archive_id INTEGER NOT NULL DEFAULT 1;   -- archives.id
  -- Its mirror's; here too, for the indexes: folder and document ids mean nothing without it.
  ALTER TABLE documents ADD COLUMN archive_id INTEGER NOT NULL DEFAULT 1; -- archives.id
  DROP INDEX documents_archived;
  CREATE UNIQUE INDEX documents_archived ON documents
    (document_id, archive_id, CASE WHEN duplicate_of IS NULL THEN 0 ELSE id END)
    WHERE document_id IS NOT NULL;
  DROP INDEX documents_outstanding;
  CREATE INDEX documents_outstanding ON documents (archive_id, folder_id, due_at, id)
    WHERE state = 'uploaded';
  DROP INDEX documents_after;
  CREATE INDEX documents_after ON documents (archive_id, coalesce(due_at, 0), id)
    WHERE state IN ('converted', 'held') AND after_state = 'due';
  DROP INDEX documents_troubled;
  CREATE INDEX documents_troubled ON documents (trouble_code, state, archive_id, id)
    WHERE trouble_code IS NOT NULL;
  DROP INDEX documents_held_by_size;
  CREATE INDEX documents_held_by_size
    ON documents (archive_id, trouble_code, size_bytes, id, mirror_id) WHERE state = 'held';

  CREATE TABLE remembered_by_archive (
    number      INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL, -- the archive's
    archive_id  INTEGER NOT NULL, -- archives.id
    mirror_id   INTEGER NOT NULL,
    folder_id   INTEGER NOT NULL,
    digest      BLOB,          -- SHA-256; null: it was replaced by an edit
    place       BLOB,          -- digest of the only path that counts; null: any
    dropped_at  REAL NOT NULL, -- ms
    UNIQUE (document_id, archive_id)
  ) STRICT;
  INSERT INTO remembered_by_archive
    SELECT number, document_id, 1, mirror_id, folder_id, digest, place, dropped_at FROM remembered;
  DROP TABLE remembered;
  ALTER TABLE remembered_by_archive RENAME TO remembered;
  CREATE INDEX remembered_digest ON remembered (mirror_id, digest) WHERE digest IS NOT NULL;
`;

/** Pages: counted here, reckoned, charged. */
export const PAGES = `
  -- Pages as counted here before sending (null: not known), and those its last attempt was reckoned to cost.
  ALTER TABLE documents ADD COLUMN estimate INTEGER; -- count
  ALTER TABLE documents ADD COLUMN charge INTEGER;   -- count
  -- What is on its way is charged in full once the archive has counted it.
  UPDATE documents SET charge = 0
    WHERE state IN ('uploading', 'inDoubt', 'uploaded') AND attempts > 0;
  -- Pages of what was uploaded then, and those that duplicates would have cost.
  ALTER TABLE tallies ADD COLUMN charged INTEGER NOT NULL DEFAULT 0; -- count
  ALTER TABLE tallies ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;   -- count
  UPDATE tallies SET charged = pages;
  -- Which warning of the month's allowance was given last: 0 none, 1 little is left, 2 it is used up.
  ALTER TABLE archives ADD COLUMN allowance_from REAL; -- ms; when that month began
  ALTER TABLE archives ADD COLUMN allowance_warned INTEGER NOT NULL DEFAULT 0;

  -- What waits, smallest first, by bytes and by pages.
  CREATE INDEX documents_small ON documents (mirror_id, size_bytes, id, due_at)
    WHERE state = 'pending';
  CREATE INDEX documents_pages ON documents (mirror_id, state, estimate, id, due_at)
    WHERE state = 'pending' OR state = 'held';
`;

export const RECEIPTS = `
  -- ms; when the receipt was written, its batch being closed; null: not yet
  ALTER TABLE batches ADD COLUMN receipt_at REAL;
  CREATE INDEX batches_open ON batches (number) WHERE receipt_at IS NULL;
`;

/** Also of a journal in PostgreSQL. */
export const NEVER_PUT_AWAY = `
  -- Files that stay where they are, their after-action being refused for good. Has the columns of its
  -- own condition, too: there may be as many as documents, and they are counted without a look at the rows.
  CREATE INDEX documents_never_put_away ON documents (mirror_id, id, after_state, current, gone_at)
    WHERE after_state = 'refused' AND current = 1 AND gone_at IS NULL;
`;

export const CONTENTS = `
  -- Rows by their content, whatever their state: a change of a column that an index's condition names has SQLite
  -- write the entry anew, here each time at another place of a large tree, three times in a document's life.
  DROP INDEX documents_sent;
  CREATE INDEX documents_content ON documents (mirror_id, digest, id) WHERE digest IS NOT NULL;
`;

/** With the type of whole numbers. Also of a journal in PostgreSQL. */
const sentBytes = (type: string) => `
  -- Bytes of the content that the archive was sent as this document; null: what it has is known by name and size.
  ALTER TABLE documents ADD COLUMN sent_bytes ${type}; -- bytes
  -- Of a content that was left alone by "changed: ignore", the row has the size of the one that came after it.
  UPDATE documents SET sent_bytes = CASE WHEN remark LIKE 'its content has changed since%'
      THEN archive_bytes ELSE size_bytes END
    WHERE attempts > 0 AND coalesce(remark, '') <> 'was in the archive already'
      AND (state IN ('uploading', 'inDoubt') OR doubt_at IS NOT NULL OR document_id IS NOT NULL);
  UPDATE documents SET sent_bytes =
      (SELECT o.sent_bytes FROM documents o WHERE o.id = documents.duplicate_of)
    WHERE duplicate_of IS NOT NULL;
`;

export const SENT_BYTES = sentBytes("INTEGER");
export const SENT_BYTES_POSTGRES = sentBytes("bigint");

/** With the type of texts. Also of a journal in PostgreSQL. */
const ignoredDigest = (type: string) => `
  -- SHA-256 of the latest content with which "changed: ignore" left the file of a sent row alone, hex.
  ALTER TABLE documents ADD COLUMN ignored_digest ${type};
  CREATE INDEX documents_ignored ON documents (mirror_id, ignored_digest)
    WHERE ignored_digest IS NOT NULL;
`;

export const IGNORED_DIGEST = ignoredDigest("TEXT");
export const IGNORED_DIGEST_POSTGRES = ignoredDigest('text COLLATE "C"');

/** With the type of times. Also of a journal in PostgreSQL. */
const archiveUploadedAt = (type: string) => `
  -- When a document was uploaded, as the archive first said; null: not known.
  ALTER TABLE documents ADD COLUMN archive_uploaded_at ${type}; -- ms, by the archive's clock
`;

export const ARCHIVE_UPLOADED_AT = archiveUploadedAt("REAL");
export const ARCHIVE_UPLOADED_AT_POSTGRES = archiveUploadedAt("double precision");

/** With the type of times. Also of a journal in PostgreSQL. */
const movedAt = (type: string) => `
  -- When a file was last found renamed or moved; null: it is where it was sent from.
  ALTER TABLE documents ADD COLUMN moved_at ${type}; -- ms
  UPDATE documents SET moved_at = coalesce((SELECT max(h.at) FROM history h
      WHERE h.document = documents.id AND h.event = 'follow'), changed_at) WHERE moved_from IS NOT NULL;
  -- Has the columns of its own condition, too: they are counted without a look at the rows.
  CREATE INDEX documents_moved_last ON documents (moved_at, id, mirror_id, gone_at, current)
    WHERE moved_at IS NOT NULL AND gone_at IS NULL AND current = 1;
`;

export const MOVED_AT = movedAt("REAL");
export const MOVED_AT_POSTGRES = movedAt("double precision");

/** With the types of times and flags. Also of a journal in PostgreSQL. */
const ordinary = (time: string, flag: string) => `
  -- When a document was last found quiet and whole; null: never.
  ALTER TABLE documents ADD COLUMN settled_at ${time}; -- ms
  -- 1: its first steps are told by its times, and history has lines for the rest alone.
  ALTER TABLE documents ADD COLUMN ordinary ${flag} NOT NULL DEFAULT 0 CHECK (ordinary IN (0, 1));
`;

export const ORDINARY = ordinary("REAL", "INTEGER");
export const ORDINARY_POSTGRES = ordinary("double precision", "smallint");

/** Also of a journal in PostgreSQL. */
export const LATEST = `
  -- The latest documents, by what is written once in the life of each; its number tells when it was found.
  DROP INDEX documents_recent;
  CREATE INDEX documents_uploaded ON documents (uploaded_at, id) WHERE uploaded_at IS NOT NULL;
`;

/** The first characters tell contents apart well enough, in an index of a third of the size. */
export const SHORT_DIGESTS = `
  DROP INDEX documents_content;
  CREATE INDEX documents_content ON documents (mirror_id, substr(digest, 1, 12)) WHERE digest IS NOT NULL;
`;
