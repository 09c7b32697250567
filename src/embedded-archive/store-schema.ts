import Database from "better-sqlite3";
import { Fault, messageOf } from "../std/fault.ts";
import { keepEarlierCopy } from "../sqlite/earlier-copy.ts";
import { isBusy, takeLock } from "../sqlite/owner-lock.ts";
import { schemaVersionOf, takeSteps } from "../sqlite/schema-steps.ts";
import { fold } from "./fold.ts";
import { STEPS } from "./schema-steps.ts";

/** SQLite's own 2 MiB would read an archive of a million documents from the disk again and again. */
const CACHE_KIB = 32 * 1024;

/** Opens the database, making its tables if it is new and bringing older ones up to date. */
export function openDatabase(path: string, durable = true): Database.Database {
  const db = new Database(path);
  try {
    db.pragma("journal_mode = WAL");
    db.pragma(`synchronous = ${durable ? "FULL" : "OFF"}`);
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
