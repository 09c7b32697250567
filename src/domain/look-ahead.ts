/**
 * How many documents may be claimed and not settled at a time, as multiples of how many are sent at
 * once. Few, because what is claimed when the power goes is in doubt afterwards; more only while
 * commits are slower than the line, so that the line need not wait for the disk.
 */
const TIMES = { min: 2, max: 16 };

/** Grows while the line runs dry although there is enough to send; starts over when there is not. */
export class LookAhead {
  readonly #concurrency: number;
  #documents: number;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
    this.#documents = TIMES.min * concurrency;
  }

  /** How many more may be claimed; several or none, so that intents are committed in groups. */
  slots(underWay: number): number {
    const slots = this.#documents - underWay;
    return slots < this.#documents / 4 ? 0 : slots;
  }

  /** `found` documents were there for `slots`, while of those under way `sending` were being sent. */
  found(found: number, slots: number, underWay: number, sending: number): void {
    const ranDry = underWay > 0 && sending < this.#concurrency;
    if (found < slots) this.#documents = TIMES.min * this.#concurrency;
    else if (ranDry) {
      this.#documents = Math.min(2 * this.#documents, TIMES.max * this.#concurrency);
    }
  }
}
