/**
 * Keys of the configuration that are set by environment variables: `SCANFERRY_` and the key's path in capitals, words
 * separated by `_`. The names come from the schema; keys within lists and mappings of names have none, but for those of
 * a single mirror, `SCANFERRY_MIRROR_…`. Secrets are looked up by their variables elsewhere (`secrets.ts`).
 */
import { z } from "zod";
import { editDistance, nearest } from "../std/nearest.ts";
import { fileSchema } from "./config.ts";
import type { ConfigProblems, KeyPath } from "./config-problems.ts";
import { declared, declaredSections, isOfSecret, type Secret, unwrap } from "./kind.ts";

/** A variable, the key that it sets, and what it may be. */
export type Variable = {
  readonly name: string;
  readonly key: KeyPath;
  /** A secret, or the name of the file that holds it: `findSecret` reads it. */
  readonly isSecret: boolean;
  readonly schema: z.core.$ZodType;
};

const PREFIX = "SCANFERRY_";

/**
 * Accepted, and never proposed: those of the archives that have names, what Kubernetes sets in each container for a
 * service called scanferry, and what bin/scanferry, the image and its compose files, and the tests read.
 */
const NAMED =
  /^SCANFERRY_((ACCOUNT_KEY|SIGNING_SECRET|ARCHIVE_PROXY)_[A-Z0-9_]+|SERVICE_.*|PORT(_.*)?|NODE|HEALTH_URL|USER|KILLS|SEED)$/;

/** Keys of which one or the other is given. */
const EITHER: Readonly<Record<string, string>> = { target: "targetId", targetId: "target" };

const SECTIONS = declaredSections(fileSchema);

/** Every variable that sets a key, sections before what is in them. */
export const VARIABLES: readonly Variable[] = SECTIONS.flatMap(({ schema, key }) =>
  Object.entries(schema.shape).flatMap(([name, child]) => {
    const whole = [...key, name];
    const words = wordsIn(whole);
    const { inner } = unwrap(child);
    if (words === undefined || !isText(child)) return [];
    const isSecret = isOfSecret(name, schema);
    return [{ name: `${PREFIX}${words.join("_")}`, key: whole, isSecret, schema: inner }];
  }),
).toSorted((a, b) => a.key.length - b.key.length);

/** Those that no key of the schema is named after. */
const OTHERS = ["CONFIG", "ARCHIVE_ACCOUNTS"].map((name) => `${PREFIX}${name}`);

/** The shorter names of secrets. */
const SECRETS = SECTIONS.flatMap(({ schema }) =>
  Object.values(schema.shape).flatMap((child) => {
    const { variable } = declared(child).secret ?? {};
    return variable === undefined ? [] : [variable, `${variable}_FILE`];
  }),
);

/** The words of a key's variable; undefined for a key within a list, but for those of a single mirror. */
function wordsIn([first, ...rest]: KeyPath): string[] | undefined {
  const isMirror = first === "mirrors" && rest[0] === 0;
  const names = isMirror ? ["mirror", ...rest.slice(1)] : [first, ...rest];
  if (names.some((name) => typeof name !== "string")) return undefined;
  return names.flatMap((name) =>
    String(name)
      .split(/(?=[A-Z])/)
      .map((word) => word.toUpperCase()),
  );
}

/** True for what can be written in one word, or as several with commas between them. */
function isText(schema: z.core.$ZodType): boolean {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodObject) return declared(schema).short !== undefined;
  if (inner instanceof z.ZodArray) return isText(inner.element) && !isList(inner.element);
  return !(inner instanceof z.ZodRecord);
}

function isList(schema: z.core.$ZodType): boolean {
  return unwrap(schema).inner instanceof z.ZodArray;
}

/** The variables of a secret: one named after its key, then a shorter one, behind which the name of an archive stands. */
export function variablesOf({ variable }: Secret, key: KeyPath): string[] {
  const archive = key[0] === "archives" ? `_${key[1]}` : "";
  const short = `${variable}${archive.toUpperCase().replaceAll("-", "_")}`;
  return [...new Set([variableOf(key) ?? short, short])];
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
    set(whole, key, valueOf(schema, env[name] ?? ""), findings);
    findings.cameFrom(key, name);
  }
  return whole;
}

type Section = Record<string, unknown>;

function isSection(value: unknown): value is Section {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function set(whole: Section, key: KeyPath, value: unknown, findings: ConfigProblems): void {
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
  // Two variables exclude each other as two keys of the file do.
  const isGiven = other !== undefined && findings.variableOf([...key.slice(0, -1), other]);
  if (other !== undefined && !isGiven) delete at[other];
  at[last] = value;
}

/** What was written in one word, with the key that it is short for. */
function sectionOf(name: string, written: unknown): Section {
  const schema = fileSchema.shape[name as keyof typeof fileSchema.shape];
  const key = typeof written === "string" && schema && declared(schema).short?.keyOf(written);
  return typeof key === "string" ? { [key]: written } : {};
}

/** The text, or what it would be in a file where the key takes no text. */
function valueOf(schema: z.core.$ZodType, text: string): unknown {
  if (schema instanceof z.ZodArray) {
    // Those within the braces of a glob separate nothing.
    const items = text.split(/,(?![^{]*\})/).map((item) => item.trim());
    return items.filter((item) => item !== "").map((item) => valueOf(schema.element, item));
  }
  if (schema instanceof z.ZodObject || z.safeParse(schema, text).success) return text;
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text === "true" || text === "false" ? text === "true" : text;
}

function reportUnknown(env: NodeJS.ProcessEnv, findings: ConfigProblems): void {
  const known = [...VARIABLES.map(({ name }) => name), ...SECRETS, ...OTHERS];
  // What all have in common says nothing of how near two are.
  const words = known.map((name) => name.slice(PREFIX.length));
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || !text || known.includes(name) || NAMED.test(name)) continue;
    const meant = nearest(name.slice(PREFIX.length), words);
    const fix =
      meant === undefined
        ? `the nearest are ${inTheSameSection(name, known).join(", ")}; docs/config.md has all`
        : `did you mean ${PREFIX}${meant}?`;
    findings.reportVariable(name, "unknown variable", fix);
  }
}

/** How many are named of a section whose variables are all far from what was written. */
const NAMED_MAX = 3;

/** Those that begin with as many of the same words as any, the nearest first. */
function inTheSameSection(name: string, known: readonly string[]): string[] {
  const words = name.split("_");
  const shared = (other: string) => {
    const others = other.split("_");
    const at = others.findIndex((word, index) => word !== words[index]);
    return at < 0 ? others.length : at;
  };
  const most = Math.max(...known.map(shared));
  return [...new Set(known)]
    .filter((other) => shared(other) === most)
    .toSorted((a, b) => editDistance(name, a) - editDistance(name, b))
    .slice(0, NAMED_MAX);
}
