import { kept } from "../postgres/recordset.ts";
import { type CopiedCell, quoted, type RowKey, type Side, type TableRow } from "./side.ts";

/**
 * What of a journal is copied into another one: its tables, in the order in which they refer to one
 * another. Who works on a journal is its own affair and stays behind: `owner` of SQLite, `instances`,
 * `assignments` and `writerSessions` of PostgreSQL, and the columns of `documents` about them. What is in `usage_bucket_parts` is
 * copied as `usageBuckets`.
 */

/** A table, and the columns that tell its rows apart. */
export type CopiedTable = {
  readonly name: string;
  readonly key: readonly string[];
};

/** In the order they are filled in: none refers to a later one. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: "account", key: ["id"] },
  { name: "archives", key: ["id"] },
  { name: "mirrors", key: ["id"] },
  { name: "directories", key: ["id"] },
  { name: "documents", key: ["id"] },
  { name: "history", key: ["document", "number"] },
  { name: "forgotten", key: ["document"] },
  { name: "attempts", key: ["document", "number"] },
  { name: "batches", key: ["number"] },
  { name: "contents", key: ["document", "position"] },
  { name: "tombstones", key: ["number"] },
  { name: "usage_buckets", key: ["at", "mirror_id"] },
  { name: "outbox", key: ["number"] },
  { name: "key_values", key: ["name"] },
];

/**
 * Columns that stay empty. Without a sender, what was being sent is in doubt; without the end of
 * its first run, a mirror is guarded as that of any copy is.
 */
const OWN_COLUMNS: readonly string[] = [
  "documents.sender",
  "documents.taken_by",
  "documents.taken_until",
  "mirrors.first_run_over_at",
];

/** Whether the column is taken over, or stays empty. */
export function isCopied(table: string, column: string): boolean {
  return !OWN_COLUMNS.includes(`${table}.${column}`);
}

/** Tables whose rows are numbered by the database, and by which column. */
export const NUMBERED: readonly (readonly [table: string, column: string])[] = [
  ["archives", "id"],
  ["mirrors", "id"],
  ["directories", "id"],
  ["documents", "id"],
  ["batches", "number"],
  ["tombstones", "number"],
  ["outbox", "number"],
];

/** In the target while the copy lasts: how far it is. No daemon takes such a journal for whole. */
export const PROGRESS_TABLE = "copying";

/** The rows of a table, some at a time and in the order of its key, as text that can be compared. */

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
