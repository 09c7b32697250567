import { dirname, resolve } from "node:path";
import type { z } from "zod";
import { legible } from "../std/printable.ts";
import { buildConfig, type Config, fileSchema, type FileShape, type FileSketch } from "./config.ts";
import { checkFile, checkWays } from "./check-file.ts";
import { type ConfigFile, type ConfigPlaces, readConfigFile } from "./config-file.ts";
import { ConfigError, type ConfigProblems, writtenKey, type KeyPath } from "./config-problems.ts";
import { variableOf, variablesOf, withEnvironment } from "./environment.ts";
import { declared, sectionsIn, unwrap } from "./kind.ts";
import { readFileShape, type Visit } from "./read-file-shape.ts";
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

/**
 * What a configuration file and the environment say, as far as it can be read, and everything found wrong
 * with it; secrets are looked for elsewhere. Throws `ConfigError` when the file is not YAML.
 */
export function sketchOf(
  { path, text, isWritten }: Pick<ConfigFile, "path" | "text" | "isWritten">,
  env: NodeJS.ProcessEnv,
  visit?: Visit,
) {
  const { value, findings } = parseYamlSource(isWritten ? path : "", text);
  if (!isWritten) findings.askForVariables(variableOf);
  const written = withEnvironment(value, env, findings);
  return { sketch: sketchIn(written, path, findings, visit), findings };
}

/** What the keys of a file say, its paths absolute; `path` is that of the file. */
export function sketchIn(
  written: unknown,
  path: string,
  findings: ConfigProblems,
  visit?: Visit,
): FileSketch {
  const sketch = readFileShape(written, findings, visit);
  const at = (name: string) => resolve(dirname(path), name);
  for (const { schema, values } of sectionsIn(fileSchema, sketch))
    for (const [name, child] of Object.entries(schema.shape)) {
      const complete = declared(child).kind?.resolve;
      if (complete && values[name] !== undefined) values[name] = complete(values[name], at);
    }
  checkFile(sketch, findings);
  for (const { schema, key, values } of sectionsIn(fileSchema, sketch))
    declared(schema).check?.(values, findings.at(...key));
  return sketch;
}

/** The same with its secrets and certificates, as far as they were found, and the files that they were read from. */
export async function wholeSketchOf(file: ConfigFile, env: NodeJS.ProcessEnv) {
  const read = sketchOf(file, env);
  const { sketch, findings } = read;
  const files = await fillSecrets(sketch, { config: file, env, findings });
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

/** One key and its value. */
export type EffectiveKey = {
  /** As in `mirrors[0].settle`. */
  readonly key: string;
  /** As it would be written on one line; of a secret, that it is hidden. Fit to be shown. */
  readonly value: string;
  /** `default`, `FILE:LINE` or `$VARIABLE`. */
  readonly origin: string;
};

export const DEFAULT = "default";
const HIDDEN = "(hidden)";

/**
 * The keys that have a value, in the order of the reference, and what said so: a line of the file, a variable, or the
 * default. Rejects with `ConfigError` where the configuration cannot be read; what is wrong with single values does not
 * matter here.
 */
export async function effectiveKeys({ env, ...places }: ConfigPlaces): Promise<EffectiveKey[]> {
  const file = await readConfigFile({ env, ...places });
  const keys: Parameters<Visit>[] = [];
  const { findings } = sketchOf(file, env, (...each) => keys.push(each));
  return keys.flatMap(([key, schema, written]) => {
    const applies = written ?? unwrap(schema).fallback;
    const variable = findings.variableOf(key) ?? secretVariable(schema, key, env);
    if (applies === undefined && variable === undefined) return [];
    const { secret, kind } = declared(schema);
    const isSecret = secret !== undefined || kind?.name === "secret";
    const line = findings.lineOf(key);
    const place = line === undefined ? file.path : `${file.path}:${line}`;
    const origin = written === undefined ? DEFAULT : place;
    return {
      key: writtenKey(key),
      value: isSecret ? HIDDEN : legible(withoutPassword(textOf(applies))),
      origin: variable === undefined ? origin : `$${variable}`,
    };
  });
}

/** The variable of a secret, which is looked up by others than set keys. */
function secretVariable(
  schema: z.core.$ZodType,
  key: KeyPath,
  env: NodeJS.ProcessEnv,
): string | undefined {
  const { secret } = declared(schema);
  const names = secret ? variablesOf(secret, key) : [];
  return names.flatMap((name) => [name, `${name}_FILE`]).find((name) => env[name]);
}

/** Of an address with user and password only the rest is shown. */
function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]*@/g, "//…@");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
