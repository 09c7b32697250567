/** The manual page says what the program does. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CommandLeaf, commandTree } from "../../../scripts/command-tree.ts";
import { manPage } from "../../../scripts/man-page.ts";

const has = (program: string) =>
  spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;

const leaves = (leaf: CommandLeaf): CommandLeaf[] => [leaf, ...leaf.commands.flatMap(leaves)];

test.runIf(has("man"))(
  "man shows the page without a warning, with every command and option",
  () => {
    const directory = mkdtempSync(join(tmpdir(), "man-"));
    try {
      const file = join(directory, "scanferry.1");
      writeFileSync(file, manPage("1.2.3", 0));
      const env = { ...process.env, MANWIDTH: "100", LC_ALL: "C.UTF-8", MAN_KEEP_FORMATTING: "" };
      const shown = spawnSync("man", ["--warnings", "-E", "UTF-8", "-l", file], {
        encoding: "utf8",
        env,
      });
      expect(shown.stderr).toBe("");
      expect(shown.stdout).toMatch(/scanferry 1\.2\.3 +1970-01-01/);
      for (const { words, flags } of leaves(commandTree())) {
        if (words.length > 0) expect(shown.stdout).toContain(`scanferry ${words.join(" ")}`);
        for (const name of flags) expect(shown.stdout).toContain(name);
      }
      // As it stands in the help: what is shown can be pasted.
      expect(shown.stdout).toContain("scanferry plan --json | jq .totals");
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);

test("every variable that the configuration may come from is named", () => {
  const rooms = ["cli", "config"].map((room) => new URL(`../../../src/${room}/`, import.meta.url));
  const sources = rooms.flatMap((room) =>
    readdirSync(room, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(new URL(file, room), "utf8")),
  );
  const variables = new Set(sources.join("\n").match(/\bSCANFERRY_[A-Z_]+/g));
  expect(variables.size).toBeGreaterThanOrEqual(9);
  const page = manPage("1.2.3", 0);
  expect([...variables].filter((variable) => !page.includes(variable))).toEqual([]);
  expect(page).toContain("SCANFERRY_SIGNING_SECRET_NAME");
});

test("the page's date is the one that it is given, and its lines are no requests by accident", () => {
  const lines = manPage("1.2.3", 86_400).split("\n");
  expect(lines[0]).toContain('"1970-01-02"');
  const requests = lines.filter((line) => line.startsWith("."));
  expect(requests.filter((line) => !/^\.(TH|SH|SS|TP|PP|B|nh|ad|nf|fi)\b/.test(line))).toEqual([]);
});
