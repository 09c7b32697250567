import { type Config, type Mirror, accountsOf } from "../config/config.ts";
import { callerNow, type Caller, foreignPlace } from "../std/other-writer.ts";
import { DEFAULT, effectiveKeys } from "../config/load-config.ts";
import {
  fewText,
  OPEN_FILES_HINT,
  OPEN_FILES_MIN,
  OPEN_FILES_USUAL,
  openFilesMax,
} from "../std/open-files.ts";
import { examineAddressFilter } from "./address-filter.ts";
import { examineArchives } from "./archive.ts";
import { type CheckResult, fail, type Means, ok, warn } from "./check-result.ts";
import { examineJournal } from "./journal.ts";
import { examinePlaces } from "./places.ts";
import { examineSources } from "./sources.ts";
import { TIME_ZONE_HINT, timeZoneProblem, zoneName } from "../std/time-zone.ts";
import type { Clock } from "../std/clock.ts";
import { quoted } from "../std/printable.ts";
import { failureOf } from "../domain/failure.ts";
import type { ExpiryRule } from "../rules/rules.ts";
import { readJournal } from "../journal/open-journal.ts";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  statSync,
} from "node:fs";
import { join, dirname, resolve } from "node:path";

/** Where each value comes from that is not the default. */
async function* examineSettings({ file }: Config, means: Means): AsyncGenerator<CheckResult> {
  yield ok(`configuration: ${file ?? "environment variables only"}`);
  const keys = await effectiveKeys(means.places);
  const set = keys.filter(({ origin }) => origin !== DEFAULT);
  for (const { key, value, origin } of set) yield ok(`${key} is ${value} (${origin})`);
  yield ok(`${keys.length - set.length} other keys have their default values`);
}

/** Examines everything, one finding after another as it is known. */
export async function* examinationOf(config: Config, means: Means): AsyncGenerator<CheckResult> {
  yield* examineSettings(config, means);
  const foreign = [...examineForeign(config, callerNow())];
  yield* foreign;
  // The signing module would be run next.
  if (foreign.some(({ level }) => level === "FAIL")) return;
  const files = [...examineOpenFiles(openFilesMax())];
  yield* files;
  // What comes next starts readers, which would never be there.
  if (files.some(({ level }) => level === "FAIL")) return;
  yield* examineTimeZone(means);
  yield* examinePrograms(config, means.env["PATH"] ?? "");
  yield* examineArchives(config, means);
  yield* examineAddressFilter(config);
  yield* examineSources(config, means);
  yield* examinePlaces(config);
  yield* examineMail(config, means.clock);
  yield* examinePlugin(config);
  yield* examineJournal(config);
}

/** Do hours and schedules go by the time zone that is meant? */
export function* examineTimeZone({ env, clock }: Means): Generator<CheckResult> {
  const problem = timeZoneProblem(env, clock.now());
  if (problem !== undefined) yield warn(`time zone: ${problem}`, TIME_ZONE_HINT);
  else yield ok(`time zone ${zoneName()}`);
}

/** May enough files be open at once? Of this process: a daemon started elsewhere may have another limit. */
export function* examineOpenFiles(max: number | undefined): Generator<CheckResult> {
  if (max === undefined) return;
  if (max < OPEN_FILES_MIN) yield fail(fewText(max), OPEN_FILES_HINT);
  else if (max < OPEN_FILES_USUAL) yield warn(fewText(max), OPEN_FILES_HINT);
  else yield ok(`the limit of open files is ${max}`);
}

/** Each server is greeted, TLS is begun, and who has a user logs in. */
export async function* examineMail(
  { notify }: Pick<Config, "notify">,
  clock: Clock,
): AsyncGenerator<CheckResult> {
  const channels = notify?.channels ?? [];
  for (const channel of channels) {
    if (channel.by !== "mail") continue;
    // Loaded only where it is used.
    const { MailChannel } = await import("../notify/mail-channel.ts");
    const { name, host, port, login } = channel;
    const problem = await new MailChannel(channel).look(clock);
    const what = `mail: ${name}, ${host}:${port}`;
    if (problem) yield fail(`${what}: ${problem.what}`, problem.fix);
    else yield ok(`${what} answers${login ? `, and lets ${login.user} in` : ""}`);
  }
}

const CODE = "PLUGIN_REMINDER_NOT_INSTALLED";

/**
 * Expiry dates need a plugin of the account, which no question of the interface shows: only an
 * upload does. So this says what is known from those that were tried.
 */
async function* examinePlugin(config: Config): AsyncGenerator<CheckResult> {
  const dated = config.mirrors.filter(setsExpiry).map(({ name }) => name);
  if (dated.length === 0) return;
  await using journal = await readJournal(config).catch(() => undefined);
  const [refused] = (await journal?.heldWith([CODE], 1)) ?? [];
  const what = `${dated.join(", ")} set${dated.length > 1 ? "" : "s"} expiry dates`;
  if (refused) yield warn(`${what}, but the account has no reminder plugin`, failureOf(CODE).hint);
  else yield ok(`${what}; the first document shows whether the account has the reminder plugin`);
}

function setsExpiry({ rules: { expiry, rules } }: Mirror): boolean {
  const all = [expiry, ...rules.flatMap((rule) => rule.expiry ?? [])];
  const isSet = ({ after, from }: ExpiryRule) =>
    (after !== null && after !== "never") || from.kind === "sidecar";
  return all.some(isSet);
}

/** Are the commands of the hooks, and those that tell people, there, and can they be run? None of them is. */
export function* examinePrograms(
  { mirrors, notify }: Pick<Config, "mirrors" | "notify">,
  path: string,
): Generator<CheckResult> {
  for (const { name, hooks } of mirrors) {
    for (const kind of ["before", "after"] as const) {
      const [program] = hooks?.[kind]?.command ?? [];
      if (program !== undefined) yield findingOf(`mirror ${name}: ${kind} hook`, program, path);
    }
  }
  for (const channel of notify?.channels ?? []) {
    const [program] = channel.by === "command" ? channel.run : [];
    if (program !== undefined) yield findingOf(`notify ${channel.name}:`, program, path);
  }
}

function findingOf(what: string, program: string, path: string): CheckResult {
  const places = program.includes("/")
    ? [program]
    : path
        .split(":")
        .filter((folder) => folder !== "")
        .map((folder) => join(folder, program));
  const problems = places.map(problemWith);
  const found = problems.indexOf(undefined);
  if (found >= 0) return ok(`${what} ${places[found]} is executable`);
  const told = problems.find((problem) => problem !== NOT_THERE) ?? NOT_THERE;
  return fail(`${what} ${program} ${told.what}`, told.fix);
}

type Unusable = { readonly what: string; readonly fix: string };

const NOT_THERE: Unusable = { what: "is not there", fix: "Write its full path, or install it." };

/** Why it cannot be run; undefined when it can. */
function problemWith(path: string): Unusable | undefined {
  const fix = "Run chmod +x, or name another program.";
  try {
    if (!statSync(path).isFile()) return { what: "is no file", fix };
  } catch {
    return NOT_THERE;
  }
  try {
    accessSync(path, constants.X_OK);
  } catch {
    return { what: "is not executable for this user", fix };
  }
  const interpreter = interpreterOf(path);
  if (interpreter === undefined || existsSync(interpreter)) return undefined;
  const what = `begins with #! and ${quoted(interpreter)}, which is not there`;
  return { what, fix: "Correct that line, and give the file line ends of Unix (no \\r)." };
}

/** As much of a file as the kernel reads of a script's first line. */
const LINE_BYTES_MAX = 256;

/** What the kernel starts for a script; undefined for what is none, or may not be read. */
function interpreterOf(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    const bytes = Buffer.alloc(LINE_BYTES_MAX);
    const line = bytes.toString("utf8", 0, readSync(fd, bytes)).split("\n", 1)[0] ?? "";
    return /^#![ \t]*([^ \t]+)/.exec(line)?.[1];
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Can others change what the daemon reads its settings from, and what it runs? They would have the rights of the daemon's user. */
type Named = readonly [what: string, path: string];

const FIX =
  "Make root or the daemon's user its owner (chown), and remove the write permission of others (chmod go-w).";

/** Root is refused: it would run here what another user wrote. */
export function* examineForeign(config: Config, caller: Caller): Generator<CheckResult> {
  const told = new Set<string>();
  for (const [what, path] of namedIn(config)) {
    const foreign = foreignPlace(path, caller);
    if (foreign === undefined || told.has(foreign)) continue;
    told.add(foreign);
    const found = `${what} can be changed by another user: ${foreign}`;
    yield caller === 0
      ? fail(found, `${FIX} As root, check stops here; or run check as the daemon's user.`)
      : warn(found, FIX);
  }
}

function* namedIn(config: Config): Generator<Named> {
  const { file, mirrors, notify, secretFiles = [] } = config;
  if (file !== undefined) yield ["configuration", file];
  for (const { path } of secretFiles) yield ["secret", path];
  for (const { archive } of accountsOf(config)) {
    if (archive.signing.scheme === "module") yield ["signing module", archive.signing.module];
  }
  const folder = file === undefined ? "/" : dirname(file);
  for (const { name, hooks } of mirrors) {
    for (const kind of ["before", "after"] as const)
      yield* pathsIn(`mirror ${name}: ${kind} hook`, hooks?.[kind]?.command ?? [], folder);
  }
  for (const channel of notify?.channels ?? []) {
    if (channel.by === "command")
      yield* pathsIn(`notify ${channel.name}: program`, channel.run, channel.cwd);
  }
}

/** The program, and what an interpreter is given: `[node, ./hook.mjs]`. */
function* pathsIn(what: string, words: readonly string[], folder: string): Generator<Named> {
  for (const word of words) if (word.includes("/")) yield [what, resolve(folder, word)];
}
