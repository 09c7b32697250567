import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { ASSET_FILES } from "../../../src/dashboard/assets.ts";
import { FAILURES } from "../../../src/domain/failure.ts";
import { STATES } from "../../../src/domain/document.ts";
import type { StatusReport } from "../../../src/sync/status.ts";
import type { Waiting } from "../../../src/sync/waiting.ts";
import { noDocuments } from "../../../src/sync/status.ts";
import { reportOf, WELL } from "./open-dashboard.ts";

const FOLDER = new URL("../../../assets/dashboard/", import.meta.url);
const read = (file: string) => readFile(new URL(file, FOLDER), "utf8");

// The page's scripts are plain JavaScript; these are the shapes they have.
type Words = { [key: string]: unknown };
type Headline = {
  tone: string;
  title: string;
  detail: string;
  facts: { text?: string; hint?: string; at?: number }[];
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

  test("where problems are left out, the lists that have all of them are named", () => {
    const more = strings["moreProblems"] as (shown: number, all: number) => string;
    for (const state of ["held", "failed"])
      expect(more(20, 30)).toContain(`scanferry list --state ${state}`);
  });

  test("every state has a word and an explanation, in the order of a document's life", () => {
    expect(Object.keys(strings["states"] as Words)).toEqual([...STATES]);
    expect(Object.keys(strings["stateHelp"] as Words)).toEqual([...STATES]);
  });

  test("everything that sending may wait for has words", () => {
    const words = (strings["headline"] as { waits: Words }).waits;
    const all: Record<Waiting["why"], true> = {
      hours: true,
      asked: true,
      conversion: true,
      allowance: true,
    };
    expect(Object.keys(words)).toEqual(Object.keys(all));
  });

  test("every failure that closes the gate has words", () => {
    const gating = Object.entries(FAILURES).filter(([, { fate }]) => fate === "gate");
    const words = (strings["headline"] as { gateReasons: Words }).gateReasons;
    expect(Object.keys(words).toSorted()).toEqual(gating.map(([code]) => code).toSorted());
  });
});

describe("of one document the headline speaks as of one", () => {
  test.for([
    [{ pending: 1 }, true, /^1 document waits\. /],
    [{ pending: 2 }, true, /^2 documents wait\. /],
    [{ held: 1 }, false, /See below what it waits for/],
    [{ held: 2 }, false, /See below what they wait for/],
  ] as const)("%j, paused %j: %s", ([counts, paused, detail]) => {
    const documents = { ...noDocuments(), ...counts };
    const headline = headlineOf({ ...reportOf({ documents, paused }), health: WELL });
    expect(headline.detail).toMatch(detail);
  });
});

describe("the headline says the one thing that matters first", () => {
  const gate = {
    closedAt: 1000,
    code: "QUOTA_LIMIT",
    message: "no pages left",
    hint: "Buy pages.",
    nextProbeAt: 9000,
  };
  const [MAIN] = reportOf().archives;
  const [SCANS] = reportOf().mirrors;
  const code = "ARCHIVE_UNREACHABLE";
  const outage = { since: 1000, code, message: "no way", hint: "Look.", nextAttemptAt: 9000 };
  const offline = { since: 1000, why: "not mounted" };
  const LEFT = { mirror: "scans", path: "a.pdf", why: "AFTER_REFUSED: full", nextAttemptAt: 9000 };
  const HOURS = { why: "hours", message: "outside of the hours", until: 7000 } as const;
  const folder = { mirror: "scans", path: "/A", code: "FOLDER_MISSING", documents: 2 };
  const UNREAD = { directories: 2, path: "2026/closed", why: "no right" };
  const some = (counts: object) => ({ documents: { ...noDocuments(), ...counts } });

  test.for([
    // report, tone, title, because
    [{}, "quiet", "Waiting for the first scan", "nothing was ever seen"],
    [
      { ...some({ converted: 3 }), mirrors: [{ ...SCANS, unread: UNREAD }] },
      "bad",
      "2 local folders cannot be read",
      "what is in there is on no list",
    ],
    [some({ converted: 3 }), "good", "All 3 documents are in the archive", "nothing is left to do"],
    [some({ converted: 1 }), "good", "The one document is in the archive", "one is one"],
    [some({ converted: 3, uploaded: 1 }), "busy", "1 document on the way", "not yet proven"],
    [some({ held: 2, uploaded: 1 }), "warn", "2 documents are held", "they would be overlooked"],
    [
      { ...some({ held: 2 }), foldersToCreate: [folder, { ...folder, code: "FOLDER_TWINS" }] },
      "warn",
      "1 folder to create in the archive",
      "what a person can do goes before what waits for it",
    ],
    [
      { ...some({ failed: 1, held: 2 }), foldersToCreate: [folder] },
      "bad",
      "1 document needs you",
      "it never continues automatically",
    ],
    [
      { ...some({ pending: 1, uploaded: 1 }), sending: { waits: HOURS, concurrency: 4 } },
      "warn",
      "Sending waits for its hours",
      "it is on its way, but not now",
    ],
    [
      { ...some({ uploaded: 1 }), sending: { waits: HOURS, concurrency: 4 } },
      "busy",
      "1 document on the way",
      "nothing is kept back by that",
    ],
    [
      { ...some({ pending: 1, failed: 1 }), archives: [{ ...MAIN, outage }] },
      "bad",
      "The archive cannot be reached",
      "nothing goes on at all",
    ],
    [
      { ...some({ pending: 1 }), archives: [MAIN, { ...MAIN, name: "legal", outage }] },
      "bad",
      "The archive legal cannot be reached",
      "of several it is said which one",
    ],
    [
      { ...some({ converted: 3 }), afterPending: [LEFT, LEFT] },
      "warn",
      "2 archived files cannot be moved or deleted",
      "the office finds them where they were, and wonders",
    ],
    [
      { archives: [{ ...MAIN, outage }], paused: true },
      "warn",
      "Sending is paused",
      "a person did that",
    ],
    [
      { ...some({ converted: 3 }), mirrors: [{ ...SCANS, offline }] },
      "bad",
      "The source of scans is offline",
      "all that is known of is archived, and nobody knows what else there is",
    ],
    [
      {
        ...some({ held: 1 }),
        mirrors: [
          { ...SCANS, offline },
          { ...SCANS, name: "b", offline },
        ],
      },
      "bad",
      "2 sources are offline",
      "a person can fix that",
    ],
    [
      { ...some({ failed: 1 }), paused: true },
      "warn",
      "Sending is paused",
      "nothing is sent at all",
    ],
    [
      { ...some({ failed: 1 }), paused: true, gate },
      "bad",
      "Sending has stopped: the page allowance is used up",
      "resuming would not help",
    ],
    [
      { gate: { ...gate, code: "SOMETHING_NEW" } },
      "bad",
      "Sending has stopped: the archive answers SOMETHING_NEW",
      "a code nobody knew",
    ],
  ] as [Partial<StatusReport>, string, string, string][])(
    "%j: %s, %s (%s)",
    ([report, tone, title]) => {
      const headline = headlineOf({ ...reportOf(report), at: 0, version: "1", health: WELL });
      expect(headline).toMatchObject({ tone, title });
    },
  );

  test("that all is archived names what is never moved or deleted, and is no alarm", () => {
    const afterFailed = [
      { mirror: "bills", files: 1, path: "a.pdf", why: "FILE_CHANGED" },
      { mirror: "scans", files: 1_200, path: "b.pdf", why: "AFTER_TWIN" },
    ];
    const report = reportOf({ ...some({ converted: 3 }), afterFailed });
    const { tone, facts } = headlineOf({ ...report, at: 0, version: "1", health: WELL });
    expect(tone).toBe("good");
    expect(facts).toEqual([
      { label: "bills", text: "1 file never moved or deleted: a.pdf: FILE_CHANGED" },
      { label: "scans", text: "1,200 files never moved or deleted: b.pdf and others: AFTER_TWIN" },
    ]);
  });

  test("of several archives it says which one has stopped, and what waits for it", () => {
    const [main] = reportOf().archives;
    const legal = { ...main, name: "legal", gate };
    const later = { ...gate, closedAt: gate.closedAt + 1, code: "CREDENTIALS_REFUSED" };
    const documents = { ...noDocuments(), pending: 1, held: 2 };
    const [scans] = reportOf().mirrors;
    const mirrors = [
      { ...scans, documents: { ...noDocuments(), held: 7 } },
      { ...scans, name: "contracts", archive: "legal", documents },
    ];
    const told = (archives: object[]) =>
      headlineOf({ ...reportOf({ gate }), archives, mirrors, health: WELL });
    const one = told([{ ...main, gate: null }, legal]);
    expect(one.title).toBe("Sending to legal has stopped: the page allowance is used up");
    expect(one.detail).toContain("3");
    const both = told([{ ...main, gate: later }, legal]);
    expect(both.title).toBe(one.title);
    expect(both.detail).toContain("10");
    expect(both.facts).toContainEqual({ label: "main", text: `${later.message} (${later.code})` });
  });

  test("what cannot be reached is told with why, since when and what to do", () => {
    type Fact = { label: string; text?: string; hint?: string; at?: number };
    const told = (report: object) => {
      const { facts } = headlineOf({ ...reportOf(), ...report, at: 0, version: "1", health: WELL });
      return (facts as Fact[]).map(
        ({ label, text, hint, at }) => `${label}: ${text ?? hint ?? at}`,
      );
    };
    const legal = { ...MAIN, name: "legal", outage: { ...outage, since: 2000, message: "gone" } };
    expect(told({ archives: [{ ...MAIN, outage }, legal] })).toEqual([
      `Reason: no way (${code})`,
      "What to do: Look.",
      "Since: 1000",
      "Next try: 9000",
      `legal: gone (${code})`,
    ]);
    expect(told({ mirrors: [{ ...SCANS, offline }] })).toEqual([
      "scans: not mounted",
      "Since: 1000",
    ]);
  });

  test("a daemon that is not well says so before all else", () => {
    const health = { healthy: false, ready: true, why: "nothing has moved for 2 hours" };
    expect(headlineOf({ ...reportOf({ gate }), health })).toMatchObject({
      tone: "bad",
      detail: "nothing has moved for 2 hours",
    });
  });

  test("what sending waits for is told next to what matters more", () => {
    const report = { ...some({ failed: 1 }), sending: { waits: HOURS, concurrency: 4 } };
    const { title, facts } = headlineOf({ ...reportOf(report), health: WELL });
    expect(title).toBe("1 document needs you");
    expect(facts.map(({ text, at }) => text ?? at)).toEqual(["outside of the hours", 7000]);
  });

  test("a closed gate tells reason, fix and the next try", () => {
    const { facts } = headlineOf({ ...reportOf({ gate }), health: WELL });
    expect(facts.map(({ text, hint, at }) => text ?? hint ?? at)).toEqual([
      "no pages left (QUOTA_LIMIT)",
      "Buy pages.",
      1000,
      9000,
    ]);
  });
});
