/** Histories of the loops from seeds; `npm run simulate` lives through many more. */
import { execFile as execFileWithCallback } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { history } from "./history.ts";
import {
  ALL_AS_NEW,
  ANY_ERROR_IS_NO,
  FOLDER_BELIEVED,
  FORMER_FORGOTTEN,
  HALF_IS_WHOLE,
  HOLLOW_IS_EMPTY,
  LATE_INTENT,
  ONCE_DECIDED,
  ONE_FOLDER,
  ONE_LOOK,
  ON_ITS_WAY_IS_THERE,
  SIZE_UNCOMPARED,
  TOUCH_PUTS_AWAY,
  UNGUARDED,
  WORD_FOR_ANY,
} from "./saboteurs.ts";

const execFile = promisify(execFileWithCallback);

/** A planted bug may keep a history from ever coming to rest. */
const HOUR_MS = 3_600_000;

/** Histories of every run of the suite; `npm run campaign:simulate` lives through many more. */
const HISTORIES = 30;

/**
 * A planted bug that needs a rare turn of events is found in one of hundreds. The search begins with the history that
 * shows it as seeds are told now: where they tell other histories, it takes longer.
 */
const SABOTAGED = 1_500;

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
  ["an intent that is committed after the send", LATE_INTENT, /times in the archive|no row/, 39],
  ["a half-written file that is taken for whole", HALF_IS_WHOLE, /is torn/, 5],
  ["a journal that is trusted though it was taken back", UNGUARDED, /times in the archive/, 539],
  [
    "an OK without its list that is taken for an empty folder",
    HOLLOW_IS_EMPTY,
    /times in the archive/,
    302,
  ],
  [
    "a reply that proves nothing and is taken for a no",
    ANY_ERROR_IS_NO,
    /times in the archive/,
    39,
  ],
  ["a size that is not compared with what was sent", SIZE_UNCOMPARED, /is not all of it/, 141],
  [
    "a lost document that is looked for in its folder alone, though it was filed elsewhere",
    ONE_FOLDER,
    /times in the archive/,
    132,
  ],
  ["what waits and is sent by settings that were corrected", ONCE_DECIDED, /another folder/, 80],
  ["a mirror whose former rows are forgotten", FORMER_FORGOTTEN, /times in the archive/, 3],
  ["a touch that has a kept file moved or deleted", TOUCH_PUTS_AWAY, /was to be kept/, 57],
  [
    "a content on its way that is taken for one that is there",
    ON_ITS_WAY_IS_THERE,
    /has no document|does not have/,
    13,
  ],
  ["a folder that is believed to have its name for ever", FOLDER_BELIEVED, /another folder/, 33],
  ["a doubt that is given up after one look", ONE_LOOK, /times in the archive|no row/, 12],
  ["what is sent as new without a user's word", ALL_AS_NEW, /nobody was asked/, 167],
  ["a user's word for one content that holds for another", WORD_FOR_ANY, /nobody was asked/, 248],
] as const)("%s is found", async ([, sabotage, problem, first]) => {
  for (let seed = first; seed < first + SABOTAGED; seed++) {
    const { problems } = await history(seed, sabotage, HOUR_MS);
    if (problem.test(problems.join("\n"))) return;
  }
  expect.fail(`${SABOTAGED} histories and nothing found`);
});

function repeat(seed: number): string {
  return `npm run simulate -- --seed ${seed} --histories 1 --trace`;
}
