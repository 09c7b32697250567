import { setImmediate } from "node:timers/promises";
import type { JournalPlace } from "../../network/journal-place.ts";
import { InvariantError } from "../../std/fault.ts";
import { compare, type Compared, type RowDifference } from "./compare-journals.ts";
import {
  COPIED_TABLES,
  type CopiedTable,
  isCopied,
  keyOf,
  NUMBERED,
  pagesOf,
  PROGRESS_TABLE,
} from "./copied-tables.ts";
import { type Column, quoted, type RowKey, type Side, type TableRow } from "./side.ts";
import { AWAY_KEYS } from "../cluster.ts";
import { journalFault } from "../journal-fault.ts";
import { COUNT_ALL } from "../document-counts.ts";

/**
 * Copies a journal into another place, table by table. Ended at any point, it goes on there the next
 * time. At its end every row is compared, and only then the copy can be used.
 *
 * Of a journal and its copy, each may be used from then on, and neither hears of what the other
 * sends. So both are marked as copies are: their mirrors are in a first run, and what the archive
 * may hold already is held until `adopt` claims it. The source is marked first, so that there is no
 * moment in which both could be used and one of them is not marked.
 */

/** How far it is with a table. */
export type Advance = {
  readonly table: string;
  readonly doing: "copying" | "comparing";
  /** Counts. */
  readonly rows: number;
  readonly of: number;
};

/** What is to be copied. The target is new, or an unfinished copy of the same journal, which goes on. */
export type Copy = {
  readonly from: JournalPlace;
  readonly to: JournalPlace;
  /** Ends it between two pages of rows, rejecting with the signal's reason. */
  readonly stopping: AbortSignal;
  readonly onAdvance?: (advance: Advance) => void;
};

/** What a copy came to; places as people are shown them. */
export type Copied = {
  readonly from: string;
  readonly to: string;
  readonly tables: readonly Compared[];
  /** The first one; where there is one, the copy is not finished, and no daemon takes it. */
  readonly difference: RowDifference | undefined;
};

/**
 * Rejects with a `Fault`: `JOURNAL_LOCKED` where a daemon works on either, `JOURNAL_OCCUPIED` where
 * the target is not new, `JOURNAL_OLDER` and `JOURNAL_NEWER` for tables of another version, and
 * whatever else keeps a journal from being opened, read or written.
 */
export async function copyJournal({ from, to, stopping, onAdvance }: Copy): Promise<Copied> {
  await using source = await openSide(from, false);
  await using target = await openSide(to, true);
  await begin(target, source.shown);
  const advance = async (news: Advance) => {
    onAdvance?.(news);
    // SQLite never waits: signals and timers get their turn here.
    await setImmediate();
    stopping.throwIfAborted();
  };
  const counts = new Map<string, number>();
  const newsOf = (table: string, doing: Advance["doing"]) => (rows: number) =>
    advance({ table, doing, rows, of: counts.get(table) ?? rows });
  for (const table of COPIED_TABLES) {
    const columns = await columnsOf(table, source, target);
    counts.set(table.name, await countOf(table, source));
    await copyTable(source, target, table, columns, newsOf(table.name, "copying"));
  }
  const tables: Compared[] = [];
  for (const table of COPIED_TABLES) {
    const names = (await columnsOf(table, source, target)).map(({ name }) => name);
    tables.push(await compare(source, target, table, names, newsOf(table.name, "comparing")));
  }
  const difference = tables.find((each) => each.difference !== undefined)?.difference;
  if (!difference) {
    await source.assertHeld();
    await target.assertHeld();
    await source.beginFirstRuns();
    await finish(source, target);
  }
  return { from: source.shown, to: target.shown, tables, difference };
}

async function openSide(place: JournalPlace, isTarget: boolean): Promise<Side> {
  if (typeof place !== "string") {
    return (await import("./postgres-side.ts")).PostgresSide.open(place, isTarget);
  }
  return (await import("./sqlite-side.ts")).SqliteSide.open(place, isTarget);
}

async function copyTable(
  source: Side,
  target: Side,
  table: CopiedTable,
  columns: readonly Column[],
  told: (rows: number) => Promise<void>,
): Promise<void> {
  const after = await lastCopied(target, table);
  let copied = after === undefined ? 0 : await countOf(table, target);
  const names = columns.map(({ name }) => name);
  for await (const rows of pagesOf(source, table, names, after)) {
    const last = rows.at(-1);
    if (!last) return;
    await put(target, table, columns, rows, keyOf(last, table));
    copied += rows.length;
    await told(copied);
  }
}

/** The target's columns that are copied; both sides have them. */
async function columnsOf(
  { name: table }: CopiedTable,
  source: Side,
  target: Side,
): Promise<Column[]> {
  const of = async (side: Side) =>
    (await side.columns(table))
      .filter(({ name }) => isCopied(table, name))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const columns = await of(target);
  const names = (list: readonly Column[]) => list.map(({ name }) => name).join();
  if (names(columns) !== names(await of(source))) {
    throw new InvariantError(`${table} has other columns in ${source.shown}`);
  }
  return columns;
}

async function countOf({ name }: CopiedTable, side: Side): Promise<number> {
  const [row] = await side.ask<{ rows: number }>(`SELECT count(*) AS rows FROM ${name}`);
  return row?.rows ?? 0;
}

/**
 * How far a copy is, kept in its target: every page of rows is written together with the key of its
 * last one. So a copy that was ended at any point goes on there, and nobody else takes the half of a
 * journal for a whole one (`JOURNAL_UNFINISHED`), as the table of it is there until the copy is done.
 */

/** What a new journal holds on its own. */
const OF_A_NEW_ONE = `
  SELECT 'account' WHERE EXISTS (SELECT 1 FROM account WHERE paused <> 0)
  UNION ALL SELECT 'archives' WHERE EXISTS
    (SELECT 1 FROM archives WHERE name <> 'main' OR url IS NOT NULL OR gate_closed_at IS NOT NULL)`;

/** Begins the copy in `target`, or takes it up; rejects with `JOURNAL_OCCUPIED`. */
export async function begin(target: Side, source: string): Promise<void> {
  if (await target.hasTable(PROGRESS_TABLE)) {
    const [row] = await target.ask<{ source: string }>(
      `SELECT source FROM ${PROGRESS_TABLE} WHERE source <> $1 LIMIT 1`,
      [source],
    );
    if (!row) return;
    throw journalFault("JOURNAL_OCCUPIED", target.shown, `holds half a copy of ${row.source}`);
  }
  await assertNew(target);
  await target.whole(async () => {
    await target.ask(
      `CREATE TABLE ${PROGRESS_TABLE} (name text PRIMARY KEY, source text NOT NULL, last text)`,
    );
    for (const { name } of COPIED_TABLES) {
      await target.ask(`INSERT INTO ${PROGRESS_TABLE} (name, source) VALUES ($1, $2)`, [
        name,
        source,
      ]);
    }
    await target.ask("DELETE FROM account");
    await target.ask("DELETE FROM archives");
    await target.suspendReferences();
  });
}

async function assertNew(target: Side): Promise<void> {
  const occupied = await target.ask<object>(OF_A_NEW_ONE);
  for (const { name } of COPIED_TABLES) {
    if (["account", "archives"].includes(name)) continue;
    occupied.push(...(await target.ask<object>(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)));
  }
  if (occupied.length > 0) {
    throw journalFault(
      "JOURNAL_OCCUPIED",
      target.shown,
      "holds rows already, its own or those of a finished copy",
    );
  }
}

/** The key of the last row that was copied; undefined: none was. */
async function lastCopied(target: Side, { name }: CopiedTable): Promise<RowKey | undefined> {
  const [row] = await target.ask<{ last: string | null }>(
    `SELECT last FROM ${PROGRESS_TABLE} WHERE name = $1`,
    [name],
  );
  return row?.last == null ? undefined : (JSON.parse(row.last) as RowKey);
}

/** Writes a page of rows, and that it was. */
export async function put(
  target: Side,
  { name }: CopiedTable,
  columns: readonly Column[],
  rows: readonly TableRow[],
  last: RowKey,
): Promise<void> {
  await target.whole(async () => {
    await target.insert(name, columns, rows);
    await target.ask(`UPDATE ${PROGRESS_TABLE} SET last = $1 WHERE name = $2`, [
      JSON.stringify(last),
      name,
    ]);
  });
}

/**
 * Makes the target a journal that can be used. No number that the source gave is given again, but for
 * those of instances: what was noted of them there would be taken for a word about others here.
 */
export async function finish(source: Side, target: Side): Promise<void> {
  await target.whole(async () => {
    for (const [table, column] of NUMBERED) {
      const [row] = await target.ask<{ greatest: number | null }>(
        `SELECT max(${quoted(column)}) AS greatest FROM ${quoted(table)}`,
      );
      const last = await source.lastGiven(table, column);
      await target.numberFrom(table, column, Math.max(last, row?.greatest ?? 0));
    }
    await target.ask("DELETE FROM key_values WHERE substr(name, 1, length($1)) = $1", [AWAY_KEYS]);
    await target.ask(COUNT_ALL);
    await target.resumeReferences();
    await target.ask(`DROP TABLE ${PROGRESS_TABLE}`);
  });
}
