import Database from "better-sqlite3";
import { Fault } from "../std/fault.ts";

export type Connection = Database.Database;

/** Grows by one with every change of the tables. */
const VERSION = 1;

/**
 * Times are epoch milliseconds, sizes bytes. Texts that the upload may give and the file may give
 * otherwise are NULL until one of them has.
 */
const TABLES = `
-- One company. It stays when it is no longer among the options, but nobody can sign for it then.
CREATE TABLE account (
  id          INTEGER PRIMARY KEY,
  key         TEXT NOT NULL UNIQUE,
  -- The sum of pages_charged of its documents, so that an upload need not add them up.
  pages_used  INTEGER NOT NULL DEFAULT 0 CHECK (pages_used >= 0)
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
  expire_at     INTEGER
) STRICT;
CREATE UNIQUE INDEX folder_child ON folder (parent_id, name) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX folder_root ON folder (account_id) WHERE parent_id IS NULL;

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
  -- What was stored and what it costs, known from the upload on.
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
  convert_at     INTEGER
) STRICT;
CREATE INDEX document_in_folder ON document (folder_id, uploaded_at, id) WHERE digidoc_id IS NULL;
CREATE INDEX document_in_digidoc ON document (digidoc_id, uploaded_at, id) WHERE digidoc_id IS NOT NULL;
CREATE INDEX document_due ON document (convert_at, id) WHERE convert_at IS NOT NULL;
CREATE INDEX document_blob ON document (sha256);

-- The words of a document's content; rowid is the document's id. Accents count, as they do for names.
CREATE VIRTUAL TABLE document_text USING fts5 (
  text, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0");
`;

/** Opens the database, making its tables if it is new. */
export function openDatabase(path: string): Connection {
  const db = new Database(path);
  try {
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma("foreign_keys = ON");
    db.function("fold", { deterministic: true }, fold);
    const version = Number(db.pragma("user_version", { simple: true }));
    if (version > VERSION)
      throw new Fault(
        "EMBEDDED_ARCHIVE_TOO_NEW",
        `${path} has version ${version} of the tables, this program knows ${VERSION}`,
        "Use the program that wrote it, or another data directory.",
      );
    if (version === 0)
      db.transaction(() => {
        db.exec(TABLES);
        db.pragma(`user_version = ${VERSION}`);
      })();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The form in which texts are compared: capitals and ways of writing an accent do not count. */
export function fold(text: unknown): string {
  return typeof text === "string" ? text.normalize("NFC").toLowerCase() : "";
}

/**
 * Holds the data directory: two archives over one would convert everything twice. The lock is
 * SQLite's own, so it ends with the process, however that ends.
 */
export function lockDirectory(path: string): Connection {
  const lock = new Database(path, { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    throw new Fault(
      "EMBEDDED_ARCHIVE_IN_USE",
      `${path} is held by another process`,
      "Stop the other archive, or use another data directory.",
      { cause: error },
    );
  }
}
