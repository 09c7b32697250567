import type { SentName } from "../domain/naming.ts";
import {
  type AttributeExpiry,
  type AttributeField,
  type AttributeOrigin,
  METADATA_FIELDS,
  METADATA_LIMITS,
  type MetadataField,
} from "../domain/attributes.ts";
import { nameOf, shown } from "../std/raw-path.ts";
import { truncated } from "./functions.ts";
import {
  type DateForm,
  type ExpiryFrom,
  type ExpiryGuards,
  type ExpiryRule,
  Hold,
  type MetadataTemplates,
  type MirrorRules,
  type OverlongValues,
  type Rule,
} from "./rules.ts";
import { type Facts, type Groups, type PlaceholderValues, render } from "./values.ts";
import { isLive, type Template } from "./template.ts";
import { dayOf, existing, formatPeriod, isoDay, later, noonOf, partsOfDay } from "./dates.ts";
import { matchPattern } from "./pattern.ts";

/** The metadata of a document: which source has a say, and what the limits make of it. */

type Given = {
  readonly rules: MirrorRules;
  readonly rule: Rule | null;
  readonly groups: Groups;
  readonly facts: Facts;
  readonly name: SentName;
  readonly values: PlaceholderValues;
};

type Said = { readonly value: string; readonly from: AttributeOrigin };

/**
 * The fields that are sent. What is more about the document itself wins: the configuration's plain
 * texts, what the path says (templates with values, groups named like a field), the sidecar, and the
 * hook. A field of which nobody says anything is absent.
 */
export function metadataFor(given: Given): { [F in MetadataField]?: AttributeField } {
  const fields: { [F in MetadataField]?: AttributeField } = {};
  for (const field of METADATA_FIELDS) {
    const said = saidOf(field, given);
    const value = said === undefined ? "" : cleaned(said.value);
    if (said && value !== "") fields[field] = limited(field, value, said.from, given.rules.limits);
  }
  return fields;
}

function saidOf(field: MetadataField, given: Given): Said | undefined {
  const { facts, groups, rules, rule, name } = given;
  const answered = facts.answer?.metadata[field];
  if (answered === null) return undefined;
  if (answered !== undefined) return { value: answered, from: "hook" };
  const sidecar = facts.sidecar?.metadata[field];
  if (sidecar !== undefined) return { value: sidecar, from: "sidecar" };
  const own = templateOf(field, given, [rule?.metadata, rules.metadata], true);
  if (own) return own;
  const group = Object.hasOwn(groups, field) ? groups[field] : undefined;
  if (group !== undefined) return { value: group, from: "path" };
  const plain = templateOf(field, given, [rule?.metadata, rules.metadata], false);
  if (plain) return plain;
  // The archive knows it by a fixed name; its true one is kept where it can be read.
  const original = field === "title" && name.fixed ? shown(nameOf(facts.path)) : undefined;
  return original === undefined ? undefined : { value: truncated(original, 150), from: "name" };
}

/** The first of the templates that has something to say; `live` ones speak of the path. */
function templateOf(
  field: MetadataField,
  { values }: Given,
  places: readonly (MetadataTemplates | undefined)[],
  live: boolean,
): Said | undefined {
  for (const templates of places) {
    const template = templates?.[field];
    if (!template || isLive(template) !== live) continue;
    const value = filled(template, values);
    if (value !== undefined) return { value, from: live ? "path" : "static" };
  }
  return undefined;
}

function filled(template: Template, values: PlaceholderValues): string | undefined {
  const rendered = render(template, values, ["dir", "extension"]);
  return "text" in rendered ? rendered.text : undefined;
}

/** One line of whole characters: what a form field can carry and a list can show. */
function cleaned(value: string): string {
  return value
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

function limited(
  field: MetadataField,
  value: string,
  from: AttributeOrigin,
  limits: OverlongValues,
): AttributeField {
  const max = METADATA_LIMITS[field];
  if (value.length <= max) return { value, from };
  if (limits === "truncate") return { value: truncated(value, max).trimEnd(), from, cut: true };
  const message = `the ${field} (${from}) has ${value.length} characters, ${max} are allowed`;
  throw new Hold("METADATA_TOO_LONG", message);
}

type Dated = { readonly at: number; readonly from: string };

/** The last moment that every form can write. */
const AT_MAX = Date.UTC(9999, 11, 30);

/**
 * The expiry date by the rule; undefined where there is to be none. It cannot be taken back, so what is doubtful
 * throws `Hold`.
 */
export function expiryOf(
  guards: ExpiryGuards,
  rule: ExpiryRule,
  facts: Facts,
  path: string,
): AttributeExpiry | undefined {
  const dated = dateOf(rule, facts, path);
  if (dated === "none") return undefined;
  if ("unknown" in dated) {
    if (guards.unknown === "upload-without") return undefined;
    throw new Hold("EXPIRY_UNKNOWN", dated.unknown);
  }
  const day = utcDay(dated.at);
  if (dated.at > AT_MAX) throw new Hold("EXPIRY_UNKNOWN", `${dated.from} is after the year 9999`);
  if (dated.at < later(facts.at, guards.minimum)) {
    const least = formatPeriod(guards.minimum);
    const message = `it would expire on ${isoDay(day)} (${dated.from}), sooner than ${least} from now`;
    throw new Hold("EXPIRY_TOO_SOON", message);
  }
  const { withoutPlugin } = guards;
  return { ...dated, sent: written(dated.at, guards.form), withoutPlugin };
}

function dateOf(
  { after, from }: ExpiryRule,
  facts: Facts,
  path: string,
): Dated | { readonly unknown: string } | "none" {
  const said = facts.answer?.expires;
  if (said === "never") return "none";
  const day = said === undefined ? undefined : dayOf(said);
  if (day) return { at: noonOf(day), from: "as the hook says" };
  if (after === "never") return "none";
  if (from.kind === "sidecar") return fromNotes(after, facts);
  if (after === null) return "none";
  const start = startOf(from, facts, path);
  if (typeof start !== "number") return start;
  const at = later(start, after);
  const words = `${formatPeriod(after)} after ${WORDS[from.kind]}`;
  // A file system may have room for times that no date can hold.
  return Number.isNaN(at) ? { unknown: `${words} is no date` } : { at, from: words };
}

const WORDS = {
  uploaded: "it was uploaded",
  modified: "its file was modified",
  name: "the date in its name",
} as const;

function startOf(
  from: Exclude<ExpiryFrom, { kind: "sidecar" }>,
  facts: Facts,
  path: string,
): number | { readonly unknown: string } {
  if (from.kind === "uploaded") return facts.at;
  if (from.kind === "modified") return facts.modifiedAt;
  const found = matchPattern(from.pattern, path);
  if (found.kind === "slow") {
    throw new Hold("PATTERN_SLOW", `the pattern ${from.pattern} takes too long on this path`);
  }
  const { date, year, month = "1", day = "1" } = found.kind === "groups" ? found.groups : {};
  const written = date === undefined ? undefined : dayOf(date);
  const parts =
    year === undefined
      ? undefined
      : existing({ year: Number(year), month: Number(month), day: Number(day) });
  const start = written ?? parts;
  return start ? noonOf(start) : { unknown: `there is no date in its name by ${from.pattern}` };
}

/** The date itself, or what to count from. */
function fromNotes(
  after: ExpiryRule["after"],
  { sidecar }: Facts,
): Dated | { readonly unknown: string } | "none" {
  if (sidecar?.expires === "never") return "none";
  const expires = sidecar?.expires === undefined ? undefined : dayOf(sidecar.expires);
  if (expires) return { at: noonOf(expires), from: "as the sidecar says" };
  const date = sidecar?.date === undefined ? undefined : dayOf(sidecar.date);
  if (date && after !== null && after !== "never") {
    return {
      at: later(noonOf(date), after),
      from: `${formatPeriod(after)} after the date in the sidecar`,
    };
  }
  return { unknown: "no sidecar says when it expires" };
}

function utcDay(at: number) {
  const moment = new Date(at);
  return {
    year: moment.getUTCFullYear(),
    month: moment.getUTCMonth() + 1,
    day: moment.getUTCDate(),
  };
}

/** What is sent: milliseconds, `2033-11-20`, `2033-11-20T12:00:00.000Z` or `20.11.2033`; in UTC. */
function written(at: number, form: DateForm): number | string {
  if (form === "ms") return at;
  if (form === "datetime") return new Date(at).toISOString();
  const { year, month, day } = partsOfDay(utcDay(at));
  return form === "date" ? `${year}-${month}-${day}` : `${day}.${month}.${year}`;
}
