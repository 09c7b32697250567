import type { Config } from "../config/config.ts";
import type { Applied, Journal } from "../journal/journal.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import type { Clock } from "../std/clock.ts";
import type { Log } from "../std/log.ts";
import { version } from "./version.ts";

type Relay = { to: (applied: Applied[]) => void };

/**
 * The journal, which may outlive the loops that work on it: a daemon that gains a duty begins its
 * loops anew and stays the same member of the crew. Closing the journal would give its duties away.
 */
export class KeptJournal {
  readonly journal: Journal;
  /** Told what is journaled, by whoever works on it just now. */
  onApplied: (applied: Applied[]) => void = () => undefined;

  #isKept = false;

  private constructor(journal: Journal, relay: Relay) {
    this.journal = journal;
    relay.to = (applied) => this.onApplied(applied);
  }

  /** Opens what `config` names; rejects as `SqliteJournal.open` does. */
  static open(config: Config, log: Log, clock: Clock): Promise<KeptJournal> {
    return KeptJournal.over(async (onApplied) => {
      const owner = { pid: process.pid, startedAt: clock.now(), version };
      const options = { path: config.journal, role: "owner", owner, onApplied } as const;
      const journal = await SqliteJournal.open(options);
      const { migrated } = journal;
      if (migrated) log.info(migrated, "the journal's tables were brought up to date");
      return journal;
    });
  }

  /** Any journal; `open` is given whom to tell what is journaled. */
  static async over(
    open: (onApplied: (applied: Applied[]) => void) => Promise<Journal>,
  ): Promise<KeptJournal> {
    const relay: Relay = { to: () => undefined };
    return new KeptJournal(await open((applied) => relay.to(applied)), relay);
  }

  /** From now on it stays open when a daemon lets go of it; once. */
  keep(): this {
    this.#isKept = true;
    return this;
  }

  /** Closes it, unless somebody keeps it. */
  async letGo(): Promise<void> {
    if (!this.#isKept) await this.journal.close();
    this.#isKept = false;
  }
}
