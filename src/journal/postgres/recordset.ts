/**
 * Many rows as one parameter: JSON, which PostgreSQL takes apart into columns of the types that are
 * named here. So one statement serves one row as well as a thousand.
 */

/** Columns of a set of rows, and their types. */
export type Columns = Readonly<Record<string, string>>;

/** Bytes are given as `bytea` makes them text. */
export type RecordsetCell = string | number | null;

/** The set as a table of a FROM clause: `recordset(1, "u", { id: "bigint" })`; `name` is its alias. */
export function recordset(parameter: number, name: string, columns: Columns): string {
  const types = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
  return `json_to_recordset($${parameter}::json) AS ${name}(${types.join()})`;
}

/** What PostgreSQL has no place for in text: NUL, and halves of characters. */
const UNFIT = /\0|\p{Surrogate}/gu;
/** The same as `JSON.stringify` writes it. */
const UNFIT_JSON = /\\u(?:0000|d[89a-f])/;

/** `text` as PostgreSQL can keep it: what it has no place for is replaced by U+FFFD. */
export function kept(text: string): string;
export function kept(text: string | null): string | null;
export function kept(text: string | null): string | null {
  return text === null ? null : text.replace(UNFIT, "\uFFFD");
}

/** The rows as a parameter. */
export function asRows(rows: readonly Readonly<Record<string, RecordsetCell>>[]): string {
  const text = JSON.stringify(rows);
  if (!UNFIT_JSON.test(text)) return text;
  return JSON.stringify(rows, (_, cell: unknown) => (typeof cell === "string" ? kept(cell) : cell));
}

/** Bytes as PostgreSQL reads them from text. */
export function bytea(bytes: Buffer): string {
  return `\\x${bytes.toString("hex")}`;
}
