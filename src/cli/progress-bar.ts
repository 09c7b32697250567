/**
 * How far a pass is: a bar that is drawn over on terminals, with rate and remaining time. Elsewhere it
 * draws nothing, and says the same in words when it is asked.
 */
import type { State } from "../domain/document.ts";
import type { Applied } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { widthOf } from "./text-table.ts";
import { MOVING } from "../report/finding.ts";
import { STATE_STYLES } from "./status-lines.ts";
import type { Style, Terminal } from "./terminal.ts";
import { numberText, sizeText, spanText } from "../std/wording.ts";
import { type Counts, noDocuments } from "../report/status.ts";

/** A terminal is drawn on no more often than this, and while nothing happens as often as that. */
const DRAW_MS = 100;
const TICK_MS = 1_000;

const BAR_COLUMNS = 20;

/** A part of the line; the last ones are left out where there is no room. */
type Part = { readonly text: string; readonly style?: Style };

export class ProgressBar {
  readonly #out: Terminal;
  readonly #clock: Clock;
  readonly #counts: Counts = noDocuments();
  readonly #tempo = new Tempo();
  #done = 0;
  #bytes = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;
  #cancelTick: () => void = () => {};

  constructor(out: Terminal, clock: Clock) {
    this.#out = out;
    this.#clock = clock;
  }

  /** How many documents there were before. */
  begin(counts: Counts): void {
    Object.assign(this.#counts, counts);
    this.#draw();
  }

  journaled(applied: readonly Applied[]): void {
    for (const { document, from, skipped } of applied) {
      if (skipped) continue;
      const to = document?.state;
      if (from !== undefined) this.#counts[from] -= 1;
      if (to !== undefined) this.#counts[to] += 1;
      if (to === from) continue;
      if (isMoving(from) && to !== undefined && !isMoving(to)) this.#done += 1;
      if (document && to === "uploaded") this.#bytes += document.seen.sizeBytes;
    }
    this.#tempo.note(this.#clock.monotonic(), this.#done, this.#bytes);
    // That it is over is shown at once.
    const isDue = this.#clock.monotonic() - this.#drawnAt >= DRAW_MS;
    if (isDue || this.#left === 0) this.#draw();
  }

  /** Prints a whole line above the bar. */
  above(line: string): void {
    this.#clear();
    this.#out.print(`${line}\n`);
    if (this.#out.isInteractive) this.#draw();
  }

  /** The same in words, for where nothing is drawn over. */
  words(): string {
    return this.#parts()
      .map(({ text }) => text)
      .join(", ");
  }

  /** Clears the bar; what is printed from here on stands on its own. */
  end(): void {
    this.#cancelTick();
    this.#clear();
  }

  /** Clears the bar until something happens: another writer writes. */
  giveWay(): void {
    this.#clear();
  }

  #clear(): void {
    if (this.#isDrawn) this.#out.redraw();
    this.#isDrawn = false;
  }

  #draw(): void {
    if (!this.#out.isInteractive) return;
    this.#cancelTick();
    this.#drawnAt = this.#clock.monotonic();
    if (this.#left === 0) return this.#clear();
    const all = this.#done + this.#left;
    const full = Math.floor((this.#done / all) * BAR_COLUMNS);
    const bar = this.#out.paint("green", "█".repeat(full)) + "░".repeat(BAR_COLUMNS - full);
    let line = bar;
    let width = BAR_COLUMNS;
    for (const { text, style } of this.#parts()) {
      width += 2 + widthOf(text);
      // The last column stays free: some terminals go on to the next line there.
      if (width >= this.#out.width) break;
      line += `  ${style === undefined ? text : this.#out.paint(style, text)}`;
    }
    this.#out.redraw(line);
    this.#isDrawn = true;
    this.#cancelTick = this.#clock.alarm(TICK_MS, () => this.#draw());
  }

  get #left(): number {
    return MOVING.reduce((sum, state) => sum + this.#counts[state], 0);
  }

  #parts(): Part[] {
    const { settling, inDoubt, uploaded, held, failed } = this.#counts;
    const left = this.#left;
    const now = this.#clock.monotonic();
    const rate = this.#tempo.rate(now, this.#done, this.#bytes);
    const remaining = remainingMs(left, rate);
    const numbered = (count: number, what: string, state?: State): Part[] => {
      if (count === 0) return [];
      const text = `${numberText(count)} ${what}`;
      return [state === undefined ? { text } : { text, style: STATE_STYLES[state] }];
    };
    return [
      { text: `${numberText(this.#done)} of ${numberText(this.#done + left)}` },
      ...(remaining === undefined ? [] : [{ text: `${spanText(remaining)} left` }]),
      ...(rate === undefined || rate.documents <= 0
        ? []
        : [{ text: `${rate.documents.toFixed(1)}/s` }]),
      ...(rate === undefined || rate.bytes <= 0 ? [] : [{ text: `${sizeText(rate.bytes)}/s` }]),
      ...numbered(failed, "failed", "failed"),
      ...numbered(held, "held", "held"),
      ...numbered(inDoubt, "in doubt", "inDoubt"),
      ...numbered(uploaded, "converting"),
      ...numbered(settling, "settling"),
    ];
  }
}

function isMoving(state: State | undefined): boolean {
  return state !== undefined && MOVING.includes(state);
}

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
