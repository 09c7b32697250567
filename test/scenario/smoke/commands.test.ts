/** Each command once, over a small office: that it does what it is for. The scenarios next to tell the rest. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { commandTree } from "../../../scripts/command-tree.ts";
import { aProcess } from "../../fixtures/a-process.ts";
import { aStory, aSyncedStory, type Story } from "../../fixtures/a-story.ts";
import { audit } from "../../fixtures/auditor.ts";
import { pdfOf } from "../../fixtures/documents.ts";

/** What each prints in its turn, one after the other over one office: words, exit code, text. */
const TURNS: readonly [string, number, RegExp][] = [
  ["check", 3, /can reach the archive[\s\S]*New/],
  ["plan", 3, /hold .*New\/held\.pdf/],
  ["status", 0, /^1 document is held: FOLDER_MISSING/m],
  ["list --json", 0, /"path":"done\.pdf"/],
  ["explain done.pdf", 0, /converted/],
  ["rules test done.pdf", 0, /done\.pdf/],
  ["receipt", 0, /scans/],
  ["verify", 0, /^1 as journaled, 0 missing/],
  ["retry --state failed", 0, /^1 document put back/],
  ["adopt --dry-run", 0, /0/],
  ["archive folders", 0, /Scans/],
  ["archive search --doc-filename done", 0, /done\.pdf/],
  ["pause", 0, /^paused/],
  ["resume", 0, /^sending/],
  ["retry --state uploaded", 2, /^$/],
  ["backup DIR/copy.db", 0, /copy\.db/],
  ["restore DIR/copy.db", 0, /replaced/],
  ["journal copy --help", 0, /journal copy/],
  ["notify test", 2, /^$/],
  ["systemd", 0, /ReadOnlyPaths|BindReadOnlyPaths|ReadWritePaths/],
  ["completion bash", 0, /complete/],
  ["archive-admin --data DIR/none check", 1, /^$/],
  ["init --force", 0, /scanferry\.yaml/],
];

/** Those that serve until they are stopped, and those that send, have tests of their own below. */
const ELSEWHERE = ["run", "sync", "demo", "serve-archive", "help"];

const words = (turn: string, { dir }: Story) => turn.replaceAll("DIR", dir).split(" ");

test("every command is tried here", () => {
  const tried = new Set([...TURNS.map(([turn]) => turn.split(" ")[0]), ...ELSEWHERE]);
  const all = commandTree().commands.map((command) => command.words[0]);
  expect(all.filter((name) => !tried.has(name))).toEqual([]);
});

test("what reads or writes the journal, and what speaks to the archive", async () => {
  await using story = await aSyncedStory();
  for (const [turn, code, text] of TURNS) {
    const ran = await story.run(...words(turn, story));
    expect(ran, `${turn}: ${ran.stderr}`).toMatchObject({
      code,
      stdout: expect.stringMatching(text),
    });
  }
});

test("`sync` carries what it can, and says what is left; after a lost journal it sends nothing twice", async () => {
  await using story = await aStory();
  const first = await story.run("sync");
  expect(first.code, first.stderr).toBe(3);
  expect(first.stdout).toMatch(/^1 document is held: FOLDER_MISSING/m);
  expect(first.stdout).toMatch(/^sent 1, converted 1, held 1, failed 1$/m);
  rmSync(dirname(story.journal), { recursive: true });
  rmSync(join(story.source, "huge.txt"));
  expect((await story.run("sync")).stdout).toMatch(/^1 document is held: FIRST_RUN/m);
  expect((await story.run("adopt")).stdout).toContain("1 claimed");
  story.archive.createFolder("/Scans/New");
  expect((await story.run("sync")).code).toBe(0);
  expect(story.archive.documents()).toHaveLength(2);
  expect(await audit(story)).toEqual([]);
});

test("`run` serves until SIGTERM, and `serve-archive` takes what it sends", async () => {
  await using story = await aStory();
  const data = join(story.dir, "served");
  const options = ["--listen", "127.0.0.1:0", "--account", "office:canary-secret-4711"];
  await using served = aProcess([
    "serve-archive",
    "--data",
    data,
    ...options,
    "--folder",
    "/Scans",
  ]);
  await served.says(/listening on http:\/\/[\d.:]+/);
  const [url = ""] = /http:\/\/[\d.:]+/.exec(served.output.stdout) ?? [];
  const config = story.configFile();
  const text = readFileSync(config, "utf8").replace(story.archive.url, url);
  writeFileSync(config, text, { mode: 0o600 });
  story.write("letter.pdf", pdfOf(1));
  await using daemon = aProcess(["--config", config, "run"]);
  await daemon.says(/"converted".*letter\.pdf|letter\.pdf.*"converted"/);
  expect(await daemon.end("SIGTERM"), daemon.output.stderr).toBe(0);
  expect(await served.end("SIGINT")).toBe(0);
});

test("demo --once carries every sample to CONVERTED, leaves with 0 and nothing behind", async () => {
  await using story = await aStory();
  const env = { TMPDIR: story.dir };
  await using demo = aProcess(["demo", "--once", "--port", "0"], env);
  expect(await demo.ended, demo.output.stderr).toBe(0);
  expect(demo.output.stdout).toMatch(/^archive +http:\/\/127/m);
  expect(demo.output.stdout).toMatch(/^dashboard +http:\/\/127/m);
  const [, converted, all] = /^(\d+) of (\d+) documents CONVERTED$/m.exec(demo.output.stdout) ?? [];
  expect(Number(converted)).toBeGreaterThan(5);
  expect(converted).toBe(all);
  const [, inbox = ""] = /^folder +(\S+) →/m.exec(demo.output.stdout) ?? [];
  expect(inbox.startsWith(story.dir)).toBe(true);
  expect(existsSync(inbox)).toBe(false);
});

test("a demonstration that was given a document of the user's leaves it, and says where", async () => {
  await using story = await aStory();
  await using demo = aProcess(["demo", "--port", "0"], { TMPDIR: story.dir });
  await demo.says(/Ctrl-C/);
  const [, inbox = ""] = /^folder +(\S+) →/m.exec(demo.output.stdout) ?? [];
  writeFileSync(join(inbox, "own.pdf"), "%PDF-1.4, and never finished");
  expect(await demo.end("SIGINT")).toBe(0);
  expect(demo.output.stdout).toContain(`${dirname(inbox)} stays`);
  expect(demo.output.stdout).toContain("scans/own.pdf");
  expect(existsSync(join(inbox, "own.pdf"))).toBe(true);
});
