/**
 * How far a copy is, kept in its target: every page of rows is written together with the key of its
 * last one. So a copy that was ended at any point goes on there, and nobody else takes the half of a
 * journal for a whole one (`JOURNAL_UNFINISHED`), as the table of it is there until the copy is done.
 */
import { AWAY_KEYS } from "../cluster.ts";
import { journalFault } from "../journal-fault.ts";
import { type Column, type RowKey, quoted, type TableRow, type Side } from "./side.ts";
import { COUNT_ALL } from "../document-counts.ts";
import { COPIED_TABLES, type CopiedTable, NUMBERED, PROGRESS_TABLE } from "./copied-tables.ts";

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
export async function lastCopied(target: Side, { name }: CopiedTable): Promise<RowKey | undefined> {
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
