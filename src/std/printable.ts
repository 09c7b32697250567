import type { Readable } from "node:stream";

/**
 * Text from outside (file names, replies, messages) on one line, with nothing in it that steers a
 * terminal or turns the reading direction.
 */
export function printable(text: string): string {
  return legible(text.replaceAll(/\s*[\r\n]+\s*/g, " "));
}

/**
 * What comes from a file name, an archive, a hook or a database can hold what steers a terminal, splits a
 * line or turns the reading direction: control characters of C0 and C1, line and paragraph separators,
 * marks, embeddings and isolates of bidirectional text. Nothing of it is shown as it is.
 */
export const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text with all of that escaped, on one line. */
export function legible(text: string): string {
  return text.replace(STEERING, (c) => {
    const code = c.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : asJson(c);
  });
}

/**
 * Lines as they may leave for a terminal, a file or a pipe: line breaks and tabs stay, the rest is escaped as
 * JSON escapes it, so that anyone who parses JSON gets it as it was.
 */
export function inert(lines: string): string {
  return lines.replace(STEERING, (c) => (c === "\n" || c === "\t" ? c : asJson(c)));
}

function asJson(c: string): string {
  return `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
}

const SHOWN_MAX = 60;

/** A value as it is shown in a message: on one line, short, nothing that steers a terminal. */
export function quoted(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a mapping";
  if (typeof value !== "string") return String(value);
  return escaped(value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value);
}

/** A path as it is shown to people: whole, since the user has to go there. */
export function quotedPath(path: string): string {
  return escaped(path);
}

function escaped(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, asJson);
}

/** What kind of thing a value is, for where the value itself may be a secret. */
export function sortOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a mapping";
  if (typeof value === "string") return "text";
  return typeof value === "boolean" ? "true or false" : "a number";
}

/** What is kept of it: the end. */
const TAIL_BYTES_MAX = 2_000;

/** Reads the standard error of a program to its end; gives the end of what it said so far, in one line that may be shown. */
export function lastWordsOf(stderr: Readable): () => string {
  let kept = Buffer.alloc(0);
  stderr.on("data", (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-TAIL_BYTES_MAX);
  });
  return () => {
    const text = kept
      .toString("utf8")
      .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
      .trim();
    return text.slice(-500).toWellFormed();
  };
}
