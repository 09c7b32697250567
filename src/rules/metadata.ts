/** The metadata of a document: which source has a say, and what the limits make of it. */
import type { SentName } from "../domain/naming.ts";
import {
  type AttributeField,
  type AttributeOrigin,
  METADATA_FIELDS,
  METADATA_LIMITS,
  type MetadataField,
} from "../domain/attributes.ts";
import { nameOf, shown } from "../std/raw-path.ts";
import { truncated } from "./functions.ts";
import { Hold } from "./hold.ts";
import { type PlaceholderValues, render } from "./render.ts";
import type { MetadataTemplates, MirrorRules, OverlongValues, Rule } from "./rules.ts";
import { isLive, type Template } from "./template.ts";
import type { Facts, Groups } from "./values.ts";

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
