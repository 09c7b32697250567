import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/config.ts";
import type { Applied, Journal } from "../journal/journal.ts";
import type { OpenedJournal } from "../journal/open-journal.ts";
import { type JournalOpening, openDaemonJournal } from "./daemon-journal.ts";

type Relay = { to: (applied: Applied[]) => void };

/**
 * The journal, which may outlive the loops that work on it: a daemon that gains a duty begins its
 * loops anew and stays the same member of the crew. Closing the journal would give its duties away.
 */
export class KeptJournal {
  readonly journal: Journal & Partial<OpenedJournal>;
  /** Told what is journaled, by whoever works on it just now. */
  onApplied: (applied: Applied[]) => void = () => undefined;

  #isKept = false;

  private constructor(journal: Journal, relay: Relay) {
    this.journal = journal;
    relay.to = (applied) => this.onApplied(applied);
  }

  /** Opens what `config` names; rejects as `openJournal` does. */
  static open(opening: JournalOpening): Promise<KeptJournal> {
    return KeptJournal.over((onApplied) => openDaemonJournal(opening, onApplied));
  }

  /** Any journal; `open` is given whom to tell what is journaled. */
  static async over(
    open: (onApplied: (applied: Applied[]) => void) => Promise<Journal>,
  ): Promise<KeptJournal> {
    const relay: Relay = { to: () => undefined };
    return new KeptJournal(await open((applied) => relay.to(applied)), relay);
  }

  /** Tells commands and other daemons where this one's page is. */
  async announcePage(web: string): Promise<void> {
    await this.journal.announcePage?.(web);
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

/** One that the last life has left open, and the configuration it was opened with. */
export type Kept = { readonly journal: KeptJournal; readonly of: Config };

/** What was kept, where it is the journal that `config` names; else it is closed. */
export async function keptFor(
  config: Config,
  kept: Kept | undefined,
): Promise<KeptJournal | undefined> {
  if (!kept) return undefined;
  if (isDeepStrictEqual(kept.of.journal, config.journal)) return kept.journal;
  await kept.journal.letGo();
  return undefined;
}
