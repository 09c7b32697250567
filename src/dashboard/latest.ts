import type { Clock } from "../std/clock.ts";

/**
 * The answer to a costly question, shared by all who ask within `ageMaxMs`, so that the number of
 * people who look does not become load on the journal.
 */
export class Latest<T> {
  readonly #ask: () => Promise<T>;
  readonly #clock: Clock;
  readonly #ageMaxMs: number;
  #asked: { readonly at: number; readonly answer: Promise<T> } | undefined;

  constructor(ask: () => Promise<T>, clock: Clock, ageMaxMs: number) {
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
    return this.#asked.answer;
  }

  /** Something changed: the next `read` asks anew. */
  forget(): void {
    this.#asked = undefined;
  }
}
