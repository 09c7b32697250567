/**
 * Templates: text with placeholders, `{stem | replace "_" " " | truncate 80}`. A placeholder names
 * a value and the functions it goes through; `{{` and `}}` stand for the braces themselves.
 * Parsed once, when the configuration is read; what a template can go wrong with at all is found
 * there, and told with its column.
 */
import { FUNCTIONS, type FunctionName, isFunction } from "./functions.ts";

/** A value a template can name; `group.` takes the name of a group of the pattern. */
export const VALUES = [
  "name",
  "stem",
  "extension",
  "dir",
  "parent",
  "mirror",
  "modified",
  "sent",
  "year",
  "month",
  "day",
] as const;

/** What a placeholder begins with. */
export type ValueName = (typeof VALUES)[number] | `group.${string}`;

/** A function, and what it was given. */
export type TemplateStep = { readonly name: FunctionName; readonly with: readonly string[] };

/** Text as it stands, or a placeholder: a value, and what is done to it in turn. */
export type Piece =
  | { readonly text: string }
  | { readonly value: ValueName; readonly steps: readonly TemplateStep[] };

/** A template; plain data. */
export type Template = { readonly source: string; readonly pieces: readonly Piece[] };

/** What is wrong with a template; `column` is counted from 1. */
export class TemplateFault extends Error {
  override readonly name = "TemplateFault";
  readonly column: number;

  constructor(column: number, message: string) {
    super(message);
    this.column = column;
  }
}

/** Characters; a placeholder without its end is not looked for any further. */
const PLACEHOLDER_MAX = 1_000;

/** Parses a template. Throws `TemplateFault`, and nothing else, for any text. */
export function parseTemplate(source: string): Template {
  const pieces: Piece[] = [];
  let text = "";
  for (let at = 0; at < source.length; ) {
    const char = source[at] ?? "";
    if (char !== "{" && char !== "}") {
      text += char;
      at += 1;
    } else if (source[at + 1] === char) {
      text += char;
      at += 2;
    } else {
      if (char === "}") throw new TemplateFault(at + 1, "} without a {; write }} for the brace");
      const end = endOf(source, at);
      if (text !== "") pieces.push({ text });
      text = "";
      pieces.push(placeholder(source.slice(at + 1, end), at + 2));
      at = end + 1;
    }
  }
  if (text !== "") pieces.push({ text });
  return { source, pieces };
}

/** True when the template has a placeholder: it is more than a text. */
export function isLive({ pieces }: Template): boolean {
  return pieces.some((piece) => "value" in piece);
}

/** The groups that the template names. */
export function groupsIn({ pieces }: Template): string[] {
  return pieces.flatMap((piece) =>
    "value" in piece && piece.value.startsWith("group.") ? [piece.value.slice(6)] : [],
  );
}

/** The place of the brace that closes the one at `at`; a brace in quotes closes nothing. */
function endOf(source: string, at: number): number {
  let quote = "";
  for (let here = at + 1; here < source.length; here++) {
    const char = source[here] ?? "";
    if (quote !== "") quote = char === quote ? "" : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === "}") return here;
    if (here - at > PLACEHOLDER_MAX) break;
  }
  throw new TemplateFault(at + 1, "{ is not closed; write {{ for the brace");
}

function placeholder(inner: string, column: number): Piece {
  const [value, ...steps] = splitAt(inner, "|");
  const name = (value?.text ?? "").trim();
  if (!isValue(name)) {
    const known = [...VALUES, "group.NAME"].join(", ");
    throw new TemplateFault(
      column,
      `${name === "" ? "nothing" : name} is no value; known: ${known}`,
    );
  }
  return { value: name, steps: steps.map(({ text, at }) => step(text, column + at)) };
}

function isValue(name: string): name is ValueName {
  return (VALUES as readonly string[]).includes(name) || /^group\.[A-Za-z_]\w*$/.test(name);
}

function step(text: string, column: number): TemplateStep {
  const [first, ...given] = splitAt(text.trim(), " ").map(({ text: word }) => unquoted(word));
  const name = first ?? "";
  if (!isFunction(name)) {
    const known = Object.keys(FUNCTIONS).join(", ");
    throw new TemplateFault(
      column,
      `${name === "" ? "nothing" : name} is no function; known: ${known}`,
    );
  }
  const wrong = FUNCTIONS[name].check(given);
  if (wrong !== undefined) throw new TemplateFault(column, `${name}: ${wrong}`);
  return { name, with: given };
}

/** The parts between separators outside of quotes; empty ones between blanks are left out. */
function splitAt(text: string, separator: "|" | " "): { text: string; at: number }[] {
  const parts: { text: string; at: number }[] = [];
  let quote = "";
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const char = text[at];
    if (char !== undefined && quote !== "") quote = char === quote ? "" : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === undefined || char === separator) {
      const part = text.slice(start, at);
      if (separator === "|" || part !== "") parts.push({ text: part, at: start });
      start = at + 1;
    }
  }
  return parts;
}

function unquoted(word: string): string {
  return /^(["']).*\1$/s.test(word) && word.length > 1 ? word.slice(1, -1) : word;
}
