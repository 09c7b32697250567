import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dayOf, existing, isoDay, later, noonOf, parsePeriod } from "../../../src/rules/dates.ts";
import type { ExpiryFrom, ExpiryGuards } from "../../../src/rules/rules.ts";
import { NO_RULES } from "../../../src/rules/rules.ts";
import { decisionOn, decidedOn, notes } from "./a-decision.ts";

const period = (text: string) => {
  const parsed = parsePeriod(text);
  if (!parsed) throw new Error(`${text} is no period`);
  return parsed;
};

const guards = (set: Partial<ExpiryGuards>) => ({ guards: { ...NO_RULES.guards, ...set } });

const written = (after: string | null, from: ExpiryFrom, set: Partial<ExpiryGuards> = {}) => ({
  expiry: { after: after === null ? null : period(after), from },
  ...guards(set),
});

const day = (at: number | undefined) => new Date(at ?? 0).toISOString().slice(0, 10);

describe("the date", () => {
  const name = { kind: "name", pattern: "(?<date>\\d{4}-\\d\\d-\\d\\d)" } as const;
  const years = { kind: "name", pattern: "^(?<year>\\d{4})/" } as const;
  const sidecar = { kind: "sidecar" } as const;
  test.for([
    ["a.pdf", "7y", { kind: "uploaded" }, {}, "2033-11-20", "from the upload"],
    [
      "a.pdf",
      "6mo",
      { kind: "modified" },
      { modifiedAt: Date.UTC(2026, 7, 31, 9) },
      "2027-02-28",
      "the last of a shorter month",
    ],
    ["a 2026-02-28.pdf", "1y", name, {}, "2027-02-28", "a date in the name"],
    ["2026/a.pdf", "10y", years, {}, "2036-01-01", "a year alone is its first day"],
    [
      "a.pdf",
      null,
      sidecar,
      { sidecar: notes({}, { expires: "2030-05-01" }) },
      "2030-05-01",
      "the sidecar says it itself",
    ],
    [
      "a.pdf",
      "2y",
      sidecar,
      { sidecar: notes({}, { date: "2026-05-01" }) },
      "2028-05-01",
      "or what to count from",
    ],
  ] as const)(
    "%s kept %s from %o, %o, expires on %s: %s",
    ([path, after, from, facts, expires]) => {
      const { attributes } = decidedOn(path, written(after, from), facts);
      expect(day(attributes?.expiry?.at)).toBe(expires);
      expect(attributes?.expiry?.sent).toBe(attributes?.expiry?.at);
    },
  );

  test.for([
    ["ms", Date.UTC(2033, 10, 20, 12)],
    ["date", "2033-11-20"],
    ["datetime", "2033-11-20T12:00:00.000Z"],
    ["dmy", "20.11.2033"],
  ] as const)("in the form %s is sent as %s", ([form, sent]) => {
    const { attributes } = decidedOn("a.pdf", written("7y", { kind: "uploaded" }, { form }));
    expect(attributes?.expiry?.sent).toBe(sent);
  });

  test("a rule's own comes before the mirror's, and may be never", () => {
    const rule = {
      name: "short",
      match: "^short/",
      expiry: { after: period("2y"), from: { kind: "uploaded" } as const },
    };
    const none = {
      name: "none",
      match: "^none/",
      expiry: { ...rule.expiry, after: "never" as const },
    };
    const rules = { ...written("7y", { kind: "uploaded" }), rules: [rule, none] };
    expect(day(decidedOn("short/a.pdf", rules).attributes?.expiry?.at)).toBe("2028-11-20");
    expect(day(decidedOn("a.pdf", rules).attributes?.expiry?.at)).toBe("2033-11-20");
    expect(decidedOn("none/a.pdf", rules).attributes?.expiry).toBeUndefined();
  });
});

describe("the guards", () => {
  test.for([
    ["no date.pdf", "EXPIRY_UNKNOWN", "there is none in the name"],
    ["a 2026-02-30.pdf", "EXPIRY_UNKNOWN", "no such day"],
    ["a 1990-01-01.pdf", "EXPIRY_TOO_SOON", "it would have expired already"],
    ["a 2019-11-20.pdf", "EXPIRY_TOO_SOON", "today is sooner than a day from now"],
    ["a 9999-12-31.pdf", "EXPIRY_UNKNOWN", "beyond what a date can be"],
  ] as const)("%s is held as %s: %s", ([path, code]) => {
    const from = { kind: "name", pattern: "(?<date>\\d{4}-\\d\\d-\\d\\d)" } as const;
    expect(decisionOn(path, written("7y", from))).toMatchObject({ problem: { code } });
  });

  const AT_MAX = 8.64e15;
  test.for([
    ["ms", AT_MAX + 1, "EXPIRY_UNKNOWN", "no date can hold it: as JSON it would be nothing"],
    ["datetime", AT_MAX + 1, "EXPIRY_UNKNOWN", "nor a text"],
    ["date", -AT_MAX - 1, "EXPIRY_UNKNOWN", "nor so long ago"],
    ["dmy", 9e15, "EXPIRY_UNKNOWN", "a file system with 64 bits has room for it"],
    ["ms", AT_MAX, "EXPIRY_UNKNOWN", "a date, but not seven years later"],
    ["datetime", -AT_MAX, "EXPIRY_TOO_SOON", "the first of all dates"],
    ["ms", Number.POSITIVE_INFINITY, "EXPIRY_UNKNOWN", "not finite"],
    ["ms", Number.NaN, "EXPIRY_UNKNOWN", "no number"],
  ] as const)(
    "in the form %s, a file of the time %d is held as %s: %s",
    ([form, modifiedAt, code]) => {
      const rules = written("7y", { kind: "modified" }, { form });
      expect(decisionOn("a.pdf", rules, { modifiedAt })).toMatchObject({ problem: { code } });
    },
  );

  test("a date that cannot be told may be gone without, one that is too soon never", () => {
    const from = { kind: "name", pattern: "(?<date>\\d{4}-\\d\\d-\\d\\d)" } as const;
    const lenient = written("7y", from, { unknown: "upload-without" });
    expect(decidedOn("no date.pdf", lenient).attributes).toBeNull();
    const modified = written("7y", { kind: "modified" }, { unknown: "upload-without" });
    expect(decidedOn("a.pdf", modified, { modifiedAt: AT_MAX + 1 }).attributes).toBeNull();
    expect(decisionOn("a 1990-01-01.pdf", lenient)).toMatchObject({
      problem: { code: "EXPIRY_TOO_SOON" },
    });
  });

  test("`never` in a sidecar is no date", () => {
    const sidecar = notes({}, { expires: "never" });
    const { attributes } = decidedOn("a.pdf", written("7y", { kind: "sidecar" }), { sidecar });
    expect(attributes).toBeNull();
  });

  test("whatever the dates: what is decided is never sooner than the guard", () => {
    const moments = fc.integer({ min: 0, max: Date.UTC(9000, 0, 1) });
    fc.assert(
      fc.property(moments, moments, fc.nat(400), (modifiedAt, at, days) => {
        const minimum = { months: 0, days };
        const rules = written("7y", { kind: "modified" }, { minimum });
        const decision = decisionOn("a.pdf", rules, { modifiedAt, at });
        if ("problem" in decision) return;
        expect(decision.decided.attributes?.expiry?.at).toBeGreaterThanOrEqual(later(at, minimum));
      }),
    );
  });
});

describe("calendar", () => {
  test.for([
    ["7y", { months: 84, days: 0 }],
    ["6mo", { months: 6, days: 0 }],
    ["2w", { months: 0, days: 14 }],
    ["30d", { months: 0, days: 30 }],
    ["6m", undefined],
    ["999y", undefined],
    ["7", undefined],
  ] as const)("the period %s is %o", ([text, parsed]) => {
    expect(parsePeriod(text)).toEqual(parsed);
  });

  test("a period later is never before, and a day that is written is read back", () => {
    fc.assert(
      fc.property(fc.integer({ min: -8e12, max: 2e14 }), fc.nat(2400), (at, months) => {
        expect(later(at, { months, days: 0 })).toBeGreaterThanOrEqual(at);
      }),
    );
    const days = fc.record({
      year: fc.integer({ min: 1000, max: 9999 }),
      month: fc.integer({ min: 1, max: 12 }),
      day: fc.integer({ min: 1, max: 31 }),
    });
    fc.assert(
      fc.property(days, (day) => {
        expect(dayOf(isoDay(day))).toEqual(existing(day));
        if (existing(day)) expect(new Date(noonOf(day)).getUTCDate()).toBe(day.day);
      }),
    );
  });
});
