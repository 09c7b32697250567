/** The table of ratios, and its place in docs/benchmarks.md. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { fileURLToPath } from "node:url";
import { type Bench, type Found, isReached, shownBound, shownValue, versionOf } from "./bench.ts";

const PAGE = fileURLToPath(new URL("../../docs/benchmarks.md", import.meta.url));
const BEGIN = "<!-- npm run bench writes from here -->";
const END = "<!-- npm run bench writes to here -->";

/** Markdown: machine, versions, table, notes. */
export function pageOf(bench: Bench): string {
  const head = `| what | scanferry | beside it | measured | reach | reached | load |
|---|---|---|---|---|---|---|`;
  return [
    machine(bench),
    [head, ...bench.found.map(rowOf)].join("\n"),
    listed(bench.notes.filter((note) => !note.includes("\n"))),
    ...bench.notes.filter((note) => note.includes("\n")),
  ].join("\n\n");
}

function rowOf(found: Found): string {
  const { what, ours, beside, bound, load } = found;
  const reached = isReached(found) ? "yes" : "**no**";
  const cells = [what, ours, beside, shownValue(found), shownBound(bound), reached];
  return `| ${[...cells, load.toFixed(1)].join(" | ")} |`;
}

function listed(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

function machine({ rounds, quick }: Bench): string {
  const [cpu] = cpus();
  const tools = ["curl", "find", "restic", "rclone"].map((tool) => versionOf(tool) ?? `no ${tool}`);
  const day = new Date().toISOString().slice(0, 10);
  const medians = rounds === 1 ? "single measurements" : `medians of ${rounds}`;
  return `${day}, commit ${commit()}${quick ? ", quick form" : ""}; ${medians}. Machine: ${cpus().length} × ${cpu?.model ?? "?"},
${Math.round(totalmem() / 2 ** 30)} GiB; ${type()} ${release()}. Node ${process.versions.node}, SQLite journal with \`synchronous = FULL\`.
${tools.join("; ")}.`;
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}

/** Replaces what the last run wrote. @throws when the page has lost its marks */
export function writePage(text: string): void {
  const page = readFileSync(PAGE, "utf8");
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${PAGE} has no marks`);
  writeFileSync(PAGE, `${page.slice(0, begin + BEGIN.length)}\n\n${text}\n\n${page.slice(end)}`);
}
