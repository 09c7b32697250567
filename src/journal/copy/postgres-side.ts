import { randomBytes } from "node:crypto";
import { type PostgresPlace, shownJournal } from "../../network/journal-place.ts";
import { type Clock, systemClock } from "../../std/clock.ts";
import { codeOf } from "../../std/fault.ts";
import { journalFault } from "../journal-fault.ts";
import { declareLost } from "../postgres/cluster-statements.ts";
import { channelOf } from "../postgres/hearing.ts";
import { Link, type Connection } from "../postgres/link.ts";
import { bringUpToDate } from "../postgres/migrate.ts";
import { asJournalFault } from "../postgres/postgres-fault.ts";
import { asRows, bytea, recordset } from "../postgres/recordset.ts";
import { assertFit } from "../postgres/assert-server.ts";
import { type CopiedCell, type Column, quoted, type TableRow, type Side } from "./side.ts";

/** An answer that does not come for so long will not come, milliseconds; tables are counted and checked. */
const PATIENCE_MS = 3_600_000;

/** A transaction of the copy that stands still is ended after so long, milliseconds. */
const IDLE_MS = 60_000;

/** Anyone who has the lock of the instances for longer keeps it, e.g. another copy. */
const LOCK_MS = 5_000;

const SUPERSEDES = "documents_supersedes_fkey";

/**
 * A journal in PostgreSQL. A second connection keeps a lock on its instances for as long as it is
 * open: no daemon can join them, or renew its lease.
 */
export class PostgresSide implements Side {
  readonly shown: string;
  readonly keepsAllText = false;
  readonly #links: readonly Link[];
  readonly #work: Connection;
  readonly #hold: Connection;

  private constructor(shown: string, links: readonly Link[], work: Connection, hold: Connection) {
    this.shown = shown;
    this.#links = links;
    this.#work = work;
    this.#hold = hold;
  }

  /** Opens the journal; a target's tables are made when missing. Rejects with a `Fault`. */
  static async open(
    place: PostgresPlace,
    isTarget: boolean,
    clock: Clock = systemClock,
  ): Promise<PostgresSide> {
    const { schema, password } = place;
    const shown = shownJournal(place);
    const way = {
      url: place.server,
      schema,
      clock,
      wasReached: () => false,
      ...(password !== undefined && { password: () => password }),
    };
    const key = randomBytes(9).toString("base64url");
    const link = (what: string, idleMs: number) =>
      new Link(way, { name: `scanferry copy ${key} ${what}`, patienceMs: PATIENCE_MS, idleMs });
    // Holding is standing still in a transaction.
    const links = [link("work", IDLE_MS), link("hold", 0)] as const;
    try {
      const work = await links[0].connection();
      await assertFit(work, () => links[1].connection(), shown);
      await prepare(work, { schema, shown, isTarget });
      const hold = await links[1].connection();
      // One that stood still writes nothing more, and begins again: it has not heard of the copy.
      await declareLost(hold, key, channelOf(schema));
      await holdInstances(hold, shown);
      return new PostgresSide(shown, links, work, hold);
    } catch (error) {
      for (const each of links) await each.close();
      throw asJournalFault(error, shown);
    }
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in `Side`
  ask<Found extends object>(text: string, values: readonly CopiedCell[] = []): Promise<Found[]> {
    return this.#do(async () => (await this.#work.query<Found>(text, values)).rows);
  }

  async whole(run: () => Promise<void>): Promise<void> {
    await this.ask("BEGIN");
    try {
      await run();
      await this.ask("COMMIT");
    } catch (error) {
      if (!this.#work.broken) await this.ask("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }

  async hasTable(name: string): Promise<boolean> {
    return (await this.columns(name)).length > 0;
  }

  columns(table: string): Promise<Column[]> {
    return this.ask<Column>(
      `SELECT attname::text AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
        WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      [quoted(table)],
    );
  }

  async insert(
    table: string,
    columns: readonly Column[],
    rows: readonly TableRow[],
  ): Promise<void> {
    const names = columns.map(({ name }) => quoted(name));
    const types = Object.fromEntries(columns.map(({ name, type }) => [quoted(name), type]));
    const cells = rows.map((row) =>
      Object.fromEntries(
        columns.map(({ name }) => {
          const cell = row[name] ?? null;
          return [name, Buffer.isBuffer(cell) ? bytea(cell) : cell];
        }),
      ),
    );
    await this.ask(
      `INSERT INTO ${quoted(table)} (${names.join()})
       SELECT ${names.join()} FROM ${recordset(1, "u", types)}`,
      [asRows(cells)],
    );
  }

  async lastGiven(table: string, column: string): Promise<number> {
    const [row] = await this.ask<{ last: number | null }>(
      "SELECT pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass) AS last",
      [table, column],
    );
    return row?.last ?? 0;
  }

  async numberFrom(table: string, column: string, last: number): Promise<void> {
    await this.ask(
      "SELECT setval(pg_get_serial_sequence($1, $2), greatest($3::bigint, 1), $3::bigint > 0)",
      [table, column, last],
    );
  }

  async suspendReferences(): Promise<void> {
    await this.ask(`ALTER TABLE documents DROP CONSTRAINT ${SUPERSEDES}`);
  }

  async resumeReferences(): Promise<void> {
    await this.ask(
      `ALTER TABLE documents ADD CONSTRAINT ${SUPERSEDES} FOREIGN KEY (supersedes) REFERENCES documents (id)`,
    );
  }

  async beginFirstRuns(): Promise<void> {
    await this.ask("UPDATE mirrors SET first_run_over_at = NULL");
  }

  async assertHeld(): Promise<void> {
    await this.#do(() => this.#hold.query("SELECT 1", []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.#links) await link.close();
  }

  async #do<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw asJournalFault(error, this.shown);
    }
  }
}

/** Tables of another version are left alone; a target's are made where there are none. */
async function prepare(
  { query }: Connection,
  { schema, shown, isTarget }: { schema: string; shown: string; isTarget: boolean },
): Promise<void> {
  const opening = { schema, shown, isCopying: isTarget };
  try {
    await bringUpToDate(query, { ...opening, mayChange: false });
  } catch (error) {
    if (!isTarget || codeOf(error) !== "JOURNAL_MISSING") throw error;
    await bringUpToDate(query, { ...opening, mayChange: true });
  }
}

async function holdInstances({ query }: Connection, shown: string): Promise<void> {
  await query("BEGIN", []);
  await query(`SET LOCAL lock_timeout TO ${LOCK_MS}`);
  try {
    await query("LOCK TABLE instances IN SHARE ROW EXCLUSIVE MODE", []);
  } catch (error) {
    if (codeOf(error) !== "55P03") throw error;
    throw journalFault("JOURNAL_LOCKED", shown, "in use, e.g. by another copy", { cause: error });
  }
  const { rows } = await query<{ name: string; pid: number }>(
    "SELECT name, pid FROM instances WHERE NOT lost ORDER BY id",
    [],
  );
  const [instance] = rows;
  if (!instance) return;
  throw journalFault(
    "JOURNAL_LOCKED",
    shown,
    `in use by process ${instance.pid} of ${instance.name}`,
  );
}
