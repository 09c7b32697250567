/** How the archive is reached, as the file and the environment say it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { secretsOf } from "../../../src/config/config.ts";
import { Certificates, hasOpenssl, type Pair } from "../../fixtures/certificates.ts";
import { ConfigFolder, SECRETS } from "./config-folder.ts";

const PROXY = "http://proxy.example.com:3128";
const KNOWN = "http://office:CANARY-77@proxy.example.com:3128";

function config(archive: string, more = ""): string {
  return `archive:\n  url: https://archive.example.com\n${archive}mirrors: [{ source: /srv/scans, target: /Scans }]\n${more}`;
}

test.for([
  [`  proxy: ${PROXY}\n`, {}, PROXY, "the file says it"],
  ["", { HTTPS_PROXY: PROXY }, PROXY, "the environment does"],
  [`  proxy: ${PROXY}\n`, { HTTPS_PROXY: "http://other" }, PROXY, "the file goes first"],
  [`  proxy: ${PROXY}\n`, { NO_PROXY: "*" }, PROXY, "and means the archive"],
  ["", { HTTPS_PROXY: PROXY, NO_PROXY: "example.com" }, undefined, "the host is excepted"],
  ["  proxy: off\n", { HTTPS_PROXY: PROXY }, undefined, "none is wanted"],
  ["", { SCANFERRY_ARCHIVE_PROXY: KNOWN }, KNOWN, "a variable of its own holds the password"],
  ["", { HTTP_PROXY: PROXY }, undefined, "that is for http"],
] as const)("the proxy of %j and %j is %s, because %s", async ([archive, env, expected]) => {
  using folder = new ConfigFolder(config(archive));
  const { network } = (await folder.load({ ...SECRETS, ...env })).archive;
  expect(network?.proxy).toBe(expected);
});

test("a proxy's user and password are secrets: by a file, or in a file of the owner's alone", async () => {
  using folder = new ConfigFolder(config("  proxyFile: proxy.url\n"));
  folder.write("proxy.url", `${KNOWN}\n`);
  const loaded = await folder.load();
  expect(loaded.archive.network?.proxy).toBe(KNOWN);
  expect(secretsOf(loaded)).toContain("CANARY-77");
  using open = new ConfigFolder(config(`  proxy: ${KNOWN}\n`), 0o644);
  expect(await open.problems()).toEqual([
    expect.stringMatching(/^scanferry.yaml:3: archive.proxy: the file holds a secret, and others/),
  ]);
  using plain = new ConfigFolder(config(`  proxy: ${PROXY}\n`), 0o644);
  expect(await plain.problems()).toEqual([]);
});

test.for([
  [`  proxy: socks5://office:CANARY-77@proxy\n`, {}, "archive.proxy: is not an http or https URL"],
  [`  proxy: ${KNOWN}/path\n`, {}, "archive.proxy: names more than a host"],
  [
    "",
    { HTTPS_PROXY: "socks5://office:CANARY-77@proxy" },
    "HTTPS_PROXY or HTTP_PROXY is not an http",
  ],
  [
    "",
    { SCANFERRY_ARCHIVE_PROXY: "proxy CANARY-77" },
    "archive.proxy: is not an http or https URL",
  ],
] as const)(
  "%j with %j is refused in one line, without its value",
  async ([archive, env, said]) => {
    using folder = new ConfigFolder(config(archive));
    const problems = await folder.problems({ ...SECRETS, ...env });
    expect(problems).toEqual([expect.stringContaining(said)]);
    expect(problems.join()).not.toContain("CANARY");
  },
);

test("what notify calls goes the archive's way, unless it is excepted; mail knows the authority", async () => {
  const notify = `notify:
  webhook: [{ name: far, url: "https://hooks.example.org/x" }, { name: near, url: "https://in.example.net/x" }]
  ping: { url: "http://127.0.0.1:1/x" }
`;
  using folder = new ConfigFolder(config(`  proxy: ${PROXY}\n`, notify));
  const loaded = await folder.load({ ...SECRETS, NO_PROXY: ".example.net" });
  const ways = loaded.notify?.channels.map((one) => one.by === "webhook" && one.network);
  expect(ways).toEqual([{ proxy: PROXY }, undefined]);
  expect(loaded.notify?.ping?.network).toBeUndefined();
});

const SOCKS = { HTTP_PROXY: "socks5://proxy" };

test.for([
  ["", 'webhook: [{ url: "http://hooks.example.org/x" }]', 1, "the archive is https"],
  ["", 'ping: { url: "http://ping.example.org/x" }', 1, "the ping is called too"],
  ["", 'webhook: [{ url: "https://hooks.example.org/x" }]', 0, "nothing goes by it"],
  ["", 'webhook: [{ url: "http://127.0.0.1:1/x" }]', 0, "nothing of this machine does"],
  ["  proxy: off\n", 'webhook: [{ url: "http://hooks.example.org/x" }]', 0, "none is wanted"],
] as const)(
  "a proxy of no use and %j, notify: { %s }: refused %d times, because %s",
  async ([archive, channel, times]) => {
    using folder = new ConfigFolder(config(archive, `notify: { ${channel} }\n`));
    const problems = await folder.problems({ ...SECRETS, ...SOCKS });
    expect(problems).toEqual(
      Array(times).fill(expect.stringContaining("HTTPS_PROXY or HTTP_PROXY is not an http")),
    );
  },
);

test("a proxy of the environment is of no concern where the file says which", async () => {
  for (const written of ["off", PROXY]) {
    using folder = new ConfigFolder(config(`  proxy: ${written}\n`));
    expect(await folder.problems({ ...SECRETS, HTTPS_PROXY: "socks5://proxy" })).toEqual([]);
  }
});

describe.skipIf(!hasOpenssl)("certificates", () => {
  const made = new Certificates();
  let office: Pair;
  let other: Pair;
  beforeAll(() => {
    office = made.make("office", "DNS:office");
    other = made.make("other", "DNS:other");
  });
  afterAll(() => made[Symbol.dispose]());

  const pair = "  ca: office.crt\n  clientCert: office.crt\n  clientKey: office.key\n";

  test("are read from files, which are watched like secrets, so that renewed ones are taken up", async () => {
    using folder = new ConfigFolder(config(pair));
    folder.write("office.crt", office.cert, 0o644);
    folder.write("office.key", office.key);
    const { archive, secretFiles } = await folder.load();
    expect(archive.network).toEqual({ ca: office.cert, client: office });
    const watched = secretFiles?.map(({ path }) => path.replace(`${folder.path}/`, ""));
    expect(new Set(watched)).toEqual(new Set(["office.crt", "office.key"]));
  });

  test("or stand in the file itself", async () => {
    const written = (key: string, text: string) =>
      `  ${key}: |\n${text.replaceAll(/^/gm, "    ")}\n`;
    using folder = new ConfigFolder(
      config(written("clientCert", office.cert) + written("clientKey", office.key)),
    );
    expect((await folder.load()).archive.network?.client?.key.trim()).toBe(office.key.trim());
  });

  test.for([
    [
      pair,
      "other",
      "archive.clientKey: is the key of another certificate; name the right file, as PEM",
    ],
    [pair, "nothing", "archive.clientKey: cannot be read"],
    ["  clientCert: office.crt\n", "office", "archive.clientKey: is missing"],
    ["  ca: office.key\n", "office", "archive.ca: holds no certificate (PEM)"],
    ["  ca: nowhere.crt\n", "office", "archive.ca: there is no file"],
  ] as const)("%j, with the key of %s: %s", async ([archive, key, said]) => {
    using folder = new ConfigFolder(config(archive));
    folder.write("office.crt", office.cert, 0o644);
    folder.write("office.key", { other: other.key, office: office.key, nothing: "canary" }[key]);
    const problems = await folder.problems();
    expect(problems).toEqual([expect.stringContaining(said)]);
    expect(problems.join()).not.toMatch(/canary|BEGIN/);
  });

  test("a key that others can read is refused", async () => {
    using folder = new ConfigFolder(config(pair));
    folder.write("office.crt", office.cert, 0o644);
    folder.write("office.key", office.key, 0o644);
    expect((await folder.problems()).join()).toContain("can be read by everyone (mode 644)");
  });
});
