import {
  type Document,
  type ErrorCode,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
} from "yaml";
import { ConfigProblems, type KeyPath } from "./config-problems.ts";
import { quoted } from "../std/printable.ts";

type LineAt = (offset: number) => number;

/**
 * Parses the text of a configuration file (YAML 1.2 with merge keys, one document): its value, and all found wrong so far.
 * Throws `ConfigError` when the text is not YAML; duplicate keys are findings like any other.
 * The parser's own messages quote the text, which may hold a secret: none of them is passed on.
 */
export function parseYamlSource(file: string, text: string) {
  const lines = new LineCounter();
  const lineAt: LineAt = (offset) => lines.linePos(offset).line;
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    merge: true,
    logLevel: "error",
  });
  const findings = new ConfigProblems(file, (key) => lineOf(document, key, lineAt));
  reportSyntax(document, findings, lineAt);
  reportAliases(document, findings, lineAt);
  findings.throwIfAny();
  reportDuplicates(document.contents, [], findings, lineAt);
  keepDigits(document);
  return { value: valueOf(document, findings), findings };
}

/** What a number does not say as it was written is text: 0815, 1.10 and 1e3 are not 815, 1.1 and 1000. */
function keepDigits(document: Document.Parsed): void {
  visit(document, {
    Scalar: (_key, scalar) => {
      if (typeof scalar.value !== "number" || String(scalar.value) === scalar.source) return;
      scalar.value = scalar.source;
    },
  });
}

function valueOf(document: Document.Parsed, findings: ConfigProblems): unknown {
  try {
    return document.toJS() as unknown;
  } catch {
    const message = "there are too many aliases (*name), or one that << cannot take keys from";
    findings.report([], message, "write the values out");
    findings.throwIfAny();
    return undefined;
  }
}

/** The parser finds them only once it makes values, and does not say where. */
function reportAliases(document: Document.Parsed, findings: ConfigProblems, lineAt: LineAt): void {
  const message = "an alias (*name) has no anchor (&name) above it";
  const fix = "set the anchor first, or put a value that starts with * in quotes";
  const anchors = new Set<string | undefined>();
  visit(document, {
    Value: (_key, node) => void anchors.add(node.anchor),
    Alias: (_key, alias) => {
      if (!anchors.has(alias.source)) findings.report([], message, fix, startOf(alias, lineAt));
    },
  });
}

const SYNTAX: Partial<Record<ErrorCode, readonly [message: string, fix: string]>> = {
  BAD_DQ_ESCAPE: ["an escape (\\…) in double quotes is not known", "use single quotes"],
  BAD_INDENT: ["the indentation does not fit, or a bracket is not closed", "line the keys up"],
  BAD_SCALAR_START: ["a value starts with a reserved character", "put it in quotes"],
  BLOCK_AS_IMPLICIT_KEY: ["a second colon and blank on one line", "put the value in quotes"],
  MISSING_CHAR: ["a quote, comma, colon or blank is missing", "close quotes and brackets"],
  MULTILINE_IMPLICIT_KEY: ["a key has no value", "put a colon and a blank after the key"],
  MULTIPLE_DOCS: ["there is more than one document", "remove the line ---"],
  NON_STRING_KEY: ["a key is not text", "write a word as the key"],
  TAB_AS_INDENT: ["a tab is used as indentation", "indent with blanks"],
  TAG_RESOLVE_FAILED: ["a tag (!…) is not known", "put a value that starts with ! in quotes"],
  UNEXPECTED_TOKEN: ["something stands where it cannot", "put the value in quotes, or indent it"],
};

/** One of a line: the parser stumbles on over what it did not understand, most of all over a tab. */
function reportSyntax(document: Document.Parsed, findings: ConfigProblems, lineAt: LineAt): void {
  const isTab = ({ code }: { code: ErrorCode }) => code === "TAB_AS_INDENT";
  const errors = [...document.errors, ...document.warnings];
  const told = new Set<number>();
  for (const error of [...errors.filter(isTab), ...errors.filter((each) => !isTab(each))]) {
    if (error.code === "DUPLICATE_KEY") continue;
    const line = lineAt(error.pos[0]);
    if (told.has(line)) continue;
    told.add(line);
    const [message, fix] = SYNTAX[error.code] ?? ["it cannot be read here", "fix the line"];
    findings.report([], `not YAML: ${message}`, fix, line);
  }
}

/** Found by hand rather than taken from the parser, which does not say where in the tree. */
function reportDuplicates(
  node: unknown,
  key: KeyPath,
  findings: ConfigProblems,
  lineAt: LineAt,
): void {
  if (isSeq(node)) {
    for (const [at, item] of node.items.entries()) {
      reportDuplicates(item, [...key, at], findings, lineAt);
    }
  }
  if (!isMap(node)) return;
  const seen = new Set<string>();
  for (const pair of node.items) {
    const name = nameOf(pair);
    if (seen.has(name)) {
      const fix = "keep one of the two";
      findings.report([...key, name], "is given twice", fix, startOf(pair.key, lineAt));
    }
    seen.add(name);
    reportDuplicates(pair.value, [...key, name], findings, lineAt);
  }
}

/** Where the value of `key` stands, or else the nearest thing above it that the file does have. */
function lineOf(document: Document.Parsed, key: KeyPath, lineAt: LineAt) {
  let node: unknown = document.contents;
  let line: number | undefined;
  for (const part of key) {
    if (isMap(node)) {
      const pair = node.items.findLast((pair) => nameOf(pair) === String(part));
      if (pair === undefined) return line;
      line = startOf(pair.key, lineAt) ?? line;
      node = pair.value;
    } else if (isSeq(node) && typeof part === "number") {
      node = node.items[part];
      line = startOf(node, lineAt) ?? line;
    } else return line;
  }
  return isScalar(node) ? (startOf(node, lineAt) ?? line) : line;
}

function startOf(node: unknown, lineAt: LineAt): number | undefined {
  return isNode(node) && node.range ? lineAt(node.range[0]) : undefined;
}

function nameOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : quoted(pair.key);
}
