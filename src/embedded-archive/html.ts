import { STEERING } from "../std/legible.ts";

/** HTML as it is sent. */
export type Html = { readonly html: string };

/** HTML with values put in: text is escaped, HTML is not, and of a list each is a line. */
export function html(
  parts: TemplateStringsArray,
  ...values: (Html | readonly Html[] | string | number)[]
): Html {
  return { html: String.raw({ raw: parts }, ...values.map(markupOf)) };
}

function markupOf(value: Html | readonly Html[] | string | number): string {
  if (typeof value !== "object") return escaped(String(value));
  return "html" in value ? value.html : value.map((each) => each.html).join("\n");
}

/** Marks that turn the direction of text around show themselves. */
function escaped(text: string): string {
  return text
    .replace(STEERING, "\uFFFD")
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
