import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { METADATA_FIELDS, METADATA_LIMITS } from "../../../src/domain/attributes.ts";
import { decide } from "../../../src/rules/apply-rules.ts";
import { NO_RULES } from "../../../src/rules/rules.ts";
import { type RawPath, rawOf } from "../../../src/std/raw-path.ts";
import { decidedOn, decisionOn, notes, NOW, rulesOf } from "./a-decision.ts";

const PATTERN = "^(?<department>[^/]+)/(?<year>\\d{4})/(?<title>[^/]+)\\.pdf$";

describe("metadata", () => {
  const layers = [
    ["static", { metadata: { title: "plain" } }, {}],
    ["path", { match: PATTERN }, {}],
    ["sidecar", {}, { sidecar: notes({ title: "side {year}" }) }],
  ] as const;

  test.for([
    [1, { value: "plain", from: "static" }, "nobody else says anything"],
    [2, { value: "Rent", from: "path" }, "a group named like a field is that field"],
    [3, { value: "side {year}", from: "sidecar" }, "the sidecar, as it stands there"],
  ] as const)("of %i sources the title is %o: %s", ([count, title]) => {
    const some = layers.slice(0, count);
    const written = Object.assign({}, ...some.map(([, rules]) => rules));
    const facts = Object.assign({}, ...some.map(([, , known]) => known));
    expect(decidedOn("Legal/2026/Rent.pdf", written, facts).attributes?.metadata?.title).toEqual(
      title,
    );
  });

  test("a template with values comes before a group of the field's name, a plain text after", () => {
    const path = "Legal/2026/Rent.pdf";
    const live = decidedOn(path, { match: PATTERN, metadata: { title: "{group.title}!" } });
    const plain = decidedOn(path, { match: PATTERN, metadata: { title: "plain" } });
    expect(live.attributes?.metadata?.title).toEqual({ value: "Rent!", from: "path" });
    expect(plain.attributes?.metadata?.title).toEqual({ value: "Rent", from: "path" });
  });

  test("a field of which nobody says anything is absent, and so is one without a value", () => {
    expect(decidedOn("a.pdf", {}).attributes).toBeNull();
    const written = { match: PATTERN, metadata: { subject: "{group.department}", author: "A" } };
    expect(decidedOn("a.pdf", written).attributes).toEqual({
      metadata: { author: { value: "A", from: "static" } },
    });
  });

  test("a name that had to be fixed is kept as the title where nothing else is", () => {
    expect(decidedOn("what: why.txt", {}).attributes?.metadata?.title).toEqual({
      value: "what: why.txt",
      from: "name",
    });
    expect(
      decidedOn("a:b.txt", { metadata: { title: "T" } }).attributes?.metadata?.title?.value,
    ).toBe("T");
  });

  test("too long: cut and told, or held", () => {
    const long = "word ".repeat(60);
    const cut = decidedOn("a.pdf", {}, { sidecar: notes({ keywords: long, title: long }) });
    expect(cut.attributes?.metadata?.title).toMatchObject({ cut: true, from: "sidecar" });
    expect(cut.attributes?.metadata?.title?.value.length).toBeLessThanOrEqual(150);
    expect(cut.attributes?.metadata?.keywords?.value.length).toBeLessThanOrEqual(255);
    const held = decisionOn("a.pdf", { limits: "hold" }, { sidecar: notes({ subject: long }) });
    expect(held).toEqual({
      problem: {
        code: "METADATA_TOO_LONG",
        message: "the subject (sidecar) has 299 characters, 150 are allowed",
      },
    });
  });

  test("line breaks and control characters become blanks", () => {
    const attributes = decidedOn(
      "a.pdf",
      {},
      { sidecar: notes({ title: " a\r\n\tb\u0000c " }) },
    ).attributes;
    expect(attributes?.metadata?.title?.value).toBe("a b c");
  });
});

describe("rules", () => {
  const written = {
    match: "^(?<top>[^/]+)/",
    metadata: { author: "Everybody", subject: "{group.top}" },
    rules: [
      {
        name: "invoices",
        match: "^Invoices/(?<year>\\d{4})/",
        target: "/Accounting/{group.year}",
        metadata: { author: "Accounting" },
      },
      { name: "rest", match: "^Invoices/", target: "/Accounting/Other/{dir}" },
    ],
  };

  test.for([
    ["Invoices/2026/a.pdf", "invoices", "/Accounting/2026", "Accounting", "the first that matches"],
    ["Invoices/x/a.pdf", "rest", "/Accounting/Other/Invoices/x", "Everybody", "the next one"],
    ["Post/a.pdf", null, "/Scans/Post", "Everybody", "none: the mirror's own, its tree mirrored"],
  ] as const)("%s is a matter of %s, for %s: %s", ([path, rule, folder, author]) => {
    const decided = decidedOn(path, written);
    expect(decided).toMatchObject({ rule, folder });
    expect(decided.attributes?.metadata?.author?.value).toBe(author);
    expect(decided.attributes?.metadata?.subject?.value).toBe(path.split("/")[0]);
  });

  test("a pattern that never ends holds the one document it does not end on", () => {
    const rules = { rules: [{ name: "evil", match: "^(a+)+$", target: "/X" }] };
    expect(decisionOn("aaaa", rules)).toMatchObject({ decided: { folder: "/X" } });
    expect(decisionOn(`${"a".repeat(60)}b`, rules)).toMatchObject({
      problem: { code: "PATTERN_SLOW" },
    });
  });
});

test("many names on which a pattern never ends do not add up to minutes", () => {
  const rules = { rules: [{ name: "evil", match: "^(b+)+$", target: "/X" }] };
  const begun = performance.now();
  for (let number = 0; number < 20; number++) {
    const decided = decisionOn(`${"b".repeat(60)}${number}`, rules);
    expect(decided).toMatchObject({ problem: { code: "PATTERN_SLOW" } });
  }
  // Two seconds where the machine is idle; twenty if each took as long as the first.
  expect(performance.now() - begun).toBeLessThan(15_000);
  expect(decisionOn("bbbb", rules)).toMatchObject({ decided: { folder: "/X" } });
});

describe("the folder", () => {
  test.for([
    ["/{year}/{group.department}", "Legal/2026/a.pdf", "/2026/Legal", "date and group"],
    ["/Archive/{dir}", "a/b/c.pdf", "/Archive/a/b", "the tree, wherever it is wanted"],
    ["/Archive/{dir}", "c.pdf", "/Archive", "a file in the source itself"],
    ["/{mirror | upper}", "c.pdf", "/SCANS", "functions"],
    ["/{group.both}", "Legal/2026/a.pdf", "/Legal/2026", "a group over two levels leads two down"],
  ] as const)("%s of %s is %s: %s", ([target, path, folder]) => {
    const match = "^(?<both>(?<department>[^/]+)/(?<year>\\d{4}))/";
    expect(decidedOn(path, { match, target }).folder).toBe(folder);
  });

  test.for([
    ["/{group.department}", "no match, no department"],
    ["/A/{stem | replace x '..'}", "what would lead up"],
    ["/A/{stem | replace x '.'}", "or nowhere"],
    ["/A/{stem | replace x ' '}", "or be a name of blanks"],
  ] as const)("%s of x.pdf holds the document: %s", ([target]) => {
    const match = "^(?<department>[^/]+)/";
    expect(decisionOn("x.pdf", { match, target })).toMatchObject({
      problem: { code: "TARGET_UNKNOWN" },
    });
  });
});

describe("laws, for any bytes as a path and any text next to it", () => {
  const part = fc
    .uint8Array({ minLength: 1, maxLength: 30 })
    .map((bytes) => rawOf(bytes.map((byte) => (byte === 47 || byte === 0 ? 65 : byte))))
    .filter((name) => name !== "." && name !== "..");
  const paths = fc
    .array(part, { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join("/") as RawPath);
  const text = fc.string({ unit: "binary", maxLength: 400 });
  const sidecars = fc.record(Object.fromEntries(METADATA_FIELDS.map((field) => [field, text])), {
    requiredKeys: [],
  });
  const rules = rulesOf({
    match: "^(?<top>[^/]+)(?:/(?<rest>.+))?$",
    target: "/Base/{group.top | replace A '../'}/{group.rest | default x}",
    metadata: { title: "{stem | upper}", description: "{name} {group.rest}" },
  });

  test("the same facts give the same answer, no folder leaves its base, no limit is passed", () => {
    fc.assert(
      fc.property(
        paths,
        sidecars,
        fc.constantFrom("truncate", "hold"),
        (path, metadata, limits) => {
          const facts = {
            mirror: "m",
            path,
            modifiedAt: NOW,
            at: NOW,
            sidecar: { metadata },
          };
          const decision = decide({ ...rules, limits }, { path: "/Base" }, facts);
          expect(decide({ ...rules, limits }, { path: "/Base" }, facts)).toEqual(decision);
          if ("problem" in decision) return;
          const { folder, name, attributes } = decision.decided;
          expect(folder.startsWith("/Base/")).toBe(true);
          expect(folder.split("/")).not.toContain("..");
          expect(name.name.length).toBeLessThanOrEqual(255);
          for (const field of METADATA_FIELDS) {
            const { value = "", cut } = attributes?.metadata?.[field] ?? {};
            expect(value.length).toBeLessThanOrEqual(METADATA_LIMITS[field]);
            expect(value).not.toMatch(/\p{Cc}/u);
            if (limits === "hold") expect(cut).toBeUndefined();
          }
        },
      ),
    );
  });

  test.for(["{year}", "{month}", "{day}", "{modified}"])(
    "a file of a time that no date can hold has no %s: it is held",
    (value) => {
      const modifiedAt = 8.64e15 + 1;
      const decision = decisionOn("a.pdf", { target: `/Scans/${value}` }, { modifiedAt });
      expect(decision).toMatchObject({ problem: { message: expect.stringContaining(value) } });
    },
  );

  test("without rules everything goes where it went before there were rules", () => {
    fc.assert(
      fc.property(paths, (path) => {
        const facts = { mirror: "m", path, modifiedAt: 0, at: 0, sidecar: null };
        expect(decide(NO_RULES, { id: 17 }, facts)).toMatchObject({
          decided: { rule: null, folder: expect.stringMatching(/^#17(\/|$)/) },
        });
      }),
    );
  });
});
