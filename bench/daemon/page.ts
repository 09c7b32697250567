/** The table of ratios, and its place in docs/benchmarks.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { fileURLToPath } from "node:url";
import { type Bench, type Found, isReached, shownBound, shownValue, versionOf } from "./bench.ts";

const PAGE = fileURLToPath(new URL("../../docs/benchmarks.md", import.meta.url));

/** What a bench is told apart by: its script, and what it ran on next to the machine. */
export type Bed = {
  readonly script: string;
  readonly on: string;
  readonly tools: readonly string[];
};

const DAEMON: Bed = {
  script: "bench",
  on: "SQLite journal, every commit synced",
  tools: ["curl", "find", "restic", "rclone", "syncthing"],
};

/** Markdown: machine, versions, table. */
export function pageOf(bench: Bench, bed = DAEMON): string {
  const head = `| what | scanferry | compared with | result | target |
|---|---|---|---|---|`;
  return [machineOf(bench, bed), [head, ...bench.found.map(rowOf)].join("\n")].join("\n\n");
}

function rowOf(found: Found): string {
  const { what, ours, beside, bound } = found;
  const target = `${shownBound(bound)}${isReached(found) ? "" : ", **missed**"}`;
  return `| ${[what, ours, beside, shownValue(found), target].join(" | ")} |`;
}

/** When, on what and with what it was measured. */
export function machineOf({ rounds, quick }: Bench, { on, tools: used }: Bed): string {
  const [cpu] = cpus();
  const tools = used.map((tool) => {
    const said = versionOf(tool);
    return said === undefined ? `no ${tool}` : `${tool} ${/\d+(?:\.\d+)+/.exec(said)?.[0] ?? said}`;
  });
  const day = new Date().toISOString().slice(0, 10);
  const medians = rounds === 1 ? "single measurements" : `medians of ${rounds}`;
  return `${day}${quick ? ", quick form" : ""}; ${medians}. Machine: ${cpus().length} × ${cpu?.model ?? "?"},
${Math.round(totalmem() / 2 ** 30)} GiB; ${type()} ${release().replace(/-.*/, "")}. Node ${process.versions.node}, ${on}.
${tools.join(", ")}${tools.length > 0 ? "." : ""}`.trimEnd();
}

/** Replaces what the last run wrote. @throws when the page has lost its marks */
export function writePage(text: string, { script }: Pick<Bed, "script"> = DAEMON): void {
  const page = readFileSync(PAGE, "utf8");
  const mark = `<!-- npm run ${script} writes from here -->`;
  const [begin, end] = [
    page.indexOf(mark),
    page.indexOf(`<!-- npm run ${script} writes to here -->`),
  ];
  if (begin < 0 || end < begin) throw new Error(`${PAGE} has no marks`);
  writeFileSync(PAGE, `${page.slice(0, begin + mark.length)}\n\n${text}\n\n${page.slice(end)}`);
}
