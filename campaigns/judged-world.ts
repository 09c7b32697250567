/** Worlds whose archive stored in time; one in which it did not says nothing about doubles. */
import type { CampaignRun } from "./campaign.ts";
import { LateStores, type Since } from "./late-stores.ts";

/** Longer than an archive on a loaded machine takes to store what it was sent. */
const WINDOW_MS = 10_000;

/** Times that a world is made because its archive took longer all the same. */
const TRIES = 3;

/** `upload.doubt.window` of the daemons in such a world. */
export const DOUBT_WINDOW = `${WINDOW_MS}ms`;

/** How late archives stored what they were sent. */
export class Lateness {
  readonly #windowMs: number;
  readonly #since: Since;
  #voids = 0;
  #longestMs = 0;

  constructor(windowMs = WINDOW_MS, since: Since = "lost") {
    this.#windowMs = windowMs;
    this.#since = since;
  }

  /**
   * What `live` returns of a world that was none too late; a world that was learns about, and lived
   * through again. Undefined, and a broken promise, after several of these in a row.
   */
  async judge<T>(run: CampaignRun, live: (late: LateStores) => Promise<T>): Promise<T | undefined> {
    for (let time = 1; time <= TRIES; time++) {
      const late = new LateStores(this.#windowMs, this.#since);
      const result = await live(late);
      if (!late.isVoid) {
        this.#longestMs = Math.max(this.#longestMs, late.longestMs);
        return result;
      }
      this.#voids += 1;
      run.say(`VOID: the archive stored a document ${late.longestMs} ms after its reply was lost`);
    }
    run.broken(`the archive stored too late in ${TRIES} worlds: nothing is proven`);
    return undefined;
  }

  get figures(): Record<string, string | number> {
    return {
      "stored after its reply was lost, at most": `${this.#longestMs} ms, looked for ${this.#windowMs} ms`,
      "worlds void, since it was stored later than that": this.#voids,
    };
  }
}
