/** Rows with a title made of their first and last column, for tables that hold bytes in between. */
export function titled<const Row extends readonly [string, ...unknown[], string]>(
  rows: readonly Row[],
): (readonly [title: string, row: Row])[] {
  return rows.map((row) => [`${row[0]}: ${row.at(-1) as string}`, row]);
}
