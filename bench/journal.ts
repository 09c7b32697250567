/**
 * What the journal costs a document: the ordinary life of documents, from seen to converted, in turns with the journal of
 * another checkout where one is named.
 *
 *     npm run bench:journal -- [--beside TREE] [--documents N] [--rounds N]
 *
 * The journal is a SQLite file in the temporary directory. The least of the rounds counts: what a machine does besides
 * only adds.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Life } from "./journal/life.ts";

const { values } = parseArgs({
  options: {
    beside: { type: "string" },
    documents: { type: "string", default: "10000" },
    rounds: { type: "string", default: "5" },
  },
});
const OWN = fileURLToPath(new URL("..", import.meta.url));
const PROGRAM = join(OWN, "bench/journal/life.ts");
const trees = values.beside === undefined ? [OWN] : [OWN, values.beside];
const lives = new Map<string, Life[]>(trees.map((tree) => [tree, []]));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const tree of trees) lives.get(tree)?.push(lifeIn(tree));
}
for (const [tree, all] of lives) {
  const cpuUs = Math.min(...all.map((life) => life.cpuUs));
  const seconds = Math.min(...all.map((life) => life.seconds));
  console.log(
    `${tree}: ${cpuUs.toFixed(1)} µs of processor time a document, ${seconds.toFixed(2)} s in all`,
  );
}

function lifeIn(tree: string): Life {
  const dir = mkdtempSync(join(tmpdir(), "scanferry-bench-"));
  try {
    const args = [PROGRAM, tree, join(dir, "journal.db"), values.documents];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Life;
  } finally {
    rmSync(dir, { recursive: true });
  }
}
