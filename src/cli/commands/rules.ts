import type { Command } from "commander";
import { EXIT } from "../exit.ts";
import { mirrorNamed, placesOf } from "../paths.ts";
import { printable } from "../../std/printable.ts";
import type { Shell } from "../shell.ts";
import { archivesOf, secretsOf } from "../../config/config.ts";
import type { Mirror } from "../../config/config.ts";
import { redactor } from "../../std/log.ts";
import type { RawPath } from "../../std/raw-path.ts";
import { askedHook, type Trial, trialLines, trialOf } from "../../report/trial.ts";
import { examples } from "../option-values.ts";
import { failureOf } from "../../domain/failure.ts";
import { mountOf, readMounts } from "../../source/mounts.ts";
import { Fault, UsageError } from "../../std/fault.ts";
import { sourceSettings } from "../../sync/reader-mirror.ts";
import { whyLeftOut } from "../../source/eligible.ts";
import { StatReader } from "../../report/stat-reader.ts";

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
  const redact = redactor(secretsOf(config));
  for (const [index, trial] of trials.entries()) {
    if (options.json === true) await shell.out.line(redact(JSON.stringify(trial)));
    else {
      if (index > 0) await shell.out.line("");
      for (const line of trialLines(trial, hasSeveral))
        await shell.out.line(printable(redact(line)));
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

/** Tries the rules of a mirror on paths below its source; `hooks`: and runs its `before` hook. */
async function trialsOn(
  mirror: Mirror,
  paths: readonly RawPath[],
  shell: Shell,
  hooks = false,
): Promise<Trial[]> {
  const { clock, random } = shell.processContext;
  const settings = sourceSettings(mirror, mountOf(mirror.source, readMounts()), null);
  const trials: Trial[] = [];
  let statReader: StatReader | undefined;
  let offline: string | undefined;
  try {
    statReader = await StatReader.open(mirror, { id: 1, device: null }, { clock, random });
    if (!statReader.status.online) offline = statReader.status.why;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    offline = error.message;
  }
  try {
    for (const path of paths) {
      const leftOut = whyLeftOut(settings, path);
      const notes = leftOut === undefined ? [] : [`never sent: ${leftOut}`];
      if (offline === undefined && statReader)
        trials.push(await onDisk(statReader, mirror, path, { notes, hooks }, clock.now()));
      else
        trials.push(
          unseen(mirror, path, [...notes, `the source is offline: ${offline}`], clock.now()),
        );
    }
    return trials;
  } finally {
    await statReader?.[Symbol.asyncDispose]();
  }
}

async function onDisk(
  statReader: StatReader,
  mirror: Mirror,
  path: RawPath,
  { notes, hooks }: { readonly notes: readonly string[]; readonly hooks: boolean },
  now: number,
): Promise<Trial> {
  const [seen] = await statReader.reader.look(statReader.mirrorId, [path]);
  const isThere = seen !== null && seen !== undefined;
  const read = await statReader.reader.notes(statReader.mirrorId, path, isThere);
  const told = isThere
    ? notes
    : [...notes, "there is no such file; scanferry uses the current time for it"];
  const facts = {
    mirror: mirror.name,
    path,
    modifiedAt: seen?.modifiedAt ?? now,
    at: now,
    sidecar: read.kind === "notes" ? read.sidecar : null,
  };
  const trial = trialOf({ mirror, facts, notes: told });
  if (read.kind === "notes")
    return hooks && isThere ? askedHook(statReader, mirror, facts, trial) : trial;
  const { code, message } = read.problem;
  return { ...trial, error: { code, message, hint: failureOf(code).hint } };
}

function unseen(mirror: Mirror, path: RawPath, notes: readonly string[], now: number): Trial {
  const facts = {
    mirror: mirror.name,
    path,
    modifiedAt: now,
    at: now,
    sidecar: null,
  };
  return trialOf({ mirror, facts, notes });
}
