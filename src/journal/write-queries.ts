/** The statements that write a change set. */
import type { Cell } from "./columns.ts";
import type { Dialect } from "./dialect.ts";
import type { RowSets, SetStatement } from "./row-sets.ts";
import { USAGE_COLUMNS } from "./usage-bucket.ts";

/** Cells by their names: those of columns, and of what they are compared with. */
export type CellRow = Record<string, Cell | undefined>;

const LINE = ["document", "number", "at", "from_state", "to_state", "event", "detail", "times"];
const INTENT = ["started_at", "digest", "sent_name", "folder_id", "batch"];
const END = ["ended_at", "outcome", "document_id"];
const ATTEMPT = ["document", "number"];
const COUNTED = ["documents", "pages", "unknown"];
const BATCH = ["mirror_id", "opened_at", "joined_at", "documents"];

const replaced = (columns: readonly string[]) =>
  columns.map((column) => `${column} = excluded.${column}`).join();

/** Every statement that writes a change set, by what it is for. */
export type WriteQueries = ReturnType<typeof writeQueriesIn>;

/** The texts in a dialect. */
export function writeQueriesIn(dialect: Dialect, sets: RowSets) {
  const { insert, update, remove } = sets;
  const { changedWith, countKey, parts, pathKey, usageBuckets, usageKey } = dialect;
  const added = (table: string, key: string, counts: readonly string[]) => {
    const sums = counts.map((count) => `${count} = ${table}.${count} + excluded.${count}`);
    return `ON CONFLICT (${key}) DO UPDATE SET ${sums.join()}`;
  };
  return {
    sets,
    /** A set statement on rows whose cells are given by name. */
    each: (statement: SetStatement, rows: readonly CellRow[]) =>
      sets.each(
        statement,
        rows.map((row) => statement.cells.map((cell) => row[cell])),
      ),
    // Rows that leave their place do so before others come to it.
    release: update("documents", { id: "id" }, ["current", "supersedes"]),
    remove: remove("documents", ["id"]),
    /** Compare-and-set: of rows in the state `was`. */
    change: remembered((columns) => update("documents", { id: "id", state: "was" }, columns)),
    changedWith,
    add: remembered((columns) => insert("documents", columns, dialect.numbered)),
    history: insert(
      "history",
      LINE,
      `ON CONFLICT (document, number) DO UPDATE SET ${replaced(LINE.slice(2))}`,
    ),
    dropHistory: remove("history", ["document"]),
    forgotten: insert("forgotten", ["document", "mirror_id", "path"]),
    dropAttempts: remove("attempts", ATTEMPT),
    openAttempts: insert("attempts", [...ATTEMPT, ...INTENT, ...END]),
    endAttempts: update("attempts", { document: "document", number: "number" }, END),
    usageBuckets: insert(
      usageBuckets,
      ["at", "mirror_id", ...parts, ...USAGE_COLUMNS],
      added(usageBuckets, usageKey, USAGE_COLUMNS),
    ),
    counts: insert(
      "document_counts",
      ["mirror_id", "state", ...parts, ...COUNTED],
      added("document_counts", countKey, COUNTED),
    ),
    outbox: insert("outbox", ["mirror_id", "outcome", "at", "document", "due_at"]),
    dropTombstones: remove("tombstones", ["document_id", "archive_id"]),
    batches: insert(
      "batches",
      ["id", ...BATCH],
      `ON CONFLICT (id) DO UPDATE SET ${replaced(BATCH)}, receipt_at = NULL`,
    ),
    makeDirectories: insert(
      "directories",
      ["mirror_id", "path"],
      `ON CONFLICT (${pathKey}) DO NOTHING`,
    ),
    lockDirectories: sets.directories(true),
    findDirectories: sets.directories(false),
    setFingerprints: insert(
      "directories",
      ["mirror_id", "path", "fingerprint"],
      `ON CONFLICT (${pathKey}) DO UPDATE SET ${replaced(["fingerprint"])}`,
    ),
  };
}

/** The same statement for the same columns: their names take less to put together than it does. */
function remembered(
  statementOf: (columns: readonly string[]) => SetStatement,
): (columns: readonly string[]) => SetStatement {
  const known = new Map<string, SetStatement>();
  return (columns) => {
    const key = columns.join();
    let statement = known.get(key);
    if (!statement) known.set(key, (statement = statementOf(columns)));
    return statement;
  };
}
