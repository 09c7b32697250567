import type { Config } from "../config/config.ts";
import { openJournal, type OpenedJournal, ownerOf } from "../journal/open-journal.ts";
import type { Owner } from "../journal/owner-lock.ts";
import { codeOf } from "../std/fault.ts";

/** Opens the journal to look at it; undefined while there is none yet. */
export async function readJournal({ journal }: Config): Promise<OpenedJournal | undefined> {
  try {
    return await openJournal(journal, "reader");
  } catch (error) {
    if (codeOf(error) === "JOURNAL_MISSING") return undefined;
    throw error;
  }
}

/** Opens the journal to write to it next to a daemon, or without one. Throws JOURNAL_MISSING. */
export function writeJournal({ journal }: Config): Promise<OpenedJournal> {
  return openJournal(journal, "guest");
}

/** The daemon that works on the journal now; undefined when there is none. */
export async function runningDaemon({ journal }: Config): Promise<Owner | undefined> {
  return ownerOf(journal);
}
