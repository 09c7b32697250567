/** What is not ready is not released, and every reason is told at once. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { obstacles } from "../../../scripts/release/obstacles.ts";
import { aTree } from "../../unit/packaging/a-tree.ts";

test("a tree that is ready has none, also when it is released already", () => {
  using tree = aTree();
  expect(obstacles(tree.root)).toEqual([]);
  tree.git("tag", "v1.2.3");
  expect(obstacles(tree.root)).toEqual([]);
});

test.for<[string, string | RegExp, string, RegExp, string]>([
  [
    "CHANGELOG.md",
    "## 1.2.3 (2026-11-21)",
    "## Unreleased",
    /begins with "## Unreleased"/,
    "nobody decided on it",
  ],
  [
    "CHANGELOG.md",
    "(2026-11-21)",
    "(pending)",
    /begins with "## 1.2.3 \(pending\)"/,
    "it has no date",
  ],
  ["CHANGELOG.md", " (2026-11-21)", "", /write "## 1.2.3 \(YYYY-MM-DD\)"/, "the same"],
  ["CHANGELOG.md", "2026-11-21", "2026-13-41", /no date/, "an attributes"],
  [
    "CHANGELOG.md",
    "## 1.2.3",
    "## 1.2.4",
    /begins with 1.2.4, package.json has 1.2.3/,
    "one was forgotten",
  ],
  ["CHANGELOG.md", "- It works.\n", "", /says nothing of 1.2.3/, "an empty section"],
  [
    "CHANGELOG.md",
    "## 1.2.2 (2026-11-01)",
    "## Unreleased",
    /below the release/,
    "left over from a merge",
  ],
  [
    "CHANGELOG.md",
    "- It works.",
    "- [pending] It works.",
    /says pending/,
    "a line that is not sure yet",
  ],
  [
    "package.json",
    "1.2.3",
    "1.3.0",
    /package-lock.json has 1.2.3, package.json 1.3.0/,
    "npm version does both",
  ],
])("%s with %j -> %j is refused: %s (%s)", ([name, from, to, line]) => {
  using tree = aTree();
  tree.edit(name, from, to);
  tree.commit();
  expect(obstacles(tree.root)).toContainEqual(expect.stringMatching(line));
});

test("what is not committed is refused, and so is a version that another commit bears", () => {
  using tree = aTree();
  tree.git("tag", "v1.2.3");
  tree.commit();
  tree.write("new.txt", "x");
  expect(obstacles(tree.root)).toEqual([
    "1 files are not as committed, e.g. new.txt",
    "v1.2.3 was released from another commit",
  ]);
});

test("this very tree is looked at without anything being built", () => {
  const script = new URL("../../../scripts/release.ts", import.meta.url).pathname;
  const look = () => execFileSync(process.execPath, [script, "--look"], { stdio: "pipe" });
  const changelog = readFileSync(new URL("../../../CHANGELOG.md", import.meta.url), "utf8");
  if (!changelog.includes("## Unreleased")) return;
  expect(look).toThrow(/not released: CHANGELOG.md begins with "## Unreleased"/);
});
