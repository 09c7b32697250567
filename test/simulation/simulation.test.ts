/** Histories of the loops from seeds; `npm run simulate` lives through many more. */
import { execFile as execFileWithCallback } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { history } from "./history.ts";
import { HALF_IS_WHOLE, LATE_INTENT, ONE_LOOK } from "./saboteurs.ts";

const execFile = promisify(execFileWithCallback);

/** A planted bug may keep a history from ever coming to rest. */
const HOUR_MS = 3_600_000;

/** Histories of every run of the suite. */
const HISTORIES = 300;

test("whatever happens, every document is archived once, whole, and accounted for", {
  timeout: 300_000,
}, async () => {
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const { problems } = await history(seed);
    expect(problems, repeat(seed)).toEqual([]);
  }
});

test("a seed tells the same history every time", async () => {
  const hashes = [];
  for (const seed of [7, 7, 8]) hashes.push((await history(seed)).traceHash);
  expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(hashes[1]).toBe(hashes[0]);
  expect(hashes[2]).not.toBe(hashes[0]);
});

test("another process tells the same history", async () => {
  const url = new URL("history.ts", import.meta.url);
  const print = `import { history } from "${url.href}"; console.log((await history(7)).traceHash)`;
  const { stdout } = await execFile(process.execPath, ["--input-type=module", "-e", print]);
  expect(stdout.trim()).toBe((await history(7)).traceHash);
});

test.for([
  ["an intent that is committed after the send", LATE_INTENT, /times in the archive|no row/],
  ["a half-written file that is taken for whole", HALF_IS_WHOLE, /is torn/],
  ["a doubt that is given up after one look", ONE_LOOK, /times in the archive|no row/],
] as const)("%s is found", async ([, sabotage, problem]) => {
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const { problems } = await history(seed, sabotage, HOUR_MS);
    if (problem.test(problems.join("\n"))) return;
  }
  expect.fail(`${HISTORIES} histories and nothing found`);
});

function repeat(seed: number): string {
  return `npm run simulate -- --seed ${seed} --histories 1 --trace`;
}
