/** How statements are put to PostgreSQL, and how its values are read. */
import { type Client, types } from "pg";

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
