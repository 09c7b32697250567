import { Fault } from "../std/fault.ts";

/** One thing that is wrong with the configuration. Never holds a secret. */
export type ConfigProblem = {
  /** The file it is in, absolute; empty when no file was found at all. */
  readonly file: string;
  /** The key, e.g. `mirrors[0].settle`; empty when it is about the file as a whole. */
  readonly key: string;
  /** Counted from 1. */
  readonly line?: number | undefined;
  /** Counted from 1. */
  readonly column?: number | undefined;
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
