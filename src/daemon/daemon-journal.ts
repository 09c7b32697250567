/** The daemon's own opening of the journal, and what it logs of one that several daemons share. */
import type { Config } from "../config/config.ts";
import { shownJournal } from "../network/journal-place.ts";
import type { Applied, Journal } from "../journal/journal.ts";
import { openJournal, type OpenedJournal } from "../journal/open-journal.ts";
import type { Clock } from "../std/clock.ts";
import type { Log } from "../std/log.ts";
import { version } from "./version.ts";

/** What of `shutdown` is kept for ending once the journal is waited for no more, milliseconds. */
const ENDING_MS = 5_000;

export type JournalOpening = {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** Until this aborts a journal that cannot be reached is waited for; absent: opening fails. */
  readonly patience?: AbortSignal;
  /**
   * Once this, or `patience`, has aborted, one that was opened is waited for only as long as that
   * leaves time to end within `shutdown`.
   */
  readonly ending?: AbortSignal;
};

/** An open journal, whose daemon says later who learns what is journaled. */
export class DaemonJournal {
  readonly journal: Journal & Partial<OpenedJournal>;
  onApplied: (applied: Applied[]) => void = () => undefined;

  private constructor(journal: Journal, relay: Relay) {
    this.journal = journal;
    relay.to = (applied) => this.onApplied(applied);
  }

  /** Opens what the configuration names; rejects as `openJournal` does. */
  static open(opening: JournalOpening): Promise<DaemonJournal> {
    return DaemonJournal.over((onApplied) => openDaemonJournal(opening, onApplied));
  }

  /** Any journal; `open` is given whom to tell what is journaled. */
  static async over(
    open: (onApplied: (applied: Applied[]) => void) => Promise<Journal>,
  ): Promise<DaemonJournal> {
    const relay: Relay = { to: () => undefined };
    return new DaemonJournal(await open((applied) => relay.to(applied)), relay);
  }

  close(): Promise<void> {
    return this.journal.close();
  }
}

type Relay = { to: (applied: Applied[]) => void };

/** Opens the journal for a daemon, which becomes its owner, or one of those that share it. */
async function openDaemonJournal(
  { config, log, clock, patience, ending = patience }: JournalOpening,
  onApplied: (applied: Applied[]) => void,
): Promise<OpenedJournal> {
  const { journal: place } = config;
  if (typeof place !== "string" && place.hasPasswordInUrl) {
    log.warn({}, "the journal's password is in its URL; move it to journal.passwordFile");
  }
  const journal = await openJournal(place, "owner", {
    owner: { pid: process.pid, startedAt: clock.now(), version },
    onApplied,
    clock,
    ...(ending && {
      patience: {
        signal: ending,
        lastMs: Math.max(config.shutdownMs - ENDING_MS, config.shutdownMs / 2),
        ...(patience && {
          onAway: (why) => log.warn({ why }, "cannot reach the journal yet; waiting for it"),
        }),
      },
    }),
  });
  if (journal.migrated && !journal.isNew)
    log.info(journal.migrated, "updated the journal's tables");
  return journal;
}

/** What a daemon says of its own as it starts. */
export function startedWith({ mirrors, journal }: Config): object {
  const names = mirrors.map(({ name }) => name);
  return { mirrors: names, journal: shownJournal(journal), version };
}
