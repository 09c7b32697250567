import { legible, STEERING } from "../std/raw-path.ts";

/**
 * JSON on one line. What would steer a terminal, or turn the reading direction, is escaped as JSON
 * escapes it: whoever parses it gets it as it was.
 */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    STEERING,
    (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Text from outside (file names, replies, messages) on one line, with nothing in it that steers a
 * terminal or turns the reading direction.
 */
export function printable(text: string): string {
  return legible(text.replaceAll(/\s*[\r\n]+\s*/g, " "));
}
