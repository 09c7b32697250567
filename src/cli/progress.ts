import type { Document, State } from "../domain/document.ts";
import type { Applied } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import { printable } from "../std/printable.ts";
import { ProgressBar } from "./progress-bar.ts";
import type { Terminal } from "./terminal.ts";
import { counted } from "../std/wording.ts";
import type { Counts } from "../report/status.ts";

/** States that are worth a line where there is no terminal to draw on. */
const TOLD: readonly State[] = ["uploaded", "converted", "held", "failed"];

/** So many lines at once, and so many a second from then on: the rest is summed up. */
const LINES_MAX = 200;
const LINES_PER_SECOND = 2;

/** How often what was not told on its own is summed up. */
const SUM_MS = 5_000;

/**
 * Tells how a pass goes: a bar that is drawn over on terminals; elsewhere a line a document, and where
 * there are many of them a line of numbers now and then.
 */
export class Progress {
  readonly #out: Terminal;
  readonly #clock: Clock;
  readonly #isQuiet: boolean;
  readonly #bar: ProgressBar;
  /** Unfinished files that were reported; they are looked at again and again. */
  readonly #waitedFor = new Set<number>();
  /** What this pass itself did. */
  #sent = 0;
  #converted = 0;
  /** Lines that may still be printed, as of a moment. */
  #lines = LINES_MAX;
  #linesAt: number;
  #summedAt: number;

  /** `isQuiet`: where nothing is drawn over, nothing is printed either. */
  constructor(out: Terminal, clock: Clock, isQuiet = false) {
    this.#out = out;
    this.#isQuiet = isQuiet;
    this.#clock = clock;
    this.#bar = new ProgressBar(out, clock);
    this.#linesAt = clock.monotonic();
    this.#summedAt = this.#linesAt;
  }

  get sent(): number {
    return this.#sent;
  }

  get converted(): number {
    return this.#converted;
  }

  /** How many documents there were before. */
  begin(counts: Counts): void {
    this.#bar.begin(counts);
  }

  journaled(applied: readonly Applied[]): void {
    this.#bar.journaled(applied);
    for (const { change, document, from, skipped } of applied) {
      if (skipped || !document || change.type !== "event") continue;
      if (change.event.type === "unfinished") this.#tellWaiting(document);
      if (document.state === from) continue;
      // What is adopted was sent before.
      if (document.state === "uploaded" && change.event.type !== "adopted") this.#sent += 1;
      if (document.state === "converted") this.#converted += 1;
      if (TOLD.includes(document.state)) this.#tell(document);
    }
  }

  /** Another writer prints a line. */
  giveWay(): void {
    this.#bar.giveWay();
  }

  /** Clears what is drawn over. */
  end(): void {
    this.#bar.end();
  }

  #tellWaiting(document: Document): void {
    if (this.#waitedFor.has(document.id)) return;
    this.#waitedFor.add(document.id);
    this.#tell(document);
  }

  #tell(document: Document): void {
    if (this.#out.isInteractive || this.#isQuiet) return;
    const now = this.#clock.monotonic();
    const grown = ((now - this.#linesAt) / 1_000) * LINES_PER_SECOND;
    this.#lines = Math.min(LINES_MAX, this.#lines + grown);
    this.#linesAt = now;
    if (this.#lines >= 1) {
      this.#lines -= 1;
      this.#out.print(`${lineOf(document)}\n`);
    } else if (now - this.#summedAt >= SUM_MS) {
      this.#summedAt = now;
      this.#out.print(`… ${this.#bar.words()}\n`);
    }
  }
}

function lineOf({ state, problem, documentId, pages, dir, name }: Document): string {
  const path = shown(joinRaw(dir, name));
  const archived = documentId === null ? "" : `  document ${documentId}`;
  const paper = pages === null ? "" : `, ${counted(pages, "page")}`;
  const why = problem ? `  ${printable(`${problem.code}: ${problem.message}`)}` : "";
  return `${state.padEnd(9)}  ${path}${archived}${paper}${why}`;
}
