import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { METADATA_FIELDS, METADATA_LIMITS } from "../../../src/domain/attributes.ts";
import { ANSWER_BYTES_MAX, answerOf } from "../../../src/rules/answer.ts";
import { FORBIDDEN_IN_FILENAME, LIMITS } from "../../../src/wire/shapes.ts";
import { decidedOn, decisionOn } from "./a-decision.ts";

const read = (value: unknown) => {
  const found = answerOf(Buffer.from(JSON.stringify(value)));
  if ("fault" in found) throw new Error(found.fault);
  return found.answer;
};

/** What a hook that answers `value` makes of a document. */
const decided = (value: unknown, path = "2026/a.pdf", written = {}) =>
  decidedOn(path, written, { answer: read(value) });
const decision = (value: unknown, written = {}) =>
  decisionOn("2026/a.pdf", written, { answer: read(value) });

describe("what an answer may be", () => {
  test.for([
    ["", /is empty; \{\} lets/, "a hook that says nothing may have failed to say it"],
    [" \n", /is empty/, "the same"],
    ["yes", /not JSON/, "a word"],
    ["[]", /no JSON object/, "a list"],
    ["null", /no JSON object/, "nothing"],
    ['"{}"', /no JSON object/, "an object in quotes"],
    ["{}{}", /not JSON/, "two answers"],
    ['{"vetoed":"no"}', /unknown key: vetoed; known are veto, name/, "misspelt, it would be sent"],
    ['{"__proto__":{"veto":"x"}}', /unknown key: __proto__/, "no key of anybody's"],
    ['{"veto":true}', /veto that is no text/, "a veto says why"],
    ['{"veto":" \\u0000 "}', /empty veto/, "a veto says why"],
    ['{"name":" "}', /empty name/, "a document has a name"],
    ['{"name":7}', /name that is no text/, "a number"],
    ['{"metadata":"x"}', /metadata that is no object/, "text"],
    ['{"metadata":{"titel":"x"}}', /unknown key in metadata: titel/, "misspelt"],
    ['{"metadata":{"title":["x"]}}', /title that is no text/, "only keywords may be several"],
    ['{"expires":"soon"}', /neither never nor a date/, "no date"],
    ['{"expires":"2026-02-30"}', /neither never nor a date/, "no such day"],
    [`{"name":"${"x".repeat(10_001)}"}`, /more than 10000 characters/, "too long"],
    [`"${"x".repeat(ANSWER_BYTES_MAX)}"`, /longer than 65536 bytes/, "too long"],
  ] as const)("%s is none: %s, %s", ([text, fault]) => {
    const found = answerOf(Buffer.from(text));
    expect("fault" in found ? found.fault : "an answer").toMatch(fault);
  });

  test("bytes that are no UTF-8 are none", () => {
    expect(answerOf(Buffer.from([0x7b, 0xff, 0x7d]))).toEqual({ fault: "its answer is not UTF-8" });
  });

  test("an empty object lets it go as it is; null counts as left out", () => {
    expect(read({})).toEqual({ metadata: {} });
    expect(read({ veto: null, name: null, folder: null, expires: null, metadata: null })).toEqual({
      metadata: {},
    });
  });

  test("a veto is one line, and no longer than a person reads", () => {
    const { veto } = read({ veto: `a\n\u001b[31mb\u202e${"c".repeat(900)}` });
    expect(veto).toMatch(/^a \[31mb c+$/);
    expect(veto).toHaveLength(500);
  });
});

describe("what an answer decides", () => {
  test("name, folder, metadata and expiry are the hook's, and say so", () => {
    const { name, folder, attributes } = decided({
      name: "Invoice 4711.pdf",
      folder: "/Scans/Invoices",
      metadata: { title: "Invoice 4711", keywords: ["a", "b"] },
      expires: "2036-11-20",
    });
    expect({ name, folder }).toEqual({
      name: { name: "Invoice 4711.pdf", fixed: false },
      folder: "/Scans/Invoices",
    });
    expect(attributes).toMatchObject({
      hook: ["name", "folder"],
      metadata: {
        title: { value: "Invoice 4711", from: "hook" },
        keywords: { value: "a, b", from: "hook" },
      },
      expiry: { at: Date.UTC(2036, 10, 20, 12), from: "as the hook says" },
    });
  });

  test("null takes a field away that the rules would send", () => {
    const written = { metadata: { title: "T", author: "A" } };
    const { attributes } = decided({ metadata: { title: null } }, "a.pdf", written);
    expect(attributes?.metadata).toEqual({ author: { value: "A", from: "static" } });
  });

  test.for([
    ["/", "the root is above it"],
    ["/Other", "another folder"],
    ["/ScansX", "begins alike"],
    ["/Scans/../Other", "leads up"],
    ["/Scans/./a", "leads nowhere"],
    ["/Scans/ /a", "a folder of blanks"],
    ["Scans", "no path"],
    ["#17", "a folder by its id, of a mirror by path"],
    ["/Scans/a\u0000b", "a control character"],
    [`/Scans/${"x".repeat(5_000)}`, "too long"],
    ["", "nothing"],
  ] as const)("the folder %j is out of bounds: %s", ([folder]) => {
    expect(decision({ folder })).toMatchObject({ problem: { code: "HOOK_FAILED" } });
  });

  test("a rule's own folder is as good as the mirror's", () => {
    const written = { rules: [{ name: "r", match: "a", target: "/Inbox/{year}" }] };
    expect(decided({ folder: "/Inbox/x" }, "a.pdf", written).folder).toBe("/Inbox/x");
    expect(decided({ folder: "/Scans//x/" }, "a.pdf", written).folder).toBe("/Scans/x");
  });

  test("limits and guards are those of rules", () => {
    const title = "t".repeat(200);
    const { attributes } = decided({ metadata: { title } });
    expect(attributes?.metadata?.title).toMatchObject({ cut: true });
    expect(decision({ metadata: { title } }, { limits: "hold" })).toMatchObject({
      problem: { code: "METADATA_TOO_LONG", message: expect.stringContaining("(hook)") as string },
    });
    expect(decision({ expires: "2026-11-20" })).toMatchObject({
      problem: { code: "EXPIRY_TOO_SOON" },
    });
    expect(decided({ name: "a/b:c.pdf" }).name).toMatchObject({ fixed: true });
  });
});

const anyText = (maxLength: number) => fc.string({ unit: "binary", maxLength });
const way = fc.array(fc.constantFrom("..", ".", "Scans", "/", "#17", "\u0000", " ", "x"));

/** Any bytes, and what looks more and more like an answer. */
const outputs = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json().map((text) => Buffer.from(text)),
  {
    weight: 8,
    arbitrary: fc
      .record(
        {
          veto: fc.constantFrom(null, "no", "\u0007", 7),
          name: fc.oneof(anyText(400), fc.constantFrom(null, "..", "a/b", 7)),
          folder: fc.oneof(
            way.map((parts) => parts.join("/")),
            anyText(300).map((text) => `/Scans/${text}`),
          ),
          metadata: fc.dictionary(fc.constantFrom(...METADATA_FIELDS), fc.option(anyText(400))),
          expires: fc.constantFrom("never", "2036-11-20", "9999-12-31", "2026-11-20", "soon"),
        },
        { requiredKeys: [] },
      )
      .map((value) => Buffer.from(JSON.stringify(value))),
  },
);

test("law: whatever a hook writes is no answer, a veto, a hold, or a decision within all limits", () => {
  let decisions = 0;
  fc.assert(
    fc.property(outputs, fc.constantFrom("truncate", "hold"), (output, limits) => {
      const found = answerOf(output);
      if ("fault" in found) {
        expect(found.fault).toMatch(/^its answer /);
        return;
      }
      const { answer } = found;
      if (answer.veto !== undefined) {
        expect(answer.veto.trim()).not.toBe("");
        return;
      }
      const made = decisionOn("2026/a.pdf", { limits }, { answer });
      if ("problem" in made) {
        const codes = ["HOOK_FAILED", "METADATA_TOO_LONG", "EXPIRY_TOO_SOON", "EXPIRY_UNKNOWN"];
        expect(codes).toContain(made.problem.code);
        return;
      }
      decisions += 1;
      const { name, folder, attributes } = made.decided;
      expect(name.name.length).toBeLessThanOrEqual(LIMITS.filename);
      expect(name.name).not.toMatch(FORBIDDEN_IN_FILENAME);
      expect(name.name.trim()).not.toBe("");
      expect(`${folder}/`).toMatch(/^\/Scans\//);
      expect(folder.split("/")).not.toContain("..");
      for (const field of METADATA_FIELDS) {
        const { value = "x" } = attributes?.metadata?.[field] ?? {};
        expect(value.length).toBeLessThanOrEqual(METADATA_LIMITS[field]);
        expect(value).not.toMatch(/\p{Cc}/u);
      }
    }),
    { numRuns: 3_000 },
  );
  expect(decisions).toBeGreaterThan(100);
});
