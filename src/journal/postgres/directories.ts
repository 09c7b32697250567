/**
 * How places are found. Of what is indexed PostgreSQL takes no more than 2,704 bytes, and a path may
 * be longer: its start gives its order, its digest distinguishes it from others.
 */
import { recordset } from "./recordset.ts";

/** The start of a path, in the order of whole ones as far as it goes. */
export const startOf = (path: string) => `substr(${path}, 1, 1000)`;

/** What makes a directory one of its kind. */
export const PATH_KEY = `mirror_id, ${startOf("path")}, sha256(path)`;

/** Whether two paths are the same, by the index of directories. */
export const isSame = (path: string, other: string) =>
  `${startOf(path)} = ${startOf(other)} AND sha256(${path}) = sha256(${other})`;

/** Text of more bytes stands in an index apart, by which it is not told from others. */
const TEXT_BYTES_MAX = 2_000;
/** SQL: true for text that an index can hold. `text` is an expression, no value. */
export const isShort = (text: string) => `octet_length(${text}) <= ${TEXT_BYTES_MAX}`;
/** SQL: true for all other text. Indexes are over one kind or the other, and a query has to say which. */
export const isLong = (text: string) => `octet_length(${text}) > ${TEXT_BYTES_MAX}`;

/** Columns of a set of places. */
export const DIRECTORIES = { mirror_id: "bigint", path: "bytea" };

/** The number of the directory of the row `alias` in a set of places. */
export function directoryAt(alias: string): string {
  return `(SELECT e.id FROM directories e
    WHERE e.mirror_id = ${alias}.mirror_id AND ${isSame("e.path", `${alias}.path`)})`;
}

/** The numbers of all directories of the set of places in this parameter. */
export function directoriesAt(parameter: number): string {
  return `ARRAY(SELECT ${directoryAt("u")} FROM ${recordset(parameter, "u", DIRECTORIES)})`;
}
