import { isDeepStrictEqual } from "node:util";
import { ConfigError, type Problem } from "./config-error.ts";

/** Where a key is in the file, top first: `["mirrors", 0, "settle"]`. */
export type Key = readonly (string | number)[];

/** A place in the file, counted from 1. */
export type Position = { readonly line: number; readonly column: number };

/**
 * Collects what is wrong, so that everything is told at once: nobody should mend a file one error
 * at a time.
 */
export class Findings {
  readonly #file: string;
  readonly #locate: (key: Key) => Position | undefined;
  readonly #problems: Problem[] = [];

  constructor(file: string, locate: (key: Key) => Position | undefined) {
    this.#file = file;
    this.#locate = locate;
  }

  /**
   * Notes a problem with the value (or the absence) of `key`; `at` where the key does not tell. The
   * same at the same place is one problem: for a file that ends early the parser says it of each bracket.
   */
  report(key: Key, message: string, mend: string, at = this.#locate(key)): void {
    const problem = {
      file: this.#file,
      key: writtenKey(key),
      line: at?.line,
      column: at?.column,
      message,
      mend,
    };
    if (!this.#problems.some((known) => isDeepStrictEqual(known, problem)))
      this.#problems.push(problem);
  }

  /** True when something is already known to be wrong at `key`, so that it is not told twice. */
  has(key: Key): boolean {
    const written = writtenKey(key);
    return this.#problems.some((problem) => problem.key === written);
  }

  /** Throws `ConfigError` with everything found, in the order of the lines. */
  throwIfAny(): void {
    if (this.#problems.length === 0) return;
    const line = (problem: Problem) => problem.line ?? 0;
    throw new ConfigError(this.#problems.toSorted((a, b) => line(a) - line(b)));
  }
}

/** `mirrors[0].settle`; what was written as a key and is no word is kept on one line. */
function writtenKey(key: Key): string {
  let written = "";
  for (const part of key) {
    if (typeof part === "number") written += `[${part}]`;
    else written += `${written === "" ? "" : "."}${wordOf(part)}`;
  }
  return written;
}

/** `accountKey:abc` (no blank after the colon) is one YAML word: what follows may be a secret. */
function wordOf(part: string): string {
  const [word = ""] = /^[\p{L}\p{N}_-]{0,40}/u.exec(part) ?? [];
  return word === part ? part : `${word}…`;
}
