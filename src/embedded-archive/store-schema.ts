import Database from "better-sqlite3";
import { Fault, messageOf } from "../std/fault.ts";
import { keepEarlierCopy, schemaVersionOf, takeSteps } from "../sqlite/schema-steps.ts";
import { isBusy, takeLock } from "../sqlite/owner-lock.ts";
import { fold } from "./fold.ts";

/** SQLite's own 2 MiB would read an archive of a million documents from the disk again and again. */
const CACHE_KIB = 32 * 1024;

/** Opens the database, making its tables if it is new and bringing older ones up to date. */
export function openDatabase(path: string): Database.Database {
  const db = new Database(path);
  try {
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma("foreign_keys = ON");
    db.pragma(`cache_size = -${CACHE_KIB}`);
    db.function("fold", { deterministic: true }, fold);
    bringUpToDate(db, path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function bringUpToDate(db: Database.Database, path: string): void {
  const version = schemaVersionOf(db);
  if (version > STEPS.length)
    throw new Fault(
      "EMBEDDED_ARCHIVE_TOO_NEW",
      `${path} has version ${version} of the tables, this program knows ${STEPS.length}`,
      "Use the program that wrote it, or another data directory.",
    );
  try {
    // One that was just made holds nothing yet.
    if (version > 0 && version < STEPS.length) keepEarlierCopy(db, path, version);
  } catch (error) {
    throw new Fault(
      "EMBEDDED_ARCHIVE_COPY",
      `${path} cannot be copied before its tables are changed: ${messageOf(error)}`,
      "Free space on the disk of the data directory; nothing was changed.",
      { cause: error },
    );
  }
  takeSteps(db, STEPS);
}

/**
 * Holds the data directory: two archives over one would convert everything twice.
 * Throws EMBEDDED_ARCHIVE_IN_USE.
 */
export function lockDirectory(path: string): Database.Database {
  try {
    return takeLock(path, 0);
  } catch (error) {
    if (!isBusy(error)) throw error;
    throw new Fault(
      "EMBEDDED_ARCHIVE_IN_USE",
      `${path} is held by another process`,
      "Stop the other archive, or use another data directory.",
      { cause: error },
    );
  }
}

/**
 * The tables, as a row of steps: each brings a database of the version before it to its own. Steps
 * that were released are never changed.
 *
 * Times are epoch milliseconds, sizes bytes. Texts that the upload may give and the file may give
 * otherwise are NULL until one of them has.
 */
const TABLES = `
-- One company. It stays when it is no longer among the options, but nobody can sign for it then.
CREATE TABLE account (
  id          INTEGER PRIMARY KEY,
  key         TEXT NOT NULL UNIQUE,
  -- The sum of pages_charged of its documents, so that an upload need not add them up.
  pages_used  INTEGER NOT NULL DEFAULT 0 CHECK (pages_used >= 0),
  -- Pages that were set for the account by hand. NULL: as the options say; -1: unlimited.
  allowance   INTEGER CHECK (allowance >= -1)
) STRICT;

-- One folder of an account's tree; the root has no parent.
CREATE TABLE folder (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id    INTEGER NOT NULL REFERENCES account (id),
  parent_id     INTEGER REFERENCES folder (id),
  name          TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  folder_index  TEXT NOT NULL DEFAULT '',
  description   TEXT NOT NULL DEFAULT '',
  keywords      TEXT NOT NULL DEFAULT '',
  expire_at     INTEGER,
  -- Whether it was noticed that expire_at has passed; 0 again when expire_at is set again.
  expiry_noticed INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One uploaded document, or one document inside a digidoc document (then digidoc_id says which).
CREATE TABLE document (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id     INTEGER NOT NULL REFERENCES account (id),
  folder_id      INTEGER NOT NULL REFERENCES folder (id),
  digidoc_id     INTEGER REFERENCES document (id),
  digidoc        INTEGER NOT NULL DEFAULT 0 CHECK (digidoc IN (0, 1)),
  filename       TEXT NOT NULL,
  document_name  TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  uploaded_at    INTEGER NOT NULL,
  modified_at    INTEGER NOT NULL,
  status         TEXT NOT NULL CHECK (status IN ('UPLOADED', 'CONVERTED')),
  -- As the interface shows them: 0 until converted.
  pages          INTEGER NOT NULL DEFAULT 0,
  filesize       INTEGER NOT NULL DEFAULT 0,
  -- What was stored, its digest in hexadecimal, and what it costs: known from the upload on.
  size           INTEGER NOT NULL,
  sha256         TEXT NOT NULL,
  pages_charged  INTEGER NOT NULL,
  batch          TEXT,
  expire_at      INTEGER,
  title          TEXT,
  author         TEXT,
  subject        TEXT,
  keywords       TEXT,
  producer       TEXT,
  description    TEXT,
  -- When the conversion is due; NULL once converted, or when it shall never be.
  convert_at     INTEGER,
  viewed_tally     INTEGER NOT NULL DEFAULT 0,
  downloaded_tally INTEGER NOT NULL DEFAULT 0,
  expiry_noticed   INTEGER NOT NULL DEFAULT 0,
  -- By what a name beyond ASCII is ordered: the name, folded. NULL where capitals of A to Z are all there are.
  name_key         TEXT
) STRICT;

-- The words of a document's content; rowid is the document's id. Accents count, as they do for names.
CREATE VIRTUAL TABLE document_text USING fts5 (
  text, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0");

-- Three letters in a row of the texts that say what a document is, folded, so that a part of a name is
-- found without reading every name. rowid is the document's id; documents inside a digidoc are not in it.
CREATE VIRTUAL TABLE document_label USING fts5 (
  filename, title, author, subject, keywords, producer, description,
  content='', contentless_delete=1, tokenize="trigram case_sensitive 1");

-- One expiry that has passed, and how far its notification has come.
CREATE TABLE notice (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id    INTEGER NOT NULL REFERENCES account (id),
  kind          TEXT NOT NULL CHECK (kind IN ('document', 'folder')),
  -- The document's or the folder's id.
  subject_id    INTEGER NOT NULL,
  expire_at     INTEGER NOT NULL,
  noticed_at    INTEGER NOT NULL,
  -- Deliveries that failed so far.
  attempts      INTEGER NOT NULL DEFAULT 0,
  -- When it is to be delivered; NULL once it was, or when nobody wanted to be told.
  due_at        INTEGER,
  delivered_at  INTEGER
) STRICT;

-- Signatures of uploads by hmac2, until they are too old on their own: each is accepted once.
CREATE TABLE accepted_signature (
  signature  TEXT PRIMARY KEY,
  until      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

const INDEXES = `
CREATE UNIQUE INDEX folder_child ON folder (parent_id, name) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX folder_root ON folder (account_id) WHERE parent_id IS NULL;
CREATE INDEX document_in_folder ON document (folder_id, uploaded_at, id) WHERE digidoc_id IS NULL;
CREATE INDEX document_in_digidoc ON document (digidoc_id, uploaded_at, id) WHERE digidoc_id IS NOT NULL;
CREATE INDEX document_due ON document (convert_at, id) WHERE convert_at IS NOT NULL;
CREATE INDEX document_blob ON document (sha256);
CREATE INDEX document_expiry ON document (expire_at, id) WHERE expire_at IS NOT NULL AND expiry_noticed = 0;
CREATE INDEX folder_expiry ON folder (expire_at, id) WHERE expire_at IS NOT NULL AND expiry_noticed = 0;
CREATE INDEX notice_due ON notice (due_at, id) WHERE due_at IS NOT NULL;
-- Names are the order in which searches come; the lists of a folder can be asked for by name, too.
CREATE INDEX document_of_account ON document
  (account_id, coalesce(name_key, document_name) COLLATE NOCASE, id) WHERE digidoc_id IS NULL;
CREATE INDEX document_named ON document
  (folder_id, coalesce(name_key, document_name) COLLATE NOCASE, id) WHERE digidoc_id IS NULL;
-- Days and years are asked for, too.
CREATE INDEX document_created ON document (account_id, created_at, id) WHERE digidoc_id IS NULL;
CREATE INDEX accepted_signature_until ON accepted_signature (until);
`;

/** In their order, from an empty database on. */
export const STEPS: readonly string[] = [TABLES, INDEXES];
