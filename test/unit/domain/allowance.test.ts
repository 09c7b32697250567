import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  chargeOf,
  leftFor,
  levelOf,
  mayUse,
  type PagePolicy,
  runsOutAt,
  Shares,
} from "../../../src/domain/allowance.ts";
import { NO_ALLOWANCE } from "../../fixtures/a-config.ts";
import { inState } from "../../fixtures/a-document.ts";

const policyOf = (set: Partial<PagePolicy>): PagePolicy => ({
  ...NO_ALLOWANCE,
  monthlyPages: 100,
  ...set,
});
const reserve = { pages: 30, mirrors: ["contracts"] };
const held = policyOf({ whenUsedUp: "hold", reserve });

describe("what is left", () => {
  test.for([
    // policy, named, others, left for a named mirror, left for another, because
    [policyOf({}), 0, 0, 100, 100, "nothing is used"],
    [policyOf({}), 0, 130, -30, -30, "it is overdrawn"],
    [held, 0, 0, 100, 70, "the others leave the reserve alone"],
    [held, 20, 0, 80, 70, "what is used of the reserve is not taken from the others"],
    [held, 50, 0, 50, 50, "beyond the reserve it is everybody's"],
    [held, 0, 70, 30, 0, "the reserve is all that is left"],
    [held, 30, 70, 0, 0, "nothing is left"],
  ] as const)(
    "%j, %i and %i used: %i and %i: %s",
    ([policy, named, others, forNamed, forOthers]) => {
      expect(leftFor(policy, { named, others }, true)).toBe(forNamed);
      expect(leftFor(policy, { named, others }, false)).toBe(forOthers);
    },
  );

  test("without an allowance there is no end of it", () => {
    expect(leftFor(NO_ALLOWANCE, { named: 9, others: 9 }, false)).toBe(Infinity);
    expect(levelOf(NO_ALLOWANCE, { named: 9, others: 9 })).toBe("ok");
  });

  test.for([
    // policy, a named mirror may use, another may, because
    [policyOf({}), Infinity, Infinity, "the archive decides"],
    [policyOf({ whenUsedUp: "hold" }), 0, 0, "it is used up"],
    [policyOf({ reserve }), Infinity, 0, "a reserve is kept in either case"],
  ] as const)("used up, %j: %d and %d: %s", ([policy, forNamed, forOthers]) => {
    const used = { named: 10, others: 90 };
    expect(mayUse(policy, used, true)).toBe(forNamed);
    expect(mayUse(policy, used, false)).toBe(forOthers);
  });
});

test.for([
  // used, level
  [0, "ok"],
  [79, "ok"],
  [80, "low"],
  [99, "low"],
  [100, "usedUp"],
  [140, "usedUp"],
] as const)("%i of 100 used is %s", ([used, level]) => {
  expect(levelOf(policyOf({}), { named: 0, others: used })).toBe(level);
  expect(levelOf(policyOf({}), { named: used, others: 0 })).toBe(level);
});

test.for([
  // left, a day, until the renewal (days), runs out in (days), because
  [100, 10, 20, 10, "ten days' worth"],
  [100, 10, 10, null, "it is renewed by then"],
  [100, 0, 20, null, "nothing is sent"],
  [0, 10, 20, 0, "it is used up already"],
  [-5, 0, 20, 0, "the same, overdrawn"],
] as const)("%i left at %i a day, %i days to go: %s", ([left, perDay, days, expected]) => {
  const day = 86_400_000;
  const at = runsOutAt(left, perDay, 1_000, 1_000 + days * day);
  expect(at).toBe(expected === null ? null : 1_000 + expected * day);
});

const counts = fc.nat(60);
const documents = fc.array(
  fc.record({ mirrorId: fc.integer({ min: 1, max: 3 }), estimate: fc.option(fc.nat(40)) }),
  { maxLength: 40 },
);
const NAMED = new Set([1]);

test("what is taken never exceeds the allowance, nor what the others take of it the rest of the reserve", () => {
  const reserves = fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined });
  fc.assert(
    fc.property(documents, counts, counts, reserves, (all, named, others, pages) => {
      const kept = pages === undefined ? undefined : { pages, mirrors: ["contracts"] };
      const policy = policyOf({ whenUsedUp: "hold", reserve: kept });
      const shares = new Shares(policy, NAMED, { named, others });
      const taken = { named: 0, others: 0 };
      for (const [id, set] of all.entries()) {
        const document = inState("pending", { id, ...set });
        const charge = chargeOf(document);
        const fits = charge <= shares.of(document.mirrorId);
        expect(shares.take(document)).toBe(fits);
        if (fits) taken[NAMED.has(document.mirrorId) ? "named" : "others"] += charge;
      }
      const sum = taken.named + taken.others;
      expect(sum).toBeLessThanOrEqual(Math.max(0, 100 - named - others));
      const common = 100 - Math.max(pages ?? 0, named) - others;
      expect(taken.others).toBeLessThanOrEqual(Math.max(0, common));
    }),
  );
});

test("nobody starves for long: what fits is taken, and more is left for it the less the others used", () => {
  fc.assert(
    fc.property(counts, counts, fc.nat(20), (named, others, more) => {
      const before = mayUse(held, { named, others }, true);
      const after = mayUse(held, { named, others: others + more }, true);
      expect(after).toBeLessThanOrEqual(before);
      // The named ones find the unused part of their reserve whatever the others did within their own.
      const othersUsed = Math.min(others, 70);
      expect(mayUse(held, { named, others: othersUsed }, true)).toBeGreaterThanOrEqual(
        Math.max(0, 30 - named),
      );
    }),
  );
});

test("with `warn` and no reserve everything is taken", () => {
  const shares = new Shares(policyOf({}), NAMED, { named: 50, others: 80 });
  expect(shares.take(inState("pending", { estimate: 9_000 }))).toBe(true);
});
