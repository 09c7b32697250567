import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutMiddle, hanging, widthOf, wrapped } from "../../../src/cli/columns.ts";
import { fit } from "../../../src/cli/fit.ts";
import { remainingMs, Tempo } from "../../../src/cli/tempo.ts";

const lines = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index}`);

describe("fitting a screen", () => {
  test.for([
    [[3, 2], 10, ["a0", "a1", "a2", "", "b0", "b1"], "there is room"],
    [[0, 2], 10, ["b0", "b1"], "what is empty takes no line"],
    [[6, 2], 7, ["a0", "a1", "a2", "  … 3 more; scanferry status --all", "", "b0", "b1"], "cut"],
  ] as const)("%j in %i lines: %j: %s", ([[a, b], rows, expected]) => {
    const sections = [
      { lines: lines("a", a), keeps: Math.min(a, 1) },
      { lines: lines("b", b), keeps: Math.min(b, 1) },
    ];
    expect(fit(sections, rows)).toEqual(expected);
  });

  test.for([
    [4, ["a0", "a1", "b0", "  … 2 more; scanferry status --all"], "blank lines go first"],
    [3, ["a0", "a1", "  … 3 more; scanferry status --all"], "then what stands lowest"],
    [1, ["a0"], "what matters most is left"],
    [-1, ["a0"], "a screen may be no screen at all"],
  ] as const)("what should all be kept, in %i lines: %j: %s", ([rows, expected]) => {
    const sections = [
      { lines: lines("a", 2), keeps: 2 },
      { lines: lines("b", 3), keeps: 3 },
    ];
    expect(fit(sections, rows)).toEqual(expected);
  });

  test("never takes more lines than there are, and never loses what must be kept", () => {
    const section = fc
      .record({ count: fc.integer({ min: 0, max: 60 }), keeps: fc.integer({ min: 1, max: 3 }) })
      .map(({ count, keeps }) => ({ lines: lines("x", count), keeps: Math.min(keeps, count) }));
    fc.assert(
      fc.property(
        fc.array(section, { maxLength: 6 }),
        fc.integer({ min: 1, max: 60 }),
        (all, rows) => {
          const shown = fit(all, rows);
          expect(shown.length).toBeLessThanOrEqual(rows);
          // On the smallest screens something has to go.
          if (rows < 30) return;
          for (const { lines: own, keeps } of all) {
            for (const line of own.slice(0, keeps)) expect(shown).toContain(line);
          }
        },
      ),
    );
  });
});

test("what is cut in its middle, wrapped or hung is never wider than it may be, and loses no word", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", "日", " ", "/", "👍"), maxLength: 60 });
  fc.assert(
    fc.property(text, fc.integer({ min: 8, max: 40 }), (given, width) => {
      expect(widthOf(cutMiddle(given, width))).toBeLessThanOrEqual(width);
      if (widthOf(given) <= width) expect(hanging(given, width)).toEqual([given]);
      const short = given
        .split(" ")
        .map((word) => word.slice(0, 3))
        .join(" ");
      const folded = wrapped(short, width);
      expect(folded.every((line) => widthOf(line) <= width)).toBe(true);
      expect(folded.join(" ")).toBe(short);
    }),
  );
});

describe("tempo", () => {
  test.for([
    [[0, 0], [500, 10], undefined, "nobody can tell from so little"],
    [[0, 0], [2_000, 10], 5, "ten in two seconds"],
    [[0, 10], [4_000, 10], 0, "nothing went on"],
  ] as const)("from %j to %j: %s a second: %s", ([[from, before], [to, after], rate]) => {
    const tempo = new Tempo();
    tempo.note(from, before, 0);
    expect(tempo.rate(to, after, 0)?.documents).toBe(rate);
  });

  test("follows what goes on now, not what was long ago", () => {
    const tempo = new Tempo();
    for (let second = 0; second <= 60; second++)
      tempo.note(second * 1_000, Math.min(second, 30) * 100, 0);
    expect(tempo.rate(60_000, 3_000, 0)?.documents).toBe(0);
  });

  test("no rate, no time", () => {
    expect(remainingMs(10, undefined)).toBeUndefined();
    expect(remainingMs(10, { documents: 0, bytes: 9 })).toBeUndefined();
    expect(remainingMs(10, { documents: 2, bytes: 0 })).toBe(5_000);
  });
});
