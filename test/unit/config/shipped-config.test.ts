import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { configReference } from "../../../scripts/config-reference.ts";
import { unwrap } from "../../../src/config/kind.ts";
import { loadConfig } from "../../../src/config/load-config.ts";
import { fileSchema } from "../../../src/config/config.ts";
import { sealed, starterConfig } from "../../../src/config/starter.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import { ConfigFolder, SECRETS } from "./config-folder.ts";
import { trialOf } from "../../../src/report/trial.ts";

const shipped = new URL("../../../config/", import.meta.url);
/** What Prometheus and Kubernetes read. */
const OF_OTHERS = ["prometheus-alerts.yaml", "kubernetes.yaml"];
const names = readdirSync(shipped).filter(
  (name) => name.endsWith(".yaml") && !OF_OTHERS.includes(name),
);

/** Of the archives of config/two-archives.yaml. */
const SECRETS_BY_NAME = {
  SCANFERRY_ACCOUNT_KEY_MAIN: "key",
  SCANFERRY_SIGNING_SECRET_MAIN: "secret",
  SCANFERRY_ACCOUNT_KEY_LEGAL: "key",
  SCANFERRY_SIGNING_SECRET_LEGAL: "secret",
};

test("the examples are there", () => {
  expect(names).toEqual(
    expect.arrayContaining([
      "accounting-share.yaml",
      "embedded-archive.yaml",
      "network-share.yaml",
      "office-scanner.yaml",
      "scanferry.yaml",
      "several-daemons.yaml",
      "signed-contracts.yaml",
      "split-at-separators.yaml",
      "two-archives.yaml",
    ]),
  );
});

test.for(names)("config/%s loads", async (name) => {
  const file = new URL(name, shipped).pathname;
  const config = await loadConfig({ file, env: { ...SECRETS, ...SECRETS_BY_NAME }, cwd: "/" });
  expect(config.mirrors.length).toBeGreaterThan(0);
});

const NOON = Date.parse("2026-11-20T12:00:00Z");

test.for([
  [
    "accounting-share",
    "Invoices/2026/2026-03-14 R-4471 Nordwind.pdf",
    ["invoices", "/Accounting/2026/Invoices", "Invoice R-4471 of Nordwind", "2037-01-01"],
  ],
  [
    "accounting-share",
    "Statements/City_Bank/2025/march_2025.pdf",
    ["statements", "/Accounting/2025/Statements/City Bank", "March 2025", "2036-01-01"],
  ],
  ["accounting-share", "Notes/plan.txt", [null, "/Accounting/Other/Notes"]],
  [
    "office-scanner",
    "Scan_20261120_0007.pdf",
    [null, "/Scans/Reception", "Scan 0007 of 2026-11-20"],
  ],
  ["signed-contracts", "Nordwind/Framework agreement.asice", ["framework", "/Contracts/Nordwind"]],
] as const)("config/%s.yaml decides on %s what it is written for", async ([name, path, wanted]) => {
  const file = new URL(`${name}.yaml`, shipped).pathname;
  const { mirrors } = await loadConfig({ file, env: SECRETS, cwd: "/" });
  const [mirror] = mirrors;
  if (!mirror) throw new Error("no mirror");
  const facts = { mirror: mirror.name, path: rawOfText(path), modifiedAt: NOON, at: NOON };
  const trial = trialOf({ mirror, facts: { ...facts, sidecar: null } });
  const [rule, folder, title, expires] = wanted;
  expect(trial).toMatchObject({ error: null, rule, folder });
  expect(trial.metadata["title"]?.value).toBe(title);
  expect(trial.expires?.at).toBe(expires);
});

test("config/scanferry.yaml is the starter; node scripts/config-reference.ts writes it", () => {
  expect(readFileSync(new URL("scanferry.yaml", shipped), "utf8")).toBe(sealed(starterConfig()));
});

test("what the starter shows as defaults are the defaults", async () => {
  using asWritten = new ConfigFolder(starterConfig());
  using switchedOn = new ConfigFolder(starterConfig().replaceAll(/^( *)#(?=\w)/gm, "$1"));
  const { file: _, ...written } = await asWritten.load();
  const { file: __, ...on } = await switchedOn.load();
  expect(on).toEqual(written);
});

test("the starter shows every key", () => {
  const keys = keysOf(fileSchema);
  expect(keys.length).toBeGreaterThan(30);
  for (const key of keys) expect(starterConfig()).toMatch(new RegExp(`[\\s#{]${key}:`));
});

test.for([
  ["/srv/scans", "plain"],
  ['/srv/My Scans: #1 "x"', "what YAML would read as something else"],
  ["./scans", "relative"],
  ["C\\back", "a backslash"],
] as const)("a starter for %s loads: %s", async ([source]) => {
  const target = "/A: #b";
  const url = "http://127.0.0.1:8480/x";
  using folder = new ConfigFolder(starterConfig({ source, target, url, journal: "j: #.db" }));
  const config = await folder.load();
  expect(config.mirrors[0]?.source.endsWith(source.replace(/^\./, ""))).toBe(true);
  expect(config.mirrors[0]?.target).toEqual({ path: target });
  expect(config.archive.url).toBe(url);
  expect(config.journal).toBe(`${folder.path}/j: #.db`);
});

test("docs/config.md is what the schema says; node scripts/config-reference.ts writes it", () => {
  const written = readFileSync(new URL("../../../docs/config.md", import.meta.url), "utf8");
  expect(written).toBe(configReference());
});

test.for(["configure", "hooks", "notify", "postgres", "rules"])(
  "what docs/%s.md shows of a configuration can be used",
  async (page) => {
    const text = readFileSync(new URL(`../../../docs/${page}.md`, import.meta.url), "utf8");
    const shown = [...text.matchAll(/^```yaml\n([^]+?)^```/gm)].map(([, yaml = ""]) => yaml);
    expect(shown.length).toBeGreaterThan(0);
    for (const yaml of shown.map((each) => each.replaceAll("…", "KEY"))) {
      // A sidecar.
      if (yaml.startsWith("title:")) continue;
      const archive = `archive: { url: "https://archive.example.com" }\n`;
      const mirror = "mirrors:\n  - source: /srv/scans\n    target: /Scans\n";
      const more = /^(?:rules|expire):/.test(yaml) ? yaml.replaceAll(/^(?=.)/gm, "    ") : yaml;
      const own = yaml.startsWith("mirrors:") ? "" : mirror;
      using folder = new ConfigFolder(`${archive}${own}${more}`);
      const problems = await folder.problems();
      expect(problems.filter((line) => !line.includes("there is no file"))).toEqual([]);
    }
  },
);

function keysOf(schema: z.core.$ZodType): string[] {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodArray) return keysOf(inner.element);
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.entries(inner.shape).flatMap(([name, child]) => [name, ...keysOf(child)]);
}
