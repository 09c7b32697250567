import * as fc from "fast-check";
import { expect, test } from "vitest";
import { editDistance, nearest } from "../../../src/config/nearest.ts";

const KNOWN = ["url", "accountKey", "accountKeyFile", "signing", "timeout"];

test.for([
  ["acountKey", "accountKey", "a letter is missing"],
  ["accountkey", "accountKey", "case is not what a person looks for"],
  ["account_key", "accountKey", "another habit of writing"],
  ["timeuot", "timeout", "two letters changed places"],
  ["uri", "url", "one letter of three"],
  ["xyz", undefined, "nothing of it is left"],
  ["completelyDifferent", undefined, "no mistake of typing"],
  ["x".repeat(100_000), undefined, "something was pasted there"],
] as const)("%s was meant to be %s: %s", ([word, meant]) => {
  expect(nearest(word, KNOWN)).toBe(meant);
});

test("the distance is one of a metric", () => {
  const word = fc.string({ maxLength: 8 });
  fc.assert(
    fc.property(word, word, word, (a, b, c) => {
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, b) === 0).toBe(a === b);
      expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
    }),
  );
});
