import type { Config } from "../../config/config.ts";
import type { Shell } from "../shell.ts";
import { examineArchives } from "./archive.ts";
import { examineExamples } from "./examples.ts";
import { type Finding, ok } from "./finding.ts";
import { examineJournal } from "./journal.ts";
import { examinePlaces } from "./places.ts";
import { examinePlugin } from "./plugin.ts";
import { examinePrograms } from "./programs.ts";
import { examineSources } from "./sources.ts";
import { examineTimeZone } from "./time-zone.ts";

/** Examines everything, one finding after another as it is known. */
export async function* examinationOf(config: Config, shell: Shell): AsyncGenerator<Finding> {
  yield ok(`configuration ${config.file ?? ""}`);
  yield* examineTimeZone(shell);
  yield* examineExamples(config, shell);
  yield* examinePrograms(config, shell.surroundings.env["PATH"] ?? "");
  yield* examineArchives(config, shell);
  yield* examineSources(config, shell);
  yield* examinePlaces(config);
  yield* examinePlugin(config);
  yield* examineJournal(config);
}
