/**
 * The readers' English is a second language: words that they would have to look up, and words that this project once
 * used in a sense of its own, do not come back. CONTRIBUTING.md has the style guide.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** dialect.json has the table: a regular expression of whole words; what to write; why. */
const WORDS = JSON.parse(
  readFileSync(new URL("dialect.json", import.meta.url), "utf8"),
) as readonly (readonly [word: string, instead: string, because: string])[];

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

describe.for(WORDS)("not %j but %j, because %s", ([word]) => {
  test.for([
    ["the pages", documents],
    ["assets", assets],
    ["src", sources],
  ] as const)("in %s", ([, files]) => {
    expect(uses(files, word)).toEqual([]);
  });
});
