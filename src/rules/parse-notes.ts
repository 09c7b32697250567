/** From the text of a file of notes to what it says, or to the line and column of its fault. */
import { isMap, isNode, isScalar, Lexer, LineCounter, type Pair, parseDocument, visit } from "yaml";
import { type NoteForm, type NotesFault, notesOf, type PlaceOf, type ReadNotes } from "./notes.ts";

/** More references within one small file are an attack, or a mistake. */
const ALIASES_MAX = 20;

/**
 * The parser of YAML takes time by the square of lines, and many objects for each token: what comes from
 * anyone is not given to it with more. (All fields at their longest have some hundred lines.)
 */
const LINES_MAX = 2_000;
const TOKENS_MAX = 10_000;

const XMP = "XMP is not read: write what it says into a sidecar .yaml or .json";

const START = { line: 1, column: 1 };

/** Reads notes. Never throws, whatever the text. */
export function parseNotes(bytes: Uint8Array, form: NoteForm): ReadNotes {
  if (form === "xmp") return { fault: { ...START, message: XMP } };
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { fault: { ...START, message: "is not UTF-8 text" } };
  }
  try {
    return form === "json" ? ofJson(text) : ofYaml(text);
  } catch (error) {
    // A file of brackets within brackets is too deep for any parser that follows them.
    if (!(error instanceof RangeError) && !(error instanceof ReferenceError)) throw error;
    return { fault: { ...START, message: "is nested too deeply, or refers to itself" } };
  }
}

function ofYaml(text: string): ReadNotes {
  const tooMuch = beyond(text);
  if (tooMuch !== undefined) return { fault: { ...START, message: tooMuch } };
  const lines = new LineCounter();
  const placeAt = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // Compares each with each before it; whether a key stands twice is looked at below.
    uniqueKeys: false,
    schema: "core",
    logLevel: "silent",
  });
  const [error] = [...document.errors, ...document.warnings];
  if (error) {
    return { fault: { ...placeAt(error.pos[0]), message: `not YAML: ${plain(error.message)}` } };
  }
  const { contents } = document;
  const twice = isMap(contents) ? repeated(contents.items) : undefined;
  if (twice) {
    const place = isNode(twice.key) && twice.key.range ? placeAt(twice.key.range[0]) : START;
    return { fault: { ...place, message: "not YAML: a key is there twice" } };
  }
  const placeOf: PlaceOf = (key) => {
    const pair = isMap(contents) ? contents.items.find((each: Pair) => nameOf(each) === key) : null;
    const node = pair?.key ?? contents;
    return isNode(node) && node.range ? placeAt(node.range[0]) : START;
  };
  // What looks like a number is text: 0815 and 1.10 are not 815 and 1.1.
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "number") scalar.value = scalar.source;
    },
  });
  return notesOf(document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown, placeOf);
}

/** What is too much of a text; undefined: nothing. */
function beyond(text: string): string | undefined {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  if (lines > LINES_MAX) return `has more than ${LINES_MAX} lines`;
  let tokens = 0;
  for (const _ of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > TOKENS_MAX) return `has more than ${TOKENS_MAX} signs and values`;
  }
  return undefined;
}

/** The second of two pairs with one key. */
function repeated(pairs: readonly Pair[]): Pair | undefined {
  const names = new Set<string | undefined>();
  return pairs.find((pair) => names.size === names.add(nameOf(pair)).size);
}

function nameOf({ key }: Pair): string | undefined {
  return isScalar(key) ? String(key.value) : undefined;
}

function ofJson(text: string): ReadNotes {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { fault: jsonFault(text, error.message) };
  }
  const placeOf: PlaceOf = (key) => {
    const at = key === undefined ? -1 : text.indexOf(JSON.stringify(key));
    return at < 0 ? START : placeIn(text, at);
  };
  return notesOf(value, placeOf);
}

/** The engine tells the position within its message, but for an end that comes too soon. */
function jsonFault(text: string, message: string): NotesFault {
  const position = /at position (\d+)/.exec(message)?.[1];
  const at = position === undefined ? text.length : Number(position);
  const what = plain(message).replace(/ (in JSON )?at position.*$/, "");
  return { ...placeIn(text, at), message: `not JSON: ${what}` };
}

function placeIn(text: string, at: number) {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** One line, and short: what a parser says may quote the file. */
function plain(message: string): string {
  return message.replace(/\s+/g, " ").slice(0, 160);
}
