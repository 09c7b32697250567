/** The matrix of lost replies: never twice, never lost, and what cannot be told is for a person. */
import { describe, expect, test } from "vitest";
import { doubted, LISTINGS, LOST, OTHERS, STORED } from "./in-doubt.ts";

const WAYS = Object.keys(LOST) as (keyof typeof LOST)[];

describe.for(WAYS)("a reply lost %s", (lost) => {
  test.for(OTHERS)("with others of its name: %s", async (others) => {
    for (const stored of STORED) {
      // What never left cannot be stored.
      if (lost === "before any byte left" && stored !== null) continue;
      for (const listing of LISTINGS) {
        const cell = `stored after ${stored} ms, lists ${listing}`;
        const { times, row, candidates } = await doubted({ lost, stored, listing, others });
        expect(times, `${cell}: never twice`).toBeLessThanOrEqual(1);
        if (row?.state === "converted") {
          expect(times, `${cell}: never lost`).toBe(1);
          continue;
        }
        expect(others, `${cell}: ${row?.state}, although it could be told`).not.toBe("none");
        expect(row, cell).toMatchObject({ state: "held", problem: { code: "DOUBT_AMBIGUOUS" } });
        for (const id of candidates) {
          expect(row?.problem?.message, `${cell}: candidate ${id}`).toContain(`${id} (`);
        }
      }
    }
  });
});
