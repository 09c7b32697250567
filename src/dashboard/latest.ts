import type { Clock } from "../std/clock.ts";

/** Who asks gets the answer before, or where there is none `instead`, after so long. */
export type Late<T> = { readonly afterMs: number; readonly instead: T };

/**
 * The answer to a costly question, shared by all who ask within `ageMaxMs`, so that the number of
 * people who look does not become load on the journal.
 */
export class Latest<T> {
  readonly #late: Late<T> | undefined;
  #last: T | undefined;
  readonly #ask: () => Promise<T>;
  readonly #clock: Clock;
  readonly #ageMaxMs: number;
  #asked: { readonly at: number; readonly answer: Promise<T> } | undefined;

  constructor(ask: () => Promise<T>, clock: Clock, ageMaxMs: number, late?: Late<T>) {
    this.#late = late;
    this.#ask = ask;
    this.#clock = clock;
    this.#ageMaxMs = ageMaxMs;
  }

  /** An answer to a question asked at most `ageMaxMs` ago; rejects as the question did. */
  read(): Promise<T> {
    const now = this.#clock.monotonic();
    if (this.#asked === undefined || now - this.#asked.at >= this.#ageMaxMs) {
      this.#asked = { at: now, answer: this.#ask() };
    }
    return this.#late ? this.#inTime(this.#asked.answer, this.#late) : this.#asked.answer;
  }

  async #inTime(answer: Promise<T>, { afterMs, instead }: Late<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    const cancel = this.#clock.alarm(afterMs, () => resolve(this.#last ?? instead));
    try {
      return await Promise.race([promise, answer.then((value) => (this.#last = value))]);
    } finally {
      cancel();
    }
  }

  /** Something changed: the next `read` asks again. */
  forget(): void {
    this.#asked = undefined;
  }
}
