import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { METADATA_FIELDS } from "../../../src/domain/attributes.ts";
import { NOTE_FORMS, type NoteForm, NOTES_BYTES_MAX } from "../../../src/rules/notes.ts";
import { parseNotes } from "../../../src/rules/parse-notes.ts";

const read = (text: string, form: NoteForm) => parseNotes(Buffer.from(text), form);

test.for([
  ["yaml", "title: Rent\nkeywords: [a, b]\ndate: 2026-11-20\n", "a list of keywords is one text"],
  ["json", '{"title":"Rent","keywords":["a","b"],"date":"20.11.2026"}', "the same in JSON"],
] as const)("%s is read: %s", ([form, text]) => {
  expect(read(text, form)).toEqual({
    notes: { metadata: { title: "Rent", keywords: "a, b" }, date: "2026-11-20" },
  });
});

test("what looks like a number in YAML is the text that was written", () => {
  const text = "title: 0815\nauthor: 1e3\nsubject: 0x10\nkeywords: [1.10, 2]\ndate: 20261120\n";
  const metadata = { title: "0815", author: "1e3", subject: "0x10", keywords: "1.10, 2" };
  expect(read(text, "yaml")).toEqual({ notes: { metadata, date: "2026-11-20" } });
});

test.for([
  ["yaml", "", "an empty file says nothing"],
  ["yaml", "title:\n", "a key without a value is left out"],
  ["json", "null", "so is null"],
] as const)("%s %o says nothing: %s", ([form, text]) => {
  expect(read(text, form)).toEqual({ notes: { metadata: {} } });
});

test.for([
  ["yaml", "title: a\ntitel: b\n", 2, 1, "unknown key", "a key misspelt"],
  ["yaml", "title: a\nauthor: [b]\n", 2, 1, "must be text", "a list where none can be"],
  ["yaml", "title: a\n  b: c\n", 1, 8, "not YAML", "no YAML"],
  ["yaml", "title: a\ntitle: b\n", 2, 1, "a key is there twice", "given twice"],
  ["yaml", "title: a\n'title': b\n", 2, 1, "a key is there twice", "the same, quoted"],
  ["yaml", "keywords: &a [*a]", 1, 1, "must be text", "a loop"],
  ["yaml", "- a\n", 1, 1, "must be keys and values", "no mapping"],
  ["yaml", "expires: soon\n", 1, 1, "is no date", "no date"],
  ["yaml", "title: !!js/function x\n", 1, 8, "not YAML", "a tag nobody knows"],
  ["json", '{\n "title": "a",\n}', 3, 1, "not JSON", "a comma too many"],
  ["json", '{"title": "a"', 1, 14, "not JSON", "cut off"],
  ["json", '{"title": {}}', 1, 2, "must be text", "a mapping"],
  ["xmp", "<x:xmpmeta/>", 1, 1, "XMP is not read", "what nobody may take for nothing said"],
] as const)("%s %o is broken at %i:%i (%s): %s", ([form, text, line, column, message]) => {
  const outcome = read(text, form);
  expect(outcome).toMatchObject({ fault: { message: expect.stringContaining(message) } });
  expect("fault" in outcome && [outcome.fault.line, outcome.fault.column]).toEqual([line, column]);
});

describe("from anybody", () => {
  test.for([
    [
      "yaml",
      `a: &a [${"x,".repeat(20)}]\nb: &b [${"*a,".repeat(20)}]\nc: [${"*b,".repeat(20)}]`,
      "references that multiply",
    ],
    ["yaml", "[".repeat(20_000), "brackets within brackets"],
    ["json", "[".repeat(60_000), "the same in JSON"],
    ["yaml", "\u0000\u0001", "control characters"],
  ] as const)("%s: %s", ([form, text]) => {
    const began = performance.now();
    expect(read(text, form)).toHaveProperty("fault");
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  test("bytes that are no text", () => {
    expect(parseNotes(Buffer.of(0x74, 0xff), "yaml")).toEqual({
      fault: { line: 1, column: 1, message: "is not UTF-8 text" },
    });
  });

  const SIZE = NOTES_BYTES_MAX;
  const lines = (count: number, line: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => line(at)).join("\n");

  test.for([
    ["yaml", `{${lines(9_000, (at) => `${at.toString(36)}:,`)}}`, "keys in braces"],
    ["yaml", `{${"a,".repeat(SIZE)}`, "one key, ever again"],
    ["yaml", lines(9_000, (at) => `k${at}:`), "keys, a line each"],
    ["yaml", `title: "${"\\\n".repeat(SIZE)}`, "lines that are continued"],
    ["yaml", `title: >\n${" a\n\n".repeat(SIZE)}`, "lines that are folded"],
    ["yaml", "%X\n".repeat(SIZE), "directives"],
    ["yaml", "? ".repeat(SIZE), "keys within keys"],
    ["yaml", "- ".repeat(SIZE), "lists within lists"],
    ["yaml", "---\n".repeat(SIZE), "documents"],
    ["yaml", `a: &a [x]\nb: [${"*a,".repeat(SIZE)}`, "references"],
    ["json", `{${lines(6_000, (at) => `"k${at}":0`).replaceAll("\n", ",")}}`, "keys in JSON"],
  ] as const)("as much as a file may have of $0, $2, takes no time", ([form, text]) => {
    // The first that is read pays for the parser.
    read("title: a", form);
    const before = process.cpuUsage();
    expect(read(text.slice(0, SIZE), form)).toHaveProperty("fault");
    // What grows with the square of it takes minutes; a slow machine half a second for what does not.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(4_000);
  });

  test("all that may be said, at its longest, is read", () => {
    const text = METADATA_FIELDS.map((field) => `${field}: >\n${" word\n".repeat(330)}`).join("");
    expect(read(text, "yaml")).toHaveProperty("notes");
    const keywords = Array.from({ length: 1_500 }, (_, at) => `- k${at}`).join("\n");
    expect(read(`keywords:\n${keywords}\n`, "yaml")).toHaveProperty("notes");
  });

  test("nothing throws, and what is read is text", () => {
    const word = fc.constantFrom(
      "title",
      "keywords",
      "date",
      "expires",
      ": ",
      "\n",
      "- ",
      "{",
      "[",
      "&a ",
      "*a",
      "'",
      '"',
      "<",
      ">",
      "2026-11-20",
      "~",
      "!x ",
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(word).map((words) => words.join("")),
    );
    fc.assert(
      fc.property(texts, fc.constantFrom(...NOTE_FORMS), (text, form) => {
        const outcome = read(text, form);
        if ("fault" in outcome) expect(outcome.fault.line).toBeGreaterThan(0);
        else
          for (const value of Object.values(outcome.notes.metadata))
            expect(value).toBeTypeOf("string");
      }),
      { numRuns: 500 },
    );
  });
});
