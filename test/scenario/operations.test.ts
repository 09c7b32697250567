/** What the documents have people type does what they say, in the order in which it stands there. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type CommandLeaf, commandTree } from "../../scripts/command-tree.ts";
import { checksums } from "../../scripts/release/artifacts.ts";
import { starterConfig } from "../../src/config/starter.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { freePort } from "../fixtures/free-port.ts";
import { aPostgres, NO_POSTGRES, type Postgres } from "../fixtures/postgres.ts";
import { PLAYED, SandboxRoot } from "../fixtures/sandbox-root.ts";
import { commandsOf, inlineCommands, PAGES, shellBlocks } from "../fixtures/shell-blocks.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** What is run from a fresh clone, by .ci/run or by anyone who changes the project. */
const FROM_A_CLONE = /^(npm|npx|node (scripts|test|bench|campaigns)\/|\.ci\/run)/;

const blocks = PAGES.flatMap(shellBlocks);
const isFromClone = (text: string) => commandsOf(text).every((line) => FROM_A_CLONE.test(line));

/** Sections that tell one story, from the package to the way back: page and heading, in order. */
const STORY = [
  ["docs/install.md", "Debian"],
  ["docs/configure.md", "Configuration and secrets"],
  ["docs/configure.md", "Start"],
  ["docs/operations.md", "Monitor"],
  ["docs/recovery.md", "Back up"],
  ["docs/recovery.md", "Restore the journal"],
  ["docs/recovery.md", "Move to another machine"],
  ["docs/upgrade.md", "Debian package"],
  ["docs/upgrade.md", "Downgrade"],
] as const;
const isOf = ({ page, section }: (typeof blocks)[number], part: readonly [string, string]) =>
  page === part[0] && section === part[1];
const isStory = (block: (typeof blocks)[number]) => STORY.some((part) => isOf(block, part));

/** An archive, and a machine with one document to carry into it. */
async function aMachine(): Promise<AsyncDisposable & { readonly root: SandboxRoot }> {
  const data = mkdtempSync(join(tmpdir(), "scanferry-archive-"));
  const archive = aProcess(
    ["serve-archive", "--data", data, "--listen", "127.0.0.1:0"].concat([
      "--account",
      "key:secret",
      "--folder",
      "/Scans",
      "--convert-delay",
      "50ms",
    ]),
  );
  await archive.says(/listening on http:\S+\n/);
  const archiveUrl = /listening on (\S+)/.exec(archive.output.stdout)?.[1] ?? "";
  const root = new SandboxRoot({
    archiveUrl,
    webPort: await freePort(),
    servePort: await freePort(),
  });
  root.type("account.key", "key");
  root.type("signing.secret", "secret");
  writeFileSync(root.at("srv/scans/scan.pdf"), pdfOf(1));
  return {
    root,
    async [Symbol.asyncDispose]() {
      root[Symbol.dispose]();
      await archive[Symbol.asyncDispose]();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** As the package's postinst leaves it. */
function installed(root: SandboxRoot): void {
  mkdirSync(root.at("etc/scanferry/secrets"), { recursive: true, mode: 0o700 });
  const text = starterConfig()
    .replace("# accountKeyFile: /etc/scanferry/account.key", "accountKeyFile: account.key")
    .replace("# secretFile: /etc/scanferry/signing.secret", "secretFile: signing.secret");
  writeFileSync(root.at("etc/scanferry/scanferry.yaml"), text);
}

test("the story from install.md to upgrade.md: every block does what stands there", async () => {
  await using machine = await aMachine();
  const { root } = machine;
  const deb = "scanferry_0.1.0_amd64.deb";
  mkdirSync(root.at("opt/download"));
  writeFileSync(root.at(`opt/download/${deb}`), "a package");
  writeFileSync(root.at("opt/scanferry/SHA256SUMS"), checksums(root.at("opt/download")));
  copyFileSync(root.at(`opt/download/${deb}`), root.at(`opt/scanferry/${deb}`));
  installed(root);
  const story = STORY.flatMap((part) => blocks.filter((block) => isOf(block, part)));
  expect(STORY.filter((part) => !story.some((block) => isOf(block, part)))).toEqual([]);
  for (const { section, text } of story) {
    // An upgrade that changed the tables leaves such a copy.
    const copy = /\/(var\/\S+\.schema-\d+)/.exec(text)?.[1];
    if (copy) copyFileSync(root.at("var/backups/scanferry/journal.db"), root.at(copy));
    const ran = root.run(text);
    expect(ran, `${section}\n${text}\n${ran.output}`).toMatchObject({ code: 0 });
    if (section === "Start") await converted(root);
    if (section === "Back up") expectTheSameDaily(root, text);
  }
  expect(list(root)).toMatchObject([{ path: "scan.pdf", state: "converted" }]);
  expect(root.run("scanferry verify").output).toMatch(/^1 as journaled, 0 missing/m);
  expect(root.asked()).toContain(`apt-get install ./${deb}`);
}, 360_000);

/** The second day's backup has what changed since, in the place of the first day's. */
function expectTheSameDaily(root: SandboxRoot, text: string): void {
  const config = root.at("etc/scanferry/scanferry.yaml");
  writeFileSync(config, `${readFileSync(config, "utf8")}\n# the second day\n`);
  expect(root.run(text)).toMatchObject({ code: 0 });
  const kept = readFileSync(root.at("var/backups/scanferry/etc/scanferry.yaml"), "utf8");
  expect(kept).toMatch(/# the second day/);
}

async function converted(root: SandboxRoot): Promise<void> {
  await expect.poll(() => list(root)[0]?.state, { timeout: 60_000 }).toBe("converted");
}

function list(root: SandboxRoot): { path: string; state: string }[] {
  const lines = root
    .run("CREDENTIALS_DIRECTORY=/etc/scanferry/secrets scanferry list --json")
    .output.trim()
    .split("\n")
    .filter(Boolean);
  return lines.map((line) => JSON.parse(line) as { path: string; state: string });
}

/** A journal in PostgreSQL with one document in it, and a dump of that as people make one. */
async function aDump(root: SandboxRoot): Promise<Postgres> {
  const postgres = await aPostgres();
  const { hostname, port, username } = new URL(postgres.place().url);
  const server = `postgres://${username}@${hostname}:${port}/scans`;
  for (const step of [
    `export PGHOST=${hostname} PGPORT=${port} PGUSER=${username}`,
    "createdb scans",
    "scanferry --config /etc/scanferry/scanferry.yaml init",
    `sed -i 's|^journal: .*|journal: ${server}|' /etc/scanferry/scanferry.yaml`,
    "scanferry sync",
    "pg_dump --format=custom --schema=scanferry scans >journal.dump",
  ]) {
    const ran = root.run(step);
    expect(ran, `${step}\n${ran.output}`).toMatchObject({ code: 0 });
  }
  return postgres;
}

describe("each other block, on a machine of its own", () => {
  const others = blocks
    .filter((block) => !isStory(block) && !isFromClone(block.text))
    .filter(({ text }) => !NO_POSTGRES || !text.includes("pg_restore"));
  test.for(others)("$page, $section", async ({ text }) => {
    await using machine = await aMachine();
    const { root } = machine;
    if (text.includes("office.yaml")) {
      mkdirSync(root.at("etc/scanferry"), { recursive: true });
      writeFileSync(root.at("etc/scanferry/office.yaml"), starterConfig());
    }
    if (text.includes("/hooks/")) root.run("scanferry --config /etc/scanferry/scanferry.yaml init");
    await using _postgres = text.includes("pg_restore") ? await aDump(root) : undefined;
    const ran = root.run(text);
    expect(ran, ran.output).toMatchObject({ code: 0 });
    if (text.includes("enable --now")) await converted(root);
  });
});

test("what is not run here is run by a proof, or from a clone", () => {
  const used = blocks.flatMap(({ text }) => commandsOf(text));
  for (const [program, proof] of Object.entries(PLAYED)) {
    const verbs = used.flatMap(
      (line) => new RegExp(`(?:^|&& )${program} (?:-\\S+ )*([\\w-]+)`).exec(line)?.[1] ?? [],
    );
    expect([program, verbs.length > 0]).toEqual([program, true]);
    expect(existsSync(join(ROOT, proof))).toBe(true);
  }
  const scripts = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const named = PAGES.flatMap((page) =>
    [...read(page).matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name ?? ""),
  );
  expect(named.length).toBeGreaterThan(5);
  const isThere = (name: string) =>
    name === "campaign:NAME" || Object.hasOwn(scripts.scripts, name);
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});

test("docs/commands.md has every command", () => {
  const page = read("docs/commands.md");
  const names = commandTree().commands.map(({ words }) => words[0] ?? "");
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
});

describe.for(PAGES)("%s", (page) => {
  test("names only commands and options that there are", () => {
    const tree = commandTree();
    expect(inlineCommands(page).flatMap((words) => unknownIn(tree, words))).toEqual([]);
  });
});

/** What of the words is no command and no option of the one that they lead to. */
function unknownIn(tree: CommandLeaf, line: string): string[] {
  let leaf = tree;
  const wrong: string[] = [];
  for (const word of line.split(/[\s=|;]+/)) {
    const below = leaf.commands.find(({ words }) => words.at(-1) === word);
    if (below) leaf = below;
    else if (leaf === tree && /^[a-z][a-z-]+$/.test(word)) wrong.push(`scanferry ${line}: ${word}`);
    else if (word.startsWith("--") && ![...tree.flags, ...leaf.flags].includes(word))
      wrong.push(`scanferry ${line}: ${word}`);
    if (wrong.length > 0) break;
  }
  return wrong;
}
