import { dirname } from "node:path";
import { ConfigError } from "./config-error.ts";
import type { ConfigFile } from "./config-file.ts";
import { reportConflicts } from "./conflicts.ts";
import { variableOf, withEnvironment } from "./environment.ts";
import type { ConfigProblems } from "./config-problems.ts";
import { layoutOf } from "./layout.ts";
import { readFileShape } from "./read-file-shape.ts";
import type { Sketch } from "./file-schema.ts";
import { parseYamlSource } from "./yaml-source.ts";

/** What a configuration says. */
export type ReadSketch = {
  readonly sketch: Sketch;
  /** The same as it was written: nothing is checked, and no default is filled in. */
  readonly written: unknown;
  readonly findings: ConfigProblems;
};

/**
 * What a configuration file and the environment say, as far as it can be read, and everything found wrong
 * with it; secrets are looked for elsewhere. Throws `ConfigError` when the file is not YAML.
 */
export function sketchOf(
  { path, text, isWritten }: Pick<ConfigFile, "path" | "text" | "isWritten">,
  env: NodeJS.ProcessEnv,
): ReadSketch {
  const { value, findings } = parseYamlSource(isWritten ? path : "", text);
  if (!isWritten) findings.askForVariables(variableOf);
  const written = withEnvironment(value, env, findings);
  const sketch = readFileShape(written, findings);
  reportConflicts(sketch, layoutOf(sketch, dirname(path)), findings);
  return { sketch, written, findings };
}

/** Throws `ConfigError` for a text that, once it is in `file`, nobody could use. */
export function assertUsable(path: string, text: string): void {
  try {
    sketchOf({ path, text, isWritten: true }, {}).findings.throwIfAny();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // It is not there yet, and has no lines to look at.
    throw new ConfigError(error.problems.map((problem) => ({ ...problem, line: undefined })));
  }
}
