/**
 * Copies a journal into another place, table by table. Ended at any point, it goes on there the next
 * time. At its end every row is compared, and only then the copy can be used.
 *
 * Of a journal and its copy, each may be used from then on, and neither hears of what the other
 * sends. So both are marked as copies are: their mirrors are in a first run, and what the archive
 * may hold already is held until `adopt` claims it. The source is marked first, so that there is no
 * moment in which both could be used and one of them is not marked.
 */
import { setImmediate } from "node:timers/promises";
import type { JournalPlace } from "../../network/journal-place.ts";
import { InvariantError } from "../../std/invariant.ts";
import { compare, type Compared, type RowDifference } from "./compare-journals.ts";
import { begin, finish, lastCopied, put } from "./copy-progress.ts";
import { keyOf, pagesOf } from "./copied-rows.ts";
import type { Column, Side } from "./side.ts";
import { COPIED_TABLES, type CopiedTable, isCopied } from "./copied-tables.ts";

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
