/** What a PostgreSQL has to be so that a journal can be kept in it. */
import { journalFault } from "../journal-fault.ts";
import type { Query } from "./query.ts";

/** As `server_version_num` has it. */
const VERSION_MIN = 140_000;

/** Rejects with `JOURNAL_UNFIT`. */
export async function assertFit(query: Query, shown: string): Promise<void> {
  const { rows } = await query<{ version: string; number: number; encoding: string }>(
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
