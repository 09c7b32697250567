/** What `journal copy` tells: how far it is, and what it found. */
import type { Compared, RowDifference } from "../journal/copy/compare-journals.ts";
import type { Advance, Copied } from "../journal/copy/copy-journal.ts";
import type { Clock } from "../std/clock.ts";
import { printable } from "../std/printable.ts";
import type { Terminal } from "./terminal.ts";
import { counted, numberText } from "../std/wording.ts";

/** A terminal is drawn on no more often than this. */
const DRAW_MS = 100;

/** Draws a line over on terminals; elsewhere nothing is printed before the end. */
export class CopyProgress {
  readonly #out: Terminal;
  readonly #clock: Clock;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(out: Terminal, clock: Clock) {
    this.#out = out;
    this.#clock = clock;
  }

  advanced({ table, doing, rows, of }: Advance): void {
    const now = this.#clock.monotonic();
    if (!this.#out.isInteractive || now - this.#drawnAt < DRAW_MS) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    const share = of === 0 ? 100 : Math.min(100, Math.floor((100 * rows) / of));
    const line = `${doing} ${table}: ${numberText(rows)} of ${numberText(of)} rows, ${share} %`;
    this.#out.redraw(line.slice(0, this.#out.width - 1));
  }

  end(): void {
    if (this.#isDrawn) this.#out.redraw();
    this.#isDrawn = false;
  }
}

/** A line a table, and one about all of them. */
export function copyLines({ from, to, tables, difference }: Copied): string[] {
  const width = Math.max(...tables.map(({ table }) => table.length));
  const counts = tables.map(({ source }) => numberText(source.rows));
  const digits = Math.max(...counts.map((count) => count.length));
  const lines = tables.map(
    (each, at) =>
      `${each.table.padEnd(width)}  ${counts[at]?.padStart(digits)}  ${verdictOf(each)}`,
  );
  if (difference) return lines;
  const rows = tables.reduce((sum, { source }) => sum + source.rows, 0);
  const all = `${counted(rows, "row")} in ${counted(tables.length, "table")}`;
  return [...lines, printable(`copied and compared every row: ${all}; from ${from} to ${to}`)];
}

function verdictOf({ source, target, difference }: Compared): string {
  if (!difference) return `the same  sha256 ${source.digest}`;
  return `differs: ${counted(target.rows, "row")} in the copy, ${differenceText(difference)}`;
}

/** `document=5 number=2 differs in detail`. */
export function differenceText({ row, what }: RowDifference): string {
  if (what === "missing") return `${row} is missing from the copy`;
  if (what === "extra") return `${row} is only in the copy`;
  return `${row} differs in ${what.join(", ")}`;
}

/** The same for programs. */
export function copyRecord({ from, to, tables, difference }: Copied) {
  return {
    from,
    to,
    same: difference === undefined,
    tables: tables.map(({ table, source, target, ...rest }) => ({
      table,
      rows: source.rows,
      rowsInCopy: target.rows,
      digest: source.digest,
      same: rest.difference === undefined,
    })),
    difference: difference ?? null,
  };
}
