/** Text in columns, measured as a terminal shows it. */
import { stripVTControlCharacters } from "node:util";
import { printable } from "../std/printable.ts";
import type { Style, Terminal } from "./terminal.ts";
import { clause } from "../std/wording.ts";
import type { CheckResult } from "../check/check-result.ts";

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const EMPTY = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** Columns that `text` takes: colours and combining marks none, East Asian characters two. */
export function widthOf(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: printable ASCII is the common case
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of stripVTControlCharacters(text)) {
    if (EMPTY.test(character)) continue;
    width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

/** `text` filled with blanks up to `width`; longer text stays whole. */
export function padded(text: string, width: number, align: "left" | "right" = "left"): string {
  const blanks = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + blanks : blanks + text;
}

/** `text` cut at `width` columns, the cut shown. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let out = "";
  for (const character of text) {
    if (widthOf(out + character) > width - 1) break;
    out += character;
  }
  return `${out}…`;
}

/** Lines of a table: each column as wide as its widest cell, numbers to the right. */
export function table(
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    }
  }
  return rows.map((row) =>
    row
      .map((cell, column) =>
        padded(cell, widths[column] ?? 0, right.includes(column) ? "right" : "left"),
      )
      .join("  ")
      .trimEnd(),
  );
}

/** `text` cut at `width` columns in its middle: of a path, the file's name and the first folder stay. */
export function cutMiddle(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const characters = Array.from(text);
  let end = "";
  const endMax = Math.ceil((width - 1) * 0.65);
  for (const character of characters.toReversed()) {
    if (widthOf(character + end) > endMax) break;
    end = character + end;
  }
  let start = "";
  for (const character of characters) {
    if (widthOf(start + character) + 1 + widthOf(end) > width) break;
    start += character;
  }
  return `${start}…${end}`;
}

/** `text` over as many lines as it needs, broken between words; with `linesMax` at most so many, the last cut. */
export function wrapped(
  text: string,
  width: number,
  linesMax = Number.POSITIVE_INFINITY,
): string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(" ")) {
    const longer = line === undefined ? word : `${line} ${word}`;
    if (line === undefined || widthOf(longer) <= width || lines.length + 1 >= linesMax)
      line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, linesMax === Number.POSITIVE_INFINITY ? (line ?? "") : cut(line ?? "", width)];
}

/** A line with a column at its end, which goes on below itself where it is too long. */
export function hanging(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line];
  const [, start = ""] = /^(.*\S? {2,})\S/.exec(line.slice(0, Math.floor(width / 2))) ?? [];
  const rest = line.slice(start.length);
  const indent = " ".repeat(widthOf(start));
  return wrapped(rest, width - indent.length).map((each, index) =>
    index === 0 ? start + each : indent + each,
  );
}

/** Text that has to fit on a screen: what is long gives way first, and says that it did. */

/** Lines that belong together; the first `keeps` of them are left out last. */
export type Section = {
  readonly lines: readonly string[];
  readonly keeps: number;
};

/**
 * The sections one below the other, a blank line between them, in at most `rowsMax` lines. A section
 * that is cut ends with how many lines are missing. On a screen too small for what should be kept,
 * what stands first is, without blank lines.
 */
export function fit(sections: readonly Section[], rowsMax: number): string[] {
  const there = sections.filter(({ lines }) => lines.length > 0);
  const shown = there.map(({ lines }) => lines.length);
  let rows = shown.reduce((sum, count) => sum + count, 0) + Math.max(0, there.length - 1);
  while (rows > rowsMax) {
    const longest = longestOf(there, shown);
    if (longest === undefined) break;
    const count = shown[longest] ?? 0;
    shown[longest] = count - 1;
    // The first cut costs one line more, for what is said of the others.
    rows -= count === there[longest]?.lines.length ? 0 : 1;
  }
  if (rows > rowsMax) return squeezed(there, shown, Math.max(1, rowsMax));
  return there.flatMap(({ lines }, index) => {
    const count = shown[index] ?? 0;
    const left = lines.length - count;
    return [...(index === 0 ? [] : [""]), ...lines.slice(0, count), ...moreLine(left)];
  });
}

/** What is kept of the first sections, and how many lines of all are missing. */
function squeezed(sections: readonly Section[], shown: readonly number[], rows: number): string[] {
  const all = sections.reduce((sum, { lines }) => sum + lines.length, 0);
  const kept = sections.flatMap(({ lines }, index) => lines.slice(0, shown[index]));
  const first = kept.slice(0, Math.max(1, rows - 1));
  return [...first, ...moreLine(all - first.length)].slice(0, rows);
}

function moreLine(left: number): string[] {
  return left === 0 ? [] : [`  … ${left} more; scanferry status --all`];
}

/** The one of which most is shown beyond what must be kept. */
function longestOf(sections: readonly Section[], shown: readonly number[]): number | undefined {
  let found: number | undefined;
  let most = 0;
  for (const [index, { keeps }] of sections.entries()) {
    const spare = (shown[index] ?? 0) - keeps;
    if (spare > most) [found, most] = [index, spare];
  }
  return found;
}

const STYLES: Readonly<Record<CheckResult["level"], Style>> = {
  ok: "green",
  warn: "yellow",
  FAIL: "red",
};

const INDENT = " ".repeat(6);

/** `FAIL  WHAT — FIX`; on a terminal over several lines where it is too long. */
export function findingLine({ level, what, fix }: CheckResult, out: Terminal): string {
  const mark = out.paint(STYLES[level], padded(level, 4));
  const text = `${printable(what)}${fix === null ? "" : ` — ${printable(clause(fix))}`}`;
  const lines = out.isInteractive ? wrapped(text, out.width - INDENT.length) : [text];
  return `${mark}  ${lines.join(`\n${INDENT}`)}`;
}
