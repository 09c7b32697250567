import { isDeepStrictEqual } from "node:util";
import { Fault } from "../std/fault.ts";

/** Where a key is in the file, top first: `["mirrors", 0, "settle"]`. */
export type KeyPath = readonly (string | number)[];

/** One thing that is wrong with the configuration. Never holds a secret. */
export type ConfigProblem = {
  /** The file it is in, absolute; empty when no file was found at all. */
  readonly file: string;
  /** The key, e.g. `mirrors[0].settle`; empty when it is about the file as a whole. */
  readonly key: string;
  /** Counted from 1. */
  readonly line?: number | undefined;
  /** What is wrong. */
  readonly message: string;
  /** What to do about it. */
  readonly fix: string;
};

/** The configuration cannot be used: everything that is wrong with it, in the order of its lines. */
export class ConfigError extends Fault {
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(
      "CONFIG_INVALID",
      problems.map(lineOf).join(" | "),
      problems[0]?.fix ?? "fix the configuration file",
    );
    this.problems = problems;
  }

  /** One line a problem: `FILE:LINE: KEY: what is wrong; what to do`. */
  lines(): string[] {
    return this.problems.map(lineOf);
  }
}

function lineOf(problem: ConfigProblem): string {
  const { file, line, key, message, fix } = problem;
  const place = line === undefined ? file : `${file}:${line}`;
  return [place, key, `${message}; ${fix}`].filter((part) => part !== "").join(": ");
}

/**
 * Collects what is wrong, so that everything is reported at once: no user should fix a file one error
 * at a time.
 */
export class ConfigProblems {
  readonly #file: string;
  readonly #locate: (key: KeyPath) => number | undefined;
  readonly #problems: ConfigProblem[] = [];
  /** By the keys that they set. */
  readonly #variables = new Map<string, string>();
  #variableFor: (key: KeyPath) => string | undefined = () => undefined;

  constructor(file: string, locate: (key: KeyPath) => number | undefined) {
    this.#file = file;
    this.#locate = locate;
  }

  /**
   * Notes a problem with the value (or the absence) of `key`; `at` is the line, where the key does not tell. The
   * same at the same place is one problem: for a file that ends early the parser says it of each bracket.
   * What could not be read is not missing.
   */
  report(key: KeyPath, message: string, remedy: string, at = this.#locate(key)): void {
    if (message.startsWith("is missing") && this.has(key)) return;
    const variable =
      this.variableOf(key) ?? (at === undefined ? this.#variableBelow(key) : undefined);
    const where = variable === undefined ? this.#file : `$${variable}`;
    const line = variable === undefined ? at : undefined;
    const missing = message === "is missing" ? this.#variableFor(key) : undefined;
    const fix = missing === undefined || remedy.includes("$") ? remedy : `set $${missing}`;
    this.#add({ file: where, key: writtenKey(key), line, message, fix });
  }

  /** What is below `key`. */
  at(...key: KeyPath): Place {
    return new Place(this, key);
  }

  /** There is no file: what is missing is to be set by the variable of its key. */
  askForVariables(variableFor: (key: KeyPath) => string | undefined): void {
    this.#variableFor = variableFor;
  }

  /** Notes a problem with an environment variable that sets no key, or not this one. */
  reportVariable(name: string, message: string, fix: string): void {
    this.#add({ file: `$${name}`, key: "", message, fix });
  }

  /** An environment variable has set `key`: what is wrong with that, is wrong with the variable. */
  cameFrom(key: KeyPath, variable: string): void {
    this.#variables.set(writtenKey(key), variable);
  }

  /** The variable that has set `key`, or the list that it is in. */
  variableOf(key: KeyPath): string | undefined {
    const isItem = typeof key.at(-1) === "number";
    const own = this.#variables.get(writtenKey(key));
    return own ?? (isItem ? this.#variables.get(writtenKey(key.slice(0, -1))) : undefined);
  }

  /** The first that has set a key of a section that the file does not have. */
  #variableBelow(section: KeyPath): string | undefined {
    const start = `${writtenKey(section)}.`;
    return [...this.#variables].find(([key]) => key.startsWith(start))?.[1];
  }

  /** The line of `key` in the file, counted from 1; undefined where it is not there. */
  lineOf(key: KeyPath): number | undefined {
    return this.#locate(key);
  }

  #add(problem: ConfigProblem): void {
    if (!this.#problems.some((known) => isDeepStrictEqual(known, problem)))
      this.#problems.push(problem);
  }

  /** True when something is already known to be wrong at `key`, so that it is not told twice. */
  has(key: KeyPath): boolean {
    const written = writtenKey(key);
    return this.#problems.some((problem) => problem.key === written);
  }

  /** Throws `ConfigError` with everything found, in the order of the lines. */
  throwIfAny(): void {
    if (this.#problems.length === 0) return;
    const line = (problem: ConfigProblem) => problem.line ?? 0;
    throw new ConfigError(this.#problems.toSorted((a, b) => line(a) - line(b)));
  }
}

/** A section of the file, and what is wrong in it; keys are those of the section. */
export class Place {
  readonly #all: ConfigProblems;
  readonly #key: KeyPath;

  constructor(all: ConfigProblems, key: KeyPath) {
    this.#all = all;
    this.#key = key;
  }

  below(...key: KeyPath): Place {
    return new Place(this.#all, [...this.#key, ...key]);
  }

  has(...key: KeyPath): boolean {
    return this.#all.has([...this.#key, ...key]);
  }

  report(key: string | KeyPath, message: string, fix: string): void {
    this.#all.report([...this.#key, ...(typeof key === "string" ? [key] : key)], message, fix);
  }
}

/** `mirrors[0].settle`; what was written as a key and is no word is kept on one line. */
export function writtenKey(key: KeyPath): string {
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
