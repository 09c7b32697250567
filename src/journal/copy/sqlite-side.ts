import { existsSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { asFault } from "../journal-fault.ts";
import { createIfMissing, openDatabase, prepareDirectory } from "../open-database.ts";
import { lockPathOf, takeOwnerLock } from "../owner-lock.ts";
import { giveToDaemon } from "../restore.ts";
import { type CopiedCell, type Column, quoted, type TableRow, type Side } from "./side.ts";

/** A journal in a file. The owner lock keeps daemons away for as long as it is open. */
export class SqliteSide implements Side {
  readonly shown: string;
  readonly keepsAllText = true;
  readonly #db: Database;
  readonly #lock: Database;
  readonly #isTarget: boolean;

  private constructor(path: string, db: Database, lock: Database, isTarget: boolean) {
    this.shown = path;
    this.#db = db;
    this.#lock = lock;
    this.#isTarget = isTarget;
  }

  /** Opens the journal at an absolute path; a target is made when missing. Throws a `Fault`. */
  static open(path: string, isTarget: boolean): SqliteSide {
    prepareDirectory(path, isTarget ? "owner" : "reader");
    // A lock next to nothing would stay behind.
    if (!isTarget && !existsSync(path)) openDatabase(path, "reader").db.close();
    const lock = takeOwnerLock(path);
    try {
      if (isTarget) createIfMissing(path);
      const { db } = openDatabase(path, isTarget ? "guest" : "reader", isTarget);
      if (isTarget) {
        db.pragma("journal_mode = WAL");
        // Rows may refer to rows that are still to come; in the source each of them is there.
        db.pragma("foreign_keys = OFF");
      }
      giveToDaemon(path, isTarget ? [path, lockPathOf(path)] : [lockPathOf(path)]);
      return new SqliteSide(path, db, lock, isTarget);
    } catch (error) {
      lock.close();
      throw asFault(error, path);
    }
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in `Side`
  async ask<Found extends object>(
    text: string,
    values: readonly CopiedCell[] = [],
  ): Promise<Found[]> {
    const named = Object.fromEntries(values.map((value, at) => [at + 1, value]));
    return this.#do(() => {
      const statement = this.#db.prepare<[Record<string, CopiedCell>], Found>(text);
      if (statement.reader) return statement.all(named);
      statement.run(named);
      return [];
    });
  }

  async whole(run: () => Promise<void>): Promise<void> {
    this.#do(() => this.#db.exec("BEGIN IMMEDIATE"));
    try {
      await run();
      this.#do(() => this.#db.exec("COMMIT"));
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  async hasTable(name: string): Promise<boolean> {
    return (await this.columns(name)).length > 0;
  }

  async columns(table: string): Promise<Column[]> {
    return this.ask<Column>(`SELECT name, type FROM pragma_table_info($1)`, [table]);
  }

  async insert(
    table: string,
    columns: readonly Column[],
    rows: readonly TableRow[],
  ): Promise<void> {
    const names = columns.map(({ name }) => quoted(name));
    const marks = columns.map(() => "?");
    this.#do(() => {
      const statement = this.#db.prepare<CopiedCell[]>(
        `INSERT INTO ${quoted(table)} (${names.join()}) VALUES (${marks.join()})`,
      );
      for (const row of rows) statement.run(...columns.map(({ name }) => row[name] ?? null));
    });
  }

  async lastGiven(table: string): Promise<number> {
    const [row] = await this.ask<{ seq: number }>(
      "SELECT seq FROM sqlite_sequence WHERE name = $1",
      [table],
    );
    return row?.seq ?? 0;
  }

  async numberFrom(table: string, _column: string, last: number): Promise<void> {
    const [found] = await this.ask<{ sql: string }>(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = $1",
      [table],
    );
    // The others number from their greatest row on their own.
    if (found?.sql.includes("AUTOINCREMENT") !== true) return;
    await this.ask("DELETE FROM sqlite_sequence WHERE name = $1", [table]);
    await this.ask("INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)", [table, last]);
  }

  async suspendReferences(): Promise<void> {
    // A target's connection never looks.
  }

  async resumeReferences(): Promise<void> {
    // Every other connection does.
  }

  async beginFirstRuns(): Promise<void> {
    this.#do(() => {
      // The source itself is only read until here.
      const { db } = openDatabase(this.shown, "guest");
      try {
        db.exec("UPDATE mirrors SET first_run_over_at = NULL");
      } finally {
        db.close();
      }
    });
  }

  async assertHeld(): Promise<void> {
    // A lock of the kernel lasts as long as this process.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (this.#isTarget) this.#db.pragma("wal_checkpoint(TRUNCATE)");
    } catch {
      // Everything is in the log already; the next opening reads it.
    } finally {
      this.#db.close();
      this.#lock.close();
    }
  }

  #do<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asFault(error, this.shown);
    }
  }
}
