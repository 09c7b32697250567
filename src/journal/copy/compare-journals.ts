/** Whether a table holds the same rows on both sides: row by row, and by a digest of all of them. */
import { createHash } from "node:crypto";
import { canonical, type CopiedTable, keyOf, pagesOf } from "./copied-tables.ts";
import type { TableRow, Side } from "./side.ts";

/** A row that is not the same on both sides. */
export type RowDifference = {
  readonly table: string;
  /** The row's key: `document=5 number=2`. */
  readonly row: string;
  /** `missing` from the copy, `extra` in it, or the columns that differ. */
  readonly what: "missing" | "extra" | readonly string[];
};

/** What of a table is on one side. */
export type Sum = {
  /** Count. */
  readonly rows: number;
  /** SHA-256 over the canonical rows, in the order of their keys; hex. */
  readonly digest: string;
};

/** What the comparison of one table found. Without a difference both sums are the same. */
export type Compared = {
  readonly table: string;
  readonly source: Sum;
  readonly target: Sum;
  /** The first one; undefined: there is none. */
  readonly difference: RowDifference | undefined;
};

/** `told` hears of the rows as they are read; it may throw, to end the comparison. */
export async function compare(
  source: Side,
  target: Side,
  table: CopiedTable,
  columns: readonly string[],
  told: (rows: number) => Promise<void>,
): Promise<Compared> {
  const keepsAllText = source.keepsAllText && target.keepsAllText;
  const textOf = (row: TableRow) =>
    JSON.stringify(columns.map((column) => canonical(row[column], keepsAllText)));
  const one = new Reader(pagesOf(source, table, columns), textOf, told);
  const other = new Reader(pagesOf(target, table, columns), textOf, async () => undefined);
  let difference: RowDifference | undefined;
  for (;;) {
    const [left, right] = [await one.next(), await other.next()];
    if (!left && !right) break;
    // Both are read to their ends: the digests are of everything.
    if (left?.text === right?.text) continue;
    difference ??= differenceOf(table, columns, keepsAllText, left?.row, right?.row);
  }
  return { table: table.name, source: one.sum(), target: other.sum(), difference };
}

function differenceOf(
  table: CopiedTable,
  columns: readonly string[],
  keepsAllText: boolean,
  left: TableRow | undefined,
  right: TableRow | undefined,
): RowDifference {
  const order = !left ? 1 : !right ? -1 : orderOf(left, right, table);
  const row = order > 0 ? right : left;
  const named = table.key.map((column) => `${column}=${String(row?.[column])}`).join(" ");
  const differing = columns.filter(
    (column) =>
      canonical(left?.[column], keepsAllText) !== canonical(right?.[column], keepsAllText),
  );
  const what = order < 0 ? "missing" : order > 0 ? "extra" : differing;
  return { table: table.name, row: named, what };
}

/** Below 0 where the first row comes first. */
function orderOf(left: TableRow, right: TableRow, table: CopiedTable): number {
  const others = keyOf(right, table);
  for (const [at, value] of keyOf(left, table).entries()) {
    const other = others[at] ?? value;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/** Rows one by one, summed up on the way. */
class Reader {
  readonly #pages: AsyncGenerator<TableRow[]>;
  readonly #textOf: (row: TableRow) => string;
  readonly #told: (rows: number) => Promise<void>;
  readonly #hash = createHash("sha256");
  #rows = 0;
  #page: readonly TableRow[] = [];
  #at = 0;

  constructor(
    pages: AsyncGenerator<TableRow[]>,
    textOf: (row: TableRow) => string,
    told: (rows: number) => Promise<void>,
  ) {
    this.#pages = pages;
    this.#textOf = textOf;
    this.#told = told;
  }

  async next(): Promise<{ readonly row: TableRow; readonly text: string } | undefined> {
    if (this.#at >= this.#page.length) {
      const { value, done } = await this.#pages.next();
      if (done === true) return undefined;
      this.#page = value;
      this.#at = 0;
      await this.#told(this.#rows + value.length);
    }
    const row = this.#page[this.#at];
    if (!row) return undefined;
    this.#at += 1;
    this.#rows += 1;
    const text = this.#textOf(row);
    this.#hash.update(`${text}\n`);
    return { row, text };
  }

  sum(): Sum {
    return { rows: this.#rows, digest: this.#hash.digest("hex") };
  }
}
