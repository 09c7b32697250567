import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Ever } from "../../../src/dashboard/ever.ts";
import { sumOf, type Tally, TALLY_MS } from "../../../src/journal/tally.ts";

const DAY = 24 * 3_600_000;
const NOW = 20_000 * DAY;

function tally(mirrorId: number, quartersAgo: number, uploaded: number): Tally {
  const at = NOW - quartersAgo * TALLY_MS;
  return { ...sumOf([]), mirrorId, at, uploaded, pages: 2 * uploaded };
}

/** As the journal answers; `read` counts what it gave. */
function journalOf(all: readonly Tally[]) {
  const journal = {
    read: 0,
    tallies: async (from: number, to: number) => {
      const found = all.filter(({ at }) => at >= from && at < to);
      journal.read += found.length;
      return found;
    },
  };
  return journal;
}

test("at every moment the sums are those of all tallies", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          mirror: fc.integer({ min: 1, max: 3 }),
          ago: fc.integer({ min: 0, max: 400 }),
        }),
      ),
      fc.array(fc.integer({ min: 0, max: 300 * TALLY_MS }), { minLength: 1 }),
      async (events, looks) => {
        const all = events.map(({ mirror, ago }, index) => tally(mirror, ago, index + 1));
        const ever = new Ever(journalOf(all));
        // Two at the same moment, as two scrapers ask.
        for (const ago of looks) {
          for (const sums of await Promise.all([ever.sums(NOW - ago), ever.sums(NOW - ago)])) {
            for (const mirrorId of [1, 2, 3]) {
              const own = sumOf(all.filter((one) => one.mirrorId === mirrorId));
              expect(sums.get(mirrorId) ?? sumOf([])).toEqual(own);
            }
          }
        }
      },
    ),
  ));

test("what is past is read once", async () => {
  const journal = journalOf(Array.from({ length: 5_000 }, (_, ago) => tally(1, ago, 1)));
  const ever = new Ever(journal);
  await ever.sums(NOW);
  journal.read = 0;
  for (let scrape = 1; scrape <= 10; scrape++) {
    const sums = await ever.sums(NOW + scrape * 15_000);
    expect(sums.get(1)?.uploaded).toBe(5_000);
  }
  expect(journal.read).toBeLessThanOrEqual(10 * 100);
});
