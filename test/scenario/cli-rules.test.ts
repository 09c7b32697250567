/** Rules tried from the command line, before they act; and what `plan` and `explain` say of them. */
import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pdfOf } from "../fixtures/documents.ts";
import { aWorld, SECRET, type World } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const RULES = String.raw`    match: '^(?<department>[^/]+)/'
    metadata: { author: Everybody, subject: "{group.department}", sidecar: required }
    expire: { after: 7y }
    rules:
      - name: legal
        match: '^Legal/(?<year>\d{4})/'
        target: "/Scans/{group.year}"
        metadata: { title: "{stem | upper}" }
        expire: { after: 10y, from: 'name((?<year>\d{4}))' }
`;

async function fill(): Promise<World> {
  const world = await aWorld({ folders: ["/Scans/2026"] });
  world.write("Legal/2026/lease.pdf", pdfOf(2));
  const sidecar = world.write("Legal/2026/lease.pdf.yaml", "author: Anna\n");
  utimesSync(sidecar, 1_000, 1_000);
  return world;
}

const run = async (world: World, config: string, ...words: string[]) =>
  scanferry(["--config", config, ...words], { cwd: world.source });

test("rules test tells the rule, every value and where it came from", async () => {
  await using world = await fill();
  const config = world.configFile("", RULES);
  const { code, stdout } = await run(world, config, "rules", "test", "Legal/2026/lease.pdf");
  expect(stdout.trimEnd().split("\n")).toEqual([
    "scans: Legal/2026/lease.pdf",
    "  rule         legal",
    "  folder       /Scans/2026",
    "  sent as      lease.pdf",
    "  title        LEASE (path)",
    "  author       Anna (sidecar)",
    "  subject      Legal (path)",
    "  expires      2036-01-01 (10y after the date in its name), sent as 2082801600000",
  ]);
  expect(code).toBe(0);
});

test.for([
  [`echo '{"name":"b.pdf","metadata":{"title":"T"}}'`, /sent as +b\.pdf\n.*T \(hook\)/, 0, "named"],
  [`echo '{"veto":"not this one"}'`, /held +VETOED: not this one/, 3, "vetoed"],
  [`echo '{"veto":"${SECRET}"}'`, /held +VETOED: \[redacted\]/, 3, "vetoed with a secret in it"],
  ["exit 4", /held +HOOK_FAILED: the before hook failed: ended with exit code 4/, 3, "failed"],
] as const)("rules test --hooks runs the hook: %s gives %s", async ([text, said, exit]) => {
  await using world = await fill();
  const hook = join(world.dir, "hook");
  writeFileSync(hook, `#!/bin/sh\ntouch ${world.dir}/ran\n${text}\n`, { mode: 0o755 });
  const config = world.configFile("", `    hooks: { before: { command: [${hook}] } }`);
  await run(world, config, "rules", "test", "Legal/2026/lease.pdf");
  expect(existsSync(join(world.dir, "ran"))).toBe(false);
  const words = ["rules", "test", "--hooks", "Legal/2026/lease.pdf"];
  const { stdout, code } = await run(world, config, ...words);
  expect(stdout).toMatch(said);
  expect(code).toBe(exit);
});

test("a path that is not there is tried as if it were, and one that is no document says so", async () => {
  await using world = await fill();
  const config = world.configFile("", RULES);
  const imagined = await run(world, config, "rules", "test", "--json", "Legal/2031/x.pdf");
  expect(JSON.parse(imagined.stdout)).toMatchObject({
    rule: "legal",
    folder: "/Scans/2031",
    metadata: { author: { value: "Everybody", from: "static" } },
    notes: ["there is no such file; scanferry uses the current time for it"],
    error: null,
  });
  const sidecar = await run(world, config, "rules", "test", "--json", "Legal/2026/lease.pdf.yaml");
  expect(JSON.parse(sidecar.stdout)).toMatchObject({
    notes: [
      "never sent: it belongs to Legal/2026/lease.pdf, and if it was read is moved or deleted with it",
    ],
  });
});

test("what would be held is told with its fix, and ends with 3", async () => {
  await using world = await fill();
  const broken = world.write("Legal/2026/other.pdf.json", '{"titel": 1}');
  utimesSync(broken, 1_000, 1_000);
  world.write("Legal/2026/other.pdf", pdfOf(1));
  const config = world.configFile("", RULES);
  const { code, stdout } = await run(
    world,
    config,
    "rules",
    "test",
    "--json",
    "Legal/2026/other.pdf",
  );
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: "NOTES_BROKEN",
      message: expect.stringMatching(/^Legal\/2026\/other\.pdf\.json:1:2: unknown key/),
    },
  });
  expect(code).toBe(3);
});

test("plan says before, and explain after, what goes with a document", async () => {
  await using world = await fill();
  const config = world.configFile("", RULES);
  const plan = await run(world, config, "plan", "--json");
  const { documents } = JSON.parse(plan.stdout) as { documents: object[] };
  expect(documents).toMatchObject([
    {
      path: "Legal/2026/lease.pdf",
      action: "send",
      target: "/Scans/2026",
      rule: "legal",
      metadata: { author: { value: "Anna", from: "sidecar" } },
      expires: { at: "2036-01-01" },
    },
  ]);
  const text = await run(world, config, "plan");
  expect(text.stdout).toContain('rule legal, title "LEASE", author "Anna"');
  expect((await run(world, config, "sync")).code).toBe(0);
  const explained = await run(world, config, "explain", "Legal/2026/lease.pdf");
  expect(explained.stdout).toMatch(/matched +legal/);
  expect(explained.stdout).toMatch(/author +Anna \(sidecar\)/);
  expect(explained.stdout).toMatch(/expires +2036-01-01 \(10y after the date in its name\)/);
});

test.for([
  ["metadata: { title: '{steam}' }", "metadata.title", "a value nobody knows"],
  ["metadata: { title: '{group.x}' }", "no pattern has a group named x", "a group no pattern has"],
  ["match: '('", "mirrors[0].match", "no regular expression"],
  ["expire: { after: 7m }", "mirrors[0].expire.after", "no period"],
  ["expire: { from: 'name(x)' }", "no group named date", "a pattern without a date"],
  ["rules: [{ name: a, match: x, target: 'y' }]", "does not start with /", "no folder"],
  ["metadata: { title: {stem} }", "put it in quotes", "a template that YAML takes for a mapping"],
] as const)("%s is refused with %s: %s", async ([line, message]) => {
  await using world = await aWorld();
  const { code, stderr } = await run(
    world,
    world.configFile("", `    ${line}\n`),
    "rules",
    "test",
    "a.pdf",
  );
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).toMatch(/scanferry\.yaml:\d+: /);
});
