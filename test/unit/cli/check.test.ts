import { describe, expect, onTestFinished, test } from "vitest";
import type { Means } from "../../../src/check/check-result.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { ACCOUNT_KEY, aWorld, SECRET } from "../../fixtures/world.ts";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config, Mirror } from "../../../src/config/config.ts";
import type { PostgresPlace } from "../../../src/network/journal-place.ts";
import { addressFilter, isLinkLocal } from "../../../src/network/address-filter.ts";
import { parseMountinfo } from "../../../src/source/mounts.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import { aMirror } from "../../fixtures/a-config.ts";
import { sourceSettings } from "../../../src/sync/reader-mirror.ts";
import { whyLeftOut } from "../../../src/source/eligible.ts";
import { examineAddressFilter, installedUnit } from "../../../src/check/address-filter.ts";
import { encryptionFindings, examineArchives } from "../../../src/check/archive.ts";
import { shareFindings, tokenFindings } from "../../../src/check/places.ts";
import { examinePrograms } from "../../../src/check/examination.ts";
import { examineHardLinks } from "../../../src/check/sources.ts";
import { dropIn } from "../../../src/check/drop-in.ts";

const refusal = (code: string) => JSON.stringify({ response: "ERROR", responseDescription: code });

describe("check archive", () => {
  test.for([
    ["https://archive.example.com", false, "it is encrypted"],
    ["http://archive.example.com", true, "the account key would be read by anybody on the way"],
    ["http://192.0.2.1:8471/base", true, "the same"],
    ["http://127.0.0.1:8471", false, "nothing leaves this machine"],
    ["http://[::1]:8471", false, "the same"],
    ["http://localhost:8471", false, "the same"],
  ] as const)("an archive at %s: warned of: %s, as %s", ([url, isWarned]) => {
    const warning = {
      level: "warn",
      what: `the connection to the archive ${url} is not encrypted`,
      fix: expect.stringContaining("https://"),
    };
    expect([...encryptionFindings(url)]).toEqual(isWarned ? [warning] : []);
  });

  test.for([
    [
      404,
      "<html>",
      "",
      /a web server answers there with HTTP 404, but it is not the archive/,
      /host, port and path/,
      "any web server",
    ],
    [
      200,
      "<html>",
      "",
      /a web server answers there with HTTP 200, but/,
      /host, port and path/,
      "a login page",
    ],
    [
      503,
      "<html>",
      "",
      /HTTP_503/,
      /wait until the archive/i,
      "its proxy, while the archive is down",
    ],
    [
      200,
      refusal("INVALID_ACC_KEY"),
      "",
      /the account key is wrong/,
      /`archive.accountKey`/,
      "it says so",
    ],
    [200, refusal("INVALID_SIG"), "", /the signature is wrong/, /secret, `scheme`/, "it says so"],
    [
      401,
      refusal("UNAUTHORIZED"),
      "",
      /account key and signature/,
      /accountKey` and `archive.signing/,
      "it may be either",
    ],
    [
      404,
      refusal("NOT_FOUND"),
      "",
      /NOT_FOUND/,
      /host, port and path/,
      "a path that it does not have",
    ],
    [
      200,
      "",
      "https",
      /write http:\/\/ instead of https:\/\//,
      /archive.url/,
      "https to a port of http",
    ],
  ] as const)(
    "HTTP %d %s: %s%s, %s, because it is %s",
    async ([status, body, scheme, what, fix]) => {
      await using world = await aWorld();
      const server = createServer((_, reply) => void reply.writeHead(status).end(body));
      await once(server.listen(0, "127.0.0.1"), "listening");
      onTestFinished(() => void server.close());
      const { port } = server.address() as AddressInfo;
      const { archive } = world.config();
      const account = { ...archive, url: `${scheme || "http"}://127.0.0.1:${port}` };
      const shell = { clock: systemClock, stopping: () => new AbortController().signal };
      const found = examineArchives(world.config({ archive: account }), shell as unknown as Means);
      const failed = (await Array.fromAsync(found)).filter(({ level }) => level === "FAIL");
      expect(failed).toEqual([
        expect.objectContaining({
          what: expect.stringMatching(what),
          fix: expect.stringMatching(fix),
        }),
      ]);
    },
  );

  test("a clock that no signature by hmac2 is made with is what `check` says", async () => {
    await using world = await aWorld({ scheme: "hmac2" });
    const { archive } = world.config();
    const signing = { scheme: "hmac2", algorithm: "sha256", encoding: "base64" } as const;
    const account = {
      ...archive,
      accountKey: ACCOUNT_KEY,
      signing: { ...signing, secret: SECRET },
    };
    const clock = { ...systemClock, now: () => Date.now() - 10 * 60_000 };
    const shell = { clock, stopping: () => new AbortController().signal };
    // Nothing else of it is asked for where the account is refused.
    const found = examineArchives(world.config({ archive: account }), shell as unknown as Means);
    expect(await Array.fromAsync(found)).toEqual([
      { level: "ok", what: expect.stringContaining("can reach the archive"), fix: null },
      {
        level: "FAIL",
        what: expect.stringContaining("this host's clock is 10 min behind the archive's"),
        fix: expect.stringContaining("NTP"),
      },
    ]);
  });
});

describe("check web", () => {
  test.for([
    ["127.0.0.1", undefined, false, "anyone who is on this host may look"],
    ["localhost", undefined, false, "the same"],
    ["0.0.0.0", undefined, true, "nobody would see anything, and wonder why"],
    ["::", undefined, true, "the same"],
    ["192.0.2.1", undefined, true, "an address of the network"],
    ["0.0.0.0", "a token", false, "as it should be"],
    ["nobody.invalid", undefined, false, "that it cannot be listened on is told"],
  ] as const)(
    "a page at %s with the token %s, and a journal in a database: warned of: %s, as %s",
    async ([host, token, isWarned]) => {
      const web = { host, port: 8470, ...(token === undefined ? {} : { token }) };
      const journal = { server: "postgres://db/scans" } as PostgresPlace;
      const found = await Array.fromAsync(tokenFindings({ web, journal }));
      const warning = {
        level: "warn",
        what: expect.stringContaining("has no token"),
        fix: expect.stringContaining("web.tokenFile"),
      };
      expect(found).toEqual(isWarned ? [warning] : []);
    },
  );
});

/** The unit as it is shipped, and drop-ins as they are written, in a host's directories. */
describe("check address filter", () => {
  const FILE = "/etc/scanferry/scanferry.yaml";
  const UNIT = "usr/lib/systemd/system/scanferry.service";
  const OWN = "etc/systemd/system/scanferry.service.d/configured.conf";

  const shipped = (name: string) =>
    readFileSync(fileURLToPath(new URL(`../../../systemd/${name}`, import.meta.url)), "utf8");

  /** A host's root with these files in it. */
  function aRoot(files: Readonly<Record<string, string>>): string {
    const root = mkdtempSync(join(tmpdir(), "scanferry-host-"));
    onTestFinished(() => rmSync(root, { recursive: true }));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return root;
  }

  const SERVICE = { [UNIT]: shipped("scanferry.service") };

  type Spoken = {
    archive?: string;
    proxy?: string;
    hook?: string;
    mail?: string;
    journal?: string;
  };

  function aConfig({ archive = "http://192.0.2.1", proxy, hook, mail, journal }: Spoken): Config {
    const network = proxy === undefined ? {} : { network: { proxy } };
    const channels = [
      ...(hook === undefined ? [] : [{ by: "webhook", url: hook }]),
      ...(mail === undefined ? [] : [{ by: "mail", host: mail }]),
      { by: "command", run: ["/bin/tell"] },
    ];
    const place = journal === undefined ? "/var/lib/scanferry/journal.db" : { server: journal };
    const account = { name: "main", url: archive, ...network };
    return {
      file: FILE,
      journal: place,
      archive: account,
      mirrors: [],
      notify: { channels },
    } as unknown as Config;
  }

  const found = async (spoken: Spoken, files: Readonly<Record<string, string>>) => {
    const findings = await Array.fromAsync(examineAddressFilter(aConfig(spoken), aRoot(files)));
    return findings.map(({ level, what }) => `${level} ${what}`);
  };

  const servers = (...addresses: string[]) => ({
    "etc/resolv.conf": addresses.map((address) => `nameserver ${address}\n`).join(""),
  });

  const FINE = ["ok scanferry.service allows the addresses that the daemon connects to"];
  const drops = (what: string, level = "FAIL") => [`${level} scanferry.service blocks ${what}`];

  test.for([
    [{}, ["192.0.2.53"], FINE, "what most hosts have"],
    [{}, ["127.0.0.53"], FINE, "the stub's own servers are asked by another service"],
    [{}, ["169.254.169.253"], drops("the name servers: 169.254.169.253"), "a cloud's"],
    [{}, ["fe80::1%eth0"], drops("the name servers: fe80::1"), "a router's"],
    [
      {},
      ["fe80::1", "192.0.2.53"],
      drops("the name servers: fe80::1 (others pass)", "warn"),
      "each name waits for the first",
    ],
    [{ archive: "http://[64:ff9b::192.0.2.1]" }, ["::1"], FINE, "NAT64"],
    [{ archive: "http://[64:ff9b:1::7]" }, ["::1"], FINE, "NAT64 of the network's own"],
    [
      { archive: "http://169.254.1.1" },
      ["::1"],
      drops("the archive 169.254.1.1: 169.254.1.1"),
      "by address",
    ],
    [
      { archive: "http://169.254.1.1", proxy: "http://u:p@192.0.2.2:3128" },
      ["::1"],
      FINE,
      "only the proxy is spoken to",
    ],
    [{ proxy: "http://u:p@[fe80::2]:3128" }, ["::1"], drops("the proxy fe80::2: fe80::2"), "it is"],
    [{ hook: "http://[fe80::3]/s" }, ["::1"], drops("the webhook fe80::3: fe80::3"), "no secret"],
    [{ mail: "169.254.0.9" }, ["::1"], drops("the mail server 169.254.0.9: 169.254.0.9"), "mail"],
    [
      { journal: "postgres://u@[fe80::5]/db" },
      ["::1"],
      drops("PostgreSQL fe80::5: fe80::5"),
      "the journal",
    ],
    [{ journal: "postgres://u@%2Frun%2Fpg/db" }, ["::1"], FINE, "a socket of this machine"],
    [{ archive: "http://nobody.invalid" }, ["::1"], FINE, "where it is asked, that is found"],
  ] as const)("%j with name servers %j: %j, because %s", async ([spoken, addresses, expected]) => {
    expect(await found(spoken, { ...SERVICE, ...servers(...addresses) })).toEqual(expected);
  });

  test("the drop-in that is written lets through what check found", async () => {
    const spoken = { archive: "http://169.254.1.1", hook: "http://hooks.example.com" };
    const nameservers = ["fe80::1", "192.0.2.53"];
    const resolv = servers(...nameservers);
    const needs = {
      configFile: FILE,
      instance: undefined,
      mirrors: [],
      folders: [],
      credentials: [],
      files: [],
      archiveHosts: ["169.254.1.1"],
      toldHosts: ["hooks.example.com"],
      webHost: undefined,
      nameservers,
    };
    expect(await found(spoken, { ...SERVICE, ...resolv })).toHaveLength(2);
    const own = dropIn(needs, []);
    expect(own).toContain("\nIPAddressAllow=169.254.1.1 fe80::1\n");
    expect(await found(spoken, { ...SERVICE, ...resolv, [OWN]: own })).toEqual(FINE);
  });

  test("a unit that was narrowed drops an archive that has moved since", async () => {
    const narrowed = {
      ...SERVICE,
      [OWN]: "[Service]\nIPAddressAllow=\nIPAddressAllow=localhost\n",
    };
    expect(await found({}, { ...narrowed, ...servers("::1") })).toEqual(
      drops("the archive 192.0.2.1: 192.0.2.1"),
    );
  });

  test("of all addresses for one host, the shipped units drop just those on a link", () => {
    const unit = installedUnit(FILE, aRoot(SERVICE));
    const passes = addressFilter(
      unit?.values("IPAddressAllow") ?? [],
      unit?.values("IPAddressDeny") ?? [],
    );
    const firsts = Array.from({ length: 224 }, (_, first) => [
      `${first}.0.0.0`,
      `${first}.255.9.9`,
    ]);
    const seconds = Array.from({ length: 256 }, (_, second) => `169.${second}.1.2`);
    const six = ["::1", "2001:db8::1", "3fff::1", "fc00::1", "fdff::1", "fe80::1", "febf::1"];
    for (const address of [...firsts.flat(), ...seconds, ...six])
      expect([address, passes(address)]).toEqual([address, !isLinkLocal(address)]);
    for (const several of ["224.0.0.1", "255.255.255.255", "ff02::1"])
      expect(passes(several)).toBe(false);
  });

  test.for([
    [{}, FILE, undefined, "none is installed"],
    [SERVICE, FILE, "scanferry.service", "the plain one"],
    [SERVICE, "/etc/scanferry/office.yaml", undefined, "it runs another configuration"],
    [
      { "etc/systemd/system/scanferry@.service": shipped("scanferry@.service") },
      "/etc/scanferry/office.yaml",
      "scanferry@office.service",
      "an instance",
    ],
    [
      { ...SERVICE, [OWN]: '[Service]\nExecStart=\nExecStart=x --config "/srv/my scans.yaml" run' },
      "/srv/my scans.yaml",
      "scanferry.service",
      "by a drop-in",
    ],
    [
      {
        ...SERVICE,
        [OWN]: "[Service]\nExecStart=\nExecStart=x \\\n# y\n --config /srv/a.yaml run\n",
      },
      FILE,
      undefined,
      "a drop-in took it away, over several lines",
    ],
    [
      { ...SERVICE, "etc/systemd/system/scanferry.service": "[Service]\nExecStart=/bin/true\n" },
      FILE,
      undefined,
      "the administrator's own file counts more",
    ],
  ] as const)("%j runs %s: %s, because %s", ([files, config, expected]) => {
    expect(installedUnit(config, aRoot(files as Record<string, string>))?.name).toBe(expected);
  });

  test("drop-ins count in the order of their names, and one name once", () => {
    const root = aRoot({
      ...SERVICE,
      [OWN]: "[Install]\nA=no\n[Service]\nA=\nA=b\n",
      "usr/lib/systemd/system/scanferry.service.d/configured.conf": "[Service]\nA=hidden\n",
      "etc/systemd/system/service.d/z.conf": "[Service]\n ; A=no\n A = c \n",
      "run/systemd/system/scanferry.service.d/a.conf": "[Service]\nA=taken back\n",
      "run/systemd/system/scanferry.service.d/d.txt": "[Service]\nA=no\n",
    });
    expect(installedUnit(FILE, root)?.values("A")).toEqual(["b", "c"]);
  });
});

/** `check` on what the daemon writes without a reader in between: not to a share. */
describe("share findings", () => {
  const mounts = parseMountinfo(
    [
      "20 1 8:1 / / rw - ext4 /dev/sda1 rw",
      "21 20 0:40 / /mnt/office rw - cifs //server/office rw",
    ].join("\n"),
  );

  const log = (path: string) =>
    ({ level: "info", file: { path, sizeBytesMax: 1, olderMax: 1 } }) as const;
  const receipts = (dir: string) => ({ dir, formats: ["json"] }) as const;

  test("a log file and receipts on a share are warned of, each with what a hang would do", () => {
    const config = { log: log("/mnt/office/x.log"), receipts: receipts("/mnt/office/receipts") };
    const found = [...shareFindings(config, mounts)];
    expect(found.map(({ level, what }) => [level, what])).toEqual([
      ["warn", "log: /mnt/office/x.log is on a network file system (cifs)"],
      ["warn", "receipts: /mnt/office/receipts is on a network file system (cifs)"],
    ]);
    expect(found[0]?.fix).toMatch(/local disk: .* the daemon stops/);
  });

  test.for([
    [{ log: log("/var/log/x.log"), receipts: receipts("/var/lib/r") }, "on a local disk"],
    [{ log: { level: "info" } as const, receipts: undefined }, "neither is there"],
  ] as const)("nothing is said: %#, %s", ([config]) => {
    expect([...shareFindings(config, mounts)]).toEqual([]);
  });
});

describe("hard links", () => {
  test.for([
    ["0\n", ["warn"], "any file can be linked into a source"],
    ["1\n", [], "as is usual"],
    [undefined, [], "another system has no such setting"],
  ] as const)("a setting of %j is %j: %s", ([value, levels]) => {
    const dir = mkdtempSync(join(tmpdir(), "hard-links-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const setting = join(dir, "protected_hardlinks");
    if (value !== undefined) writeFileSync(setting, value);
    expect([...examineHardLinks(setting)].map(({ level }) => level)).toEqual(levels);
  });
});

describe("left out", () => {
  const settings = sourceSettings(
    aMirror({
      include: ["**/*.pdf", "**/*.tif"],
      exclude: ["drafts/**", "*-copy.pdf"],
      after: { kind: "move", to: "/srv/scans/done" },
    }),
    undefined,
    null,
  );

  test.for([
    ["2026/scan.pdf", undefined, "nothing keeps it out"],
    ["2026/Thumbs.db", /built-in list \(Thumbs\.db\): .*system/, "a system file"],
    ["a/~$letter.pdf", /built-in list .*office/, "an office program's lock"],
    ["#recycle/scan.pdf", /#recycle is on the built-in list/, "a directory on the way"],
    ["drafts/scan.pdf", /exclude has "drafts\/\*\*"/, "the glob that does it is named"],
    ["scan-copy.pdf", /exclude has "\*-copy\.pdf"/, "not another one"],
    ["done/scan.pdf", /where finished files are moved/, "it has been archived"],
    [
      "2026/.scan.pdf",
      /\.scan\.pdf is hidden, and no pattern .*: "\*\*\/\*\.pdf"/,
      "what would take it is told",
    ],
    [".a/scan.pdf", /^\.a is hidden/, "the name on the way that is"],
    ["drafts/.scan.pdf", /exclude has "drafts\/\*\*"/, "excluded, hidden or not"],
    [
      "2026/notes.txt",
      /no pattern of include matches: "\*\*\/\*\.pdf"/,
      "what would be taken is told",
    ],
  ] as const)("%s: %s (%s)", ([path, why]) => {
    const said = whyLeftOut(settings, rawOfText(path));
    if (why === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(why);
  });
});

describe("programs", () => {
  test.for([
    ["there", "ok", /is executable/, "it is a program"],
    ["plain", "FAIL", /is not executable for this user/, "nobody made it one"],
    ["folder", "FAIL", /is no file/, "a folder is none"],
    ["missing", "FAIL", /is not there/, "nobody put it there"],
    [
      "windows",
      "FAIL",
      /windows begins with #! and "\/bin\/sh\\r", which is not there/,
      "no \\r is",
    ],
  ] as const)("check of the program %s: %s", ([name, level, what]) => {
    const dir = mkdtempSync(join(tmpdir(), "hooks-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    mkdirSync(join(dir, "folder"));
    for (const file of ["there", "plain"]) writeFileSync(join(dir, file), "#!/bin/sh\n");
    writeFileSync(join(dir, "windows"), "#!/bin/sh\r\nexit 0\r\n");
    for (const file of ["there", "windows"]) chmodSync(join(dir, file), 0o755);
    const running = { timeoutMs: 1, concurrency: 1 };
    // By its whole path, and by its name in PATH.
    const hooks = {
      before: {
        ...running,
        command: [join(dir, name)],
        onFailure: "hold",
        afterVeto: { kind: "keep" },
      },
      after: { ...running, command: [name] },
    } as const;
    const mirrors = [{ name: "scans", hooks } as unknown as Mirror];
    const channel = { by: "command", name: "pager", run: [name], cwd: dir, events: [] };
    const notify = { channels: [channel] } as unknown as Config["notify"];
    const findings = [...examinePrograms({ mirrors, notify }, `/nowhere:${dir}`)];
    expect(findings.map((finding) => finding.level)).toEqual([level, level, level]);
    expect(findings[0]?.what).toMatch(/^mirror scans: before hook /);
    expect(findings[1]?.what).toMatch(/^mirror scans: after hook /);
    expect(findings[2]?.what).toMatch(/^notify pager: /);
    for (const finding of findings) expect(finding.what).toMatch(what);
  });
});
