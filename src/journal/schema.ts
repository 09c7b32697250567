/**
 * The tables of the journal. `user_version` counts the migrations that were applied; a journal
 * written by a later scanferry is refused, never migrated down.
 *
 * Times (`*_at`) are epoch milliseconds and sizes bytes; columns hold JavaScript numbers, hence
 * REAL for times (SQLite stores whole ones as compactly as integers). Paths and names are the
 * bytes of the file system. Columns of `documents` stand for the fields of `Document`, which
 * explains them.
 */
import type { Database } from "better-sqlite3";
import {
  ACTIVITY,
  ARCHIVE_UPLOADED_AT,
  MOVED_AT,
  ARCHIVES,
  CONTENTS,
  DUPLICATES,
  FIRST_RUNS,
  HOOKS,
  IGNORED_DIGEST,
  LATEST,
  MEMOS,
  NEVER_PUT_AWAY,
  ORDINARY,
  PACE,
  PAGES,
  RECEIPTS,
  REMEMBERED,
  SENT_BYTES,
  SHORT_DIGESTS,
  SLIP,
} from "./schema-steps.ts";

/** Marks the file as a scanferry journal: "SFRY". */
export const APPLICATION_ID = 0x53465259;

/** Documents larger than this have an index of their own; part of the released schema. */
export const LARGE_INDEX_BYTES = 16 * 1024 * 1024;

const MIRRORS = `
  -- A watched source, known by its name. Rows outlive the mirror's removal from the configuration.
  CREATE TABLE mirrors (
    id     INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL, -- absolute path
    device TEXT           -- file system the source was on when it last had entries
  ) STRICT;

  -- A directory that holds documents, or whose listing was journaled (then it has a fingerprint).
  CREATE TABLE directories (
    id          INTEGER PRIMARY KEY,
    mirror_id   INTEGER NOT NULL REFERENCES mirrors (id),
    path        BLOB NOT NULL, -- below the source, without slashes at its ends; empty: the source
    fingerprint TEXT           -- of the last journaled listing
  ) STRICT;
  CREATE UNIQUE INDEX directories_path ON directories (mirror_id, path);
`;

const DOCUMENTS = `
  -- One revision of one file. At most one row of a path is current. dir_id has no foreign key:
  -- removing a directory would have SQLite read the whole table, as partial indexes do not serve it.
  CREATE TABLE documents (
    id              INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: the history outlives rows
    mirror_id       INTEGER NOT NULL REFERENCES mirrors (id),
    dir_id          INTEGER NOT NULL,
    name            BLOB NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('settling', 'pending', 'uploading', 'inDoubt',
                      'uploaded', 'converted', 'held', 'failed')),
    size_bytes      INTEGER NOT NULL, -- bytes
    modified_at     REAL NOT NULL,    -- ms, by the source's clock
    stamp           TEXT NOT NULL,
    first_seen_at   REAL NOT NULL,    -- ms
    changed_at      REAL NOT NULL,    -- ms
    due_at          REAL,             -- ms; null: only when something outside happens
    digest          TEXT,             -- SHA-256, hex
    sent_name       TEXT,
    target_path     TEXT,
    remark          TEXT,
    batch           TEXT,
    folder_id       INTEGER,
    attempts        INTEGER NOT NULL DEFAULT 0, -- count
    sent_at         REAL,             -- ms
    sent_archive_at REAL,             -- ms, by the archive's clock
    doubt_at        REAL,             -- ms
    looks           INTEGER NOT NULL DEFAULT 0, -- count
    document_id     INTEGER,          -- the archive's
    archive_status  TEXT,
    uploaded_at     REAL,             -- ms
    polls           INTEGER NOT NULL DEFAULT 0, -- count
    converted_at    REAL,             -- ms
    pages           INTEGER,          -- count
    archive_bytes   INTEGER,          -- bytes
    digidoc         INTEGER NOT NULL DEFAULT 0 CHECK (digidoc IN (0, 1)),
    trouble_code    TEXT,
    trouble_message TEXT CHECK ((trouble_code IS NULL) = (trouble_message IS NULL)),
    patience        INTEGER NOT NULL DEFAULT 0, -- count
    current         INTEGER NOT NULL CHECK (current IN (0, 1)),
    supersedes      INTEGER REFERENCES documents (id),
    gone_at         REAL,             -- ms
    moved_from      TEXT,
    after_state     TEXT CHECK (after_state IN ('due', 'done', 'refused')),
    after_message   TEXT,
    -- Nothing is sent whose intent is not journaled whole; nothing is in the archive without an id.
    CHECK (state <> 'uploading' OR (digest IS NOT NULL AND sent_name IS NOT NULL
      AND folder_id IS NOT NULL AND batch IS NOT NULL)),
    CHECK (state NOT IN ('uploaded', 'converted') OR document_id IS NOT NULL)
  ) STRICT;

  -- Together these two hold every row once: by directory and name.
  CREATE UNIQUE INDEX documents_current ON documents (dir_id, name) WHERE current = 1;
  CREATE INDEX documents_superseded ON documents (dir_id, name) WHERE current = 0;
  -- What is due, and how many there are of what.
  CREATE INDEX documents_due ON documents (mirror_id, state, due_at, id, size_bytes);
  CREATE INDEX documents_large ON documents (mirror_id, state, due_at, id, size_bytes)
    WHERE size_bytes > ${LARGE_INDEX_BYTES};
  CREATE INDEX documents_after ON documents (coalesce(due_at, 0), id)
    WHERE state = 'converted' AND after_state = 'due';
  -- What the archive holds or may hold. Its ids are unique within an account, and a journal serves
  -- one account.
  CREATE INDEX documents_sent ON documents (mirror_id, digest, id)
    WHERE state IN ('uploading', 'inDoubt', 'uploaded', 'converted');
  CREATE INDEX documents_rivals ON documents (folder_id, sent_name, id)
    WHERE state IN ('uploading', 'inDoubt') OR doubt_at IS NOT NULL;
  CREATE INDEX documents_outstanding ON documents (folder_id, due_at, id) WHERE state = 'uploaded';
  CREATE UNIQUE INDEX documents_archived ON documents (document_id) WHERE document_id IS NOT NULL;
  -- What is in trouble.
  CREATE INDEX documents_troubled ON documents (trouble_code, state, id)
    WHERE trouble_code IS NOT NULL;
  CREATE INDEX documents_held_by_size ON documents (trouble_code, size_bytes, id, mirror_id)
    WHERE state = 'held';
  CREATE INDEX documents_waiting ON documents (trouble_code, mirror_id, target_path, id)
    WHERE state = 'held';
  CREATE INDEX documents_moved ON documents (id) WHERE moved_from IS NOT NULL;
  CREATE INDEX documents_supersedes ON documents (supersedes) WHERE supersedes IS NOT NULL;
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
    document  INTEGER PRIMARY KEY, -- documents.id, once
    mirror_id INTEGER NOT NULL,
    path      BLOB NOT NULL
  ) STRICT;
  CREATE INDEX forgotten_path ON forgotten (mirror_id, path);

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
    id        TEXT NOT NULL UNIQUE, -- what the archive is told
    mirror_id INTEGER NOT NULL REFERENCES mirrors (id),
    opened_at REAL NOT NULL,    -- ms
    joined_at REAL NOT NULL,    -- ms; when the last document joined
    documents INTEGER NOT NULL  -- count
  ) STRICT;
  CREATE INDEX batches_mirror ON batches (mirror_id, number);

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
`;

const SINGLES = `
  -- The account's one row: its gate (closed while gate_closed_at is set), and a person's pause.
  CREATE TABLE account (
    id                 INTEGER PRIMARY KEY CHECK (id = 1),
    paused             INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
    gate_closed_at     REAL,             -- ms
    gate_code          TEXT,
    gate_message       TEXT,
    gate_probes        INTEGER NOT NULL DEFAULT 0, -- count
    gate_next_probe_at REAL              -- ms
  ) STRICT;
  INSERT INTO account (id) VALUES (1);

  -- The daemon that owns the journal; believed only while the owner lock is held.
  CREATE TABLE owner (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    pid        INTEGER NOT NULL,
    web        TEXT,          -- address of its page
    started_at REAL NOT NULL, -- ms
    version    TEXT NOT NULL
  ) STRICT;
`;

/** Migration n leads from `user_version` n to n + 1. Released ones are never edited. */
export const MIGRATIONS: readonly string[] = [
  `${MIRRORS}${DOCUMENTS}${RECORDS}${SINGLES}`,
  FIRST_RUNS,
  PACE,
  REMEMBERED,
  ACTIVITY,
  SLIP,
  DUPLICATES,
  MEMOS,
  HOOKS,
  ARCHIVES,
  PAGES,
  RECEIPTS,
  NEVER_PUT_AWAY,
  CONTENTS,
  SENT_BYTES,
  IGNORED_DIGEST,
  ARCHIVE_UPLOADED_AT,
  MOVED_AT,
  ORDINARY,
  LATEST,
  SHORT_DIGESTS,
];

/** The `user_version` this scanferry writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Brings the database up to date, one transaction a version: a crash leaves a whole version. */
export function migrate(db: Database, version: number): void {
  for (const [index, sql] of MIGRATIONS.entries()) {
    if (index < version) continue;
    db.transaction(() => {
      db.exec(sql);
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${index + 1}`);
    }).immediate();
  }
}
