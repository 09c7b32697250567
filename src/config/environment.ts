/**
 * Keys of the configuration that are set by environment variables: `SCANFERRY_` and the key's path in capitals, words
 * separated by `_`. The names come from the schema; keys within lists and mappings of names have none, but for those of
 * a single mirror, `SCANFERRY_MIRROR_…`. Secrets are looked up by their variables elsewhere (`secrets.ts`).
 */
import { z } from "zod";
import { CHANNELS } from "./channels.ts";
import type { ConfigProblems, KeyPath } from "./config-problems.ts";
import { unwrap } from "./kind.ts";
import { nearest } from "./nearest.ts";
import { fileSchema } from "./file-schema.ts";

/** A variable, the key that it sets, and what it may be. */
export type Variable = {
  readonly name: string;
  readonly key: KeyPath;
  /** A secret, or the name of the file that holds it: `findSecret` reads it. */
  readonly isSecret: boolean;
  readonly schema: z.core.$ZodType;
};

export const PREFIX = "SCANFERRY_";

/** Those that no key of the schema is named after. */
const OTHERS = [
  "ACCOUNT_KEY",
  "ACCOUNT_KEY_FILE",
  "SIGNING_SECRET",
  "SIGNING_SECRET_FILE",
  "CONFIG",
  "ARCHIVE_ACCOUNTS",
  "JOURNAL_PASSWORD",
  "PING_URL",
  "PING_URL_FILE",
  // Read by bin/scanferry, the image and its compose files, and the tests.
  "NODE",
  "HEALTH_URL",
  "USER",
  "KILLS",
  "SEED",
  ...CHANNELS.flatMap(({ by, schema }) =>
    Object.keys(schema.shape)
      .filter((name) => isSecretIn(name, Object.keys(schema.shape)))
      .map((name) => [by, name].flatMap(wordsOf).join("_")),
  ),
].map((name) => `${PREFIX}${name}`);

/** Of the archives that have names, and what Kubernetes sets in each container for a service called scanferry. */
const NAMED =
  /^SCANFERRY_((ACCOUNT_KEY|SIGNING_SECRET|ARCHIVE_PROXY)_[A-Z0-9_]+|SERVICE_.*|PORT(_.*)?)$/;

/** A key that is written in one word stands for this key of its section. */
const SHORT: Readonly<Record<string, (written: string) => string>> = {
  journal: (written) => (/^postgres(ql)?:/.test(written) ? "url" : "path"),
  receipts: () => "dir",
};

/** Keys of which one or the other is given. */
const EITHER: Readonly<Record<string, string>> = { target: "targetId", targetId: "target" };

/** Every variable that sets a key, sections before what is in them. */
export const VARIABLES: readonly Variable[] = variablesIn(fileSchema, [], [], false).toSorted(
  (a, b) => a.key.length - b.key.length,
);

function variablesIn(
  schema: z.core.$ZodType,
  key: KeyPath,
  words: readonly string[],
  isSecret: boolean,
): Variable[] {
  const { inner } = unwrap(schema);
  const own = { name: `${PREFIX}${words.join("_")}`, key, isSecret, schema: inner };
  if (inner instanceof z.ZodUnion) {
    const sections = inner.options.filter((option) => option instanceof z.ZodObject);
    const below = sections.flatMap((option) => variablesIn(option, key, words, isSecret));
    return sections.length === inner.options.length ? below : [own, ...below];
  }
  if (inner instanceof z.ZodArray) {
    if (key.length === 1 && key[0] === "mirrors")
      return variablesIn(inner.element, [...key, 0], ["MIRROR"], isSecret);
    const { inner: element } = unwrap(inner.element);
    return element instanceof z.ZodObject || element instanceof z.ZodArray ? [] : [own];
  }
  if (inner instanceof z.ZodRecord) return [];
  if (!(inner instanceof z.ZodObject)) return [own];
  const names = Object.keys(inner.shape);
  return Object.entries(inner.shape).flatMap(([name, child]) =>
    variablesIn(child, [...key, name], [...words, ...wordsOf(name)], isSecretIn(name, names)),
  );
}

/** A secret's key has another one next to it for the name of its file. */
export function isSecretIn(name: string, names: readonly string[]): boolean {
  return (
    name === "passwordFile" ||
    names.includes(`${name}File`) ||
    (/^.+File$/.test(name) && names.includes(name.slice(0, -4)))
  );
}

export function wordsOf(name: string): string[] {
  return name.split(/(?=[A-Z])/).map((word) => word.toUpperCase());
}

/** The variable of a key; undefined where it has none. */
export function variableOf(key: KeyPath): string | undefined {
  const path = key.join(".");
  return VARIABLES.find((variable) => variable.key.join(".") === path)?.name;
}

/** True where the environment alone says what a configuration has to say: no file is needed then. */
export function isEnough(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env["SCANFERRY_ARCHIVE_URL"] && env["SCANFERRY_MIRROR_SOURCE"]);
}

/**
 * The value of a configuration file, with what variables say in the place of what the file says. An empty variable
 * counts as not set. Those of an unknown name are reported.
 */
export function withEnvironment(
  value: unknown,
  env: NodeJS.ProcessEnv,
  findings: ConfigProblems,
): unknown {
  reportUnknown(env, findings);
  const given = VARIABLES.filter(({ name, isSecret }) => !isSecret && env[name]);
  // What is no mapping is reported as that.
  if (given.length === 0 || !isSection(value ?? {})) return value;
  const whole = structuredClone(value ?? {}) as Section;
  const { mirrors } = whole;
  for (const { name, key, schema } of given) {
    if (key[0] === "mirrors" && Array.isArray(mirrors) && mirrors.length > 1) {
      const message = `the file has ${mirrors.length} mirrors: it is not said which one this is of`;
      findings.reportVariable(name, message, "write the key in the file, or remove the variable");
      continue;
    }
    set(whole, key, valueOf(schema, env[name] ?? ""));
    findings.cameFrom(key, name);
  }
  return whole;
}

type Section = Record<string, unknown>;

function isSection(value: unknown): value is Section {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function set(whole: Section, key: KeyPath, value: unknown): void {
  let at: Section = whole;
  for (const [depth, part] of key.slice(0, -1).entries()) {
    // A list, or the only one of its mirrors.
    const next = at[part];
    if (typeof key[depth + 1] === "number")
      at[part] = Array.isArray(next) && next.length > 0 ? next : [{}];
    else if (!isSection(next)) at[part] = sectionOf(String(part), next);
    at = at[part] as Section;
  }
  const last = String(key.at(-1));
  const other = EITHER[last];
  if (other !== undefined) delete at[other];
  at[last] = value;
}

/** What was written in one word, with the key that it is short for. */
function sectionOf(name: string, written: unknown): Section {
  const key = typeof written === "string" ? SHORT[name]?.(written) : undefined;
  return key === undefined ? {} : { [key]: written };
}

/** The text, or what it would be in a file where the key takes no text. */
function valueOf(schema: z.core.$ZodType, text: string): unknown {
  if (schema instanceof z.ZodArray) {
    const items = text.split(",").map((item) => item.trim());
    return items.filter((item) => item !== "").map((item) => valueOf(schema.element, item));
  }
  if (schema instanceof z.ZodUnion || z.safeParse(schema, text).success) return text;
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text === "true" || text === "false" ? text === "true" : text;
}

function reportUnknown(env: NodeJS.ProcessEnv, findings: ConfigProblems): void {
  const known = [...VARIABLES.map(({ name }) => name), ...OTHERS];
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || !text || known.includes(name) || NAMED.test(name)) continue;
    const meant = nearest(name, known);
    const fix =
      meant === undefined ? "docs/config.md names those that there are" : `did you mean ${meant}?`;
    findings.reportVariable(name, "unknown variable", fix);
  }
}
