/** The latest lines of the log, for the page: in memory, and no more than a bounded number of characters. */

/** Of which the page shows some hundreds that match; and of all together. */
const LINES_MAX = 5_000;
const CHARACTERS_MAX = 2_097_152;

export class RecentLines {
  readonly #lines: string[] = [];
  #characters = 0;

  /** One line, as it is written to the log. */
  add(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    while (this.#lines.length > LINES_MAX || this.#characters > CHARACTERS_MAX) {
      this.#characters -= this.#lines.shift()?.length ?? 0;
    }
  }

  /** The oldest first. */
  get all(): readonly string[] {
    return this.#lines;
  }
}

/** One, whatever logs are opened one after another. */
export const recentLines = new RecentLines();
