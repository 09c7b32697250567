/**
 * JSON on one line. What would steer a terminal, or turn the reading direction, is escaped as JSON
 * escapes it: whoever parses it gets it as it was.
 */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Text from outside (file names, replies, messages) on one line, with nothing in it that steers a
 * terminal or turns the reading direction.
 */
export function printable(text: string): string {
  return text
    .replaceAll(/\s*[\r\n]+\s*/g, " ")
    .replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (c) => {
      const code = c.codePointAt(0) ?? 0;
      return code < 0x100
        ? `\\x${code.toString(16).padStart(2, "0")}`
        : `\\u${code.toString(16).padStart(4, "0")}`;
    });
}
