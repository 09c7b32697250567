import type { Config } from "../../config/config.ts";
import { callerNow } from "../../config/other-writer.ts";
import { DEFAULT, effectiveKeys } from "../../config/effective.ts";
import { openFilesMax } from "../../std/open-files.ts";
import type { Shell } from "../shell.ts";
import { examineAddressFilter } from "./address-filter.ts";
import { examineArchives } from "./archive.ts";
import { type CheckResult, ok } from "./check-result.ts";
import { examineForeign } from "./examine-writers.ts";
import { examineJournal } from "./journal.ts";
import { examineMail } from "./mail.ts";
import { examineOpenFiles } from "./open-files.ts";
import { examinePlaces } from "./places.ts";
import { examinePlugin } from "./plugin.ts";
import { examinePrograms } from "./programs.ts";
import { examineSources } from "./sources.ts";
import { examineTimeZone } from "./time-zone.ts";

/** Where each value comes from that is not the default. */
async function* examineSettings({ file }: Config, shell: Shell): AsyncGenerator<CheckResult> {
  yield ok(`configuration: ${file ?? "environment variables only"}`);
  const keys = await effectiveKeys(shell.places);
  const set = keys.filter(({ origin }) => origin !== DEFAULT);
  for (const { key, value, origin } of set) yield ok(`${key} is ${value} (${origin})`);
  yield ok(`${keys.length - set.length} other keys have their default values`);
}

/** Examines everything, one finding after another as it is known. */
export async function* examinationOf(config: Config, shell: Shell): AsyncGenerator<CheckResult> {
  yield* examineSettings(config, shell);
  const foreign = [...examineForeign(config, callerNow())];
  yield* foreign;
  // The signing module would be run next.
  if (foreign.some(({ level }) => level === "FAIL")) return;
  const files = [...examineOpenFiles(openFilesMax())];
  yield* files;
  // What comes next starts readers, which would never be there.
  if (files.some(({ level }) => level === "FAIL")) return;
  yield* examineTimeZone(shell);
  yield* examinePrograms(config, shell.processContext.env["PATH"] ?? "");
  yield* examineArchives(config, shell);
  yield* examineAddressFilter(config);
  yield* examineSources(config, shell);
  yield* examinePlaces(config);
  yield* examineMail(config, shell.clock);
  yield* examinePlugin(config);
  yield* examineJournal(config);
}
