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
