import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { ASSET_FILES } from "../../../src/dashboard/assets.ts";
import { STATES } from "../../../src/domain/document.ts";
import { PLAIN } from "../../../src/report/finding.ts";
import { reportOf, WELL } from "./open-dashboard.ts";
import { noDocuments } from "../../../src/report/status.ts";

const FOLDER = new URL("../../../assets/dashboard/", import.meta.url);
const read = (file: string) => readFile(new URL(file, FOLDER), "utf8");

// The page's scripts are plain JavaScript; these are the shapes they have.
type Words = { [key: string]: unknown };
type Headline = {
  tone: string;
  title: string;
  detail: string;
  others: object[];
  places?: object[];
};
const { strings } = (await import(new URL("strings.js", FOLDER).href)) as { strings: Words };
const { headlineOf } = (await import(new URL("headline.js", FOLDER).href)) as {
  headlineOf: (snapshot: object) => Headline;
};

describe("the page's files", () => {
  test("are all served", async () => {
    expect((await readdir(FOLDER)).toSorted()).toEqual([...ASSET_FILES].toSorted());
  });

  test.for([...ASSET_FILES])("%s makes no markup of text and needs no network", async (file) => {
    const text = await read(file);
    expect(text).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|srcdoc/,
    );
    expect(text).not.toMatch(/\sstyle=|<style|\son[a-z]+=|javascript:|<script>/i);
    expect(text.replaceAll('"http://www.w3.org/2000/svg"', "")).not.toMatch(/https?:\/\//);
  });

  test("every word that the markup and the scripts ask for is there", async () => {
    const markup = await read("index.html");
    const asked = [...markup.matchAll(/data-(?:text|label)="(\w+)"/g)].map(([, key]) => key);
    for (const file of ASSET_FILES.filter((name) => name.endsWith(".js")))
      asked.push(
        ...[...(await read(file)).matchAll(/\bstrings\.(?!js\b)(\w+)/g)].map(([, key]) => key),
      );
    const missing = [...new Set(asked)].filter((key) => !Object.hasOwn(strings, key ?? ""));
    expect(asked.length).toBeGreaterThan(30);
    expect(missing).toEqual([]);
  });

  test("every word of the headline is said by it", async () => {
    const script = await read("headline.js");
    const words = Object.keys(strings["headline"] as Words);
    expect(words.filter((word) => !new RegExp(`\\bwords\\.${word}\\b`).test(script))).toEqual([]);
  });

  test("every state has a word and an explanation, in the order of a document's life", () => {
    expect(Object.keys(strings["states"] as Words)).toEqual([...STATES]);
    expect(Object.keys(strings["stateHelp"] as Words)).toEqual([...STATES]);
    expect(Object.keys(strings["stateWords"] as Words)).toEqual([...STATES]);
  });
});

describe("the headline says the one thing that matters first", () => {
  const some = (counts: object) => ({ documents: { ...noDocuments(), ...counts } });
  const finding = { ...PLAIN, id: "x", kind: "held", title: "2 documents are held" } as const;
  const warning = { ...finding, severity: "warning" } as const;
  const error = { ...finding, id: "y", severity: "error", title: "Nothing is sent" } as const;
  const info = { ...finding, id: "z", severity: "info", title: "2 files wait" } as const;

  test.for([
    // report, findings, tone, title, others, because
    [{}, [], "quiet", "Waiting for the first scan", 0, "nothing was ever found"],
    [some({ converted: 3 }), [], "good", "All 3 documents are in the archive", 0, "all is done"],
    [some({ converted: 1 }), [], "good", "The one document is in the archive", 0, "one is one"],
    [some({ converted: 3, uploaded: 1 }), [], "busy", "1 document on the way", 0, "not yet proven"],
    [some({ converted: 3 }), [info], "good", "All 3 documents are in the archive", 1, "no alarm"],
    [
      some({ held: 2 }),
      [info, warning],
      "warn",
      "2 documents are held",
      1,
      "it would be overlooked",
    ],
    [some({ held: 2 }), [error, warning], "bad", "Nothing is sent", 1, "the order of the findings"],
  ] as const)("%j, %j: %s, %s (%s others: %s)", ([report, findings, tone, title, others]) => {
    const headline = headlineOf({ ...reportOf(report), findings, at: 0, health: WELL });
    expect(headline).toMatchObject({ tone, title });
    expect(headline.others).toHaveLength(others);
  });

  test("while there is no file it says where to put one", () => {
    const { places } = headlineOf({ ...reportOf(), findings: [] });
    expect(places).toMatchObject([{ source: "/srv/scans", target: "/Scans" }]);
  });

  test("every action of a finding that is about documents has words", () => {
    const { actions } = strings["finding"] as { actions: Words };
    expect(Object.keys(actions)).toEqual([
      "retry",
      "sendAnyway",
      "sendAgain",
      "adopt",
      "sendAsNew",
    ]);
  });
});
