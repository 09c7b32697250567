/**
 * The tables of the journal. `user_version` counts the steps that were applied; a journal
 * written by a later scanferry is refused, never migrated down.
 *
 * Times (`*_at`) are epoch milliseconds and sizes bytes; columns hold JavaScript numbers, hence
 * REAL for times (SQLite stores whole ones as compactly as integers). Paths and names are the
 * bytes of the file system. Columns of `documents` stand for the fields of `Document`, which
 * explains them. The tables of a journal in PostgreSQL are made from these (postgres/tables.ts).
 */
import type { Database } from "better-sqlite3";
import { takeSteps } from "../sqlite/schema-steps.ts";
import { DOCUMENT_COUNTS } from "./document-counts.ts";
import { INDEXES } from "./indexes.ts";

/** Marks the file as a scanferry journal: "SFRY". */
export const APPLICATION_ID = 0x53465259;

const ARCHIVES = `
  -- The archives that mirrors are carried into, each an account with its gate (closed while
  -- gate_closed_at is set) and its pace.
  CREATE TABLE archives (
    id                 INTEGER PRIMARY KEY,
    name               TEXT NOT NULL UNIQUE, -- as configured
    url                TEXT,                 -- where it was last
    gate_closed_at     REAL,                 -- ms
    gate_code          TEXT,
    gate_message       TEXT,
    gate_probes        INTEGER NOT NULL DEFAULT 0, -- count
    gate_next_probe_at REAL,                 -- ms
    -- How the archive's load slowed sending: uploads at a time (null: as configured), and a pause it asked for.
    pace_limit         INTEGER,              -- count
    pace_paused_at     REAL,                 -- ms
    pace_paused_until  REAL,                 -- ms
    pace_code          TEXT,
    pace_message       TEXT,
    -- Which warning of the month's allowance was given last: 0 none, 1 little is left, 2 it is used up.
    allowance_from     REAL,                 -- ms; when that month began
    allowance_warned   INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO archives (name) VALUES ('main');

  -- A watched source, known by its name. Rows outlive the mirror's removal from the configuration.
  CREATE TABLE mirrors (
    id                INTEGER PRIMARY KEY,
    name              TEXT NOT NULL UNIQUE,
    source            TEXT NOT NULL, -- absolute path
    device            TEXT,          -- file system the source was on when it last had entries
    first_run_over_at REAL,          -- ms; null: the archive may hold its files already
    tells             INTEGER NOT NULL DEFAULT 0 CHECK (tells IN (0, 1)), -- outcomes are kept for a hook
    archive_id        INTEGER NOT NULL DEFAULT 1 -- archives.id
  ) STRICT;

  -- A directory that holds documents, or whose listing was journaled (then it has a fingerprint).
  CREATE TABLE directories (
    id          INTEGER PRIMARY KEY,
    mirror_id   INTEGER NOT NULL REFERENCES mirrors (id),
    path        BLOB NOT NULL, -- below the source, without slashes at its ends; empty: the source
    fingerprint TEXT           -- of the last journaled listing
  ) STRICT;
`;

/** The table of documents; what its columns say of a new row (`DEFAULT`, or null) is what `firstRevision` says. */
export const DOCUMENTS = `
  -- One revision of one file. At most one row of a path is current. dir_id has no foreign key:
  -- removing a directory would have SQLite read the whole table, as partial indexes do not serve it.
  CREATE TABLE documents (
    id              INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: the history outlives rows
    mirror_id       INTEGER NOT NULL REFERENCES mirrors (id),
    archive_id      INTEGER NOT NULL DEFAULT 1, -- its mirror's; here too, for the indexes
    dir_id          INTEGER NOT NULL,
    name            BLOB NOT NULL,
    -- With IN, SQLite would make a table of more than two values whenever it looks.
    state           TEXT NOT NULL CHECK (state = 'settling' OR state = 'pending' OR
                      state = 'uploading' OR state = 'inDoubt' OR state = 'uploaded' OR
                      state = 'converted' OR state = 'held' OR state = 'failed'),
    size_bytes      INTEGER NOT NULL, -- bytes
    modified_at     REAL NOT NULL,    -- ms, by the source's clock
    stamp           TEXT NOT NULL,
    first_seen_at   REAL NOT NULL,    -- ms
    settled_at      REAL,             -- ms; when it was last found quiet and whole
    changed_at      REAL NOT NULL,    -- ms
    due_at          REAL,             -- ms; null: only when something outside happens
    digest          TEXT,             -- SHA-256, hex
    ignored_digest  TEXT,             -- the content with which "changed: ignore" left it alone
    sent_name       TEXT,
    target_path     TEXT,
    attributes      TEXT,             -- JSON (domain/attributes.ts); null: nothing
    remark          TEXT,
    batch           TEXT,
    folder_id       INTEGER,
    attempts        INTEGER NOT NULL DEFAULT 0, -- count
    sent_at         REAL,             -- ms
    sent_archive_at REAL,             -- ms, by the archive's clock
    sent_bytes      INTEGER,          -- bytes; null: what the archive has is known by name and size
    doubt_at        REAL,             -- ms
    looks           INTEGER NOT NULL DEFAULT 0, -- count
    document_id     INTEGER,          -- the archive's
    archive_status  TEXT,
    uploaded_at     REAL,             -- ms
    archive_uploaded_at REAL,         -- ms, by the archive's clock
    polls           INTEGER NOT NULL DEFAULT 0, -- count
    converted_at    REAL,             -- ms
    pages           INTEGER,          -- count
    archive_bytes   INTEGER,          -- bytes
    estimate        INTEGER,          -- count of pages before it was sent
    charge          INTEGER,          -- count of pages its last attempt was expected to cost
    digidoc         INTEGER NOT NULL DEFAULT 0 CHECK (digidoc IN (0, 1)),
    problem_code    TEXT,
    problem_message TEXT CHECK ((problem_code IS NULL) = (problem_message IS NULL)),
    consecutive_failures INTEGER NOT NULL DEFAULT 0, -- count
    duplicate_of    INTEGER,          -- documents.id of the same content
    current         INTEGER NOT NULL CHECK (current IN (0, 1)),
    supersedes      INTEGER REFERENCES documents (id),
    gone_at         REAL,             -- ms
    moved_from      TEXT,
    moved_at        REAL,             -- ms; when it was last found renamed or moved
    after_state     TEXT CHECK (after_state = 'due' OR after_state = 'done' OR after_state = 'refused'),
    after_message   TEXT,
    -- 1: its times show its first steps, and history has lines for the rest alone.
    ordinary        INTEGER NOT NULL DEFAULT 0 CHECK (ordinary IN (0, 1)),
    -- Nothing is sent whose intent is not journaled whole; nothing is in the archive without an id.
    CHECK (state <> 'uploading' OR (digest IS NOT NULL AND sent_name IS NOT NULL
      AND folder_id IS NOT NULL AND batch IS NOT NULL)),
    CHECK (state NOT IN ('uploaded', 'converted') OR document_id IS NOT NULL)
  ) STRICT;
`;

const RECORDS = `
  -- What happened to a document, in order. Has no foreign key: it outlives forgotten rows.
  CREATE TABLE history (
    document   INTEGER NOT NULL, -- documents.id
    number     INTEGER NOT NULL, -- the order of the document's lines
    at         REAL NOT NULL,    -- ms; the last time, where it happened several times in a row
    from_state TEXT,             -- null: the row was made
    to_state   TEXT,             -- null: the row was forgotten
    event      TEXT NOT NULL,
    detail     TEXT,
    times      INTEGER NOT NULL DEFAULT 1, -- count
    PRIMARY KEY (document, number)
  ) STRICT, WITHOUT ROWID;

  -- Where a forgotten row's file was: the way to its history.
  CREATE TABLE forgotten (
    document  INTEGER NOT NULL PRIMARY KEY, -- documents.id, once
    mirror_id INTEGER NOT NULL,
    path      BLOB NOT NULL
  ) STRICT;

  -- One attempt to send a document: committed before the first byte leaves. An attempt in doubt
  -- has an outcome and no end.
  CREATE TABLE attempts (
    document    INTEGER NOT NULL, -- documents.id
    number      INTEGER NOT NULL, -- documents.attempts while it lasted
    started_at  REAL NOT NULL,    -- ms
    ended_at    REAL,             -- ms
    digest      TEXT NOT NULL,    -- SHA-256, hex
    sent_name   TEXT NOT NULL,
    folder_id   INTEGER NOT NULL,
    batch       TEXT NOT NULL,
    outcome     TEXT,
    document_id INTEGER,          -- the archive's
    PRIMARY KEY (document, number)
  ) STRICT, WITHOUT ROWID;

  -- Documents that became ready together. The greatest number is a mirror's latest batch.
  CREATE TABLE batches (
    number    INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE, -- what is sent to the archive
    mirror_id INTEGER NOT NULL REFERENCES mirrors (id),
    opened_at REAL NOT NULL,    -- ms
    joined_at REAL NOT NULL,    -- ms; when the last document joined
    documents INTEGER NOT NULL, -- count
    receipt_at REAL             -- ms; when the receipt was written, its batch being closed
  ) STRICT;

  -- What a digidoc document contains, as the archive lists it.
  CREATE TABLE contents (
    document    INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL, -- in the archive's list, from 0
    document_id INTEGER NOT NULL, -- the archive's
    filename    TEXT NOT NULL,
    size_bytes  INTEGER NOT NULL, -- bytes
    pages       INTEGER NOT NULL, -- count
    PRIMARY KEY (document, position)
  ) STRICT, WITHOUT ROWID;

  -- What stays of a row that retention dropped, in the order they were dropped.
  CREATE TABLE tombstones (
    number      INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL, -- the archive's
    archive_id  INTEGER NOT NULL, -- archives.id
    mirror_id   INTEGER NOT NULL,
    folder_id   INTEGER NOT NULL,
    digest      BLOB,          -- SHA-256; null: it was never sent
    place       BLOB,          -- digest of the only path that counts, or of path and time of writing; null: any
    dropped_at  REAL NOT NULL, -- ms
    UNIQUE (document_id, archive_id)
  ) STRICT;

  -- What reached the archive, a row for each mirror's quarter of an hour in which anything did.
  CREATE TABLE usage_buckets (
    at             REAL NOT NULL,    -- ms; when the quarter of an hour began
    mirror_id      INTEGER NOT NULL, -- mirrors.id
    uploaded       INTEGER NOT NULL, -- count of documents
    uploaded_bytes INTEGER NOT NULL, -- bytes
    converted      INTEGER NOT NULL, -- count of documents
    pages          INTEGER NOT NULL, -- count, of the converted ones
    charged        INTEGER NOT NULL DEFAULT 0, -- count, of what was uploaded then
    saved          INTEGER NOT NULL DEFAULT 0, -- count that duplicates would have cost
    failed         INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (at, mirror_id)
  ) STRICT, WITHOUT ROWID;

  -- Outcomes that a hook has not been told yet; the document may be another by now, or gone.
  CREATE TABLE outbox (
    number    INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: hooks know outcomes by it
    mirror_id INTEGER NOT NULL REFERENCES mirrors (id),
    outcome   TEXT NOT NULL,
    at        REAL NOT NULL,    -- ms
    document  TEXT NOT NULL,    -- JSON (domain/document.ts), as the outcome left it
    tries     INTEGER NOT NULL DEFAULT 0, -- count
    due_at    REAL NOT NULL     -- ms
  ) STRICT;
`;

const SINGLES = `
  -- A person's pause.
  CREATE TABLE account (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1))
  ) STRICT;
  INSERT INTO account (id) VALUES (1);

  -- What a part of the daemon has to know after a restart, as it writes it itself.
  CREATE TABLE key_values (
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL -- JSON
  ) STRICT, WITHOUT ROWID;
`;

/** The tables that a journal has in SQLite and in PostgreSQL alike. */
export const TABLES = `${ARCHIVES}${DOCUMENTS}${RECORDS}${SINGLES}`;

const OWNER = `
  -- The daemon that owns the journal; believed only while the owner lock is held.
  CREATE TABLE owner (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    pid        INTEGER NOT NULL,
    web        TEXT,          -- address of its page
    started_at REAL NOT NULL, -- ms
    version    TEXT NOT NULL
  ) STRICT;
`;

const OWN_INDEXES = `
  CREATE UNIQUE INDEX directories_path ON directories (mirror_id, path);
  CREATE INDEX forgotten_path ON forgotten (mirror_id, path);
  CREATE INDEX documents_waiting ON documents (problem_code, mirror_id, target_path, id)
    WHERE state = 'held';
  -- Rows by their content, whatever their state: a change of a column that an index's condition names has SQLite
  -- write the entry again, here each time at another place of a large tree, three times in a document's life.
  CREATE INDEX documents_content ON documents (mirror_id, substr(digest, 1, 12)) WHERE digest IS NOT NULL;
`;

/** Step n leads from `user_version` n to n + 1. Released ones are never edited. */
export const MIGRATIONS: readonly string[] = [
  `${TABLES}${OWNER}${INDEXES}${OWN_INDEXES}`,
  DOCUMENT_COUNTS,
];

/** The `user_version` this scanferry writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Brings the tables up to date. */
export function migrate(db: Database): void {
  takeSteps(db, MIGRATIONS, APPLICATION_ID);
}
