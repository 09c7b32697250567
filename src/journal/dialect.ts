/**
 * What SQLite and PostgreSQL write differently in statements that are otherwise the same. Parameters are
 * `$1`, `$2` and so on in both; a list is one parameter.
 */
import { isLong, isSame, isShort, startOf } from "./postgres/directories.ts";

/** Expressions are given and returned as SQL; a number is that of a parameter. */
export type Dialect = {
  /** A join whose left side is read first, where that can be said. */
  readonly join: string;
  /** Whether `column` is one of a list; of no list (null), where `orAny`, each is. */
  readonly isAmong: (
    column: string,
    list: number,
    type: "bigint" | "text",
    orAny?: "orAny",
  ) => string;
  /** A list as the table `name` with the one column `value`. */
  readonly listed: (list: number, name: string) => string;
  /** Whether two paths are the same, by the index of directories. */
  readonly isPath: (column: string, path: number) => string;
  /** Whether a path is in a range, the end excluded, by the same index. */
  readonly isPathBetween: (column: string, from: number, to: number) => string;
  /** Whether a path is that of a forgotten row, by the index of those. */
  readonly isForgottenPath: (column: string, path: number) => string;
  /** Keeps everyone else from rows of a table, and from rows that refer to them, until what is written is committed. */
  readonly lock: (table: string, where: string) => string;
  /** The column, where no index of it is to be used. */
  readonly unindexed: (column: string) => string;
  /** The index that the table before it has to be read by, where that can be said. */
  readonly by: (index: string) => string;
  /**
   * Conditions that divide all rows by a text that is indexed: each index holds the rows of one of them, and
   * is used where its condition is named.
   */
  readonly textKinds: readonly ((text: string) => string)[];
};

export const SQLITE: Dialect = {
  join: "CROSS JOIN",
  isAmong: (column, list, _type, orAny) =>
    withAny(`${column} IN (SELECT value FROM json_each($${list}))`, orAny && `$${list}`),
  listed: (list, name) => `json_each($${list}) ${name}`,
  isPath: (column, path) => `${column} = $${path}`,
  isPathBetween: (column, from, to) => `${column} >= $${from} AND ${column} < $${to}`,
  isForgottenPath: (column, path) => `${column} = $${path}`,
  unindexed: (column) => `+${column}`,
  // Who writes is alone.
  lock: (table, where) => `UPDATE ${table} SET id = id WHERE ${where}`,
  by: (index) => ` INDEXED BY ${index}`,
  textKinds: [(text) => `${text} IS NOT NULL`],
};

export const POSTGRES: Dialect = {
  join: "JOIN",
  isAmong: (column, list, type, orAny) =>
    withAny(`${column} = ANY($${list}::${type}[])`, orAny && `$${list}::${type}[]`),
  listed: (list, name) => `unnest($${list}::text[]) ${name} (value)`,
  isPath: (column, path) => isSame(column, `$${path}::bytea`),
  isPathBetween: (column, from, to) => {
    const [start, end] = [startOf(`$${from}::bytea`), startOf(`$${to}::bytea`)];
    return `${column} >= $${from} AND ${column} < $${to}
      AND ${startOf(column)} BETWEEN ${start} AND ${end}`;
  },
  isForgottenPath: (column, path) => `sha256(${column}) = sha256($${path}::bytea)`,
  unindexed: (column) => column,
  lock: (table, where) => `SELECT 1 FROM ${table} WHERE ${where} FOR UPDATE`,
  by: () => "",
  textKinds: [isShort, isLong],
};

function withAny(isAmong: string, list: string | undefined): string {
  return list ? `(${list} IS NULL OR ${isAmong})` : isAmong;
}
