/** The daemon's own opening of the journal, and what it logs of one that several daemons share. */
import type { Config } from "../config/config.ts";
import { shownJournal } from "../config/journal-place.ts";
import type { Applied } from "../journal/journal.ts";
import { openJournal, type OpenedJournal } from "../journal/open-journal.ts";
import type { Clock } from "../std/clock.ts";
import type { Log } from "../std/log.ts";
import { version } from "./version.ts";

type Opening = { readonly config: Config; readonly log: Log; readonly clock: Clock };

/** Opens the journal for a daemon, which becomes its owner, or one of those that share it. */
export async function openDaemonJournal(
  { config, log, clock }: Opening,
  onApplied: (applied: Applied[]) => void,
): Promise<OpenedJournal> {
  const { journal: place } = config;
  if (typeof place !== "string" && place.hasPasswordInUrl) {
    log.warn({}, "the journal's password is in its URL; journal.passwordFile keeps it apart");
  }
  const journal = await openJournal(place, "owner", {
    owner: { pid: process.pid, startedAt: clock.now(), version },
    onApplied,
    clock,
  });
  if (journal.migrated) log.info(journal.migrated, "the journal's tables were brought up to date");
  if (typeof place !== "string") logAbsence(journal, log, shownJournal(place));
  return journal;
}

/** Once when the database goes, and once when it is back. */
function logAbsence({ crew }: OpenedJournal, log: Log, journal: string): void {
  crew.listen((change) => {
    if (change.type === "away") {
      const { why } = change;
      log.error(
        { journal, why },
        "the journal cannot be reached; nothing is sent until it is back",
      );
    }
    if (change.type === "back") log.info({ journal }, "the journal is back; going on");
  });
}

/** Tells the other daemons where this one's page is. One that is alone needs to tell nobody. */
export async function announcePage(
  { announce, crew }: Pick<OpenedJournal, "announce" | "crew">,
  web: string,
): Promise<void> {
  if (crew.memberId !== 0) await announce({ pid: process.pid, startedAt: 0, version, web });
}
