import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FUNCTIONS, truncated } from "../../../src/rules/functions.ts";
import { render } from "../../../src/rules/values.ts";
import { isLive, parseTemplate, TemplateFault, VALUES } from "../../../src/rules/template.ts";

const VALUE: Record<string, string> = {
  stem: "R-4471_nordwind  gmbh",
  name: "R-4471_nordwind  gmbh.pdf",
  dir: "",
  year: "2026",
  modified: "2026-11-20",
  "group.date": "20.11.2026",
  "group.empty": "",
};

const filled = (source: string) => render(parseTemplate(source), (name) => VALUE[name], ["dir"]);

describe("a template", () => {
  test.for([
    ["plain text", "plain text", "text stands for itself"],
    ["{{x}} {year}", "{x} 2026", "doubled braces are braces"],
    ["{ year }", "2026", "blanks do not matter"],
    ["{stem | replace _ ' ' | upper}", "R-4471 NORDWIND  GMBH", "functions work one after another"],
    ["{stem | after _ | capitalize}", "Nordwind  Gmbh", "what is behind a mark"],
    ["{stem | before '_'}", "R-4471", "what is before it"],
    ["{stem | truncate 6}", "R-4471", "cut"],
    ["{group.date | date} {group.date | year}", "2026-11-20 2026", "a date as it is written here"],
    ["{modified | quarter}/{modified | month}", "4/11", "parts of a date"],
    ["{group.none | default '-'}", "-", "what stands in for nothing"],
    ["{group.empty | default x}", "x", "the empty text is nothing"],
    ["/{dir}/x", "//x", "a directory may be the source itself"],
    ["{stem | replace '}' '|'}", "R-4471_nordwind  gmbh", "quotes keep braces and bars"],
  ] as const)("%s gives %s: %s", ([source, text]) => {
    expect(filled(source)).toEqual({ text });
  });

  test.for([
    ["{group.none}", "{group.none}", "a group that took no part"],
    ["{group.empty}", "{group.empty}", "the empty text"],
    ["{stem | year}", "{stem}", "a part of what is no date"],
    ["{stem | after '#'}", "{stem}", "behind a mark that is not there"],
  ] as const)("%s has no value: %s", ([source, missing]) => {
    expect(filled(source)).toEqual({ missing });
  });

  test.for([
    ["{steam}", 2, "no value"],
    ["a {stem", 3, "not closed"],
    ["a } b", 3, "without a {"],
    ["{stem | shout}", 8, "no function"],
    ["{stem | truncate}", 8, "truncate: takes a number"],
    ["{stem | truncate 0}", 8, "truncate: takes a number"],
    ["{stem | replace a}", 8, "replace: takes two"],
    ["{stem | replace '' x}", 8, "replace: takes two"],
    ["{stem | before ''}", 8, "before: takes a text that is not empty"],
    ["{stem | after ''}", 8, "after: takes a text that is not empty"],
    ["{stem | upper x}", 8, "upper: takes nothing"],
    ["{}", 2, "nothing is no value"],
    ["{group.}", 2, "no value"],
    ["{stem |}", 8, "nothing is no function"],
  ] as const)("%s is refused at column %i: %s", ([source, column, message]) => {
    expect(() => parseTemplate(source)).toThrow(message);
    try {
      parseTemplate(source);
    } catch (error) {
      expect((error as TemplateFault).column).toBe(column);
    }
  });
});

describe("laws", () => {
  const value = fc.constantFrom(...VALUES, "group.x");
  const step = fc.oneof(
    fc.constantFrom("upper", "lower", "capitalize", "trim", "year", "month", "day", "date"),
    fc.integer({ min: 1, max: 99 }).map((n) => `truncate ${n}`),
    fc.constantFrom("replace a ''", "before -", "after ' '", "default none"),
  );
  const placeholder = fc
    .tuple(value, fc.array(step, { maxLength: 4 }))
    .map(([name, steps]) => `{${[name, ...steps].join(" | ")}}`);
  const plain = fc.string().map((text) => text.replaceAll("{", "{{").replaceAll("}", "}}"));
  const sources = fc.array(fc.oneof(placeholder, plain)).map((parts) => parts.join(""));

  test("any text is a template or a TemplateFault", () => {
    const likely = fc.oneof(fc.string(), fc.stringMatching(/^[{}|'" a-z.]*$/), sources);
    fc.assert(
      fc.property(likely, (source) => {
        try {
          expect(parseTemplate(source).source).toBe(source);
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateFault);
          expect((error as TemplateFault).column).toBeGreaterThan(0);
        }
      }),
    );
  });

  test("filling one never throws, whatever the values", () => {
    fc.assert(
      fc.property(sources, fc.option(fc.string({ unit: "binary" }), { nil: undefined }), (s, v) => {
        const rendered = render(parseTemplate(s), () => v);
        expect("text" in rendered || "missing" in rendered).toBe(true);
      }),
    );
  });

  test("a value that its functions multiply over and over stays bounded", () => {
    const source = `{stem${" | replace a aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".repeat(15)}}`;
    const rendered = render(parseTemplate(source), () => "a");
    expect(rendered).toEqual({ text: "a".repeat(10_000) });
  });

  test("text without placeholders, braces doubled, stands for itself", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const template = parseTemplate(text.replaceAll("{", "{{").replaceAll("}", "}}"));
        expect(isLive(template)).toBe(false);
        expect(render(template, () => undefined)).toEqual({ text });
      }),
    );
  });

  test("what is cut is not longer than allowed, and splits no character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 9 }), (text, max) => {
        const cut = truncated(text, max);
        expect(cut.length).toBeLessThanOrEqual(max);
        expect(cut.isWellFormed()).toBe(true);
        expect(text.startsWith(cut)).toBe(true);
      }),
    );
  });

  test("every function takes any text", () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(FUNCTIONS)), fc.string(), ({ apply }, text) => {
        expect(["string", "undefined"]).toContain(typeof apply(text, ["1", "b"]));
      }),
    );
  });
});
