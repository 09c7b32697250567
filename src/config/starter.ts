/** The commented configuration that `init` writes, made from the declarations of the sections. */
import { hash } from "node:crypto";
import { z } from "zod";
import type { SecretScheme } from "../domain/signing.ts";
import { fileSchema } from "./config.ts";
import { aboutOf, declared, exampleOf, unwrap, written } from "./kind.ts";

/** What the starter is about; what is left out is filled with a plain example. */
export type StarterOptions = {
  readonly source?: string;
  readonly target?: string;
  readonly url?: string;
  readonly journal?: string;
  readonly receipts?: string;
  readonly signing?: {
    readonly scheme: SecretScheme | "none";
    readonly algorithm?: string;
    readonly encoding?: string;
  };
  /** Names of files that hold the secrets; undefined: anyone who reads it has to fill them in. */
  readonly accountKeyFile?: string;
  readonly secretFile?: string;
};

/**
 * The text of a commented starter configuration: what must be set is set, every other key is shown
 * with its default, switched off by a `#` directly before it. It holds no secret, so it may have
 * any mode until one is written into it.
 */
export function starterConfig(options: StarterOptions = {}): string {
  const { accountKeyFile, secretFile, signing = { scheme: "hmac" } } = options;
  const given: Given = new Map<string, string | readonly string[] | undefined>([
    ["archive.url", options.url ?? "https://archive.example.com"],
    ["archive.accountKeyFile", accountKeyFile],
    ["archive.signing.scheme", signing.scheme],
    ["archive.signing.algorithm", signing.algorithm],
    ["archive.signing.encoding", signing.encoding],
    ["archive.signing.secretFile", secretFile],
    ["mirrors.source", options.source ?? "/srv/scans"],
    ["mirrors.target", options.target ?? "/Scans"],
    ["mirrors.include", DOCUMENTS],
    ["journal", options.journal ?? "/var/lib/scanferry/journal.db"],
    ["receipts", options.receipts],
  ]);
  const parts = Object.entries(fileSchema.shape).map(([name, child]) =>
    entryOf([name], child, given).join("\n"),
  );
  return `${[HEADER, ...parts].join("\n\n")}\n`;
}

/** What is set, by keys: one value, or a list. */
type Given = ReadonlyMap<string, string | readonly string[] | undefined>;

const HEADER = `# Configuration of scanferry. What is set here must be set; a line that starts with a # and no
# blank shows a key with its default. docs/config.md explains every key.
#
# Durations: 200ms, 3s, 5m, 6h, 7d, 3y. Relative paths are relative to this file. A secret is in a
# file of its own ("...File"), or in a variable ($SCANFERRY_ACCOUNT_KEY, $SCANFERRY_SIGNING_SECRET);
# once one is written into this file: chmod 600. After a change: "scanferry check" reports everything
# that is wrong; SIGHUP makes a running daemon reload it.`;

/** The types of documents. */
const DOCUMENTS = [
  "**/*.{pdf,tif,tiff,jpg,jpeg,png,gif,bmp,heic}",
  "**/*.{doc,docx,xls,xlsx,ppt,pptx,odt,ods,odp,rtf,txt,csv,xml,htm,html}",
  "**/*.{asice,asics,bdoc,adoc,edoc,ddoc,eml,msg,zip}",
];

/** In characters: a comment's longest line, and where a comment behind a key begins. */
const WIDTH = 100;
const NOTE_COLUMN = 38;

/** The lines of a key, what it means first; of a section also those of its keys. */
function entryOf(path: readonly string[], schema: z.core.$ZodType, given: Given): string[] {
  const { inner, fallback } = unwrap(schema);
  const section = sectionOf(schema);
  const indent = indentOf(path);
  const comment = commentOf(aboutOf(schema)?.meaning ?? "", indent);
  // Lists that may be empty, and what can be written in one word, stay on one line.
  if (section === undefined || isWord(section) || fallback !== undefined) {
    const keys = section ? commentOf(example(section), indent) : [];
    return [...comment, ...linesOf(path, schema, given), ...keys];
  }
  const entries = Object.entries(section.shape).map(([name, child]) =>
    entryOf([...path, name], child, given),
  );
  const lines = entries.flat();
  if (inner instanceof z.ZodArray) {
    const first = entries.findIndex((entry) => isSet(entry.at(-1)));
    const [begin = []] = entries.splice(first, 1);
    lines.splice(0, lines.length, ...begin, ...entries.flat());
    const at = lines.findIndex(isSet);
    lines[at] = `${indent}  - ${lines[at]?.trimStart()}`;
  }
  return [...comment, `${indent}${path.at(-1)}:`, ...lines];
}

/** True where one word says all that there usually is to say: the key that it is short for has no default. */
function isWord(section: z.ZodObject): boolean {
  const key = declared(section).short?.keyOf(undefined);
  return key !== undefined && unwrap(section.shape[key]).fallback === undefined;
}

function isSet(line = ""): boolean {
  return !line.trimStart().startsWith("#");
}

/** A mirror's keys stand behind the dash of their entry. */
function indentOf([first, ...rest]: readonly string[]): string {
  return " ".repeat(2 * rest.length + (first === "mirrors" && rest.length > 0 ? 2 : 0));
}

/** A key with what is set, its default or an example, and the words that it may be. */
function linesOf(path: readonly string[], schema: z.core.$ZodType, given: Given): string[] {
  const [indent, name] = [indentOf(path), path.at(-1)];
  const value = given.get(path.join("."));
  if (typeof value === "object")
    return [`${indent}${name}:`, ...value.map((item) => `${indent}  - ${JSON.stringify(item)}`)];
  const { fallback } = unwrap(schema);
  const off =
    fallback === undefined ? `# ${name}: ${exampleOf(schema)}` : `#${name}: ${written(fallback)}`;
  const line = `${indent}${value === undefined ? off : `${name}: ${written(value)}`}`;
  const kind = declared(schema).kind?.name ?? "";
  if (!/^`[^`]+`, `/.test(kind)) return [line];
  return [`${line.padEnd(NOTE_COLUMN - 1)} # ${kind.replaceAll("`", "").replaceAll(", ", " | ")}`];
}

/** What a key may be, on one line; of a section, all of its keys. */
function example(schema: z.core.$ZodType): string {
  const { inner } = unwrap(schema);
  if (!(inner instanceof z.ZodObject)) return exampleOf(schema);
  const keys = Object.entries(inner.shape).map(([name, child]) => `${name}: ${example(child)}`);
  return `{ ${keys.join(", ")} }`;
}

/** The section that a key is, or is a list of. */
function sectionOf(schema: z.core.$ZodType): z.ZodObject | undefined {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodArray) return sectionOf(inner.element);
  return inner instanceof z.ZodObject ? inner : undefined;
}

/** The reference's words as a comment; a link as the file that it leads to. */
function commentOf(text: string, indent: string): string[] {
  const plain = text
    .replaceAll(/\[([^\]]+)\]\(([\w-]+\.md)[^)]*\)/g, (_, label: string, page: string) =>
      label === page ? `docs/${page}` : `${label} (docs/${page})`,
    )
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1");
  const lines: string[] = [];
  for (const word of plain.split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && indent.length + line.length + word.length + 3 <= WIDTH)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `${indent}# ${line}`);
}

const SEAL = "# While nothing here is changed, `scanferry init` replaces this file: ";

/** With a last line by which `init` sees, of whatever version the text is, that the user has not changed it. */
export function sealed(text: string): string {
  return `${text}\n${SEAL}${hash("sha256", text).slice(0, 16)}\n`;
}

/** Whether it is a starter that the user has not changed. */
export function isUnchangedStarter(text: string): boolean {
  const at = text.lastIndexOf(`\n${SEAL}`);
  return at >= 0 && text === sealed(text.slice(0, at));
}
