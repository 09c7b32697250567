import type { Database, Statement } from "better-sqlite3";

/**
 * A parameter that is compared with something. SQLite takes its value into account when it plans
 * a statement, and therefore plans again each time another value is bound, which takes ten times as
 * long as most statements here; their plans do not depend on values. Behind a unary plus, which
 * changes nothing else, a parameter's value is not looked at.
 */
const COMPARED = /(?<=(?:[=<>]|LIMIT) )(?=[?@$])/g;

/** A parameter by its number. */
const NUMBERED = /\$(\d+)/g;

/** A prepared statement, and which of its values stands at each parameter. */
type Numbered = { readonly statement: Statement; readonly places: readonly number[] };

/**
 * Prepared statements by their text, each prepared once. The texts are those of the source and
 * number some hundred at most, so none is ever dropped.
 */
export class Statements {
  readonly #db: Database;
  readonly #prepared = new Map<string, Numbered>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** The statement; `Row` is what the caller knows of its result. */
  of<Row>(sql: string): Statement<unknown[], Row> {
    // The shape of a result is stated by its query, which the compiler cannot read.
    return this.#numberedOf(sql).statement as Statement<unknown[], Row>;
  }

  /** The rows of a statement with parameters `$1`, `$2` …; lists are given to it as JSON. */
  rows<Row>(sql: string, values: readonly unknown[]): Row[] {
    const { statement, places } = this.#numberedOf(sql);
    return statement.all(...places.map((at) => cellOf(values[at]))) as Row[];
  }

  /** Runs one that writes; how many rows it changed. */
  run(sql: string, values: readonly unknown[]): number {
    const { statement, places } = this.#numberedOf(sql);
    return statement.run(...places.map((at) => cellOf(values[at]))).changes;
  }

  /** The text as SQLite has it. */
  sourceOf(sql: string): string {
    return this.#numberedOf(sql).statement.source;
  }

  #numberedOf(sql: string): Numbered {
    let numbered = this.#prepared.get(sql);
    if (!numbered) {
      const places = [...sql.matchAll(NUMBERED)].map(([, number]) => Number(number) - 1);
      const text = sql.replace(COMPARED, "+").replace(NUMBERED, "?");
      numbered = { statement: this.#db.prepare(text), places };
      this.#prepared.set(sql, numbered);
    }
    return numbered;
  }
}

function cellOf(value: unknown): unknown {
  return Array.isArray(value) ? JSON.stringify(value) : value;
}
