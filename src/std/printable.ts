import { legible } from "./legible.ts";

/**
 * Text from outside (file names, replies, messages) on one line, with nothing in it that steers a
 * terminal or turns the reading direction.
 */
export function printable(text: string): string {
  return legible(text.replaceAll(/\s*[\r\n]+\s*/g, " "));
}
