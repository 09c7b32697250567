import type { Database, Statement } from "better-sqlite3";

/**
 * A parameter that is compared with something. SQLite takes its value into account when it plans
 * a statement, and therefore plans again each time another value is bound, which takes ten times as
 * long as most statements here; their plans do not depend on values. Behind a unary plus, which
 * changes nothing else, a parameter's value is not looked at.
 */
const COMPARED = /(?<=(?:[=<>]|LIMIT) )(?=[?@])/g;

/**
 * Prepared statements by their text, each prepared once. The texts are those of the source and
 * number some hundred at most, so none is ever dropped.
 */
export class Statements {
  readonly #db: Database;
  readonly #prepared = new Map<string, Statement>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** The statement; `Row` is what the caller knows of its result. */
  of<Row>(sql: string): Statement<unknown[], Row> {
    let statement = this.#prepared.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql.replace(COMPARED, "+"));
      this.#prepared.set(sql, statement);
    }
    // The shape of a result is stated by its query, which the compiler cannot read.
    return statement as Statement<unknown[], Row>;
  }
}
