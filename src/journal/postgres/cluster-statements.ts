/** What an instance of a cluster asks and tells the database. Each is a transaction of its own. */
import { invariant } from "../../std/fault.ts";
import { assignmentText, MARK_UNCLEAN, type Assignment, type Instance } from "../cluster.ts";
import type { Connection } from "./link.ts";
import type { Query } from "./query.ts";

/** A daemon that joins. */
export type Joining = {
  readonly name: string;
  readonly pid: number;
  readonly version: string;
  readonly web: string | null;
};

/** Others hear of it without delay; they hear of nothing when it breaks, and look on their own. */
export const CLUSTER_CHANGED = "cluster";
/** Rows were written: anyone who keeps something of them in memory reads again. */
const JOURNAL_CHANGED = "journal";

/** Instances and writer sessions that are long gone serve nobody: their numbers are never used again. */
const KEPT = "interval '1 day'";

const NOTIFY = "SELECT pg_notify($1, $2)";

/** What is sent on the channel: who says it, and what changed. */
export function payload(session: string, what: string): string {
  return `${session} ${what}`;
}

/** The number of the new instance. */
export async function join(
  query: Query,
  session: string,
  { name, pid, version, web }: Joining,
  leaseMs: number,
): Promise<number> {
  // One statement, so that there is no instance without a writer session. Asked twice, the first one lapses.
  const { rows } = await query<{ id: number }>(
    `WITH joined AS (
       INSERT INTO instances (name, pid, version, web, started_at, renewed_at, lease_until)
       SELECT $2, $3, $4, $5, t, t, t + $6 * interval '1 ms' FROM clock_timestamp() t
       RETURNING id
     ), writer_session AS (
       INSERT INTO writer_sessions (session, instance) SELECT $1, id FROM joined
       ON CONFLICT (session) DO UPDATE SET instance = excluded.instance
     ) SELECT id FROM joined`,
    [session, name, pid, version, web, leaseMs],
  );
  return rows[0]?.id ?? 0;
}

/** Gives a session that is no instance's a writer session. */
export async function takeWriterSession(query: Query, session: string): Promise<void> {
  await query("INSERT INTO writer_sessions (session) VALUES ($1) ON CONFLICT DO NOTHING", [
    session,
  ]);
}

/** The database's time, epoch ms. */
export async function databaseTime(query: Query): Promise<number> {
  const { rows } = await query<{ now: number }>(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now",
    [],
  );
  const [row] = rows;
  invariant(row, "the database tells its time");
  return row.now;
}

/** Renews the lease, and tells others what this instance is near to: the database's time, epoch ms; undefined: it is lost. */
export async function renew(
  query: Query,
  instance: number,
  leaseMs: number,
  local: readonly Assignment[],
): Promise<number | undefined> {
  const { rows } = await query<{ now: number }>(
    `UPDATE instances SET renewed_at = t, lease_until = t + $2 * interval '1 ms', local = $3
       FROM clock_timestamp() t WHERE id = $1 AND NOT lost
     RETURNING (extract(epoch FROM t) * 1000)::double precision AS now`,
    [instance, leaseMs, local.map(assignmentText)],
  );
  return rows[0]?.now;
}

/** Tells others where this instance's page is; null: it has none. */
export async function announce(query: Query, instance: number, web: string | null): Promise<void> {
  await query("UPDATE instances SET web = $2 WHERE id = $1", [instance, web]);
}

/** Ownership that an instance is near to which is gone since less than this, and may be back in a moment. */
export async function localToGone(query: Query, withinMs: number): Promise<Assignment[]> {
  const { rows } = await query<{ assignment: string }>(
    `SELECT DISTINCT unnest(local) AS assignment FROM instances
      WHERE lost AND lease_until > clock_timestamp() - $1 * interval '1 ms'`,
    [withinMs],
  );
  return rows.map(({ assignment }) => assignmentOf(assignment));
}

/**
 * A lease that was renewed before the database's clock was set back lasts from now on: an instance that died before
 * would else live until the clock is there again. One that lives has less than that left, by its own clock.
 */
const SHORTEN = `UPDATE instances SET renewed_at = t, lease_until = t + (lease_until - renewed_at)
   FROM clock_timestamp() t WHERE NOT lost AND renewed_at > t + (lease_until - renewed_at)`;

/**
 * Declares instances lost whose lease ran out. Waits until a transaction that one of them has open is
 * over: nothing of an instance is committed after it was declared lost.
 */
export async function declareLost(
  connection: Connection,
  session: string,
  channel: string,
): Promise<void> {
  const { query } = connection;
  await query(SHORTEN, []);
  const lapsed = await query<{ id: number }>(
    "SELECT id FROM instances WHERE NOT lost AND lease_until <= clock_timestamp() LIMIT 1",
    [],
  );
  if (lapsed.count === 0) return;
  await query("BEGIN", []);
  try {
    const { rows } = await query<{ id: number }>(
      `SELECT id FROM instances WHERE NOT lost AND lease_until <= clock_timestamp()
        ORDER BY id FOR UPDATE SKIP LOCKED`,
      [],
    );
    await removeInstances(
      query,
      rows.map(({ id }) => id),
    );
    await query(MARK_UNCLEAN, []);
    await query(NOTIFY, [channel, payload(session, CLUSTER_CHANGED)]);
    await query("COMMIT", []);
  } catch (error) {
    if (!connection.broken) await query("ROLLBACK", []);
    throw error;
  }
}

async function removeInstances(query: Query, ids: readonly number[]): Promise<void> {
  // An instance that stands still in a transaction would be waited for; it is ended instead.
  await query(
    `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN writer_sessions p
       ON starts_with(a.application_name, 'scanferry ' || p.session)
      WHERE p.instance = ANY ($1) AND a.usename = current_user`,
    [ids],
  );
  await query("UPDATE writer_sessions SET taken = true WHERE instance = ANY ($1)", [ids]);
  await query("UPDATE instances SET lost = true WHERE id = ANY ($1)", [ids]);
  await query("DELETE FROM assignments WHERE instance = ANY ($1)", [ids]);
  await forgetGone(query);
}

async function forgetGone(query: Query): Promise<void> {
  await query(`DELETE FROM instances WHERE lost AND lease_until < clock_timestamp() - ${KEPT}`, []);
  await query(
    `DELETE FROM writer_sessions p WHERE since < clock_timestamp() - ${KEPT}
        AND NOT EXISTS (SELECT FROM instances m WHERE m.id = p.instance)`,
    [],
  );
}

/** Leaves the cluster in good order. */
export async function leave(
  query: Query,
  instance: number,
  session: string,
  channel: string,
): Promise<void> {
  await query("BEGIN", []);
  await query("UPDATE writer_sessions SET taken = true WHERE session = $1", [session]);
  await query("UPDATE instances SET lost = true, lease_until = clock_timestamp() WHERE id = $1", [
    instance,
  ]);
  await query("DELETE FROM assignments WHERE instance = $1", [instance]);
  // Where all leave in good order, nobody is ever declared lost.
  await forgetGone(query);
  await query(NOTIFY, [channel, payload(session, CLUSTER_CHANGED)]);
  await query("COMMIT", []);
}

function assignmentOf(text: string): Assignment {
  const [kind, id] = text.split(":");
  return { kind: kind as Assignment["kind"], id: Number(id) };
}

type InstanceRow = Omit<Instance, "assignments" | "local"> &
  Record<"assignments" | "local", string[]>;

/** All instances that are not lost, by id. */
export async function living(query: Query): Promise<Instance[]> {
  const ms = (column: string) => `(extract(epoch FROM m.${column}) * 1000)::double precision`;
  const { rows } = await query<InstanceRow>(
    `SELECT m.id, m.name, m.pid, m.version, m.web, ${ms("started_at")} AS "startedAt",
            ${ms("renewed_at")} AS "renewedAt", ${ms("lease_until")} AS "leaseUntil",
            array(SELECT assignment FROM assignments d WHERE d.instance = m.id ORDER BY since, assignment) AS assignments,
            m.local
       FROM instances m WHERE NOT m.lost ORDER BY m.id`,
    [],
  );
  return rows.map((row) => ({
    ...row,
    assignments: row.assignments.map(assignmentOf),
    local: row.local.map(assignmentOf),
  }));
}

/**
 * Those of the assignments that are this instance's now: none when it is lost. One instance after another, so that
 * each sees what the last one took.
 */
export async function take(
  connection: Connection,
  instance: number,
  assignments: readonly Assignment[],
): Promise<Assignment[]> {
  const { query } = connection;
  await query("BEGIN", []);
  try {
    await query(
      "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' assignments', 0))",
      [],
    );
    const { rows } = await query<{ assignment: string }>(
      `INSERT INTO assignments (assignment, instance, since)
       SELECT d, m.id, clock_timestamp() FROM instances m, unnest($2::text[]) WITH ORDINALITY w (d, at)
        WHERE m.id = $1 AND NOT m.lost
        ORDER BY d COLLATE "C" FOR KEY SHARE OF m
       ON CONFLICT DO NOTHING RETURNING assignment`,
      [instance, assignments.map(assignmentText)],
    );
    await query("COMMIT", []);
    return rows.map(({ assignment }) => assignmentOf(assignment));
  } catch (error) {
    if (!connection.broken) await query("ROLLBACK", []);
    throw error;
  }
}

/** Tells the other sessions that something was written. */
export async function tellOthers(query: Query, channel: string, session: string): Promise<void> {
  await query(NOTIFY, [channel, payload(session, JOURNAL_CHANGED)]);
}
