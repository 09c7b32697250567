/** The page in every language: nothing is missing, nothing is left in English, no text stands elsewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { failureOf, FAILURES } from "../../../src/domain/failure.ts";
import { FINDING_KINDS } from "../../../src/report/finding.ts";
import { findingsOf } from "../../../src/report/findings.ts";
import { problem, SITUATIONS } from "../report/situations.ts";
import { REQUEST_HINTS } from "../../../src/domain/lookup-failures.ts";

const FOLDER = new URL("../../../assets/dashboard/", import.meta.url);
const load = <T>(file: string) => import(new URL(file, FOLDER).href) as Promise<T>;
const read = (file: string) => readFileSync(new URL(file, FOLDER), "utf8");

type Texts = { readonly title: string; readonly detail: string; readonly fix: string };
type Words = {
  readonly findingOf: (finding: object, snapshot: object) => Texts;
  readonly hintOf: (code: string, hint: string) => string;
  readonly messageOf: (message: string) => string;
};
type Terms = { readonly MESSAGES: readonly (readonly [english: string, german: string])[] };
const { strings: en } = await load<{ strings: Words }>("en.js");
const { strings: de } = await load<{ strings: Words }>("de.js");
const { MESSAGES } = await load<Terms>("de-terms.js");
const { languageOf, localeOf } = await load<{
  languageOf: (kept: string | null, wanted: readonly string[]) => string;
  localeOf: (language: string, wanted: readonly string[]) => string;
}>("languages.js");

/** `a.b: function`, for each word; words of a table are compared one by one. */
function shapeOf(words: object, place = ""): string[] {
  return Object.entries(words).flatMap(([key, value]) =>
    typeof value === "object"
      ? shapeOf(value as object, `${place}${key}.`)
      : [`${place}${key}: ${typeof value}`],
  );
}

test("every word is in every language, of the same kind", () => {
  expect(shapeOf(de)).toEqual(shapeOf(en));
});

test("every word is used", () => {
  const scripts = readdirSync(FOLDER).filter((file) => !/^(?:en|de)(?:-\w+)?\.js$/.test(file));
  const used = scripts.map(read).join("\n");
  const unused = Object.keys(en).filter(
    (key) => !new RegExp(`strings\\.${key}\\b|data-(?:text|label)="${key}"`).test(used),
  );
  expect(unused).toEqual([]);
});

describe("no text stands outside of the languages' files", () => {
  /** What two words of text look like; not a selector, a class list, an address or a header. */
  const isText = (literal: string) =>
    /[A-Za-z]{2,}[ ,.:!?]+ ?[a-z]{2,}|^[A-Z][a-z]{3,}$/.test(literal) &&
    !/[[\]#>=/;]|^(?:[a-z]+, )+[a-z]+$/.test(literal);

  test.for(
    readdirSync(FOLDER).filter(
      (file) => file.endsWith(".js") && !/^(?:en|de)(?:-\w+)?\.js$/.test(file),
    ),
  )("%s", (file) => {
    const code = read(file).replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$|\bimport\b[^;]*;/gm, "");
    const literals = [...code.matchAll(/"([^"\n]*)"|`([^`]*)`/g)].map(([, plain, template]) =>
      (plain ?? template ?? "").replaceAll(/\$\{[^}]*\}/g, ""),
    );
    const classes = [...code.matchAll(/class: (?:"([^"]*)"|`([^`]*)`)/g)].map(([, a, b]) => a ?? b);
    expect(literals.filter((one) => isText(one) && !classes.includes(one))).toEqual([]);
  });

  test.for(readdirSync(FOLDER).filter((file) => file.endsWith(".html")))("%s", (file) => {
    // Without scripts there is no language to choose: that notice has all of them.
    const body = read(file).replaceAll(/<noscript>[^]*?<\/noscript>|<head>[^]*?<\/head>/g, "");
    const texts = [...body.matchAll(/>([^<]+)</g)].map(([, text = ""]) => text.trim());
    expect(texts.filter((text) => text !== "" && text !== "scanferry")).toEqual([]);
    expect(body).not.toMatch(/(?:title|aria-label|placeholder)="/);
  });
});

describe("in German", () => {
  /** What the situations let others say. */
  const MESSAGE = /nothing has moved.*|said so|not mounted|no permission|no connection/;
  const ENGLISH =
    /\b(?:the|is|are|of|and|not|document|documents|file|files|See|Set)\b|undefined|NaN/;

  // Where the page is not available nobody sees the finding that says so.
  test.for(FINDING_KINDS.filter((kind) => kind !== "page"))("%s has a text of its own", (kind) => {
    const situation = SITUATIONS[kind];
    const [finding] = findingsOf(situation);
    if (!finding) throw new Error("there is one");
    const { title, detail, fix } = de.findingOf(finding, situation.report);
    expect(title).not.toBe(finding.title);
    expect([detail === "", fix === ""]).toEqual([finding.detail === "", finding.fix === ""]);
    expect(`${title}\n${detail.replace(MESSAGE, "")}\n${fix}`).not.toMatch(ENGLISH);
    for (const [number] of finding.title.matchAll(/\d+/g)) expect(title).toContain(number);
  });

  test.for(
    [...Object.keys(FAILURES), ...Object.keys(REQUEST_HINTS)].concat([
      "HTTP_302",
      "HTTP_401",
      "HTTP_404",
      "HTTP_413",
      "HTTP_502",
      "NEVER_HEARD_OF",
    ]),
  )("what to do about %s is said, with the same commands and settings", (code) => {
    const { hint } = failureOf(code);
    const german = de.hintOf(code, hint);
    expect(german).not.toBe(hint);
    const typed = (text: string) => [...text.matchAll(/`[^`]+`/g)].map(([one]) => one);
    expect(new Set(typed(german))).toEqual(new Set(typed(hint)));
  });

  test("a hint without a retry stays without one", () => {
    const [finding] = findingsOf({ ...SITUATIONS.held, problems: [problem("held", "VETOED")] });
    expect(finding?.fix).toContain("scanferry retry");
    expect(de.hintOf("VETOED", "The `before` hook rejected the document.")).toBe(
      "Der `before`-Hook hat das Dokument abgelehnt.",
    );
  });

  test("a message that is translated is one that scanferry has", () => {
    const folder = new URL("../../../src/", import.meta.url);
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(new URL(file, folder), "utf8").replaceAll(/\$\{[^}]*\}/g, "{}"))
      .join("\n");
    const [unknown] = [MESSAGES.filter(([english]) => !sources.includes(english))];
    expect(unknown).toEqual([["archive folder {}: {} does not exist", expect.anything()]]);
  });

  test.for([
    ["/srv/a does not exist", "/srv/a existiert nicht", "it is our own"],
    ["there is no x.pdf.yaml or .json yet", "x.pdf.yaml oder .json gibt es noch nicht", "our own"],
    [
      "the before hook failed: did not end within 2000 ms",
      "der before-Hook ist gescheitert: endete nicht innerhalb von 2000 ms",
      "both parts are our own",
    ],
    ["was in the archive already", "war schon im Archiv", "a remark is our own, too"],
    [
      "FOLDER_MISSING: archive folder /Scans/Sub: Sub does not exist",
      "FOLDER_MISSING: Archivordner /Scans/Sub: Sub existiert nicht",
      "a code stands before it in the history",
    ],
    [
      "a.yaml:3:1: unknown key; known: a, b",
      "a.yaml:3:1: unbekannter Schlüssel; bekannt: a, b",
      "so does a place",
    ],
    ["looks unfinished: it is empty", "looks unfinished: it is empty", "a scanner's terms stay"],
    ["Quota exceeded for today", "Quota exceeded for today", "the archive said so"],
  ] as const)("%j is %j: %s", ([english, german]) => {
    expect(de.messageOf(english)).toBe(german);
  });

  test("a name cannot turn the reading direction", () => {
    const [finding] = findingsOf(SITUATIONS.formerMirror);
    const report = {
      ...SITUATIONS.formerMirror.report,
      formerMirrors: SITUATIONS.formerMirror.report.formerMirrors.map((one) => ({
        ...one,
        name: "a\u202eb",
      })),
    };
    const { title } = de.findingOf({ ...finding, mirror: "a\u202eb" }, report);
    expect(title).toContain("a\\u202eb");
  });
});

test.for([
  [null, ["de-AT", "en"], "de", "de-AT", "the browser's first"],
  [null, ["fr", "de"], "de", "de-FR", "the first that there is"],
  [null, ["fr"], "en", "en-FR", "English when there is none"],
  ["en", ["de-DE"], "en", "en-DE", "what was chosen; the clock is that of the region"],
  ["xx", [], "en", "en-US", "what was chosen is there no longer"],
] as const)(
  "chosen %j, the browser has %j: %s, written as in %s (%s)",
  ([kept, wanted, language, locale]) => {
    expect(languageOf(kept, wanted)).toBe(language);
    expect(localeOf(language, wanted)).toBe(locale);
  },
);

test("a clock has 24 hours where the region has them", () => {
  const at = new Date(2026, 10, 20, 15, 5);
  const inRegion = (wanted: readonly string[], language: string) =>
    new Intl.DateTimeFormat(localeOf(language, wanted), { timeStyle: "short" }).format(at);
  expect(inRegion(["de-DE"], "en")).toBe("15:05");
  expect(inRegion(["en-US"], "en")).toMatch(/3:05.PM/);
  expect(inRegion(["de"], "de")).toBe("15:05");
});
