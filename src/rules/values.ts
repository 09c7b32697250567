import { folderNameOf } from "../domain/naming.ts";
import { nameOf, partsOf, type RawPath } from "../std/raw-path.ts";
import { isoDay, localDay, partsOfDay } from "./dates.ts";
import type { SidecarRead } from "../domain/attributes.ts";
import type { HookAnswer } from "./answer.ts";
import type { Notes } from "./notes.ts";
import { FUNCTIONS, truncated } from "./functions.ts";
import type { Template, ValueName } from "./template.ts";

/** What the placeholders of a template stand for, for one document. */

/** The named groups of a pattern that took part in the match. */
export type Groups = Readonly<Record<string, string>>;

/** The relative path as text: what patterns are matched against. */
export function textPath(path: RawPath): string {
  return partsOf(path).map(folderNameOf).join("/");
}

/** The values of a document. `year`, `month` and `day` are of its file's modification, where that is a date. */
export function valuesOf(facts: Facts, groups: Groups): PlaceholderValues {
  const name = folderNameOf(nameOf(facts.path));
  const dirs = partsOf(facts.path).slice(0, -1).map(folderNameOf);
  const dot = name.lastIndexOf(".");
  const day = localDay(facts.modifiedAt);
  const parts = Number.isNaN(day.year) ? undefined : partsOfDay(day);
  return (value) => {
    switch (value) {
      case "name":
        return name;
      case "stem":
        return dot > 0 ? name.slice(0, dot) : name;
      case "extension":
        return dot > 0 ? name.slice(dot + 1) : "";
      case "dir":
        return dirs.join("/");
      case "parent":
        return dirs.at(-1);
      case "mirror":
        return facts.mirror;
      case "modified":
        return parts && isoDay(day);
      case "sent":
        return isoDay(localDay(facts.at));
      case "year":
      case "month":
      case "day":
        return parts?.[value];
      default: {
        const group = value.slice("group.".length);
        return Object.hasOwn(groups, group) ? groups[group] : undefined;
      }
    }
  };
}

/** What is known of a document when it is decided on. Times in epoch milliseconds. */
export type Facts = {
  /** The mirror's name. */
  readonly mirror: string;
  readonly path: RawPath;
  readonly modifiedAt: number;
  /** When it became ready: what `sent` and `uploaded` mean in a rule. */
  readonly at: number;
  readonly sidecar: Notes | null;
  /** The file that says so; absent: there is none, or nothing will be moved or deleted. */
  readonly sidecarRead?: SidecarRead;
  /** What the `before` hook answered; absent: nobody asked. */
  readonly answer?: HookAnswer;
};

/** What a placeholder stands for; undefined where there is no such value. */
export type PlaceholderValues = (name: ValueName) => string | undefined;

/** The text; or which placeholder had no value. */
type Rendered = { readonly text: string } | { readonly missing: string };

/** Beyond all that may be sent; functions that multiply a text would soon fill all memory with it. */
const VALUE_MAX = 10_000;

/**
 * Fills a template. A placeholder without a value (nothing, or the empty text) leaves the whole
 * template without one, unless its functions name a `default`, or it is one of `mayBeEmpty`.
 */
export function render(
  { pieces }: Template,
  values: PlaceholderValues,
  mayBeEmpty: readonly ValueName[] = [],
): Rendered {
  let text = "";
  for (const piece of pieces) {
    if ("text" in piece) {
      text += piece.text;
      continue;
    }
    let value = bounded(values(piece.value));
    for (const { name, with: given } of piece.steps) {
      if (name === "default") value = value === undefined || value === "" ? given[0] : value;
      else if (value !== undefined) value = bounded(FUNCTIONS[name].apply(value, given));
    }
    if (value === undefined || (value === "" && !mayBeEmpty.includes(piece.value))) {
      return { missing: `{${piece.value}}` };
    }
    text += value;
  }
  return { text };
}

function bounded(value: string | undefined): string | undefined {
  return value === undefined ? undefined : truncated(value, VALUE_MAX);
}
