/** What every campaign shares: its options, its seed, its closing figures and how to repeat it. */
import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

/** A long run of injected faults; `npm run campaign:NAME`, one file each in this folder. */
export type Campaign = {
  readonly name: string;
  /** One line: what is injected, and what must hold. */
  readonly about: string;
  /** What `count` counts, e.g. `kills`. */
  readonly unit: string;
  /** How many there are in CI (`--short`), and how many else. */
  readonly count: { readonly short: number; readonly long: number };
  /** Bugs that can be planted, each of which it must find: `--planted NAME`. */
  readonly planted?: readonly string[];
  /** The body. It throws for what cannot be run at all, and reports every broken promise. */
  run(run: CampaignRun): Promise<Figures>;
};

export type CampaignRun = {
  readonly seed: number;
  readonly count: number;
  readonly short: boolean;
  /** The planted bug. */
  readonly planted: string | undefined;
  /** Prints a line of progress. */
  say(line: string): void;
  /** Notes a broken promise; `repeat` adds options that lead to it sooner. */
  broken(what: string, repeat?: string): void;
};

/** Named figures, printed in this order and copied to docs/runs/campaigns.csv by hand. */
export type Figures = Readonly<Record<string, string | number>>;

/**
 * Runs the campaign with the options of the command line; exit code 1 where a promise broke, or where
 * none did in spite of a planted bug.
 */
export async function runCampaign(campaign: Campaign): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string" },
      count: { type: "string" },
      /** The form that CI runs. */
      short: { type: "boolean", default: false },
      planted: { type: "string" },
    },
  });
  const { planted } = values;
  if (planted !== undefined && !campaign.planted?.includes(planted)) {
    throw new Error(`--planted ${planted}: there are ${campaign.planted?.join(", ") ?? "none"}`);
  }
  const seed = values.seed === undefined ? randomInt(1, 2 ** 31) : natural("seed", values.seed);
  const usual = values.short ? campaign.count.short : campaign.count.long;
  const count = values.count === undefined ? usual : natural("count", values.count);
  const bug = planted === undefined ? "" : ` --planted ${planted}`;
  const again = `npm run campaign:${campaign.name} -- --seed ${seed} --count ${count}${bug}`;
  const broken: string[] = [];

  console.log(`campaign ${campaign.name}: ${campaign.about}`);
  console.log(
    `seed ${seed}, ${count} ${campaign.unit}, commit ${commit()}, node ${process.version}`,
  );
  const startedAt = performance.now();
  const figures = await campaign.run({
    seed,
    count,
    short: values.short,
    planted,
    say: (line) => console.log(`  ${line}`),
    broken(what, repeat = "") {
      broken.push(what);
      console.log(`  BROKEN ${what}\n  repeat: ${`${again} ${repeat}`.trimEnd()}`);
    },
  });
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  for (const [name, value] of Object.entries(figures)) console.log(`  ${name}: ${value}`);
  console.log(
    `${broken.length} broken, ${count} ${campaign.unit} in ${seconds} s; again: ${again}`,
  );
  if (planted === undefined ? broken.length > 0 : broken.length === 0) process.exitCode = 1;
}

function natural(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${name} ${text} is not a whole number above 0`);
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
