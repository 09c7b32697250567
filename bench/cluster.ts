/**
 * What several daemons on one journal in PostgreSQL take, next to one of them:
 *
 *     npm run bench:cluster -- [--quick] [--only NAME] [--rounds N] [--rows N]
 *
 * Measures the built program on a PostgreSQL of its own, on the disk of TMPDIR and as durable as
 * PostgreSQL is by default. A whole run writes its part of docs/benchmarks.md. Ends with 1 for a
 * crash or a wrong result; never for a time.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { aPostgres } from "../test/fixtures/postgres.ts";
import { large } from "./cluster/large.ts";
import { together } from "./cluster/together.ts";
import { Bench } from "./daemon/bench.ts";
import { pageOf, writePage } from "./daemon/page.ts";

const CASES = [together, large];
const NAMES = CASES.map(({ name }) => name);

const { values } = parseArgs({
  options: {
    /** Smaller trees and journals, one round. */
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    rounds: { type: "string" },
    /** Rows of the larger journals. */
    rows: { type: "string", multiple: true },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
const usual = values.quick ? ["50000"] : ["1000000", "10000000"];
const rows = (values.rows ?? usual).map(Number);
const cases = CASES.filter(({ name }) => values.only?.includes(name) ?? true);
if (cases.length === 0 || !(rounds >= 1) || !rows.every((each) => each >= 1_000)) {
  console.error(`there are the cases ${NAMES.join(", ")}; of a journal at least 1000 rows`);
  process.exit(2);
}

const dir = mkdtempSync(join(tmpdir(), "scanferry-bench-"));
process.once("exit", () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const bench = new Bench(dir, values.quick, rounds);
await using postgres = await aPostgres(
  "fsync = on\nsynchronous_commit = on\nshared_buffers = 512MB\nmax_wal_size = 4GB\n",
);
for (const each of cases) {
  console.log(each.name);
  await each.run(bench, postgres, rows);
}
const [{ server_version: version } = {}] = await postgres.ask("SHOW server_version");
const bed = {
  script: "bench:cluster",
  on: `PostgreSQL ${String(version)} on the same machine, \`fsync\` and \`synchronous_commit\` on, \`shared_buffers\` 512 MB`,
  tools: [],
};
const page = pageOf(bench, bed);
console.log(["", page, "", ...bench.notes].join("\n"));
if (!values.quick && values.only === undefined) writePage(page, bed);
