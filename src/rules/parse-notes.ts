/** From the text of a file of notes to what it says, or to the line and column of its fault. */
import { isMap, isNode, isScalar, LineCounter, type Pair, parseDocument, visit } from "yaml";
import { type NotesFault, notesOf, type PlaceOf, type ReadNotes } from "./notes.ts";
import { parseXmp } from "./xmp.ts";

/** The forms that notes are written in, by the extension of the file. */
export const NOTE_FORMS = ["yaml", "yml", "json", "xmp"] as const;

/** `yml` is `yaml`; what stands in a form other than `xmp` goes by the same keys. */
export type NoteForm = (typeof NOTE_FORMS)[number];

/** More references within one small file are an attack, or a mistake. */
const ALIASES_MAX = 20;

const START = { line: 1, column: 1 };

/** Reads notes. Never throws, whatever the text. */
export function parseNotes(
  bytes: Uint8Array,
  form: NoteForm,
  of: "sidecar" | "directory",
): ReadNotes {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { fault: { ...START, message: "is not UTF-8 text" } };
  }
  try {
    if (form === "xmp") return parseXmp(text);
    return form === "json" ? ofJson(text, of) : ofYaml(text, of);
  } catch (error) {
    // A file of brackets within brackets is too deep for any parser that follows them.
    if (!(error instanceof RangeError) && !(error instanceof ReferenceError)) throw error;
    return { fault: { ...START, message: "is nested too deeply, or refers to itself" } };
  }
}

function ofYaml(text: string, of: "sidecar" | "directory"): ReadNotes {
  const lines = new LineCounter();
  const placeAt = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    schema: "core",
    logLevel: "silent",
  });
  const [error] = [...document.errors, ...document.warnings];
  if (error) {
    return { fault: { ...placeAt(error.pos[0]), message: `not YAML: ${plain(error.message)}` } };
  }
  const placeOf: PlaceOf = (key) => {
    const { contents } = document;
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
  return notesOf(document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown, of, placeOf);
}

function nameOf({ key }: Pair): string | undefined {
  return isScalar(key) ? String(key.value) : undefined;
}

function ofJson(text: string, of: "sidecar" | "directory"): ReadNotes {
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
  return notesOf(value, of, placeOf);
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
