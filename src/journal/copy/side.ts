/** One of the two journals of a copy, and what both kinds of database do in their own way. */
import type { RecordsetCell as JsonCell } from "../postgres/recordset.ts";

/** What a column holds; `Buffer` where the database has bytes. */
export type CopiedCell = JsonCell | Buffer;
/** A row by its columns, as the tables name them. */
export type TableRow = Readonly<Record<string, CopiedCell>>;

/** The values of a row's key, in the key's order. */
export type RowKey = readonly (string | number)[];

/** A column, and its type as the database names it. */
export type Column = { readonly name: string; readonly type: string };

/**
 * A journal that nobody else works on while it is open: no daemon can start on it. Statements have
 * parameters `$1`, `$2`, …, and are such as both databases understand. All reject with a `Fault`.
 */
export type Side = AsyncDisposable & {
  /** As people are shown it. */
  readonly shown: string;
  /** False: NUL and halves of characters are kept as U+FFFD. */
  readonly keepsAllText: boolean;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- says what the rows are
  ask<Found extends object>(statement: string, values?: readonly CopiedCell[]): Promise<Found[]>;
  /** Everything that `run` asks is done, durably, or nothing of it. */
  whole(run: () => Promise<void>): Promise<void>;
  hasTable(name: string): Promise<boolean>;
  columns(table: string): Promise<Column[]>;
  insert(table: string, columns: readonly Column[], rows: readonly TableRow[]): Promise<void>;
  /** The greatest number that the database ever gave to a row of a table; 0: it does not know. */
  lastGiven(table: string, column: string): Promise<number>;
  /** The next row's number will be greater than `last`; within `whole`. */
  numberFrom(table: string, column: string, last: number): Promise<void>;
  /** Lets rows refer to rows that are still to come, and no longer; within `whole`. */
  suspendReferences(): Promise<void>;
  resumeReferences(): Promise<void>;
  /** Says that it was copied: whatever becomes of it, the archive may know more than it does. */
  beginFirstRuns(): Promise<void>;
  /** Rejects where a daemon may have started on it in the meantime. */
  assertHeld(): Promise<void>;
};

/** A name as SQL has it. */
export function quoted(name: string): string {
  return `"${name}"`;
}
