/**
 * Reads a YAML value along the schema, leaf by leaf, so that one wrong value hides no other: what
 * can be read is read, everything else is reported. A key without a value counts as left out.
 */
import { z } from "zod";
import { nearest } from "../std/nearest.ts";
import { sortOf } from "../std/quoted.ts";
import { fileSchema, type FileSketch } from "./config.ts";
import { type ConfigProblems, writtenKey } from "./config-problems.ts";
import { declaredSections, exampleOf, type KeyPath, shortOf, unwrap } from "./kind.ts";

/** What a configuration of an earlier version may still have, by keys or values of one, and what to do instead. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  [
    "mirrors.[].afterDuplicate",
    "remove it: what becomes of a duplicate, an hour later, says after",
  ],
  ["mirrors.[].duplicates: link", "write skip: a duplicate gets what after says"],
  ["mirrors.[].examples", "remove it: scanferry rules test PATH shows the decision for a path"],
  [
    "mirrors.[].order: smallest",
    "write oldest: large files do not hold small ones up, they have places of their own",
  ],
  ["mirrors.[].parts", "remove it: of several daemons one scans each mirror, and all of them send"],
  [
    "notify.quiet.urgent",
    "remove it: findings about credentials and the disk are sent within quiet hours",
  ],
  [
    "quota.smallFirstBelow",
    "remove it: whenUsedUp: hold sends what still fits the pages that are left",
  ],
  ["quota.unknownPages", "remove it: a document whose pages cannot be counted counts as one page"],
  ["notify.remind", "write notify.repeat: reminders of what lasts come this often"],
]);

/** What to do instead of a key, or of a value of it; undefined where it was never there. */
function insteadOf(key: KeyPath, value?: unknown): string | undefined {
  const name = key.map((part) => (typeof part === "number" ? "[]" : part)).join(".");
  return REMOVED.get(typeof value === "string" ? `${name}: ${value}` : name);
}

/** What of `value` (the whole YAML document) could be read; the rest is reported to `findings`. */
export function readFileShape(value: unknown, findings: ConfigProblems): FileSketch {
  return read(fileSchema, withArchive(value), [], findings) ?? {};
}

/** Without any archive, the keys of a single one are what is missing. */
function withArchive(value: unknown): unknown {
  const given = value ?? {};
  if (typeof given !== "object" || Array.isArray(given)) return value;
  const { archive, archives } = given as { archive?: unknown; archives?: unknown };
  return (archive ?? archives ?? null) === null ? { ...given, archive: {} } : value;
}

function read(
  schema: z.core.$ZodType,
  value: unknown,
  key: KeyPath,
  findings: ConfigProblems,
): unknown {
  if (schema instanceof z.ZodDefault && value == null) return schema.def.defaultValue;
  const { inner, fallback, optional } = unwrap(schema);
  const given = value ?? fallback;
  // Off unless it is written; other sections are there with their defaults.
  const isSection = inner instanceof z.ZodObject || inner instanceof z.ZodUnion;
  if (given === undefined && optional && isSection) return undefined;
  if (inner instanceof z.ZodObject) return readSection(inner, given ?? {}, key, findings);
  if (inner instanceof z.ZodUnion) return readUnion(inner, given ?? {}, key, findings);
  if (given === undefined) {
    if (!optional) reportMissing(schema, key, findings);
    return undefined;
  }
  if (inner instanceof z.ZodRecord) return readRecord(inner, given, key, findings);
  if (inner instanceof z.ZodArray) return readList(inner, schema, given, key, findings);
  return readLeaf(inner, given, key, findings);
}

function readSection(
  schema: z.ZodObject,
  value: unknown,
  key: KeyPath,
  findings: ConfigProblems,
): unknown {
  const isMapping = typeof value === "object" && value !== null && !Array.isArray(value);
  const short = isMapping ? undefined : shortOf(schema)?.keyOf(value);
  if (!isMapping && short === undefined) {
    // The value is not told: a secret may have slipped to where the section should be.
    const fix = `write its keys: ${Object.keys(schema.shape).join(", ")}`;
    findings.report(key, `must be a mapping of keys, is ${sortOf(value)}`, fix);
    return undefined;
  }
  const given = new Map<string, unknown>(isMapping ? Object.entries(value) : [[`${short}`, value]]);
  for (const name of given.keys()) {
    if (!Object.hasOwn(schema.shape, name)) reportUnknown(name, schema, key, findings);
  }
  return Object.fromEntries(
    Object.entries(schema.shape).map(([name, child]) => [
      name,
      // What is written in the section's place stands there.
      read(child, given.get(name), name === short ? key : [...key, name], findings),
    ]),
  );
}

/** Values by names that are free to choose. */
function readRecord(
  schema: z.ZodRecord,
  value: unknown,
  key: KeyPath,
  findings: ConfigProblems,
): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    // The value is not told: a secret may have slipped to where the names should be.
    const fix = "write a name for each, with its keys below";
    findings.report(key, `must be a mapping of names, is ${sortOf(value)}`, fix);
    return undefined;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) findings.report(key, "is empty", "write one or more, or leave it out");
  return Object.fromEntries(
    entries.flatMap(([name, item]) => {
      const own = [...key, name];
      // What is no name may be a secret: nothing else learns about it.
      if (readLeaf(schema.keyType, name, own, findings) === undefined) return [];
      return [[name, read(schema.valueType, item, own, findings)]];
    }),
  );
}

/** A section, or something in its place such as `off`: a mapping can only be the section. */
function readUnion(
  schema: z.ZodUnion,
  value: unknown,
  key: KeyPath,
  findings: ConfigProblems,
): unknown {
  const section = schema.options.find((option) => option instanceof z.ZodObject);
  const other = schema.options.find((option) => option !== section);
  const mapping = typeof value === "object" && !Array.isArray(value);
  const chosen = mapping ? (section ?? other) : (other ?? section);
  return chosen === undefined ? undefined : read(chosen, value, key, findings);
}

function readList(
  schema: z.ZodArray,
  declared: z.core.$ZodType,
  value: unknown,
  key: KeyPath,
  findings: ConfigProblems,
): unknown {
  const example = `write a list, e.g. ${nameOf(key)}: ${exampleOf(declared)}`;
  if (!Array.isArray(value)) {
    findings.report(key, `must be a list, is ${sortOf(value)}`, example);
    return undefined;
  }
  if (value.length === 0 && !schema.safeParse(value).success) {
    findings.report(key, "is empty", example);
    return undefined;
  }
  return value.map((item: unknown, at) => read(schema.element, item, [...key, at], findings));
}

/** The value of a key that has no others below it. */
export function readLeaf(
  schema: z.core.$ZodType,
  value: unknown,
  key: KeyPath,
  findings: ConfigProblems,
): unknown {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    const fix: unknown = issue.code === "custom" ? issue.params?.["fix"] : undefined;
    const known = typeof fix === "string" ? fix : "fix it";
    findings.report(key, issue.message, insteadOf(key, value) ?? known);
  }
  return undefined;
}

function reportMissing(schema: z.core.$ZodType, key: KeyPath, findings: ConfigProblems): void {
  const last = key.at(-1);
  if (typeof last === "number")
    findings.report(key, "is empty", "write a value, or remove the line");
  else findings.report(key, "is missing", `write e.g. ${nameOf(key)}: ${exampleOf(schema)}`);
}

function reportUnknown(
  name: string,
  schema: z.ZodObject,
  key: KeyPath,
  findings: ConfigProblems,
): void {
  const place = [...key, name];
  const instead = insteadOf(place);
  if (instead !== undefined) findings.report(place, "removed key", instead);
  else findings.report(place, "unknown key", fixOfUnknown(name, Object.keys(schema.shape)));
}

function fixOfUnknown(name: string, known: readonly string[]): string {
  const [, word] = /^([\w-]+):/.exec(name) ?? [];
  if (word !== undefined && known.includes(word)) return `put a blank after "${word}:"`;
  const meant = nearest(name, known);
  if (meant !== undefined) return `did you mean ${meant}?`;
  const elsewhere = declaredSections(fileSchema).find(({ schema }) =>
    Object.hasOwn(schema.shape, name),
  );
  if (elsewhere === undefined) return `known keys here: ${known.join(", ")}`;
  const place = writtenKey(elsewhere.key).replaceAll("[0]", "[]");
  return `it belongs under ${place === "" ? "the top level" : place}`;
}

function nameOf(key: KeyPath): string {
  return String(key.at(-1) ?? "");
}
