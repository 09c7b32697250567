/** How the values of options are read; what cannot be meant is refused in one line. */
import { InvalidArgumentError } from "commander";
import { parseDuration, parseSize } from "../std/units.ts";
import { folderPath } from "../embedded-archive/parameters.ts";

/** A whole number, 0 or more. */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number)) {
    throw new InvalidArgumentError("Write a whole number.");
  }
  return number;
}

/** A port to listen on; 0: any that is free. */
export function portNumber(text: string): number {
  const number = wholeNumber(text);
  if (number > 65_535) throw new InvalidArgumentError("Write a port from 0 to 65535.");
  return number;
}

/** A code, however it is typed. */
export function upperCase(text: string): string {
  return text.toUpperCase();
}

/** `true` or `false`. */
export function trueOrFalse(text: string): boolean {
  if (text === "true") return true;
  if (text === "false") return false;
  throw new InvalidArgumentError("Write true or false.");
}

/** A date: epoch milliseconds as a number; any other text goes to the archive as it is. */
export function moment(text: string): number | string {
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

/** Milliseconds of `500ms`, `3s`. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError("Write a duration such as 500ms or 3s.");
  return ms;
}

/** Bytes of `1048576`, `10MB`, `10MiB`. */
export function size(text: string): number {
  const bytes = parseSize(text);
  if (bytes === undefined) throw new InvalidArgumentError("Write a size such as 10MB.");
  return bytes;
}

/** `HOST:PORT`; an IPv6 address stands in brackets; port 0 is any free one. */
export function listenAddress(text: string): { host: string; port: number } {
  const [, v6, name, digits] = /^(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = v6 ?? name;
  const port = Number(digits);
  if (host === undefined || port > 65_535) {
    throw new InvalidArgumentError("Write HOST:PORT, e.g. 127.0.0.1:8471.");
  }
  return { host, port };
}

/** `KEY:SECRET`; added to those before. The value is not repeated in a message: it is a secret. */
export function accounts(
  text: string,
  before: readonly { key: string; secret: string }[] = [],
): { key: string; secret: string }[] {
  const colon = text.indexOf(":");
  if (colon < 1 || colon === text.length - 1) throw new InvalidArgumentError("Write KEY:SECRET.");
  const key = text.slice(0, colon);
  if (before.some((account) => account.key === key))
    throw new InvalidArgumentError("Give every account a key of its own.");
  return [...before, { key, secret: text.slice(colon + 1) }];
}

/** `/A/B`; added to those before. */
export function folderPaths(text: string, before: readonly string[] = []): string[] {
  return [...before, archiveFolder(text)];
}

/** The path of one. */
export function archiveFolder(text: string): string {
  if (folderPath.safeParse(text).success) return text;
  throw new InvalidArgumentError("Write a path such as /Scans/2026, without empty names.");
}

/** The end of a command's help: how it is typed. */
export function examples(...lines: readonly string[]): string {
  const heading = lines.length === 1 ? "Example:" : "Examples:";
  return `\n${heading}\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
