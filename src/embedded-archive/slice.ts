import type { Statements } from "../sqlite/statements.ts";
import type { PageTotals } from "../wire/shapes.ts";

/** Which rows of an ordered list are wanted. */
export type Slice = { limit: number; offset: number; descending: boolean };

/** Some rows of a list, and how many it has. */
export type Sliced<Row> = { rows: Row[]; total: number };

/** A slice of what `from`, with its values, takes from a table. */
export function select<Row>(
  sql: Statements,
  from: string,
  values: readonly (string | number)[],
  order: string,
  { limit, offset }: Slice,
): Sliced<Row> {
  const rows = sql.of<Row>(`SELECT * ${from} ${order} LIMIT ? OFFSET ?`);
  const count = sql.of<{ total: number }>(`SELECT count(*) AS total ${from}`);
  return { rows: rows.all(...values, limit, offset), total: count.get(...values)?.total ?? 0 };
}

/** The ORDER BY of a list. Ties are broken by id, which makes every order total: pages neither lose nor repeat. */
export function orderBy(expression: string, { descending }: Slice): string {
  const direction = descending ? "DESC" : "ASC";
  return `ORDER BY ${expression.replace(/(?= NULLS LAST$)|$/, ` ${direction}`)}, id ${direction}`;
}

/** The paging parameters that every list takes. */
export type Paging = { paginationIndex: number; paginationSize: number; sortDesc: boolean };

/** The rows of a page. */
export function sliceOf({ paginationIndex, paginationSize, sortDesc }: Paging): Slice {
  return {
    limit: paginationSize,
    // Behind every list all the same, and a number that SQLite takes for a whole one.
    offset: Math.min(paginationIndex * paginationSize, Number.MAX_SAFE_INTEGER),
    descending: sortDesc,
  };
}

/** Common conventions, 7: the number of pages follows from the number of items and the page size. */
export function pageOf({ paginationSize }: Paging, total: number): PageTotals {
  return { paginationSize, paginationPages: Math.ceil(total / paginationSize) };
}
