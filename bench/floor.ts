/**
 * How near to the public tools any program comes that is made of the same parts: the jobs of the bench, in turns with
 * curl, sent by the least that can send them (`floor/least.ts`), and by scanferry; and a large tree, looked at by the
 * least that can look at it (`floor/walk.ts`).
 *
 *     npm run bench:floor -- [--quick] [--rounds N]
 *
 * A whole run writes its part of docs/benchmarks.md.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Bench } from "./daemon/bench.ts";
import { jobsOf } from "./daemon/job.ts";
import { machineOf, writePage } from "./daemon/page.ts";
import { quiet } from "./daemon/quiet.ts";
import { joined } from "./floor/joined.ts";
import { looking } from "./floor/looking.ts";
import { type Measured, type Row, tablesOf } from "./floor/row.ts";
import { sending } from "./floor/sending.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, rounds: { type: "string" } },
});
const dir = mkdtempSync(join(tmpdir(), "scanferry-bench-"));
process.once("exit", () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const bench = new Bench(dir, values.quick, Number(values.rounds ?? (values.quick ? 1 : 3)));
const [least, walk] = await Promise.all([joined("least", dir), joined("walk", dir)]);
const measured: Measured[] = [];
for (const job of jobsOf(values.quick)) await add(job.what, () => sending(bench, job, least));
const files = values.quick ? 50_000 : 1_000_000;
await add(`a look at ${files.toLocaleString("en")} files`, () => looking(bench, files, walk));

const bed = { script: "bench:floor", on: "SQLite", tools: ["curl", "find", "rclone"] };
const page = `${machineOf(bench, bed)}

${tablesOf(measured)}`;
console.log(`\n${page}`);
if (!values.quick) writePage(page, bed);

async function add(what: string, measure: () => Promise<Row[]>): Promise<void> {
  if (!values.quick) await quiet();
  const rows = await measure();
  for (const { by, took } of rows) bench.say(`${what}: ${by}: ${took}`);
  measured.push({ what, rows });
}
