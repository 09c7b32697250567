/**
 * The readers' English is a second language: words that they would have to look up, and words that this project once
 * used in a sense of its own, do not come back. CONTRIBUTING.md has the style guide.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** How often these may still use the word: the number may only fall. */
type Left = { readonly src: number; readonly assets: number };

/** A regular expression of whole words; what to write; why; what is left. */
const WORDS: readonly (readonly [word: string, instead: string, because: string, left: Left])[] = [
  ["crews?", "cluster", "a crew works on a ship", { src: 210, assets: 0 }],
  ["members?", "instance", "it is one daemon of several", { src: 190, assets: 9 }],
  ["pens?", "writer session", "nothing is written with a pen", { src: 40, assets: 0 }],
  ["dut(?:y|ies)", "assignment", "the field says so", { src: 260, assets: 5 }],
  ["tellings?|tellers?", "outbox entry", "it is not a word for a thing", { src: 230, assets: 0 }],
  [
    "told of|tell of|tells of|is told|are told|was told|were told",
    "notified, shown, reported",
    "who tells whom is not clear",
    { src: 190, assets: 0 },
  ],
  ["memos?", "key-value entry", "it is a row with key and value", { src: 90, assets: 0 }],
  ["tall(?:y|ies)", "usage bucket", "few readers know it", { src: 210, assets: 0 }],
  ["slips?", "attributes", "it has ten meanings", { src: 150, assets: 0 }],
  ["remembrances?", "tombstone", "databases call it so", { src: 30, assets: 0 }],
  ["mend(?:s|ed|ing)?", "fix", "people search for fix", { src: 220, assets: 11 }],
  [
    "put(?:s|ting)? (?:it |them |files )?away|aftercare",
    "moved or deleted, after-action",
    "it does not say what happens",
    { src: 70, assets: 2 },
  ],
  ["bells?", "wake-up", "it is a notification between loops", { src: 170, assets: 0 }],
  ["naps?|hush", "sleep, unresponsive", "it is slang", { src: 10, assets: 0 }],
  ["vigils?|lookers?", "liveness check, stat", "few readers know it", { src: 90, assets: 0 }],
  ["surveys?", "scan scheduler", "it decides when to scan", { src: 100, assets: 0 }],
  ["anew", "again", "few readers know it", { src: 60, assets: 2 }],
  ["whoever|whomever", "the user, who", "few readers know it", { src: 80, assets: 1 }],
  ["somebody|someone", "the user", "say who", { src: 60, assets: 0 }],
  ["beside", "next to, in addition to", "it is confused with besides", { src: 160, assets: 2 }],
  [
    "by itself|by themselves|of itself",
    "automatically",
    "people search for automatically",
    { src: 80, assets: 6 },
  ],
  ["(?:is|are|was) not reached", "cannot reach", "the subject is missing", { src: 10, assets: 2 }],
  ["work orders?", "folders to create", "it says what to do", { src: 10, assets: 0 }],
  [
    "obstacles?",
    "unreadable entry, problem",
    "it does not say what is wrong",
    { src: 60, assets: 0 },
  ],
  ["gatekeepers?", "account gate", "it is the gate of an account", { src: 30, assets: 0 }],
  [
    "reckoned|reckons?|reckoning",
    "counted, estimated",
    "few readers know it",
    { src: 20, assets: 0 },
  ],
  ["mischief|strangers?", "fault, foreign", "it is a metaphor", { src: 10, assets: 0 }],
];

/** What the program prints, and names of files, stand in code: they are judged where they come from. */
function prose(text: string): string {
  return text
    .replaceAll(/^```[^]*?^```/gm, "")
    .replaceAll(/<!--[^]*?-->/g, "")
    .replaceAll(/^\| before \| after \|\n(?:\|.*\n)*/gm, "")
    .replaceAll(/`[^`]*`/g, "")
    .replaceAll(/\]\([^)]*\)/g, "]");
}

function filesBelow(folder: string, extensions: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => extensions.test(name))
    .map((name) => join(folder, name));
}

const read = (file: string) => readFileSync(join(root, file), "utf8");
const documents = ["README.md", "CONTRIBUTING.md", "GOALS.md", "CHANGELOG.md"]
  .concat(filesBelow("docs", /\.md$/))
  .map((file) => ({ file, text: prose(read(file)) }))
  // Files that users copy and change.
  .concat(
    ["compose.yaml", "compose.several.yaml", "Dockerfile"]
      .concat(filesBelow("config", /\.yaml$/), filesBelow("systemd", /\.service$/))
      .map((file) => ({ file, text: read(file) })),
  );
const assets = filesBelow("assets", /\.(?:js|html|css)$/).map((file) => ({
  file,
  text: read(file),
}));
const sources = filesBelow("src", /\.ts$/).map((file) => ({ file, text: read(file) }));

/** Each use, with its file. */
function uses(files: readonly { file: string; text: string }[], word: string): string[] {
  const pattern = new RegExp(`\\b(?:${word})\\b`, "gi");
  return files.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map(([found]) => `${file}: ${found}`),
  );
}

describe.for(WORDS)("not %j but %j, because %s", ([word, , , left]) => {
  test("in the pages", () => {
    expect(uses(documents, word)).toEqual([]);
  });

  test.for([
    ["assets", assets, left.assets],
    ["src", sources, left.src],
  ] as const)("in %s no more often than before", ([, files, most]) => {
    const found = uses(files, word);
    expect(found.length, found.join("\n")).toBeLessThanOrEqual(most);
  });
});
