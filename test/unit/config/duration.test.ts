import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "../../../src/std/units.ts";

test.for([
  ["200ms", 200, "the contract's"],
  ["3s", 3_000, "the contract's"],
  ["5m", 300_000, "the contract's"],
  ["6h", 21_600_000, "the contract's"],
  ["7d", 604_800_000, "the contract's"],
  ["1.5s", 1_500, "decimals are natural to write"],
  ["0.0001s", 0, "below a millisecond there is nothing"],
  ["0", 0, "nothing is nothing in every unit"],
  ["0s", 0, "a unit does no harm"],
  ["3", undefined, "a number alone leaves the unit to be guessed"],
  ["3 s", undefined, "one way to write it"],
  ["3S", undefined, "units are lower case"],
  ["-3s", undefined, "time does not run backwards"],
  ["1h30m", undefined, "one unit at a time"],
  [".5s", undefined, "a digit comes first"],
  ["3y", 94_608_000_000, "of 365 days each"],
  ["3w", undefined, "weeks are no unit of ours"],
  ["", undefined, "empty"],
  ["9".repeat(400) + "d", undefined, "no number any more"],
  ["999999999999d", undefined, "beyond what can be counted exactly"],
] as const)("%s is %s ms: %s", ([text, ms]) => {
  expect(parseDuration(text)).toBe(ms);
});

test("what is formatted parses to the same", () => {
  fc.assert(
    fc.property(
      fc.maxSafeNat(),
      fc.constantFrom(1, 1_000, 60_000, 3_600_000, 86_400_000),
      (n, unit) => {
        const ms = Math.floor(n / 86_400_000) * unit;
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      },
    ),
  );
});

test.for([
  [0, "0s"],
  [1, "1ms"],
  [1_500, "1500ms"],
  [90_000, "90s"],
  [86_400_000, "1d"],
] as const)("%i ms is written %s", ([ms, text]) => {
  expect(formatDuration(ms)).toBe(text);
});
