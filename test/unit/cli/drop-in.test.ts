import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SECRET_SCHEMES } from "../../../src/domain/signing.ts";
import { type Mount, parseMountinfo } from "../../../src/source/mounts.ts";
import { scanferry } from "./in-process.ts";
import { UsageError } from "../../../src/std/fault.ts";
import { dropIn, type Needs } from "../../../src/check/drop-in.ts";

const ROOT = "1 0 8:1 / / rw - ext4 /dev/sda1 rw";
const mounts = (...lines: string[]): Mount[] => parseMountinfo([ROOT, ...lines].join("\n"));

const NEEDS: Needs = {
  configFile: "/etc/scanferry/scanferry.yaml",
  instance: undefined,
  mirrors: [{ source: "/srv/scans", after: { kind: "keep" } }],
  folders: ["/var/lib/scanferry"],
  credentials: ["account.key"],
  files: [],
  archiveHosts: ["archive.example.com"],
  toldHosts: [],
  webHost: "127.0.0.1",
  nameservers: ["192.0.2.53"],
};

/** The settings, without what is said about them. */
function settings(needs: Partial<Needs>, table = mounts()): string[] {
  const lines = dropIn({ ...NEEDS, ...needs }, table)
    .trim()
    .split("\n");
  expect(lines[0]).toBe("[Service]");
  return lines.slice(1).filter((line) => !line.startsWith("#"));
}

test("the whole of it, for one source", () => {
  expect(settings({})).toEqual([
    "LoadCredential=",
    "LoadCredential=account.key:/etc/scanferry/secrets/account.key",
    "TemporaryFileSystem=/srv:ro /mnt:ro /media:ro /run/media:ro",
    "BindReadOnlyPaths=-/srv/scans",
  ]);
});

const move = (to: string) => ({ kind: "move", to }) as const;
const keep = { kind: "keep" } as const;
const SHARE = "2 1 0:40 / /mnt/share rw - cifs //nas/scans rw";
const DISK = "2 1 8:2 / /srv rw - xfs /dev/sdb1 rw";
const STICK = "2 1 8:3 / /media/stick rw - vfat /dev/sdc1 rw";
const AUTOMOUNT = "2 1 0:41 / /mnt/auto rw - autofs systemd-1 rw";

test.for([
  ["/srv/a", move("/srv/done"), [], ["BindPaths=-/srv/a", "BindPaths=-/srv/done"], "both change"],
  ["/srv/a", move("/srv/a/done"), [], ["BindPaths=-/srv/a"], "it is inside"],
  ["/srv/a", { kind: "delete" }, [], ["BindPaths=-/srv/a"], "deleting writes to the directory"],
  ["/data/a", keep, [], [], "all is read-only there, and nothing closed"],
  ["/data/a", move("/srv/b"), [], ["ReadWritePaths=-/data/a", "BindPaths=-/srv/b"], "each its way"],
  [
    "/home/ann/scans",
    keep,
    [],
    ["ProtectHome=tmpfs", "BindReadOnlyPaths=-/home/ann/scans"],
    "home",
  ],
  ["/srv/a", keep, [DISK], ["BindReadOnlyPaths=-/srv/a"], "a disk for all of /srv is there or not"],
  ["/srv/100% x", keep, [], ['BindReadOnlyPaths="-/srv/100%% x"'], "of words and specifiers"],
  ['/srv/a"b\\c', keep, [], ['BindReadOnlyPaths="-/srv/a\\"b\\\\c"'], "of quotes"],
] as const)("%s with %o and mounts %o: %o, because %s", ([source, after, lines, expected]) => {
  const all = settings({ mirrors: [{ source, after }] }, mounts(...lines));
  const about = all.filter((line) => /^(Bind|ReadWrite|ProtectHome)/.test(line));
  expect(about).toEqual(expected);
});

test.for([
  ["/mnt/share/in", SHARE, "/srv:ro /media:ro /run/media:ro", "a share that hangs at the start"],
  ["/mnt/auto/in", AUTOMOUNT, "/srv:ro /media:ro /run/media:ro", "looking it up would mount it"],
  ["/media/stick/in", STICK, "/srv:ro /mnt:ro /run/media:ro", "it comes and goes"],
] as const)(
  "what holds %s stays open on %s: all but %s is closed, because of %s",
  ([source, line, closed]) => {
    const text = dropIn({ ...NEEDS, mirrors: [{ source, after: keep }] }, mounts(line));
    expect(text).toContain(`TemporaryFileSystem=${closed}\n`);
    expect(text).toMatch(/^# \/\w+ stays open: .* is on its own file system/m);
    expect(text).not.toContain("Bind");
  },
);

test("homes on a share stay readable, all of them", () => {
  const table = mounts("2 1 0:40 / /home rw - nfs4 nas:/home rw");
  const mirrors = [{ source: "/home/ann/scans", after: keep }];
  expect(settings({ mirrors }, table)).toContain("ProtectHome=read-only");
});

test.for([
  ["127.0.0.1", "127.0.0.1", "localhost", "both on this machine"],
  ["[2001:db8::1]", undefined, "localhost 2001:db8::1", "an address does not change"],
  ["archive.example.com", undefined, undefined, "a name may mean another address tomorrow"],
  ["192.0.2.7 [::1] 192.0.2.9", undefined, "localhost 192.0.2.7 192.0.2.9", "several archives"],
  ["192.0.2.7 archive.example.com", undefined, undefined, "one of them may move"],
  ["192.0.2.7", "0.0.0.0", undefined, "anyone who looks at the page is not known"],
] as const)("archive %s and page %s allow %s, because %s", ([host, webHost, allowed]) => {
  const archiveHosts = host.split(" ");
  const lines = settings({ archiveHosts, webHost }).filter((line) => line.startsWith("IPAddress"));
  const expected = allowed === undefined ? [] : ["IPAddressAllow=", `IPAddressAllow=${allowed}`];
  expect(lines).toEqual(expected);
});

test.for([
  [["198.51.100.9", "localhost"], "localhost 192.0.2.7 198.51.100.9", "both have fixed addresses"],
  [["smtp.example.com"], undefined, "people must be told, wherever that is tomorrow"],
  [[""], undefined, "the address is in a file of root's alone"],
] as const)("told at %o, allow %s, because %s", ([toldHosts, allowed]) => {
  const all = settings({ archiveHosts: ["192.0.2.7"], toldHosts });
  const lines = all.filter((line) => line.startsWith("IPAddress"));
  const expected = allowed === undefined ? [] : ["IPAddressAllow=", `IPAddressAllow=${allowed}`];
  expect(lines).toEqual(expected);
});

test.for([
  [["192.0.2.53", "::1"], "archive.example.com", [], "the unit lets them through"],
  [["fe80::1"], "archive.example.com", ["fe80::1"], "names would not be answered"],
  [["169.254.9.9"], "169.254.1.1 a.example", ["169.254.1.1 169.254.9.9"], "a host by address"],
  [["fe80::1"], "192.0.2.7", ["", "localhost 192.0.2.7"], "no name is asked for"],
] as const)("name servers %j and hosts %s allow %j, because %s", ([nameservers, host, allowed]) => {
  const all = settings({ nameservers, archiveHosts: host.split(" ") });
  const lines = all.filter((line) => line.startsWith("IPAddress"));
  expect(lines).toEqual(allowed.map((addresses) => `IPAddressAllow=${addresses}`));
});

test("another configuration, an instance, a journal elsewhere, a module that signs", () => {
  const file = "/srv/conf/a.yaml";
  expect(settings({ configFile: file, files: ["/srv/conf/sign.mjs"], credentials: [] })).toEqual([
    "ExecStart=",
    "ExecStart=/opt/scanferry/bin/scanferry --config /srv/conf/a.yaml run",
    "LoadCredential=",
    "TemporaryFileSystem=/srv:ro /mnt:ro /media:ro /run/media:ro",
    "BindReadOnlyPaths=-/srv/scans",
    "BindReadOnlyPaths=-/srv/conf/a.yaml",
    "BindReadOnlyPaths=-/srv/conf/sign.mjs",
  ]);
  const instance = settings({ configFile: "/etc/scanferry/a.yaml", instance: "a" });
  expect(instance).toContain("LoadCredential=account.key:/etc/scanferry/secrets/a/account.key");
  expect(instance.join()).not.toContain("ExecStart");
});

test.for([
  [undefined, "/data/j", true, "the unit has it read-only"],
  [undefined, "/var/lib/scanferry/receipts", false, "it is below the unit's own"],
  ["a", "/var/lib/scanferry-a", false, "it is the instance's own"],
  ["a", "/var/lib/scanferry", true, "it is another service's"],
] as const)("of the instance %s the folder %s is opened: %s, as %s", ([instance, folder, is]) => {
  const opened = settings({ instance, folders: [folder] }).includes(`ReadWritePaths=-${folder}`);
  expect(opened).toBe(is);
});

test("hooks may write next to their files, and their programs are seen", () => {
  const mirrors = [
    { source: "/srv/scans", after: keep, isWritten: true, vetoedTo: "/srv/vetoed" } as const,
  ];
  const programs = ["/srv/hooks/check"];
  expect(settings({ mirrors, programs }).filter((line) => line.startsWith("Bind"))).toEqual([
    "BindPaths=-/srv/scans",
    "BindPaths=-/srv/vetoed",
    "BindReadOnlyPaths=-/srv/hooks/check",
  ]);
});

test("a path that would break the line is refused", () => {
  const mirrors = [{ source: "/srv/a\nExecStart=/bin/x", after: keep }];
  expect(() => dropIn({ ...NEEDS, mirrors }, mounts())).toThrow(UsageError);
});

test("scanferry systemd reads the configuration, and no secret", async () => {
  const dir = mkdtempSync(join(tmpdir(), "scanferry-drop-in-"));
  try {
    const file = join(dir, "office.yaml");
    const archive =
      "{ url: http://127.0.0.1:1, accountKeyFile: a.key, signing: { secretFile: /srv/keys/s } }";
    const mirror = "{ source: /srv/in, target: /Scans, after: delete }";
    const notify = `notify:
  mail: [{ server: "127.0.0.1:25", user: u, passwordFile: b.key, from: a@b.c, to: [a@b.c] }]
  command: [{ run: [/srv/bin/tell] }]`;
    const places = `log: { file: /var/log/scans/a.log }\nreceipts: /var/receipts\njournal: ${dir}/j.db`;
    writeFileSync(file, `archive: ${archive}\nmirrors: [${mirror}]\n${notify}\n${places}\n`);
    mkdirSync(join(dir, "secrets/office"), { recursive: true });
    writeFileSync(join(dir, "secrets/office/b.key"), "b");
    const { code, stdout, stderr } = await scanferry(["systemd", "--instance", "--config", file]);
    const missing = [`${dir}/secrets/office/a.key`, "/srv/in", "/srv/keys/s", "/srv/bin/tell"];
    const folders = ["/var/log/scans", "/var/receipts"];
    const fix = "put or create it there before the service starts";
    const lines = [...missing, ...folders].map((path) => `scanferry: ${path} is not there: ${fix}`);
    expect({ code, stderr: stderr.trim().split("\n") }).toEqual({ code: 0, stderr: lines });
    expect(stdout).toContain(`# Made by: scanferry --config "${file}" systemd --instance\n`);
    expect(stdout).toContain(`LoadCredential=a.key:${dir}/secrets/office/a.key\n`);
    expect(stdout).toContain(`LoadCredential=b.key:${dir}/secrets/office/b.key\n`);
    expect(stdout).toContain("BindPaths=-/srv/in\n");
    expect(stdout).toContain("BindReadOnlyPaths=-/srv/bin/tell\n");
    expect(stdout).toContain("IPAddressAllow=localhost\n");
    expect(stdout).not.toContain("LoadCredential=/srv");
    expect(stdout).toContain("BindReadOnlyPaths=-/srv/keys/s\n");
    expect(stdout).toContain("ReadWritePaths=-/var/log/scans\n");
    expect(stdout).toContain("ReadWritePaths=-/var/receipts\n");
    for (const scheme of SECRET_SCHEMES) {
      const signing = `signing: { scheme: ${scheme}, secretFile: s.key }`;
      writeFileSync(
        file,
        `archive: { url: http://127.0.0.1:1, ${signing} }\nmirrors: [${mirror}]\n`,
      );
      expect((await scanferry(["systemd", "--config", file])).stdout).toContain(
        `LoadCredential=s.key:${dir}/secrets/s.key\n`,
      );
    }
    writeFileSync(file, "mirors: []\n");
    expect((await scanferry(["systemd", "--config", file])).code).toBe(2);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
