import type { Config } from "../config/config.ts";
import { callerNow } from "../std/other-writer.ts";
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
import { examineForeign } from "./examine-writers.ts";
import { examineJournal } from "./journal.ts";
import { examinePlaces } from "./places.ts";
import { examinePlugin } from "./plugin.ts";
import { examinePrograms } from "./programs.ts";
import { examineSources } from "./sources.ts";
import { TIME_ZONE_HINT, timeZoneProblem } from "../std/time-zone.ts";
import type { Clock } from "../std/clock.ts";

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
  else yield ok(`time zone ${new Intl.DateTimeFormat().resolvedOptions().timeZone}`);
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
