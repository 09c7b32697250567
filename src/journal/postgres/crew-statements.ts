/** What a member of a crew asks and tells the database. Each is a transaction of its own. */
import { invariant } from "../../std/invariant.ts";
import { MARK_UNCLEAN, type Duty, type Member } from "../crew.ts";
import type { Connection } from "./link.ts";
import type { Query } from "./query.ts";

/** A daemon that joins. */
export type Newcomer = {
  readonly name: string;
  readonly pid: number;
  readonly version: string;
  readonly web: string | null;
};

/** Others hear of it without delay; they hear of nothing when it breaks, and look by themselves. */
export const CREW_CHANGED = "crew";
/** Rows were written: whoever keeps something of them in memory reads anew. */
export const JOURNAL_CHANGED = "journal";

/** Members and pens that are long gone serve nobody: their numbers are never used again. */
const KEPT = "interval '1 day'";

const NOTIFY = "SELECT pg_notify($1, $2)";

/** What is sent on the channel: who says it, and what changed. */
export function payload(session: string, what: string): string {
  return `${session} ${what}`;
}

/** The number of the new member. */
export async function join(
  query: Query,
  session: string,
  { name, pid, version, web }: Newcomer,
  leaseMs: number,
): Promise<number> {
  // One statement, so that there is no member without a pen. Asked twice, the first one lapses.
  const { rows } = await query<{ id: number }>(
    `WITH joined AS (
       INSERT INTO members (name, pid, version, web, started_at, renewed_at, lease_until)
       SELECT $2, $3, $4, $5, t, t, t + $6 * interval '1 ms' FROM clock_timestamp() t
       RETURNING id
     ), pen AS (
       INSERT INTO pens (session, member) SELECT $1, id FROM joined
       ON CONFLICT (session) DO UPDATE SET member = excluded.member
     ) SELECT id FROM joined`,
    [session, name, pid, version, web, leaseMs],
  );
  return rows[0]?.id ?? 0;
}

/** Gives a session that is no member's a pen. */
export async function takePen(query: Query, session: string): Promise<void> {
  await query("INSERT INTO pens (session) VALUES ($1) ON CONFLICT DO NOTHING", [session]);
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

/** The database's time, epoch ms; undefined: the member is lost. */
export async function renew(
  query: Query,
  member: number,
  leaseMs: number,
): Promise<number | undefined> {
  const { rows } = await query<{ now: number }>(
    `UPDATE members SET renewed_at = t, lease_until = t + $2 * interval '1 ms'
       FROM clock_timestamp() t WHERE id = $1 AND NOT lost
     RETURNING (extract(epoch FROM t) * 1000)::double precision AS now`,
    [member, leaseMs],
  );
  return rows[0]?.now;
}

/** Tells others where this member's page is; null: it has none. */
export async function announce(query: Query, member: number, web: string | null): Promise<void> {
  await query("UPDATE members SET web = $2 WHERE id = $1", [member, web]);
}

/** Tells others what this member is near to. */
export async function tellNear(query: Query, member: number, near: readonly Duty[]): Promise<void> {
  await query("UPDATE members SET near = $2 WHERE id = $1", [member, near]);
}

/** Duties that a member is near to which is gone since less than this, and may be back in a moment. */
export async function nearOfGone(query: Query, withinMs: number): Promise<Set<Duty>> {
  const { rows } = await query<{ duty: Duty }>(
    `SELECT DISTINCT unnest(near) AS duty FROM members
      WHERE lost AND lease_until > clock_timestamp() - $1 * interval '1 ms'`,
    [withinMs],
  );
  return new Set(rows.map(({ duty }) => duty));
}

/**
 * Declares members lost whose lease ran out. Waits until a transaction that one of them has open is
 * over: nothing of a member is committed after it was declared lost.
 */
export async function declareLost(
  connection: Connection,
  session: string,
  channel: string,
): Promise<void> {
  const { query } = connection;
  const lapsed = await query<{ id: number }>(
    "SELECT id FROM members WHERE NOT lost AND lease_until <= clock_timestamp() LIMIT 1",
    [],
  );
  if (lapsed.count === 0) return;
  await query("BEGIN", []);
  try {
    const { rows } = await query<{ id: number }>(
      `SELECT id FROM members WHERE NOT lost AND lease_until <= clock_timestamp()
        ORDER BY id FOR UPDATE SKIP LOCKED`,
      [],
    );
    await removeMembers(
      query,
      rows.map(({ id }) => id),
    );
    await query(MARK_UNCLEAN, []);
    await query(NOTIFY, [channel, payload(session, CREW_CHANGED)]);
    await query("COMMIT", []);
  } catch (error) {
    if (!connection.broken) await query("ROLLBACK", []);
    throw error;
  }
}

async function removeMembers(query: Query, ids: readonly number[]): Promise<void> {
  // A member that stands still in a transaction would be waited for; it is ended instead.
  await query(
    `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN pens p
       ON starts_with(a.application_name, 'scanferry ' || p.session)
      WHERE p.member = ANY ($1) AND a.usename = current_user`,
    [ids],
  );
  await query("UPDATE pens SET taken = true WHERE member = ANY ($1)", [ids]);
  await query("UPDATE members SET lost = true WHERE id = ANY ($1)", [ids]);
  await query("DELETE FROM duties WHERE member = ANY ($1)", [ids]);
  await forgetGone(query);
}

async function forgetGone(query: Query): Promise<void> {
  await query(`DELETE FROM members WHERE lost AND lease_until < clock_timestamp() - ${KEPT}`, []);
  await query(
    `DELETE FROM pens p WHERE since < clock_timestamp() - ${KEPT}
        AND NOT EXISTS (SELECT FROM members m WHERE m.id = p.member)`,
    [],
  );
}

/** Leaves the crew in good order. */
export async function leave(
  query: Query,
  member: number,
  session: string,
  channel: string,
): Promise<void> {
  await query("BEGIN", []);
  await query("UPDATE pens SET taken = true WHERE session = $1", [session]);
  await query("UPDATE members SET lost = true, lease_until = clock_timestamp() WHERE id = $1", [
    member,
  ]);
  await query("DELETE FROM duties WHERE member = $1", [member]);
  // Where all leave in good order, nobody is ever declared lost.
  await forgetGone(query);
  await query(NOTIFY, [channel, payload(session, CREW_CHANGED)]);
  await query("COMMIT", []);
}

type MemberRow = Omit<Member, "duties"> & { readonly duties: Duty[] };

/** All members that are not lost, by id. */
export async function living(query: Query): Promise<Member[]> {
  const ms = (column: string) => `(extract(epoch FROM m.${column}) * 1000)::double precision`;
  const { rows } = await query<MemberRow>(
    `SELECT m.id, m.name, m.pid, m.version, m.web, ${ms("started_at")} AS "startedAt",
            ${ms("renewed_at")} AS "renewedAt", ${ms("lease_until")} AS "leaseUntil",
            array(SELECT duty FROM duties d WHERE d.member = m.id ORDER BY since, duty) AS duties,
            m.near
       FROM members m WHERE NOT m.lost ORDER BY m.id`,
    [],
  );
  return rows;
}

/**
 * Those of the duties that are this member's now: none when it is lost. One member after another, so that
 * each sees what the last one took.
 */
export async function take(
  connection: Connection,
  member: number,
  duties: readonly Duty[],
): Promise<Duty[]> {
  const { query } = connection;
  await query("BEGIN", []);
  try {
    await query(
      "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' duties', 0))",
      [],
    );
    const { rows } = await query<{ duty: Duty }>(
      `INSERT INTO duties (duty, member, since)
       SELECT d, m.id, clock_timestamp() FROM members m, unnest($2::text[]) WITH ORDINALITY w (d, at)
        WHERE m.id = $1 AND NOT m.lost
        ORDER BY d COLLATE "C" FOR KEY SHARE OF m
       ON CONFLICT DO NOTHING RETURNING duty`,
      [member, duties],
    );
    await query("COMMIT", []);
    return rows.map(({ duty }) => duty);
  } catch (error) {
    if (!connection.broken) await query("ROLLBACK", []);
    throw error;
  }
}

/** Tells the other sessions that something was written. */
export async function tellOthers(query: Query, channel: string, session: string): Promise<void> {
  await query(NOTIFY, [channel, payload(session, JOURNAL_CHANGED)]);
}
