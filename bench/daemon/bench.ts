/** What every case of the bench gets, and what it hands back. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";

/** One group of figures; `npm run bench -- --only NAME` runs it alone. */
export type Case = {
  readonly name: string;
  /** Hands its figures to `bench.found`; throws for a crash or a wrong result, never for a time. */
  run(bench: Bench): Promise<void>;
};

/** A figure that is looked for, and how far it is to reach. */
export type Finding = {
  readonly what: string;
  /** What scanferry took, with units. */
  readonly ours: string;
  /** What the tool next to it took, with its name and units; empty where there is none. */
  readonly beside: string;
  /** What is compared with the bound. */
  readonly value: number;
  readonly bound: Bound;
};

/** Exactly one of the two limits, in `unit`: `×` for a ratio. */
export type Bound = { readonly atLeast?: number; readonly atMost?: number; readonly unit: string };

/** A finding with the machine's load at that time: others may have been at work. */
export type Found = Finding & { readonly load: number };

export class WrongResult extends Error {}

export class Bench {
  /** Smaller trees, one round. */
  readonly quick: boolean;
  readonly rounds: number;
  /** Everything that is generated is below it. */
  readonly dir: string;
  readonly found: Found[] = [];
  /** Lines for below the table: plots, shares, what was skipped. */
  readonly notes: string[] = [];
  readonly #missing = new Set<string>();

  constructor(dir: string, quick: boolean, rounds: number) {
    this.dir = dir;
    this.quick = quick;
    this.rounds = rounds;
  }

  say(line: string): void {
    console.log(`  ${line}`);
  }

  note(line: string): void {
    this.notes.push(line);
    this.say(line);
  }

  find(finding: Finding): void {
    const found = { ...finding, load: loadavg()[0] ?? 0 };
    this.found.push(found);
    const told = [found.what, found.ours, found.beside].filter((part) => part !== "").join("; ");
    this.say(`${told}: ${shownValue(found)} (load ${found.load.toFixed(1)})`);
  }

  /** A directory of its own for `name`. */
  place(...name: string[]): string {
    const place = join(this.dir, ...name);
    mkdirSync(place, { recursive: true });
    return place;
  }

  /** Whether a tool is installed; one that is not is named once, and what needs it is left out. */
  has(tool: string): boolean {
    if (versionOf(tool) !== undefined) return true;
    if (!this.#missing.has(tool)) this.note(`${tool} is not installed: what needs it was left out`);
    this.#missing.add(tool);
    return false;
  }
}

/** The first line in which a tool tells its version; undefined when it is not installed. */
export function versionOf(tool: string): string | undefined {
  const word = tool === "restic" || tool === "rclone" ? "version" : "--version";
  try {
    const text = execFileSync(tool, [word], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    return text.split("\n", 1)[0];
  } catch {
    return undefined;
  }
}

/** @throws `WrongResult` unless `right` */
export function check(right: boolean, what: string): asserts right {
  if (!right) throw new WrongResult(what);
}

export function isReached({ value, bound }: Finding): boolean {
  return value >= (bound.atLeast ?? -Infinity) && value <= (bound.atMost ?? Infinity);
}

export function shownValue({ value, bound }: Finding): string {
  return `${rounded(value)} ${bound.unit}`;
}

export function shownBound({ atLeast, atMost, unit }: Bound): string {
  return atLeast === undefined ? `≤ ${atMost} ${unit}` : `≥ ${atLeast} ${unit}`;
}

/** Three digits that count, without an exponent. */
export function rounded(value: number): string {
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value
    .toFixed(Math.min(digits, 4))
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}

/** The middle one; of an even number the greater of the two. */
export function median(values: readonly number[]): number {
  return medianBy(values, (value) => value);
}

/** The element whose `of` is the median. @throws when there is none */
export function medianBy<T>(values: readonly T[], of: (value: T) => number): T {
  const middle = values.toSorted((a, b) => of(a) - of(b))[Math.floor(values.length / 2)];
  if (middle === undefined) throw new Error("a median of nothing");
  return middle;
}

/** Measures all of them in turns, so that a noisy minute falls on each alike; one list for each. */
export async function inTurns<T>(
  rounds: number,
  measures: readonly ((round: number) => Promise<T>)[],
): Promise<T[][]> {
  const results: T[][] = measures.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, measure] of measures.entries()) results[index]?.push(await measure(round));
  }
  return results;
}
