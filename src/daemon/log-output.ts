/**
 * The log's way out, the standard output. Anyone who reads it, and whether anyone does: it neither ends
 * the daemon nor blocks it, and what waits for the reader is bounded. Beyond that lines are dropped,
 * and how many is reported once all that waited has been read.
 */
import type { Writable } from "node:stream";
import { neverBlock } from "../std/never-block.ts";

/** Characters that wait for the reader: thousands of lines, and little next to the heap. */
const WAITING_MAX = 1_048_576;

/**
 * So many times more may come in one turn of the event loop: ten thousand directories that cannot be read are
 * told in one, and no reader, however quick, can take anything before it ends.
 */
const BURST = 16;

export class LogOutput {
  readonly #stream: () => Writable;
  readonly #waitingMax: number;
  #text = "";
  #dropped = 0;
  #isOpen = false;

  /** `stream` is asked for with the first line. */
  constructor(stream: () => Writable, waitingMax = WAITING_MAX) {
    this.#stream = stream;
    this.#waitingMax = waitingMax;
  }

  /**
   * Writes a line, with those of the same turn of the event loop: thousands come with one commit, and
   * a write for each takes longer than making it. `dropped` says how many lines before it are missing.
   */
  write(line: string, dropped: (lines: number) => void): void {
    if (!this.#isOpen) this.#open();
    if (!this.#hasRoom) {
      this.#dropped += 1;
      return;
    }
    if (this.#text === "") queueMicrotask(() => this.#flush());
    const missing = this.#dropped;
    this.#dropped = 0;
    if (missing > 0) dropped(missing);
    this.#text += line;
  }

  get #hasRoom(): boolean {
    if (this.#text !== "") return this.#text.length <= BURST * this.#waitingMax;
    // Only once it has caught up: a reader that is merely slow learns about few large gaps, not of many small ones.
    return this.#stream().writableLength <= (this.#dropped > 0 ? 0 : this.#waitingMax);
  }

  #flush(): void {
    const text = this.#text;
    this.#text = "";
    if (text !== "") this.#stream().write(text, () => {});
  }

  /** Once: reloads open further logs, and their listeners would add up. */
  #open(): void {
    this.#isOpen = true;
    const stream = this.#stream();
    neverBlock(stream);
    stream.on("error", () => {});
    process.on("exit", () => this.#flush());
  }
}
