/** What a PostgreSQL, and a pooler before it, have to be so that a journal can be kept there. */
import { journalFault } from "../journal-fault.ts";
import type { Connection } from "./link.ts";

/** As `server_version_num` has it. */
const VERSION_MIN = 140_000;

/** Rejects with `JOURNAL_UNFIT`. `another` connection is asked for where a pooler is in between. */
export async function assertFit(
  connection: Connection,
  another: () => Promise<Connection>,
  shown: string,
): Promise<void> {
  if (connection.isPooled) await assertKept([connection, await another()], shown);
  const { rows } = await connection.query<{ version: string; number: number; encoding: string }>(
    `SELECT current_setting('server_version') AS version,
            current_setting('server_version_num')::integer AS number,
            current_setting('server_encoding') AS encoding`,
    [],
  );
  const [server] = rows;
  if (!server) return;
  const { version, number, encoding } = server;
  if (number < VERSION_MIN) throw journalFault("JOURNAL_UNFIT", shown, `PostgreSQL ${version}`);
  if (encoding !== "UTF8") {
    throw journalFault("JOURNAL_UNFIT", shown, `the database is encoded in ${encoding}`);
  }
}

/**
 * Each of two connections must keep a session of the server to itself: settings, prepared statements
 * and what is listened to belong to one. A pooler that hands sessions on between transactions gives
 * the one that was just free, or each in turn: asked in this order, both show.
 */
async function assertKept(
  [one, other]: readonly [Connection, Connection],
  shown: string,
): Promise<void> {
  const pids: number[] = [];
  for (const { query } of [one, other, other, one]) {
    // Not parsed for keeps, which is what such a pooler would confuse.
    const { rows } = await query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    pids.push(rows[0]?.pid ?? 0);
  }
  if (pids[0] === pids[3] && pids[1] === pids[2] && pids[0] !== pids[1]) return;
  const what = "a pooler in between hands connections on after each transaction";
  throw journalFault("JOURNAL_UNFIT", shown, what);
}
