/**
 * Tells which branches of the files that decide no quick test takes: `npm run branches`. Exit code 1
 * where there is one.
 *
 * V8 counts blocks by their place in the source that it ran. Node strips types without moving
 * anything, so with modules loaded by Node itself those are places in our files.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

type Range = { readonly startOffset: number; readonly endOffset: number; readonly count: number };
type Script = { readonly url: string; readonly functions: readonly { readonly ranges: Range[] }[] };

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Those that mutation testing judges too; see stryker.config.json. */
const FILES = [
  ...["batching", "failure", "gate", "life", "reconcile", "settle", "event-for"].map(
    (name) => `src/domain/${name}.ts`,
  ),
  ...["doubts", "account-gate"].map((name) => `src/sync/${name}.ts`),
];

const dir = mkdtempSync(join(tmpdir(), "scanferry-branches-"));
try {
  const run = spawnSync(
    process.execPath,
    [
      join(ROOT, "node_modules/vitest/vitest.mjs"),
      "run",
      "--config=vitest.mutation.config.ts",
      "--experimental.viteModuleRunner=false",
      // A thread writes its counts when it ends; a process of vitest's is killed before it can.
      "--pool=threads",
      "--maxWorkers=1",
    ],
    { cwd: ROOT, env: { ...process.env, NODE_V8_COVERAGE: dir }, encoding: "utf8" },
  );
  if (run.status !== 0) throw new Error(`the tests fail:\n${run.stdout}${run.stderr}`);
  const scripts = readdirSync(dir).flatMap((name) => {
    const text = readFileSync(join(dir, name), "utf8");
    return (JSON.parse(text) as { result: Script[] }).result;
  });
  report(scripts);
} finally {
  rmSync(dir, { recursive: true });
}

function report(scripts: readonly Script[]): void {
  let missed = 0;
  for (const file of FILES) {
    const script = scripts.find(({ url }) => url === pathToFileURL(join(ROOT, file)).href);
    if (!script) throw new Error(`no test loads ${file}`);
    const source = readFileSync(join(ROOT, file), "utf8");
    const ranges = script.functions.flatMap((each) => each.ranges);
    const untaken = ranges.filter((range) => range.count === 0 && isCode(source, range));
    console.log(`${file}: ${ranges.length - untaken.length} of ${ranges.length} branches taken`);
    for (const { startOffset, endOffset } of untaken) {
      const line = source.slice(0, startOffset).split("\n").length;
      const text = source.slice(startOffset, endOffset).trim().replaceAll(/\s+/g, " ");
      console.log(`  ${file}:${line}: ${text.slice(0, 100)}`);
    }
    missed += untaken.length;
  }
  if (missed > 0) process.exitCode = 1;
}

/** Behind the last `return` of a function V8 sees one more block: its closing brace. */
function isCode(source: string, { startOffset, endOffset }: Range): boolean {
  return /[^\s{};]/.test(source.slice(startOffset, endOffset));
}
