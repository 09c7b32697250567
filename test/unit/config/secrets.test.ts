import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { secretsOf as secretsIn } from "../../../src/config/config.ts";
import { SECRET_SCHEMES } from "../../../src/domain/signing.ts";
import { ConfigFolder } from "./config-folder.ts";

const KEY = "CANARY-account-key";
const SECRET = "CANARY-signing-secret";
const MIRRORS = "mirrors: [{ source: /srv/scans, target: /Scans }]\n";

function config(archive: string, signing: string): string {
  return `archive:\n  url: https://archive.example.com\n${archive}  signing:\n    scheme: hmac\n${signing}${MIRRORS}`;
}

const BY_VALUE = config(`  accountKey: ${KEY}\n`, `    secret: ${SECRET}\n`);
const BY_FILE = config("  accountKeyFile: account.key\n", "    secretFile: sub/signing.secret\n");
const BY_ENV = config("", "");
const OTHER = { SCANFERRY_ACCOUNT_KEY: "other", SCANFERRY_SIGNING_SECRET: "other" };

async function secretsOf(folder: ConfigFolder, env: NodeJS.ProcessEnv) {
  const { accountKey, signing } = (await folder.load(env)).archive;
  return [accountKey, "secret" in signing ? signing.secret : undefined];
}

test.for(SECRET_SCHEMES)("by %s: a variable beats the value in the file", async (scheme) => {
  using folder = new ConfigFolder(BY_VALUE.replace("scheme: hmac", `scheme: ${scheme}`));
  expect(await secretsOf(folder, OTHER)).toEqual(["other", "other"]);
  const config = await folder.load({});
  expect(config.archive.signing).toMatchObject({ scheme });
  expect(secretsIn(config)).toEqual([KEY, SECRET]);
});

test.for(SECRET_SCHEMES)("by %s: a secret that is nowhere is missed", async (scheme) => {
  const text = config(`  accountKey: ${KEY}\n`, "").replace("scheme: hmac", `scheme: ${scheme}`);
  using folder = new ConfigFolder(text);
  expect(await folder.problems({})).toEqual([
    expect.stringContaining("archive.signing.secret: is missing"),
  ]);
});

test("a variable beats the file that is named, too", async () => {
  using folder = new ConfigFolder(BY_FILE, 0o644);
  folder.write("account.key", KEY);
  folder.write("sub/signing.secret", SECRET);
  expect(await secretsOf(folder, OTHER)).toEqual(["other", "other"]);
  expect(await secretsOf(folder, {})).toEqual([KEY, SECRET]);
});

test("the environment serves where the file says nothing", async () => {
  using folder = new ConfigFolder(BY_ENV, 0o644);
  const env = { SCANFERRY_ACCOUNT_KEY: KEY, SCANFERRY_SIGNING_SECRET: SECRET };
  expect(await secretsOf(folder, env)).toEqual([KEY, SECRET]);
});

test.for([
  [`${KEY}\n`, KEY, "editors put a line break at the end"],
  [`${KEY}\r\n`, KEY, "so do those of Windows"],
  [`\ufeff${KEY}`, KEY, "and some a byte order mark first"],
  [` ${KEY} `, ` ${KEY} `, "blanks may belong to it"],
] as const)("a secret file of %j gives %j: %s", async ([content, expected]) => {
  using folder = new ConfigFolder(BY_FILE);
  folder.write("account.key", content);
  folder.write("sub/signing.secret", SECRET);
  expect((await folder.load({})).archive.accountKey).toBe(expected);
});

test.for([
  ["", "is empty; give the secret", "E.g. a deployment that went half way"],
  ["\r\n", "is empty; give the secret", "a line break is no secret"],
  [
    `${KEY}\n${KEY}\n`,
    "has a line break or another control character; give the secret alone, on one line",
    "another file was meant",
  ],
  [Buffer.from([0xff, 0xfe]), "is not UTF-8 text; write the secret as text", "no text"],
  [
    "x".repeat(70_000),
    "is too large for a secret; name the file with the secret alone",
    "another file was meant",
  ],
] as const)("a secret file of %j %s (%s)", async ([content, expected]) => {
  using folder = new ConfigFolder(BY_FILE);
  folder.write("account.key", content);
  folder.write("sub/signing.secret", SECRET);
  expect(await folder.problems({})).toEqual([
    `scanferry.yaml:3: archive.accountKeyFile: "account.key" ${expected}`,
  ]);
});

test("a secret file that is not there names the places, and does not fall back silently", async () => {
  using folder = new ConfigFolder(BY_FILE);
  folder.write("sub/signing.secret", SECRET);
  const credentials = { CREDENTIALS_DIRECTORY: join(folder.path, "credentials") };
  expect(await folder.problems(credentials)).toEqual([
    'scanferry.yaml:3: archive.accountKeyFile: there is no file "account.key" or ' +
      '"credentials/account.key"; write the secret into it, with mode 600',
  ]);
});

test("a variable next to the one that names its file is refused: either may be the old one", async () => {
  using folder = new ConfigFolder(BY_FILE);
  folder.write("sub/signing.secret", SECRET);
  const env = { SCANFERRY_ACCOUNT_KEY: KEY, SCANFERRY_ACCOUNT_KEY_FILE: "account.key" };
  expect(await folder.problems(env)).toEqual([
    "$SCANFERRY_ACCOUNT_KEY_FILE: is set next to SCANFERRY_ACCOUNT_KEY; remove one of them",
  ]);
});

test("systemd's credentials serve where the file is not next to the configuration", async () => {
  using folder = new ConfigFolder(BY_FILE);
  folder.write("sub/signing.secret", SECRET);
  folder.write("credentials/account.key", KEY, 0o440);
  const env = { CREDENTIALS_DIRECTORY: join(folder.path, "credentials") };
  expect(await secretsOf(folder, env)).toEqual([KEY, SECRET]);
});

test("a named pipe is refused rather than waited for", async () => {
  using folder = new ConfigFolder(BY_FILE);
  folder.write("sub/signing.secret", SECRET);
  execFileSync("mkfifo", [join(folder.path, "account.key")]);
  expect(await folder.problems({})).toEqual([
    'scanferry.yaml:3: archive.accountKeyFile: "account.key" is not a file; name the file with the secret',
  ]);
});

test("a value next to a file is refused", async () => {
  using folder = new ConfigFolder(
    config(
      `  accountKey: ${KEY}\n  accountKeyFile: x\n`,
      `    secret: ${SECRET}\n    secretFile: y\n`,
    ),
  );
  expect(await folder.problems({})).toEqual([
    "scanferry.yaml:4: archive.accountKeyFile: is given next to accountKey; keep one of accountKey and accountKeyFile",
    "scanferry.yaml:8: archive.signing.secretFile: is given next to secret; keep one of secret and secretFile",
  ]);
});

test("what is missing names its three places", async () => {
  using folder = new ConfigFolder(BY_ENV);
  expect(await folder.problems({ SCANFERRY_ACCOUNT_KEY: "" })).toEqual([
    "scanferry.yaml:1: archive.accountKey: is missing; write accountKey or accountKeyFile, or set $SCANFERRY_ACCOUNT_KEY",
    "scanferry.yaml:3: archive.signing.secret: is missing; write secret or secretFile, or set $SCANFERRY_SIGNING_SECRET",
  ]);
});

test.for([
  [0o600, true, "its owner alone"],
  [0o400, true, "read only is as good"],
  [0o711, true, "running is not reading"],
  [0o640, false, "the group can read it"],
  [0o604, false, "everyone can read it"],
  [0o644, false, "what an editor leaves"],
] as const)("a configuration with a secret and mode %o: fit %s, %s", async ([mode, fit]) => {
  using folder = new ConfigFolder(BY_VALUE, mode);
  const octal = mode.toString(8);
  const line = (place: string) =>
    `${folder.file}:${place}: the file holds a secret, and others can read it (mode ${octal}); chmod 600 ${folder.file}`;
  const lines = (await folder.error({}))?.lines() ?? [];
  expect(lines).toEqual(
    fit ? [] : [line("3: archive.accountKey"), line("6: archive.signing.secret")],
  );
});

test.for([
  [0o600, true, "its owner alone"],
  [0o440, true, "as systemd and containers hand it over"],
  [0o644, false, "everyone can read it"],
] as const)("a secret file of mode %o: fit %s, %s", async ([mode, fit]) => {
  using folder = new ConfigFolder(BY_FILE, 0o644);
  const file = folder.write("account.key", KEY, mode);
  folder.write("sub/signing.secret", SECRET);
  const lines = (await folder.error({}))?.lines() ?? [];
  const line = `${folder.file}:3: archive.accountKeyFile: ${JSON.stringify(file)} can be read by everyone (mode 644); chmod 600 ${file}`;
  expect(lines).toEqual(fit ? [] : [line]);
});

/** Every way to get a secret wrong: told, and not told. */
test.for([
  ["archive: CANARY", "where the section should be"],
  ["archive: [CANARY]", "in a list"],
  ["archive: { accountKey: { CANARY: x } }", "as a mapping"],
  ["archive: { accountKey: [CANARY] }", "as a list"],
  ["archive: {accountKey:CANARY}", "no blank after the colon"],
  ["archive:\n  url: http://a\n  accountKey:CANARY\n  timeout: 3s", "no blank after the colon"],
  ["archive: { signing: CANARY }", "one level too high"],
  ["archives: CANARY", "in the place of all archives"],
  ["archives: [CANARY]", "as a list of archives"],
  ["archives: { legal: CANARY }", "in the place of an archive"],
  ["archives: {accountKey:CANARY}", "in the place of a name"],
  ["archives: { legal: {accountKey:CANARY} }", "no blank after the colon of one"],
  ["archives: { legal: { accountKey: [CANARY] } }", "as a list in one of several"],
  ["archive: { signing: { scheme: hmac, secret: *CANARY } }", "a star begins an alias"],
  ["archive: { signing: { secret: !CANARY x } }", "an exclamation mark begins a tag"],
  ['archive: { signing: { secret: "\\qCANARY" } }', "an unknown escape"],
  ["archive: { signing: { secret: @CANARY } }", "a reserved character"],
  ["archive: { signing: { secret: 'CANARY }", "an open quote"],
  ["archive:\n  accountKey: CANARY: x", "a second colon"],
  ["archive:\n  accountKey: |CANARY\n", "a block that is none"],
  ["archive: { accountkey: CANARY }", "an unknown key"],
  ["archive: { url: 'http://CANARY@host' }", "as a user's name"],
  ['archive: { accountKey: "CANARY\\n" }', "with a line break"],
  ["archive: { accountKey: CANARY, accountKeyFile: x }", "given twice"],
  ["archive: { accountKey: CANARY, accountKey: CANARY }", "given twice"],
  ["? { a: CANARY }\n: 1", "as a key"],
] as const)("%s tells no secret (%s)", async ([text]) => {
  using folder = new ConfigFolder(`${text}\n`, 0o644);
  const error = await folder.error({});
  const told = [error?.message, error?.hint, error?.stack, ...(error?.lines() ?? [])].join("\n");
  expect(error?.problems.length).toBeGreaterThan(0);
  expect(told).not.toContain("CANARY");
  expect(JSON.stringify(error?.problems)).not.toContain("CANARY");
});

test("a secret from the environment that cannot be one is not told", async () => {
  using folder = new ConfigFolder(BY_ENV);
  const env = { SCANFERRY_ACCOUNT_KEY: "CANARY\nx", SCANFERRY_SIGNING_SECRET: "CANARY\u0000" };
  const lines = await folder.problems(env);
  expect(lines).toEqual([
    "$SCANFERRY_ACCOUNT_KEY: archive.accountKey: the secret has a line break or another control character; give the secret alone, on one line",
    "$SCANFERRY_SIGNING_SECRET: archive.signing.secret: the secret has a line break or another control character; give the secret alone, on one line",
  ]);
});

test("a number for a secret keeps its zeros", async () => {
  using folder = new ConfigFolder(config("  accountKey: 00123\n", `    secret: ${SECRET}\n`));
  expect((await folder.load({})).archive.accountKey).toBe("00123");
});

test("a plain number for a secret must be quoted", async () => {
  using folder = new ConfigFolder(config("  accountKey: 123\n", `    secret: ${SECRET}\n`));
  expect(await folder.problems({})).toEqual([
    "scanferry.yaml:3: archive.accountKey: must be text, is a number; put it in quotes",
  ]);
});

const WEB_TOKEN = "CANARY-web-token";

test.for([
  [`web: { token: ${WEB_TOKEN} }\n`, {}, WEB_TOKEN, "by value"],
  ["web: { tokenFile: web.token }\n", {}, WEB_TOKEN, "by file"],
  ["", { SCANFERRY_WEB_TOKEN: WEB_TOKEN }, WEB_TOKEN, "by the environment"],
  ["", {}, undefined, "a page on loopback needs none"],
  ["web: off\n", { SCANFERRY_WEB_TOKEN: WEB_TOKEN }, undefined, "no page, no token"],
] as const)("%j and %o give the page's token %j: %s", async ([web, env, expected]) => {
  using folder = new ConfigFolder(BY_VALUE + web);
  folder.write("web.token", `${WEB_TOKEN}\n`);
  expect((await folder.load(env)).web?.token).toBe(expected);
});

test.for([
  ["web: { token: fifteen-letters }\n", {}, "web.token", "by value"],
  ["web: { tokenFile: web.token }\n", {}, "web.tokenFile", "by file"],
  ["", { SCANFERRY_WEB_TOKEN: "fifteen-letters" }, "web.token", "by the environment"],
] as const)(
  "%j with %o: a token that can be guessed is refused at %s (%s)",
  async ([web, env, key]) => {
    using folder = new ConfigFolder(BY_VALUE + web);
    folder.write("web.token", "fifteen-letters\n");
    const [problem, ...more] = await folder.problems(env);
    expect(problem).toMatch(new RegExp(`${key}: has fewer than 16 characters`));
    expect([problem, ...more].join()).not.toContain("fifteen-letters");
    expect(more).toEqual([]);
  },
);

test("a page behind a proxy needs a token: behind it everybody calls from this host", async () => {
  using folder = new ConfigFolder(`${BY_VALUE}web: { names: [Scans.Example.com] }\n`);
  expect(await folder.problems({})).toEqual([
    expect.stringMatching(/web\.token: is missing; write token or tokenFile/),
  ]);
  const { web } = await folder.load({ SCANFERRY_WEB_TOKEN: WEB_TOKEN });
  expect(web).toMatchObject({ token: WEB_TOKEN, names: ["scans.example.com"] });
});

test.for([
  ["0.0.0.0:8470", [], "the first start makes a token"],
  ["nas.local:8470", [/web\.token: is missing/], "that name may be one of this host alone"],
] as const)("a page of %s that has names: %j, as %s", async ([listen, problems]) => {
  using folder = new ConfigFolder(`${BY_VALUE}web: { listen: "${listen}", names: [nas.local] }\n`);
  const found = await folder.problems({});
  expect(found).toEqual(problems.map((problem) => expect.stringMatching(problem)));
});

test.for(["https://scans.example.com", "scans.example.com:443", "scans/", "-"])(
  "web.names: %s is no host name",
  async (name) => {
    using folder = new ConfigFolder(`${BY_VALUE}web: { names: ["${name}"] }\n`);
    const [problem] = await folder.problems({ SCANFERRY_WEB_TOKEN: WEB_TOKEN });
    expect(problem).toMatch(/web\.names\[0\]: ".*" is no host name; write the name alone/);
  },
);

test("a token file that everyone can read is refused, and the token is not told", async () => {
  using folder = new ConfigFolder(`${BY_VALUE}web: { tokenFile: web.token }\n`);
  folder.write("web.token", WEB_TOKEN, 0o644);
  const problems = await folder.problems({});
  expect(problems.join("\n")).toMatch(/web\.tokenFile.*chmod 600/);
  expect(problems.join("\n")).not.toContain(WEB_TOKEN);
});

test("a bare name is found in `secrets` next to the configuration, and watched there, unless everyone can read it", async () => {
  using folder = new ConfigFolder(BY_FILE);
  const kept = folder.write("secrets/account.key", KEY);
  const other = folder.write("sub/signing.secret", SECRET);
  expect(await secretsOf(folder, {})).toEqual([KEY, SECRET]);
  const { secretFiles } = await folder.load({});
  expect(secretFiles?.map(({ path }) => path)).toEqual([kept, other]);
  folder.write("secrets/account.key", KEY, 0o644);
  expect(await folder.problems({})).toEqual([
    expect.stringMatching(
      /archive\.accountKeyFile: .* can be read by everyone \(mode 644\); chmod 600/,
    ),
  ]);
});
