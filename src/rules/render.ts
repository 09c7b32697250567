/** Filling a template with values. Total: whatever the values are, nothing is thrown. */
import { FUNCTIONS } from "./functions.ts";
import type { Template, ValueName } from "./template.ts";

/** What a placeholder stands for; undefined where there is no such value. */
export type Values = (name: ValueName) => string | undefined;

/** The text; or which placeholder had no value. */
export type Rendered = { readonly text: string } | { readonly missing: string };

/**
 * Fills a template. A placeholder without a value (nothing, or the empty text) leaves the whole
 * template without one, unless its functions name a `default`, or it is one of `mayBeEmpty`.
 */
export function render(
  { pieces }: Template,
  values: Values,
  mayBeEmpty: readonly ValueName[] = [],
): Rendered {
  let text = "";
  for (const piece of pieces) {
    if ("text" in piece) {
      text += piece.text;
      continue;
    }
    let value = values(piece.value);
    for (const { name, with: given } of piece.steps) {
      if (name === "default") value = value === undefined || value === "" ? given[0] : value;
      else if (value !== undefined) value = FUNCTIONS[name].apply(value, given);
    }
    if (value === undefined || (value === "" && !mayBeEmpty.includes(piece.value))) {
      return { missing: `{${piece.value}}` };
    }
    text += value;
  }
  return { text };
}
