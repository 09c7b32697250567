import { bytea, asRows, recordset } from "./recordset.ts";
import type { RowSets } from "../row-sets.ts";
import { directoriesAt } from "./directories.ts";
import { typesIn } from "./tables.ts";

/** Sets are one parameter, whose rows are found by their keys, however few they are: see `keyed`. */
export const POSTGRES_SETS: RowSets = {
  insert: (table, columns, more = "") => {
    const types = Object.values(typesIn(table, columns));
    const defined = columns.map((column, at) => `${column} ${types[at]}`);
    return {
      text: `INSERT INTO ${table} (${columns.join()}) SELECT ${columns.join()}
        FROM ROWS FROM (json_to_recordset($1::json) AS (${defined.join()}))
          WITH ORDINALITY AS u(${[...columns, "ord"].join()}) ORDER BY u.ord ${more}`,
      cells: columns,
    };
  },
  update: (table, keys, columns) => {
    const types = Object.entries(keys).map(([column, cell]) => [
      cell,
      Object.values(typesIn(table, [column]))[0] ?? "",
    ]);
    const set = { ...typesIn(table, columns), ...Object.fromEntries(types) };
    return {
      text: `UPDATE ${table} SET ${columns.map((column) => `${column} = u.${column}`).join()}
        FROM ${recordset(1, "u", set)} WHERE ${keyed(table, Object.entries(keys))}`,
      cells: Object.keys(set),
      key: Object.values(keys)[0],
    };
  },
  remove: (table, keys) => ({
    text: `DELETE FROM ${table} USING ${recordset(1, "u", typesIn(table, keys))}
      WHERE ${keyed(
        table,
        keys.map((key) => [key, key]),
      )}`,
    cells: keys,
    key: keys[0],
  }),
  directories: (locked) => ({
    text: `SELECT d.id, d.mirror_id AS "mirrorId", d.path FROM directories d
      WHERE d.id = ANY(${directoriesAt(1)}) ORDER BY d.id ${locked ? "FOR KEY SHARE" : ""}`,
    cells: ["mirror_id", "path"],
  }),
  each: ({ text, cells, key }, rows) => {
    if (rows.length === 0) return [];
    const plain = rows.map((row) =>
      Object.fromEntries(
        row.map((cell = null, at) => [cells[at], Buffer.isBuffer(cell) ? bytea(cell) : cell]),
      ),
    );
    const keyAt = key === undefined ? -1 : cells.indexOf(key);
    return [[text, [asRows(plain), ...(keyAt < 0 ? [] : [rows.map((row) => row[keyAt])])]]];
  },
};

/**
 * Rows with these keys. $2, the first one of each once more, tells that they are few: of JSON a hundred rows are
 * expected, for which a small table would be read whole.
 */
function keyed(table: string, keys: readonly (readonly [column: string, cell: string])[]): string {
  const [first = ""] = keys.map(([column]) => column);
  const equal = keys.map(([column, cell]) => `${table}.${column} = u.${cell}`);
  return [...equal, `${table}.${first} = ANY($2::bigint[])`].join(" AND ");
}
