/** What applies of each key of the configuration, and what said so: a line of the file, a variable, or the default. */
import { z } from "zod";
import { legible } from "../std/legible.ts";
import { type ConfigPlaces, readConfigFile } from "./config-file.ts";
import { fileSchema } from "./config.ts";
import { type ConfigProblems, writtenKey } from "./config-problems.ts";
import { variableOf, variableSuffix } from "./environment.ts";
import { type KeyPath, kindOf, secretOf, unwrap } from "./kind.ts";
import { sketchOf } from "./load-config.ts";

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
 * The keys that have a value, in the order of the reference. Rejects with `ConfigError` where the configuration cannot
 * be read; what is wrong with single values does not matter here.
 */
export async function effectiveKeys(places: ConfigPlaces): Promise<EffectiveKey[]> {
  const { env } = places;
  const file = await readConfigFile(places);
  const { written, findings } = sketchOf(file, env);
  return keysIn(fileSchema, written ?? {}, [], { file: file.path, env, findings });
}

type Around = {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  readonly findings: ConfigProblems;
};

function keysIn(
  schema: z.core.$ZodType,
  written: unknown,
  key: KeyPath,
  around: Around,
): EffectiveKey[] {
  const { inner, fallback, optional } = unwrap(schema);
  const value = written ?? undefined;
  const isSection = inner instanceof z.ZodObject || inner instanceof z.ZodUnion;
  if (inner instanceof z.ZodObject && (isMapping(value) || (value === undefined && !optional)))
    return Object.entries(inner.shape).flatMap(([name, child]) =>
      keysIn(child, isMapping(value) ? value[name] : undefined, [...key, name], around),
    );
  if (inner instanceof z.ZodUnion && (isMapping(value) || (value ?? fallback) === undefined)) {
    const section = inner.options.find((option) => option instanceof z.ZodObject);
    if (section && !(optional && value === undefined)) return keysIn(section, value, key, around);
  }
  if (inner instanceof z.ZodRecord && isMapping(value)) {
    return Object.entries(value).flatMap(([name, item]) =>
      keysIn(inner.valueType, item, [...key, name], around),
    );
  }
  if (inner instanceof z.ZodArray && unwrap(inner.element).inner instanceof z.ZodObject) {
    return (Array.isArray(value) ? value : []).flatMap((item: unknown, at) =>
      keysIn(inner.element, item, [...key, at], around),
    );
  }
  const applies = value ?? (isSection ? undefined : fallback);
  const variable = around.findings.variableOf(key) ?? secretVariable(schema, key, around.env);
  if (applies === undefined && variable === undefined) return [];
  const isSecret = secretOf(schema) !== undefined || kindOf(schema)?.name === "secret";
  const shown = isSecret ? HIDDEN : legible(withoutPassword(textOf(applies)));
  return [{ key: writtenKey(key), value: shown, origin: originOf(key, value, variable, around) }];
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function originOf(
  key: KeyPath,
  value: unknown,
  variable: string | undefined,
  around: Around,
): string {
  if (variable !== undefined) return `$${variable}`;
  if (value === undefined) return DEFAULT;
  const line = around.findings.placeOf(key)?.line;
  return line === undefined ? around.file : `${around.file}:${line}`;
}

/** The variable of a secret, which is looked up by others than set keys. */
function secretVariable(
  schema: z.core.$ZodType,
  key: KeyPath,
  env: NodeJS.ProcessEnv,
): string | undefined {
  const secret = secretOf(schema);
  const names = secret ? [variableOf(key), `${secret.variable}${variableSuffix(key)}`] : [];
  return names
    .flatMap((name) => (name === undefined ? [] : [name, `${name}_FILE`]))
    .find((name) => env[name]);
}

/** Of an address with user and password only the rest is shown. */
function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]*@/g, "//…@");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
