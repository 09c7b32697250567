import Database from "better-sqlite3";
import { keepEarlierCopy } from "../std/earlier-copy.ts";
import { Fault, messageOf } from "../std/fault.ts";
import { STEPS } from "./schema-steps.ts";

export type StoreConnection = Database.Database;

/** SQLite's own 2 MiB would read an archive of a million documents from the disk again and again. */
const CACHE_KIB = 32 * 1024;

/** Opens the database, making its tables if it is new and bringing older ones up to date. */
export function openDatabase(path: string, durable = true): StoreConnection {
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

/** Every step and its number are one transaction: a crash leaves the version before or after it. */
function bringUpToDate(db: StoreConnection, path: string): void {
  const version = Number(db.pragma("user_version", { simple: true }));
  if (version > STEPS.length)
    throw new Fault(
      "EMBEDDED_ARCHIVE_TOO_NEW",
      `${path} has version ${version} of the tables, this program knows ${STEPS.length}`,
      "Use the program that wrote it, or another data directory.",
    );
  // One that was just made holds nothing yet.
  if (version > 0 && version < STEPS.length) keepBefore(db, path, version);
  for (const [at, step] of STEPS.entries())
    if (at >= version)
      db.transaction(() => {
        db.exec(step);
        db.pragma(`user_version = ${at + 1}`);
      })();
}

function keepBefore(db: StoreConnection, path: string, version: number): void {
  const pages = Number(db.pragma("page_count", { simple: true }));
  const bytes = pages * Number(db.pragma("page_size", { simple: true }));
  const write = (draft: string) => void db.prepare("VACUUM INTO ?").run(draft);
  try {
    keepEarlierCopy({ path, version, bytes, write });
  } catch (error) {
    throw new Fault(
      "EMBEDDED_ARCHIVE_COPY",
      `${path} cannot be copied before its tables are changed: ${messageOf(error)}`,
      "Free space on the disk of the data directory; nothing was changed.",
      { cause: error },
    );
  }
}

/**
 * The form in which texts are compared and ordered: capitals and ways of writing an accent do not
 * count. By way of the capitals, for some letters share one (σ and ς), or have two in its place (ß).
 */
export function fold(text: unknown): string {
  if (typeof text !== "string") return "";
  const small = lowerCase(text);
  // All ASCII, as most are: nothing is left to fold.
  if (Buffer.byteLength(small) === small.length) return small;
  const capitals = small.toUpperCase();
  // Lower case tells a sigma at a word's end from others, and a text may end in the middle of a word.
  return capitals.toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}

/**
 * Marks on one letter beyond those that Unicode's Stream-Safe Text Format allows, more than any script
 * has: putting them in order takes the square of their number.
 */
const MARKS_TOO_MANY = /(\p{M}{30})\p{M}+/gu;

/** What `fold` was before it went by way of the capitals, and how older words are indexed. */
export function lowerCase(text: string): string {
  return text.replace(MARKS_TOO_MANY, "$1").normalize("NFC").toLowerCase();
}

/**
 * Holds the data directory: two archives over one would convert everything twice. The lock is
 * SQLite's own, so it ends with the process, however that ends. Throws EMBEDDED_ARCHIVE_IN_USE.
 */
export function lockDirectory(path: string): StoreConnection {
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

/** Statements that are compiled once for a connection, by their text, which must not vary. */
export class Statements {
  readonly #db: StoreConnection;
  readonly #bySql = new Map<string, Database.Statement>();

  constructor(db: StoreConnection) {
    this.#db = db;
  }

  /** The types say what the statement takes and what a row of it holds. */
  prepare<P extends unknown[] | object = unknown[], R = unknown>(sql: string) {
    let statement = this.#bySql.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      this.#bySql.set(sql, statement);
    }
    return statement as unknown as Database.Statement<P extends unknown[] ? P : [P], R>;
  }
}
