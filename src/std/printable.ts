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
