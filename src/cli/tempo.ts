/** How fast a pass goes, and how long it will take: of the last seconds, not of all that has been. */
export class Tempo {
  readonly #samples: { at: number; documents: number; bytes: number }[] = [];

  /** Notes how much is done at `now` (a clock that only grows, ms). */
  note(now: number, documents: number, bytes: number): void {
    const last = this.#samples.at(-1);
    if (last && now - last.at < EVERY_MS) return;
    this.#samples.push({ at: now, documents, bytes });
    const [, second] = this.#samples;
    if (second && now - second.at >= WINDOW_MS) this.#samples.shift();
  }

  /** Documents and bytes a second up to `now`; undefined while too little has been seen. */
  rate(now: number, documents: number, bytes: number): Rate | undefined {
    const [first] = this.#samples;
    if (!first) return undefined;
    const seconds = (now - first.at) / 1_000;
    if (seconds < SECONDS_MIN) return undefined;
    return {
      documents: (documents - first.documents) / seconds,
      bytes: (bytes - first.bytes) / seconds,
    };
  }
}

/** A second. */
export type Rate = { readonly documents: number; readonly bytes: number };

/** Samples are taken no more often than this. */
const EVERY_MS = 500;
/** Long enough to smooth one slow document, short enough to follow a link that got slower. */
const WINDOW_MS = 20_000;
const SECONDS_MIN = 1;

/** How long `left` documents take at this rate, ms; undefined where nobody can say. */
export function remainingMs(left: number, rate: Rate | undefined): number | undefined {
  return rate === undefined || rate.documents <= 0 ? undefined : (left / rate.documents) * 1_000;
}
