import { rounded } from "../daemon/bench.ts";

/** What one of several took for the same. */
export type Row = {
  readonly by: string;
  readonly seconds: number;
  readonly took: string;
  /** The seconds below which none of its kind could come; absent where nothing is known of that. */
  readonly bestSeconds?: number;
};

/** What several took for the same, the one that the others are compared with first. */
export type Measured = { readonly what: string; readonly rows: readonly Row[] };

/** Markdown: a table for each set of competitors, with a line for each thing that they did. */
export function tablesOf(measured: readonly Measured[]): string {
  const tables = Map.groupBy(measured, ({ rows }) => rows.map(({ by }) => by).join(" | "));
  return [...tables]
    .map(([heads, lines]) => {
      const rule = "---|".repeat(heads.split(" | ").length + 1);
      return [`| what | ${heads} |`, `|${rule}`, ...lines.map(lineOf)].join("\n");
    })
    .join("\n\n");
}

function lineOf({ what, rows }: Measured): string {
  const first = rows[0]?.seconds ?? Number.NaN;
  const cells = rows.map(({ seconds, bestSeconds }, index) => {
    const ratio = index === 0 ? "" : `, ${rounded(first / seconds)} ×`;
    const best = bestSeconds === undefined ? "" : ` (${rounded(first / bestSeconds)} ×)`;
    return `${rounded(seconds)} s${ratio}${best}`;
  });
  return `| ${[what, ...cells].join(" | ")} |`;
}
