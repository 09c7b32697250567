/** What there is to know of a database before a journal is trusted to it. */
import { type PostgresPlace, shownJournal } from "../../network/journal-place.ts";
import type { Clock } from "../../std/clock.ts";
import { invariant } from "../../std/fault.ts";
import { databaseTime } from "./cluster-statements.ts";
import { PgSession } from "./session.ts";

/** What the database says of its own. */
export type ServerFacts = {
  readonly version: string;
  /** Milliseconds from a question to its answer, the best of a few. */
  readonly answerMs: number;
  /** By how much its clock is ahead of this host's, milliseconds. */
  readonly clockOffsetMs: number;
  /** Settings with which a power cut may take what was committed, and what that means. */
  readonly unsafe: readonly { readonly setting: string; readonly what: string }[];
};

/** Questions of which the quickest answer counts. */
const ASKED = 5;

/** Looks at the database of a journal. Rejects with a `Fault` where it cannot be reached or used. */
export async function lookAt(place: PostgresPlace, clock: Clock): Promise<ServerFacts> {
  const { server, schema, password } = place;
  const session = await PgSession.open({
    url: server,
    schema,
    role: "reader",
    clock,
    ...(password !== undefined && { password: () => password }),
  });
  try {
    const settings = await session.read((query) =>
      query<{ version: string; fsync: string; pages: string }>(
        `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
                current_setting('full_page_writes') AS pages`,
        [],
      ),
    );
    const [set] = settings.rows;
    invariant(set, `${shownJournal(place)} has settings`);
    let answerMs = Number.POSITIVE_INFINITY;
    let clockOffsetMs = 0;
    for (let asked = 0; asked < ASKED; asked++) {
      const [from, wall] = [clock.monotonic(), clock.now()];
      const now = await session.read(databaseTime);
      const took = clock.monotonic() - from;
      if (took >= answerMs) continue;
      answerMs = took;
      clockOffsetMs = now - (wall + took / 2);
    }
    const what = "a power cut may take what was acknowledged";
    const unsafe = [
      ...(set.fsync === "on" ? [] : [{ setting: "fsync = off", what }]),
      ...(set.pages === "on" ? [] : [{ setting: "full_page_writes = off", what }]),
    ];
    return { version: set.version, answerMs, clockOffsetMs, unsafe };
  } finally {
    await session.close();
  }
}
