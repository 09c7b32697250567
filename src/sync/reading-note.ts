/** How far the reading of a whole archive is: nothing is sent meanwhile, and a large one takes minutes. */
import type { ArchiveJournal } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";

/** What takes less is not noted. */
const NOTED_EACH_MS = 10_000;

/** A note is old after this long: who read was killed. */
const NOTE_MS_MAX = 5 * 60_000;

type Journal = Pick<ArchiveJournal, "archiveId" | "keyValue" | "setKeyValue">;

const keyOf = ({ archiveId }: Journal) => `reading:${archiveId}`;

/** Pages of the list of all documents: which one was read last, and how many there are. */
export type PagesRead = { readonly page: number; readonly of: number };

/** How far it is; null: nothing is read. */
export async function readSoFar(journal: Journal, now: number): Promise<PagesRead | null> {
  const noted = await journal.keyValue(keyOf(journal));
  if (!noted) return null;
  const { at, page, of } = JSON.parse(noted) as PagesRead & { readonly at: number };
  return Math.abs(now - at) > NOTE_MS_MAX ? null : { page, of };
}

/** Writes it down where it takes long. */
export class ReadingNote {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #told: (read: PagesRead) => void;
  #notedAt: number | undefined;
  #isNoted = false;

  /** `told` learns what is written. */
  constructor(journal: Journal, clock: Clock, told: (read: PagesRead) => void) {
    this.#journal = journal;
    this.#clock = clock;
    this.#told = told;
  }

  /** A page was read. */
  async read(pages: PagesRead): Promise<void> {
    const now = this.#clock.monotonic();
    if (now - (this.#notedAt ??= now) < NOTED_EACH_MS) return;
    this.#notedAt = now;
    this.#isNoted = true;
    this.#told(pages);
    await this.#write(JSON.stringify({ at: this.#clock.now(), ...pages }));
  }

  /** All were read. */
  async end(): Promise<void> {
    this.#notedAt = undefined;
    if (this.#isNoted) await this.#write("");
    this.#isNoted = false;
  }

  async #write(text: string): Promise<void> {
    await this.#journal.setKeyValue(keyOf(this.#journal), text);
  }
}
