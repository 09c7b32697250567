import type { Queries } from "./queries.ts";

/** Parameters `$1`, `$2` … of a statement: text, numbers, bytes, null, and lists of numbers or texts. */
export type Values = readonly unknown[];

/** How one kind of database is asked and written to. Rejects with a `Fault` as `Journal` does. */
export type Driver = {
  /** What it is asked, in its dialect. */
  readonly queries: Queries;
  /** This journal was copied, or its log was lost: nothing is known of what was sent since. */
  readonly isCopy: boolean;
  /** The rows of a statement, which sees all writes that were issued before. */
  rows<Row extends object>(text: string, values: Values): Promise<Row[]>;
  /** The same, once those writes are durable: for what is then done outside. */
  durableRows<Row extends object>(text: string, values: Values): Promise<Row[]>;
  /** Writes these together, durably, or none of them; how many rows the last one changed. */
  write(...statements: readonly (readonly [text: string, values: Values])[]): Promise<number>;
};
