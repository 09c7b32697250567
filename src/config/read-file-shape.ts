/**
 * Reads a YAML value along the schema, leaf by leaf, so that one wrong value hides no other: what
 * can be read is read, everything else is reported. A key without a value counts as left out.
 */
import { z } from "zod";
import { nearest } from "../std/nearest.ts";
import { sortOf } from "../std/printable.ts";
import { fileSchema, type FileSketch } from "./config.ts";
import { type ConfigProblems, writtenKey, type KeyPath } from "./config-problems.ts";
import { declared, declaredSections, exampleOf, unwrap } from "./kind.ts";

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

/** Gets each key that has no others below it, and what is written there; not that of each entry of a list. */
export type Visit = (key: KeyPath, schema: z.core.$ZodType, written: unknown) => void;

/** What of `value` (the whole YAML document) could be read; the rest is reported to `findings`. */
export function readFileShape(value: unknown, findings: ConfigProblems, visit?: Visit): FileSketch {
  return new ShapeReader(findings, visit).read(fileSchema, withArchive(value), []) ?? {};
}

/** Without any archive, the keys of a single one are what is missing. */
function withArchive(value: unknown): unknown {
  const given = value ?? {};
  if (typeof given !== "object" || Array.isArray(given)) return value;
  const { archive, archives } = given as { archive?: unknown; archives?: unknown };
  return (archive ?? archives ?? null) === null ? { ...given, archive: {} } : value;
}

class ShapeReader {
  readonly #findings: ConfigProblems;
  readonly #visit: Visit;

  constructor(findings: ConfigProblems, visit: Visit = () => {}) {
    this.#findings = findings;
    this.#visit = visit;
  }

  read(schema: z.core.$ZodType, value: unknown, key: KeyPath): unknown {
    const { inner, fallback, optional } = unwrap(schema);
    const given = value ?? fallback;
    if (inner instanceof z.ZodObject) {
      // Off unless it is written; other sections are there with their defaults.
      return given === undefined && optional ? undefined : this.#section(inner, given ?? {}, key);
    }
    const hasKeys =
      inner instanceof z.ZodArray && unwrap(inner.element).inner instanceof z.ZodObject;
    if (!hasKeys && !(inner instanceof z.ZodRecord) && typeof key.at(-1) === "string")
      this.#visit(key, schema, value ?? undefined);
    if (schema instanceof z.ZodDefault && value == null) return fallback;
    if (given === undefined) {
      if (!optional) this.#reportMissing(schema, key);
      return undefined;
    }
    if (inner instanceof z.ZodRecord) return this.#record(inner, given, key);
    if (inner instanceof z.ZodArray) return this.#list(inner, schema, given, key);
    return readLeaf(inner, given, key, this.#findings);
  }

  #section(schema: z.ZodObject, value: unknown, key: KeyPath): unknown {
    const isMapping = typeof value === "object" && value !== null && !Array.isArray(value);
    const short = isMapping ? undefined : declared(schema).short?.keyOf(value);
    if (!isMapping && short === undefined) {
      // The value is not told: a secret may have slipped to where the section should be.
      const fix = `write its keys: ${Object.keys(schema.shape).join(", ")}`;
      this.#findings.report(key, `must be a mapping of keys, is ${sortOf(value)}`, fix);
      return undefined;
    }
    const given = new Map<string, unknown>(
      isMapping ? Object.entries(value) : [[`${short}`, value]],
    );
    for (const name of given.keys()) {
      if (!Object.hasOwn(schema.shape, name)) this.#reportUnknown(name, schema, key);
    }
    return Object.fromEntries(
      Object.entries(schema.shape).map(([name, child]) => [
        name,
        // What is written in the section's place stands there.
        this.read(child, given.get(name), name === short ? key : [...key, name]),
      ]),
    );
  }

  /** Values by names that are free to choose. */
  #record(schema: z.ZodRecord, value: unknown, key: KeyPath): unknown {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      // The value is not told: a secret may have slipped to where the names should be.
      const fix = "write a name for each, with its keys below";
      this.#findings.report(key, `must be a mapping of names, is ${sortOf(value)}`, fix);
      return undefined;
    }
    const entries = Object.entries(value);
    if (entries.length === 0)
      this.#findings.report(key, "is empty", "write one or more, or leave it out");
    return Object.fromEntries(
      entries.flatMap(([name, item]) => {
        const own = [...key, name];
        // What is no name may be a secret: nothing else learns about it.
        if (readLeaf(schema.keyType, name, own, this.#findings) === undefined) return [];
        return [[name, this.read(schema.valueType, item, own)]];
      }),
    );
  }

  #list(schema: z.ZodArray, whole: z.core.$ZodType, value: unknown, key: KeyPath): unknown {
    const example = `write a list, e.g. ${nameOf(key)}: ${exampleOf(whole)}`;
    const isFit = Array.isArray(value) && (value.length > 0 || schema.safeParse(value).success);
    if (!isFit) {
      const message = Array.isArray(value) ? "is empty" : `must be a list, is ${sortOf(value)}`;
      this.#findings.report(key, message, example);
      return undefined;
    }
    return value.map((item: unknown, at) => this.read(schema.element, item, [...key, at]));
  }

  #reportMissing(schema: z.core.$ZodType, key: KeyPath): void {
    if (typeof key.at(-1) === "number")
      this.#findings.report(key, "is empty", "write a value, or remove the line");
    else
      this.#findings.report(key, "is missing", `write e.g. ${nameOf(key)}: ${exampleOf(schema)}`);
  }

  #reportUnknown(name: string, schema: z.ZodObject, key: KeyPath): void {
    const place = [...key, name];
    const instead = insteadOf(place);
    if (instead !== undefined) this.#findings.report(place, "removed key", instead);
    else
      this.#findings.report(place, "unknown key", fixOfUnknown(place, Object.keys(schema.shape)));
  }
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

function fixOfUnknown(key: KeyPath, known: readonly string[]): string {
  const name = nameOf(key);
  const [, word] = /^([\w-]+):/.exec(name) ?? [];
  if (word !== undefined && known.includes(word)) return `put a blank after "${word}:"`;
  const meant = nearest(name, known);
  if (meant !== undefined) return `did you mean ${meant}?`;
  // Several sections have a `timeout`: the nearest is meant.
  const depth = (section: KeyPath) => section.filter((part, at) => part === key[at]).length;
  const [elsewhere] = declaredSections(fileSchema)
    .filter(({ schema }) => Object.hasOwn(schema.shape, name))
    .toSorted((a, b) => depth(b.key) - depth(a.key));
  if (elsewhere === undefined) return `known keys here: ${known.join(", ")}`;
  const place = writtenKey(elsewhere.key).replaceAll("[0]", "[]");
  return `it belongs under ${place === "" ? "the top level" : place}`;
}

function nameOf(key: KeyPath): string {
  return String(key.at(-1) ?? "");
}
