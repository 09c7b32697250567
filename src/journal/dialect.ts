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
  /** The bytes of a text in hex. */
  readonly unhexed: (text: string) => string;
  /** Whether two paths are the same, by the index of directories. */
  readonly isPath: (column: string, path: number) => string;
  /** Whether a path is in a range, the end excluded, by the same index. */
  readonly isPathBetween: (column: string, from: number, to: number) => string;
  /** The order of paths, by the same index. */
  readonly pathOrder: (column: string) => string;
  /** The whole path of `n` in `d`, in which bytes beyond ASCII may stand for themselves or be escaped. */
  readonly asciiPath: string;
  /** Whether such a path holds a text, which is in lower case, or may hold it. */
  readonly mayHold: (path: string, text: string) => string;
  /** Whether a path is that of a forgotten row, by the index of those. */
  readonly isForgottenPath: (column: string, path: number) => string;
  /** Keeps everyone else from rows of a table, and from rows that refer to them, until what is written is committed. */
  readonly lock: (table: string, where: string) => string;
  /** Ends a query of one table: nobody else may change its rows until what is written is committed. */
  readonly locked: string;
  /** What makes a row of `document_counts` one of its kind. */
  readonly countKey: string;
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
  unhexed: (text) => `unhex(${text})`,
  isPath: (column, path) => `${column} = $${path}`,
  isPathBetween: (column, from, to) => `${column} >= $${from} AND ${column} < $${to}`,
  pathOrder: (column) => column,
  asciiPath: "CAST(d.path || '/' || n.name AS TEXT)",
  mayHold: (path, text) => `${path} GLOB '*[^ -~]*' OR instr(lower(${path}), ${text})`,
  isForgottenPath: (column, path) => `${column} = $${path}`,
  unindexed: (column) => `+${column}`,
  // Who writes is alone.
  lock: (table, where) => `UPDATE ${table} SET id = id WHERE ${where}`,
  locked: "",
  countKey: "mirror_id, state",
  by: (index) => ` INDEXED BY ${index}`,
  textKinds: [(text) => `${text} IS NOT NULL`],
};

export const POSTGRES: Dialect = {
  join: "JOIN",
  isAmong: (column, list, type, orAny) =>
    withAny(`${column} = ANY($${list}::${type}[])`, orAny && `$${list}::${type}[]`),
  listed: (list, name) => `unnest($${list}::text[]) ${name} (value)`,
  unhexed: (text) => `decode(${text}, 'hex')`,
  isPath: (column, path) => isSame(column, `$${path}::bytea`),
  isPathBetween: (column, from, to) => {
    const [start, end] = [startOf(`$${from}::bytea`), startOf(`$${to}::bytea`)];
    return `${column} >= $${from} AND ${column} < $${to}
      AND ${startOf(column)} BETWEEN ${start} AND ${end}`;
  },
  pathOrder: (column) => `${startOf(column)}, ${column}`,
  // Other bytes than those of ASCII are escaped, as a backslash is.
  asciiPath: "encode(d.path || '/'::bytea || n.name, 'escape')",
  mayHold: (path, text) => `strpos(${path}, '\\') > 0 OR strpos(lower(${path}), ${text}) > 0`,
  isForgottenPath: (column, path) => `sha256(${column}) = sha256($${path}::bytea)`,
  unindexed: (column) => column,
  lock: (table, where) => `SELECT 1 FROM ${table} WHERE ${where} FOR UPDATE`,
  locked: " FOR UPDATE",
  countKey: "mirror_id, state, part",
  by: () => "",
  textKinds: [isShort, isLong],
};

function withAny(isAmong: string, list: string | undefined): string {
  return list ? `(${list} IS NULL OR ${isAmong})` : isAmong;
}

/** Every query that yields documents begins like this; `n` is the row, `d` its directory. */
export function selectDocument({ join }: Dialect): string {
  return `SELECT n.*, d.path AS dir FROM documents n ${join} directories d ON d.id = n.dir_id`;
}
