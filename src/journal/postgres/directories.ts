/** How directories are found by where they are. */
import { recordset } from "./recordset.ts";

/** Columns of a set of places. */
export const DIRECTORIES = { mirror_id: "bigint", path: "bytea" };

/** The number of the directory that the row `alias` of a set of places tells of. */
export function directoryAt(alias: string): string {
  return `(SELECT e.id FROM directories e
    WHERE e.mirror_id = ${alias}.mirror_id AND e.path = ${alias}.path)`;
}

/** The numbers of all directories that the set of places in this parameter tells of. */
export function directoriesAt(parameter: number): string {
  return `ARRAY(SELECT ${directoryAt("u")} FROM ${recordset(parameter, "u", DIRECTORIES)})`;
}
