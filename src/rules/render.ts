/** Filling a template with values. Total: whatever the values are, nothing is thrown. */
import { FUNCTIONS, truncated } from "./functions.ts";
import type { Template, ValueName } from "./template.ts";

/** What a placeholder stands for; undefined where there is no such value. */
export type PlaceholderValues = (name: ValueName) => string | undefined;

/** The text; or which placeholder had no value. */
export type Rendered = { readonly text: string } | { readonly missing: string };

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
