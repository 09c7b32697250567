/**
 * Statements about each row of a set, which SQLite runs row by row, and PostgreSQL once for all of them
 * (postgres/row-sets.ts).
 */
import type { Cell } from "./columns.ts";
import type { Statement } from "./driver.ts";

/** Cells in the order of a statement's; undefined: null. */
export type Cells = readonly (Cell | undefined)[];

/** A statement about each row of a set; `cells` are those that it takes of a row. */
export type SetStatement = {
  readonly text: string;
  readonly cells: readonly string[];
  /** The cell that finds a row. */
  readonly key?: string | undefined;
};

/** How one kind of database writes sets of rows. */
export type RowSets = {
  /** `more` follows the values: what to do on conflict, or what to return. */
  readonly insert: (table: string, columns: readonly string[], more?: string) => SetStatement;
  /** `keys`: by the names of columns the cells that they have to equal. */
  readonly update: (
    table: string,
    keys: Readonly<Record<string, string>>,
    columns: readonly string[],
  ) => SetStatement;
  /** Removes the rows that have these cells. */
  readonly remove: (table: string, keys: readonly string[]) => SetStatement;
  /** Numbers of directories by `mirror_id` and `path`; `locked`: nobody may tidy them away meanwhile. */
  readonly directories: (locked: boolean) => SetStatement;
  /** A set statement on these rows; none where there are no rows. */
  readonly each: (statement: SetStatement, rows: readonly Cells[]) => Statement[];
};

const conditions = (columns: readonly string[], from: number) =>
  columns.map((column, at) => `${column} = $${from + at}`);

export const SQLITE_SETS: RowSets = {
  insert: (table, columns, more = "") => ({
    text: `INSERT INTO ${table} (${columns.join()})
      VALUES (${columns.map((_, at) => `$${at + 1}`).join()}) ${more}`,
    cells: columns,
  }),
  update: (table, keys, columns) => ({
    text: `UPDATE ${table} SET ${conditions(columns, 1).join()}
      WHERE ${conditions(Object.keys(keys), columns.length + 1).join(" AND ")}`,
    cells: [...columns, ...Object.values(keys)],
  }),
  remove: (table, keys) => ({
    text: `DELETE FROM ${table} WHERE ${conditions(keys, 1).join(" AND ")}`,
    cells: keys,
  }),
  // Who writes is alone.
  directories: () => ({
    text: `SELECT id, mirror_id AS "mirrorId", path FROM directories WHERE mirror_id = $1 AND path = $2`,
    cells: ["mirror_id", "path"],
  }),
  each: ({ text }, rows) => rows.map((row) => [text, row]),
};
