import { dirname, resolve } from "node:path";
import type { StampedFile } from "../std/small-file.ts";
import { checkWays } from "./archive-section.ts";
import {
  buildConfig,
  checkFile,
  type Config,
  fileSchema,
  type FileShape,
  type FileSketch,
} from "./config.ts";
import { type ConfigFile, type ConfigPlaces, readConfigFile } from "./config-file.ts";
import { ConfigError, type ConfigProblems } from "./config-problems.ts";
import { variableOf, withEnvironment } from "./environment.ts";
import { kindOf, sectionsIn } from "./kind.ts";
import { readFileShape } from "./read-file-shape.ts";
import { fillSecrets } from "./secrets.ts";
import { parseYamlSource } from "./yaml-source.ts";

/**
 * Finds, reads and checks the configuration. Looks at no source: a share may be away, or hang.
 * Throws `ConfigError` with everything that is wrong, never with a secret in it.
 */
export async function loadConfig(options: ConfigPlaces): Promise<Config> {
  const file = await readConfigFile(options);
  const { sketch, findings, files } = await wholeSketchOf(file, options.env);
  findings.throwIfAny();
  // Nothing was found wrong, so nothing is left out of the sketch.
  return buildConfig(sketch as FileShape, { ...file, env: options.env, files });
}

/** What a configuration says. */
export type ReadSketch = {
  readonly sketch: FileSketch;
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
  const sketch = sketchIn(written, path, findings);
  return { sketch, written, findings };
}

/** What the keys of a file say, its paths absolute; `path` is that of the file. */
export function sketchIn(written: unknown, path: string, findings: ConfigProblems): FileSketch {
  const sketch = readFileShape(written, findings);
  const at = (name: string) => resolve(dirname(path), name);
  for (const { schema, values } of sectionsIn(fileSchema, sketch))
    for (const [name, child] of Object.entries(schema.shape)) {
      const complete = kindOf(child)?.resolve;
      if (complete && values[name] !== undefined) values[name] = complete(values[name], at);
    }
  checkFile(sketch, findings);
  return sketch;
}

/** The same with its secrets and certificates, as far as they were found, and the files that they were read from. */
export async function wholeSketchOf(
  file: ConfigFile,
  env: NodeJS.ProcessEnv,
): Promise<ReadSketch & { readonly files: readonly StampedFile[] }> {
  const read = sketchOf(file, env);
  const { sketch, findings } = read;
  const files: StampedFile[] = [];
  await fillSecrets(sketch, { config: file, env, findings, files });
  checkWays(sketch, env, findings);
  return { ...read, files };
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
