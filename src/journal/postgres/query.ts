import { type Client, types } from "pg";

/** How statements are put to PostgreSQL, and how its values are read. */

type TypeId = Parameters<typeof types.getTypeParser>[0];

/**
 * Runs one statement with `$1`-style parameters. With `values`, be they none, it is parsed once for
 * a connection; without, `text` may hold several statements, and the last one's rows are given.
 * bigint columns come as numbers (all are below 2^53), bytea as `Buffer`.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- says what the rows are
export type Query = <Row extends object>(
  text: string,
  values?: readonly unknown[],
) => Promise<{ rows: Row[]; count: number; command: string }>;

/** So many texts are kept parsed for a connection; more must come from texts that are made up. */
const PARSED_MAX = 1_000;

const names = new Map<string, string>();

/** The name under which a statement is kept parsed; undefined: it is not. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= PARSED_MAX) return known;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
}

/** Counts and sums, which the client library would leave as text. */
const LONG: ReadonlySet<number> = new Set([types.builtins.INT8, types.builtins.NUMERIC]);

const TYPES = {
  getTypeParser: ((oid: TypeId, format?: "text" | "binary") =>
    LONG.has(oid) ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
};

/** Statements on this connection. */
export function queryOn(client: Client): Query {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in `Query`
  return async <Row extends object>(text: string, values?: readonly unknown[]) => {
    const config =
      values === undefined
        ? { text, types: TYPES }
        : { text, types: TYPES, name: nameOf(text), values: [...values] };
    const answer = await client.query<Row>(config);
    const last = Array.isArray(answer) ? (answer.at(-1) as typeof answer) : answer;
    return { rows: last.rows, count: last.rowCount ?? 0, command: last.command };
  };
}

/** A name as SQL has it, whatever is in it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

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
