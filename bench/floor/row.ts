import { rounded } from "../daemon/bench.ts";

/** What one of several took for the same. */
export type Row = {
  readonly by: string;
  readonly seconds: number;
  readonly took: string;
  /** The seconds below which none of its kind could come; absent where nothing is known of that. */
  readonly bestSeconds?: number;
};

/** Rows of a table: each beside the first. */
export function rowsOf(what: string, rows: readonly Row[]): string[] {
  const first = rows[0]?.seconds ?? Number.NaN;
  const ratio = (seconds: number | undefined) =>
    seconds === undefined ? "" : `${rounded(first / seconds)} ×`;
  return rows.map(({ by, seconds, took, bestSeconds }, index) => {
    const cells = [index === 0 ? what : "", by, took, ratio(seconds), ratio(bestSeconds)];
    return `| ${cells.join(" | ")} |`;
  });
}
