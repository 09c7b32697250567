import type { Config } from "../config/config.ts";
import { ownerOf } from "../journal/owner-lock.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { codeOf } from "../std/fault.ts";

/** Opens the journal to look at it; undefined while there is none yet. */
export async function readJournal({ journal }: Config): Promise<SqliteJournal | undefined> {
  try {
    return await SqliteJournal.open({ path: journal, role: "reader" });
  } catch (error) {
    if (codeOf(error) === "JOURNAL_MISSING") return undefined;
    throw error;
  }
}

/** Opens the journal to write to it beside a daemon, or without one. Throws JOURNAL_MISSING. */
export function writeJournal({ journal }: Config): Promise<SqliteJournal> {
  return SqliteJournal.open({ path: journal, role: "guest" });
}

/** The daemon that works on the journal now; undefined when there is none. */
export async function runningDaemon({ journal }: Config): ReturnType<typeof ownerOf> {
  return ownerOf(journal);
}
