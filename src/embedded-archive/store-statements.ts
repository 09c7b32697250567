import type Database from "better-sqlite3";
import type { StoreConnection } from "./store-schema.ts";

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
