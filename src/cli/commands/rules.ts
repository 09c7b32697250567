import type { Command } from "commander";
import { examples } from "../examples.ts";
import { EXIT, UsageError } from "../exit.ts";
import { mirrorNamed, placesOf } from "../paths.ts";
import { printable } from "../../std/printable.ts";
import { trialsOn } from "../rules/on-disk.ts";
import type { Shell } from "../shell.ts";
import { archivesOf } from "../../config/archives.ts";
import type { Mirror } from "../../config/config.ts";
import type { RawPath } from "../../std/raw-path.ts";
import { type Trial, trialLines } from "../../report/trial.ts";

type Options = {
  readonly json?: boolean;
  readonly mirror?: string;
  readonly hooks?: boolean;
};

/** `scanferry rules test`: what the rules decide, before they act. */
export function addRules(program: Command, shell: Shell): void {
  const rules = program.command("rules").description("try the rules of the configuration");
  rules
    .command("test")
    .description("show which rule matches a path, and its folder, metadata, expiry and name")
    .argument("<path...>", "absolute, or relative to this directory or to a mirror's source")
    .option("--mirror <name>", "only of this mirror")
    .option("--hooks", "run the `before` hook, too, and show its answer")
    .option("--json", "print one JSON object a line")
    .action((paths: string[], options: Options) => test(shell, paths, options))
    .addHelpText("after", examples('scanferry rules test "Invoices/2026/R-4471 Nordwind.pdf"'));
}

async function test(shell: Shell, typed: readonly string[], options: Options): Promise<void> {
  const config = await shell.config();
  const mirrors =
    options.mirror === undefined ? config.mirrors : [mirrorNamed(options.mirror, config.mirrors)];
  const trials: Trial[] = [];
  for (const [mirror, paths] of byMirror(typed, shell.cwd, mirrors)) {
    trials.push(...(await trialsOn(mirror, paths, shell, options.hooks)));
  }
  const hasSeveral = archivesOf(config).length > 1;
  for (const [index, trial] of trials.entries()) {
    if (options.json === true) await shell.out.line(JSON.stringify(trial));
    else {
      if (index > 0) await shell.out.line("");
      for (const line of trialLines(trial, hasSeveral)) await shell.out.line(printable(line));
    }
  }
  shell.exitCode = trials.some(({ error }) => error) ? EXIT.unsettled : EXIT.done;
}

/** A path that may lie in several mirrors is tried in each. */
function byMirror(
  typed: readonly string[],
  cwd: string,
  mirrors: readonly Mirror[],
): Map<Mirror, RawPath[]> {
  const found = new Map<Mirror, RawPath[]>();
  for (const path of typed) {
    const places = placesOf(path, cwd, mirrors);
    for (const mirror of new Set(places.map((place) => place.mirror))) {
      const place = places.find((each) => each.mirror === mirror);
      if (place && place.path !== "") found.set(mirror, [...(found.get(mirror) ?? []), place.path]);
    }
  }
  if (found.size === 0) throw new UsageError(`${typed.join(" ")} is no file of a mirror`);
  return found;
}
