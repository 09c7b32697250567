/** Histories of two archives over one journal, from seeds. */
import { expect, test } from "vitest";
import { ANY_ARCHIVE } from "./saboteurs.ts";
import { historyOfTwo } from "./two-archives.ts";

const HOUR_MS = 3_600_000;

/** Histories of every run of the suite. */
const HISTORIES = 10;

/** The planted bug is found in one of so many, first here. */
const FIRST = 17;
const SABOTAGED = 300;

test("whatever happens to one archive, the other's documents are sent there, once", {
  timeout: 300_000,
}, async () => {
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const { problems } = await historyOfTwo(seed);
    expect(problems, `seed ${seed}`).toEqual([]);
  }
});

test("what was sent to one and is taken for sent to the other is found", async () => {
  for (let seed = FIRST; seed < FIRST + SABOTAGED; seed++) {
    const { problems } = await historyOfTwo(seed, ANY_ARCHIVE, HOUR_MS);
    if (/belongs to (2|no) row/.test(problems.join("\n"))) return;
  }
  expect.fail(`${SABOTAGED} histories and nothing found`);
});
