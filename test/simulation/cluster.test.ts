/** Histories of several daemons on one journal: crashed, stopped, cut off, and back again. */
import { expect, test } from "vitest";
import { ClusterWorld } from "./cluster-world.ts";
import { lived } from "./history.ts";

/** Histories of every run of the suite; `npm run campaign:simulate` lives through many more. */
const HISTORIES = 30;

/** Histories among which a planted bug has to be found; most are found in the first few. A search before a second send hides many. */
const SEARCHED = 2_500;

test("whatever happens to two or three daemons, every document is archived once and accounted for", {
  timeout: 600_000,
}, async () => {
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const { problems } = await lived(new ClusterWorld(seed), seed);
    expect(problems, `seed ${seed}`).toEqual([]);
  }
});

test("a seed tells the same history every time", async () => {
  const hashes = [];
  for (const seed of [7, 7, 8]) hashes.push((await lived(new ClusterWorld(seed), seed)).traceHash);
  expect(hashes[1]).toBe(hashes[0]);
  expect(hashes[2]).not.toBe(hashes[0]);
});

test("a daemon that sends though its lease is over is found", { timeout: 300_000 }, async () => {
  for (let seed = 1; seed <= SEARCHED; seed++) {
    const world = new ClusterWorld(seed, { unfenced: true });
    const { problems } = await lived(world, seed, 3_600_000);
    if (/times in the archive|no row/.test(problems.join("\n"))) return;
  }
  expect.fail(`${SEARCHED} histories and nothing found`);
});
