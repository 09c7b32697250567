/** Brings a journal's schema in PostgreSQL up to date, or says why it cannot be used. */
import { PROGRESS_TABLE } from "../copy/copied-tables.ts";
import { journalFault, unfinishedFault } from "../journal-fault.ts";
import { type Query, quoted } from "./query.ts";
import { MIGRATIONS } from "./tables.ts";

/** The version of the tables that this scanferry writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** What an opening did to the tables; versions, 0 for none. */
export type SchemaChange = { readonly from: number; readonly to: number };

/** Which journal it is, and what may be done to it. */
export type Opening = {
  /** The namespace the tables are in; it is the connection's `search_path`. */
  readonly schema: string;
  /** What faults call the journal. */
  readonly shown: string;
  /** True: a daemon, which makes the tables and brings them up to date. */
  readonly mayChange: boolean;
  /** It may hold half a copy; otherwise such a one is refused. */
  readonly isCopying?: boolean;
};

/**
 * Makes or migrates the tables where `mayChange` is set, a transaction each, one daemon at a time;
 * undefined when they were up to date. Rejects with `JOURNAL_NEWER`, `JOURNAL_OLDER`,
 * `JOURNAL_LOCKED`, `JOURNAL_FOREIGN`, `JOURNAL_MISSING` or `JOURNAL_UNFINISHED`.
 */
export async function bringUpToDate(
  query: Query,
  opening: Opening,
): Promise<SchemaChange | undefined> {
  const from = await checkedVersion(query, opening);
  if (from === SCHEMA_VERSION) return undefined;
  for (let done = false; !done; ) done = await migrateOnce(query, opening);
  return { from, to: SCHEMA_VERSION };
}

/** One step, in a transaction that others wait for; true when there is none left. */
async function migrateOnce(query: Query, opening: Opening): Promise<boolean> {
  await query("BEGIN");
  try {
    await query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [
      `scanferry ${opening.schema}`,
    ]);
    const version = await checkedVersion(query, opening);
    const step = MIGRATIONS[version];
    if (step !== undefined) {
      if (version === 0) await makeSchema(query, opening.schema);
      else await assertUnused(query, opening.shown);
      await query(step);
      await query(
        version === 0
          ? "CREATE TABLE schema_version (version bigint NOT NULL); INSERT INTO schema_version VALUES (1)"
          : `UPDATE schema_version SET version = ${version + 1}`,
      );
    }
    await query("COMMIT");
    return version + 1 >= SCHEMA_VERSION;
  } catch (error) {
    await query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** What a daemon of an earlier version works on is not changed under it. */
async function assertUnused(query: Query, shown: string): Promise<void> {
  const { rows } = await query<{ name: string; pid: number; version: string }>(
    `SELECT name, pid, version FROM instances
      WHERE NOT lost AND lease_until > clock_timestamp() ORDER BY id`,
    [],
  );
  const [instance] = rows;
  if (!instance) return;
  const { name, pid, version } = instance;
  const message = `in use by process ${pid} of ${name}, which runs the earlier scanferry ${version}`;
  throw journalFault("JOURNAL_LOCKED", shown, message);
}

/** Not even asked for where it is there: that takes the right to make one all the same. */
async function makeSchema(query: Query, schema: string): Promise<void> {
  const { count } = await query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
  if (count === 0) await query(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`);
}

/** The tables' version; 0 where there are none yet and the opening may make them. */
async function checkedVersion(
  query: Query,
  { schema, shown, mayChange, isCopying = false }: Opening,
): Promise<number> {
  const { rows } = await query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
      WHERE s.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`,
    [schema],
  );
  if (!rows.some(({ name }) => name === "schema_version")) {
    if (rows.length > 0) {
      const what = `the schema ${schema} holds other things, and no scanferry journal`;
      throw journalFault("JOURNAL_FOREIGN", shown, what);
    }
    if (!mayChange) throw journalFault("JOURNAL_MISSING", shown, "there is none");
    return 0;
  }
  const found = await query<{ version: number }>("SELECT version FROM schema_version", []);
  const version = found.rows[0]?.version ?? 0;
  const versions = `schema ${version}, this scanferry writes ${SCHEMA_VERSION}`;
  if (version > SCHEMA_VERSION) throw journalFault("JOURNAL_NEWER", shown, versions);
  if (version < SCHEMA_VERSION && !mayChange) throw journalFault("JOURNAL_OLDER", shown, versions);
  if (!isCopying && rows.some(({ name }) => name === PROGRESS_TABLE)) throw unfinishedFault(shown);
  return version;
}
