/** A release is made whole, or not at all. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { release, type ReleaseOptions } from "../../../scripts/release/release.ts";
import { aTree } from "./a-tree.ts";

/** Releases a tree that is ready, but for what is given; returns what is in the way, and what was done. */
function released(given: (tree: ReturnType<typeof aTree>) => Partial<ReleaseOptions>) {
  using tree = aTree();
  const out = mkdtempSync(join(tmpdir(), "released-"));
  const to = join(out, "1.2.3");
  mkdirSync(to);
  writeFileSync(join(to, "before"), "x");
  const done: string[] = [];
  const options: ReleaseOptions = {
    root: tree.root,
    to,
    checks: { quick: () => true, slow: () => done.push("slow") > 0 },
    make(directory) {
      done.push("make");
      mkdirSync(directory);
      writeFileSync(join(directory, "a.tgz"), "the same");
    },
    ...given(tree),
  };
  try {
    return { wrong: release(options), done, there: readdirSync(to) };
  } finally {
    rmSync(out, { recursive: true });
  }
}

test("what is ready, and passes, and is the same twice, is released in place of what was there", () => {
  expect(released(() => ({}))).toEqual({
    wrong: [],
    done: ["slow", "make", "make"],
    there: ["a.tgz"],
  });
});

test.for<[string, (tree: ReturnType<typeof aTree>) => Partial<ReleaseOptions>, string, string[]]>([
  [
    "a changelog without a date",
    (tree) => {
      tree.edit("CHANGELOG.md", "2026-11-21", "pending");
      tree.commit();
      return {};
    },
    'CHANGELOG.md begins with "## 1.2.3 (pending)"; write "## 1.2.3 (YYYY-MM-DD)" there',
    [],
  ],
  ["a check that fails", () => ({ checks: { "npm test": () => false } }), "npm test fails", []],
  [
    "a check that changes the tree",
    (tree) => ({
      checks: {
        format: () => {
          tree.write("CHANGELOG.md", "");
          return true;
        },
      },
      make: (directory) => mkdirSync(directory),
    }),
    'CHANGELOG.md begins with ""; write "## 1.2.3 (YYYY-MM-DD)" there',
    [],
  ],
  [
    "two builds that differ",
    () => {
      let builds = 0;
      const make = (directory: string) => {
        mkdirSync(directory);
        writeFileSync(join(directory, "a.tgz"), `build ${builds++}`);
      };
      return { make };
    },
    "two builds differ: a.tgz",
    ["slow"],
  ],
])("%s: refused, and what was there stays", ([, given, line, did]) => {
  const { wrong, done, there } = released(given);
  expect(wrong).toContain(line);
  expect(done).toEqual(did);
  expect(there).toEqual(["before"]);
});
