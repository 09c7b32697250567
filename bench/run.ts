/**
 * What scanferry takes, next to public tools that do a part of the same:
 *
 *     npm run bench -- [--quick] [--only NAME] [--rounds N]
 *
 * Measures the built program as users run it. A whole run writes its part of docs/benchmarks.md.
 * Ends with 1 for a crash or a wrong result; never for a time.
 */
import { rmSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Bench } from "./daemon/bench.ts";
import { CASES } from "./daemon/cases.ts";
import { pageOf, writePage } from "./daemon/page.ts";
import { quiet } from "./daemon/quiet.ts";

const { values } = parseArgs({
  options: {
    /** One round over trees so small that their times say little: each case runs, and is right, in a minute. */
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    rounds: { type: "string" },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
const cases = CASES.filter(({ name }) => values.only?.includes(name) ?? true);
if (cases.length === 0 || !(rounds >= 1)) {
  console.error(`there are the cases ${CASES.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

const dir = mkdtempSync(join(tmpdir(), "scanferry-bench-"));
process.once("exit", () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const bench = new Bench(dir, values.quick, rounds);
for (const each of cases) {
  if (!values.quick) await quiet();
  console.log(each.name);
  await each.run(bench);
}
const page = pageOf(bench);
console.log(["", page, "", ...bench.notes].join("\n"));
if (!values.quick && values.only === undefined) writePage(page);
