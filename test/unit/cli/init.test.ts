/** What `init` writes from options alone can be used as it is, by anyone who typed them. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sealed, starterConfig } from "../../../src/config/starter.ts";
import { linesOf, scanferry } from "./in-process.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "scanferry-init-"));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const init = (...words: string[]) =>
  scanferry(["--config", "try/ü x.yaml", "init", "--yes", ...words], { cwd });

test("a relative path means what it means to anyone who types it, not next to the file", async () => {
  const { code } = await init("--source", "in", "--journal", "j/a.db", "--receipts", "out");
  expect(code).toBe(0);
  const text = readFileSync(join(cwd, "try/ü x.yaml"), "utf8");
  expect(text).toContain(`source: ${join(cwd, "in")}\n`);
  expect(text).toContain(`journal: ${join(cwd, "j/a.db")}\n`);
  expect(text).toContain(`receipts: ${join(cwd, "out")}\n`);
});

test("a database's address is no path, and without either the journal is next to the file", async () => {
  const url = "postgres://scanferry@db.example.com:5432/scans";
  expect((await init("--journal", url)).code).toBe(0);
  expect(readFileSync(join(cwd, "try/ü x.yaml"), "utf8")).toContain(`journal: "${url}"\n`);
  expect((await init("--force")).code).toBe(0);
  expect(readFileSync(join(cwd, "try/ü x.yaml"), "utf8")).toContain(`journal: "./journal.db"\n`);
});

test("--force replaces a link in the file's place, and what the link leads to stays as it is", async () => {
  const linked = join(cwd, "linked");
  writeFileSync(linked, "mine");
  mkdirSync(join(cwd, "try"));
  symlinkSync(linked, join(cwd, "try/ü x.yaml"));
  expect((await init()).code).toBe(2);
  expect((await init("--force")).code).toBe(0);
  expect(readFileSync(linked, "utf8")).toBe("mine");
  expect(readFileSync(join(cwd, "try/ü x.yaml"), "utf8")).toContain("mirrors:");
  expect(readdirSync(join(cwd, "try")).filter((name) => name.endsWith(".partial"))).toEqual([]);
});

test("a scheme is written as it was asked for", async () => {
  const { code } = await init("--scheme", "hmac2");
  expect(code).toBe(0);
  expect(readFileSync(join(cwd, "try/ü x.yaml"), "utf8")).toMatch(/^ {4}scheme: hmac2 +#/m);
  expect((await init("--force", "--scheme", "module")).code).toBe(2);
});

test("the command that comes next can be pasted into a shell", async () => {
  const { stdout } = await init();
  expect(linesOf(stdout).at(-1)).toMatch(/\/bin\/scanferry --config 'try\/ü x\.yaml' check$/);
});

test.for([
  [["--url", "bogus"], /archive\.url: .*; write https:\/\/bogus$/, "an address is no word"],
  [
    ["--target", "Scans"],
    /mirrors\[0\]\.target: .*; write \/Scans$/,
    "a folder begins at the root",
  ],
  [["--algorithm", "sha265"], /signing\.algorithm: .*; did you mean/, "a digest has to be known"],
  [["--source", "~/in"], /mirrors\[0\]\.source: .*~/, "nobody expands a ~ here"],
  [["--source", "~/in", "--url", "x"], /archive\.url/, "everything that is wrong is told at once"],
  [["--source", "try", "--journal", "try/j.db"], /journal/, "a journal is no scan"],
] as const)("%j writes nothing, and says %s: %s", async ([words, line]) => {
  const { code, stdout, stderr } = await init(...words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(linesOf(stderr)[0]).toMatch(line);
  expect(linesOf(stderr)[0]).toContain(`scanferry: ${join(cwd, "try/ü x.yaml")}: `);
  expect(existsSync(join(cwd, "try"))).toBe(false);
});

test("a file is no folder with scans; one that is not there yet is", async () => {
  writeFileSync(join(cwd, "file"), "");
  const { code, stderr } = await init("--source", "file");
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `scanferry: --source: ${join(cwd, "file")} is not a folder; name one\n`,
  });
  expect(existsSync(join(cwd, "try"))).toBe(false);
  expect((await init("--source", "later")).code).toBe(0);
});

test("a starter that nobody has changed is replaced without --force, of an older version too", async () => {
  mkdirSync(join(cwd, "try"));
  const older = sealed(starterConfig().replace("#settle: 10s", "#settle: 5s"));
  writeFileSync(join(cwd, "try/ü x.yaml"), older.replace("/srv/scans", "/srv/scan"));
  expect((await init("--source", "in")).code).toBe(2);
  writeFileSync(join(cwd, "try/ü x.yaml"), older);
  expect((await init("--source", "in")).code).toBe(0);
  expect(readFileSync(join(cwd, "try/ü x.yaml"), "utf8")).toContain(`source: ${join(cwd, "in")}\n`);
  expect((await init("--source", "in")).code).toBe(2);
});
