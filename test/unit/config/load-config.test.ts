import { NO_RULES } from "../../../src/rules/rules.ts";
import { symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import type { Mirror } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load-config.ts";
import { ConfigFolder, LEAST, SECRETS } from "./config-folder.ts";

const CONTRACT = `archive:
  url: https://archive.example.com      # {base_url}
  accountKey: abc
  signing:
    scheme: hmac
    algorithm: sha256
    encoding: base64
    secret: def
    # module: ./sign.mjs
  timeout: 60s
mirrors:
  - name: scans
    source: /srv/scans
    target: /Scans
    include: ["**/*"]
    exclude: []
    watch: auto
    settle: 10s
    incomplete: 10m
    missingFolder: hold
    changed: upload
    after: keep
journal: /var/lib/scanferry/journal.db
upload:     { concurrency: 4, retry: { initial: 1s, max: 5m } }
batch:      { quiet: 5s, maxDocuments: 200 }
quota:      { retry: { initial: 5m, max: 6h }, retryAt: "5 6 1 * *" }
conversion: { poll: { initial: 2s, max: 5m }, stuckAfter: 24h }
schedule:   { rescan: "*/10 * * * *" }
web:        { listen: 127.0.0.1:8470 }
log:        { level: info }
`;

const EXPECTED = {
  archive: {
    name: "main",
    url: "https://archive.example.com",
    accountKey: "abc",
    signing: { scheme: "hmac", algorithm: "sha256", encoding: "base64", secret: "def" },
    timeoutMs: 60_000,
    storedSize: "same",
  },
  mirrors: [
    {
      name: "scans",
      source: "/srv/scans",
      archive: "main",
      target: { path: "/Scans" },
      include: ["**/*"],
      exclude: [],
      watch: "auto",
      settleMs: 10_000,
      incompleteMs: 600_000,
      stillIncomplete: "hold",
      missingFolder: { kind: "hold" },
      firstRun: "hold",
      changed: "upload",
      changesPerHour: 5,
      after: { kind: "keep" },
      rules: NO_RULES,
    },
  ],
  journal: "/var/lib/scanferry/journal.db",
  upload: {
    concurrency: 4,
    retry: { initialMs: 1_000, maxMs: 300_000 },
    doubt: { windowMs: 60_000, toleranceMs: 60_000 },
  },
  batch: { quietMs: 5_000, maxDocuments: 200 },
  quota: {
    retry: { initialMs: 300_000, maxMs: 21_600_000 },
    retryAt: "5 6 1 * *",
    pages: { monthBegins: 1, whenUsedUp: "warn" },
  },
  conversion: { poll: { initialMs: 2_000, maxMs: 300_000 }, stuckAfterMs: 86_400_000 },
  schedule: { rescan: "*/10 * * * *" },
  web: { host: "127.0.0.1", port: 8470 },
  log: { level: "info" },
  shutdownMs: 20_000,
  secretFiles: [],
};

test("every key of the contract is read", async () => {
  using folder = new ConfigFolder(CONTRACT);
  expect(await folder.load({})).toEqual({ file: folder.file, ...EXPECTED });
});

test("the least that must be said gives the contract's defaults", async () => {
  using folder = new ConfigFolder(LEAST);
  const env = { SCANFERRY_ACCOUNT_KEY: "abc", SCANFERRY_SIGNING_SECRET: "def" };
  expect(await folder.load(env)).toEqual({ file: folder.file, ...EXPECTED });
});

test("a configuration cannot be changed once it is loaded", async () => {
  using folder = new ConfigFolder(LEAST);
  const config = await folder.load();
  expect(Object.isFrozen(config.mirrors)).toBe(true);
  expect(Object.isFrozen(config.mirrors[0]?.include)).toBe(true);
});

/** What one key gives, the rest being the least. `%` stands for the folder of the file. */
test.for([
  ["web: off", "web", undefined, "no listener"],
  ["web: false", "web", undefined, "what off becomes under YAML 1.1"],
  ["web: {}", "web", { host: "127.0.0.1", port: 8470 }, "the default"],
  ['web: { listen: "[::1]:0" }', "web", { host: "::1", port: 0 }, "brackets are no part of a host"],
  ["web: { listen: localhost:80 }", "web", { host: "localhost", port: 80 }, "a name will do"],
  ["shutdown: 0", "shutdownMs", 0, "a stop that waits for nothing"],
  ["journal: ./j.db", "journal", "%/j.db", "relative to the file"],
  ["upload:", "upload", EXPECTED.upload, "a section without a value is left out"],
  ["batch: { quiet: 1.5s }", "batch", { quietMs: 1_500, maxDocuments: 200 }, "the rest is default"],
  ['schedule: { rescan: "*/30 * * * * *" }', "schedule", { rescan: "*/30 * * * * *" }, "seconds"],
] as const)("%s gives %s %j: %s", async ([line, key, expected]) => {
  using folder = new ConfigFolder(`${LEAST}${line}\n`);
  const json = JSON.stringify(expected)?.replace("%", folder.path);
  const wanted: unknown = json === undefined ? undefined : JSON.parse(json);
  expect((await folder.load())[key]).toEqual(wanted);
});

/** What one key of a mirror gives; `%` stands for the folder of the file. */
test.for([
  ["source: ./in/scans/, target: /A", { name: "scans", source: "%/in/scans" }, "relative, tidied"],
  ["source: /s, target: /A/B/", { target: { path: "/A/B" } }, "the slash at the end says nothing"],
  ["source: /s, target: /", { target: { path: "/" } }, "the root"],
  ["source: /s, targetId: 17", { target: { id: 17 } }, "by id"],
  [
    "source: /s, target: /A, missingFolder: fallback:/In",
    { missingFolder: { kind: "fallback", path: "/In" } },
    "as in the contract",
  ],
  [
    "source: /s, target: /A, missingFolder: nearest",
    { missingFolder: { kind: "nearest" } },
    "as in the contract",
  ],
  ["source: /s, target: /A, after: move:/d", { after: { kind: "move", to: "/d" } }, "absolute"],
  ["source: /s, target: /A, after: move:d", { after: { kind: "move", to: "%/d" } }, "relative"],
  [
    'source: /s, target: /A, exclude: ["x"], after: "move:/s/d (1)"',
    { after: { kind: "move", to: "/s/d (1)" }, exclude: ["x", "d \\(1\\)/**"] },
    "what was moved within the source must not be sent again",
  ],
] as const)("a mirror { %s } gives %j: %s", async ([mirror, expected]) => {
  using folder = new ConfigFolder(
    `archive: { url: "http://localhost:1/x/" }\nmirrors: [{ ${mirror} }]\n`,
  );
  const wanted: unknown = JSON.parse(JSON.stringify(expected).replace("%", folder.path));
  const config = await folder.load();
  // Whole values: a setting too many is as wrong as one that lacks.
  for (const [key, value] of Object.entries(wanted as object))
    expect(config.mirrors[0]?.[key as keyof Mirror], key).toEqual(value);
  expect(config.archive.url).toBe("http://localhost:1/x");
});

test("anchors and merge keys spare repetition", async () => {
  using folder = new ConfigFolder(`archive: { url: "http://localhost" }
mirrors:
  - &usual { source: /a, target: /A, settle: 9s }
  - { <<: *usual, source: /b }
`);
  const { mirrors } = await folder.load();
  expect(mirrors.map(({ name, settleMs }) => [name, settleMs])).toEqual([
    ["a", 9_000],
    ["b", 9_000],
  ]);
});

test.for([
  ["none", { scheme: "none" }, "sig=none"],
  ["module, module: ./sign.mjs", { scheme: "module", module: "%/sign.mjs" }, "a module of ours"],
  ["module, module: /s.mjs", { scheme: "module", module: "/s.mjs" }, "absolute stays"],
] as const)("signing by scheme %s needs no secret: %s", async ([scheme, expected]) => {
  using folder = new ConfigFolder(LEAST.replace(" }\n", `, signing: { scheme: ${scheme} } }\n`));
  const config = await folder.load({ SCANFERRY_ACCOUNT_KEY: "key" });
  const wanted: unknown = JSON.parse(JSON.stringify(expected).replace("%", folder.path));
  expect(config.archive.signing).toEqual(wanted);
});

test("the configuration is looked for in the contract's order", async () => {
  using folder = new ConfigFolder(LEAST);
  const named = folder.write("named.yaml", LEAST);
  const byVariable = folder.write("variable.yaml", LEAST);
  const cwd = folder.path;
  const env = { ...SECRETS, SCANFERRY_CONFIG: "variable.yaml" };
  expect((await loadConfig({ file: "named.yaml", env, cwd })).file).toBe(named);
  expect((await loadConfig({ env, cwd })).file).toBe(byVariable);
  expect((await loadConfig({ env: { ...env, SCANFERRY_CONFIG: "" }, cwd })).file).toBe(folder.file);
});

test("where there is none, every place is named, and the way to a starter", async () => {
  using folder = new ConfigFolder();
  await expect(loadConfig({ env: {}, cwd: folder.path })).rejects.toThrow(
    `no configuration: there is no ${join(folder.path, "scanferry.yaml")} and no ` +
      "/etc/scanferry/scanferry.yaml, and neither --config nor $SCANFERRY_CONFIG names one; " +
      "write a starter with: scanferry init",
  );
});

test("a file that was asked for is not passed over for another", async () => {
  using folder = new ConfigFolder(LEAST);
  const cwd = folder.path;
  await expect(loadConfig({ file: "gone.yaml", env: SECRETS, cwd })).rejects.toThrow(
    `${join(cwd, "gone.yaml")}: no such file (named by --config)`,
  );
  const env = { ...SECRETS, SCANFERRY_CONFIG: "gone.yaml" };
  await expect(loadConfig({ env, cwd })).rejects.toThrow("(named by $SCANFERRY_CONFIG)");
  await expect(loadConfig({ file: ".", env: SECRETS, cwd })).rejects.toThrow("is a directory");
  await expect(loadConfig({ file: "", env: SECRETS, cwd })).rejects.toThrow(
    /^--config names no file; name one that exists$/,
  );
});

test("a file that cannot be opened says so", async () => {
  using folder = new ConfigFolder();
  // Not even by root, whom no permission bits stop.
  symlinkSync(folder.file, folder.file);
  expect(await folder.problems()).toEqual([
    "scanferry.yaml: cannot be opened (ELOOP); make it readable",
  ]);
});

test.for([
  ["", undefined, "receipts are for those who ask for them"],
  ["receipts: ./kept", { dir: "kept", formats: ["json", "html"] }, "the folder alone"],
  [
    "receipts: { dir: /srv/kept, formats: [html] }",
    { dir: "/srv/kept", formats: ["html"] },
    "keys",
  ],
] as const)("%s gives the receipts %o: %s", async ([line, expected]) => {
  using folder = new ConfigFolder(`${LEAST}\n${line}\n`);
  const env = { SCANFERRY_ACCOUNT_KEY: "abc", SCANFERRY_SIGNING_SECRET: "def" };
  const { receipts } = await folder.load(env);
  const dir = expected && resolve(dirname(folder.file), expected.dir);
  expect(receipts).toEqual(expected && { ...expected, dir });
});
