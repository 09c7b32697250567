/** The rows of a table, some at a time and in the order of its key, as text that can be compared. */
import { kept } from "../postgres/recordset.ts";
import { type CopiedCell, type RowKey, quoted, type TableRow, type Side } from "./side.ts";
import type { CopiedTable } from "./copied-tables.ts";

/** So many rows are in memory at once, of either side. */
export const ROWS_AT_ONCE = 1_000;

/** The rows after the one with the key `after`, no more than `ROWS_AT_ONCE`. */
function rowsAfter(
  side: Side,
  { name, key }: CopiedTable,
  columns: readonly string[],
  after: RowKey | undefined,
): Promise<TableRow[]> {
  const keys = key.map(quoted).join();
  const marks = key.map((_, at) => `$${at + 1}`).join();
  return side.ask<TableRow>(
    `SELECT ${columns.map(quoted).join()} FROM ${quoted(name)}
      ${after === undefined ? "" : `WHERE (${keys}) > (${marks})`}
      ORDER BY ${keys} LIMIT ${ROWS_AT_ONCE}`,
    after ?? [],
  );
}

/** Every row, a page at a time. */
export async function* pagesOf(
  side: Side,
  table: CopiedTable,
  columns: readonly string[],
  from?: RowKey,
): AsyncGenerator<TableRow[]> {
  let after = from;
  for (;;) {
    const rows = await rowsAfter(side, table, columns, after);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    if (rows.length < ROWS_AT_ONCE) return;
    after = keyOf(last, table);
  }
}

/** The values of the row's key; throws where one is of no type that a key has. */
export function keyOf(row: TableRow, { key }: CopiedTable): RowKey {
  return key.map((column) => {
    const cell = row[column];
    if (typeof cell === "string" || typeof cell === "number") return cell;
    throw new TypeError(`${column} is no part of a key`);
  });
}

/** A value as both kinds of database can have it; `keepsAllText` where both keep all text. */
export function canonical(
  cell: CopiedCell | undefined,
  keepsAllText: boolean,
): string | number | null {
  if (Buffer.isBuffer(cell)) return cell.toString("hex");
  if (typeof cell === "string" && !keepsAllText) return kept(cell);
  return cell ?? null;
}
