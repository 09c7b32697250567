/**
 * How many documents may be claimed and not settled at a time, as multiples of how many are sent at
 * once. Few, because what is claimed when the power goes is in doubt afterwards; more only while
 * commits are slower than the line, so that the line need not wait for the disk.
 */
const TIMES = { min: 2, max: 16 };

/** Grows while the line runs dry although there is enough to send; starts over when there is not. */
export class LookAhead {
  #times = TIMES.min;

  /** How many may be claimed in all where `concurrency` are sent at once. */
  documents(concurrency: number): number {
    return this.#times * concurrency;
  }

  /**
   * How many more may be claimed where `concurrency` are sent at once and `underWay` are claimed;
   * several or none, so that intents are committed in groups.
   */
  slots(concurrency: number, underWay: number): number {
    const documents = this.documents(concurrency);
    const slots = documents - underWay;
    return slots < documents / 4 ? 0 : slots;
  }

  /** `found` documents were there for `slots`; `ranDry`: less than possible was being sent. */
  found(found: number, slots: number, ranDry: boolean): void {
    if (found < slots) this.#times = TIMES.min;
    else if (ranDry) this.#times = Math.min(2 * this.#times, TIMES.max);
  }
}
