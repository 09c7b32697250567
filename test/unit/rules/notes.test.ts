import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOTE_FORMS, type NoteForm, parseNotes } from "../../../src/rules/parse-notes.ts";

const read = (text: string, form: NoteForm, of: "sidecar" | "directory" = "sidecar") =>
  parseNotes(Buffer.from(text), form, of);

const XMP = (inner: string, attributes = "") => `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:pdf="http://ns.adobe.com/pdf/1.3/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"${attributes}>
${inner}</rdf:Description></rdf:RDF></x:xmpmeta>`;

test.for([
  ["yaml", "title: Rent\nkeywords: [a, b]\ndate: 2026-11-20\n", "a list of keywords is one text"],
  ["json", '{"title":"Rent","keywords":["a","b"],"date":"20.11.2026"}', "the same in JSON"],
  [
    "xmp",
    XMP(
      `<dc:title><rdf:Alt><rdf:li xml:lang="x-default">Rent</rdf:li><rdf:li xml:lang="de">Miete</rdf:li></rdf:Alt></dc:title>
<dc:subject><rdf:Bag><rdf:li>a</rdf:li><rdf:li>b</rdf:li></rdf:Bag></dc:subject>`,
      ' xmp:CreateDate="2026-11-20T10:00:00+02:00"',
    ),
    "of alternatives the first; attributes count as elements do",
  ],
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
  ["xmp", XMP(""), "and an XMP without properties"],
] as const)("%s %o says nothing: %s", ([form, text]) => {
  expect(read(text, form)).toEqual({ notes: { metadata: {} } });
});

test.for([
  ["yaml", "title: a\ntitel: b\n", 2, 1, "unknown key", "a key misspelt"],
  ["yaml", "title: a\nauthor: [b]\n", 2, 1, "must be text", "a list where none can be"],
  ["yaml", "title: a\n  b: c\n", 1, 8, "not YAML", "no YAML"],
  ["yaml", "title: a\ntitle: b\n", 2, 1, "not YAML", "given twice"],
  ["yaml", "keywords: &a [*a]", 1, 1, "must be text", "a loop"],
  ["yaml", "- a\n", 1, 1, "must be keys and values", "no mapping"],
  ["yaml", "expires: soon\n", 1, 1, "is no date", "no date"],
  ["yaml", "title: !!js/function x\n", 1, 8, "not YAML", "a tag nobody knows"],
  ["json", '{\n "title": "a",\n}', 3, 1, "not JSON", "a comma too many"],
  ["json", '{"title": "a"', 1, 14, "not JSON", "cut off"],
  ["json", '{"title": {}}', 1, 2, "must be text", "a mapping"],
  ["xmp", "<a>\n<b></a>", 2, 7, "not XML", "tags that do not match"],
  ["xmp", XMP("<dc:title>&boom;</dc:title>"), 5, 16, "not XML", "an entity of its own"],
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
    ["xmp", "<a>".repeat(20_000), "tags within tags"],
    ["yaml", "\u0000\u0001", "control characters"],
  ] as const)("%s: %s", ([form, text]) => {
    const began = performance.now();
    expect(read(text, form)).toHaveProperty("fault");
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  test("bytes that are no text", () => {
    expect(parseNotes(Buffer.of(0x74, 0xff), "yaml", "sidecar")).toEqual({
      fault: { line: 1, column: 1, message: "is not UTF-8 text" },
    });
  });

  test("a directory's file holds templates: a broken one is told with its place", () => {
    expect(read("author: A\ntitle: '{steam}'\n", "yaml", "directory")).toMatchObject({
      fault: { line: 2, column: 1, message: expect.stringContaining("character 2 of the text") },
    });
    expect(read("title: '{steam}'\n", "yaml")).toHaveProperty("notes");
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
