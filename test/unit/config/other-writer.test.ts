import { chmodSync, chownSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { foreignPlace, otherWriter } from "../../../src/std/other-writer.ts";
import { loadConfig } from "../../../src/config/load-config.ts";
import { linesOf, scanferry } from "../cli/in-process.ts";
import { ConfigFolder, LEAST, SECRETS } from "./config-folder.ts";
import { examineForeign } from "../../../src/check/examination.ts";

const USER = 1_000;
const OTHER = 1_001;

test.for([
  [USER, USER, 0o100644, USER, undefined, "the caller's own"],
  [0, 0, 0o100644, USER, undefined, "root may do everything anyway"],
  [USER, USER, 0o100664, USER, undefined, "a group of the owner's own"],
  [0, 0, 0o100664, USER, undefined, "root's group"],
  [OTHER, OTHER, 0o100600, USER, "belongs to user 1001", "another's"],
  [USER, USER, 0o100644, 0, "belongs to user 1000", "root would run what a user wrote"],
  [USER, 50, 0o100664, USER, "can be written by group 50 (mode 664)", "a group of several"],
  [USER, USER, 0o100606, USER, "can be written by everyone (mode 606)", "everybody"],
  [
    0,
    0,
    0o041777,
    0,
    "can be written by everyone (mode 1777)",
    "/tmp: anyone may put a file there",
  ],
  [OTHER, 50, 0o100666, undefined, undefined, "Windows has no such bits"],
] as const)("user %d, group %d, mode %o, for %s: %s (%s)", ([uid, gid, mode, caller, expected]) => {
  expect(otherWriter({ uid, gid, mode }, caller)).toBe(expected);
});

describe("the configuration of the working directory", () => {
  test.for([
    [0o666, 0o700, "it can be written by everyone (mode 666)", "the file"],
    [0o600, 0o777, "its directory can be written by everyone (mode 777)", "the directory"],
    [0o600, 0o1777, "its directory can be written by everyone (mode 1777)", "like /tmp"],
  ] as const)("mode %o in %o is not used: %s", async ([file, directory, why]) => {
    using folder = new ConfigFolder(LEAST, file);
    chmodSync(folder.path, directory);
    await expect(loadConfig({ env: SECRETS, cwd: folder.path })).rejects.toThrow(
      `no configuration: "${folder.file}" is not used: ${why}; there is no /etc/scanferry/`,
    );
    // Anyone who names it means it.
    const named = await loadConfig({ file: "scanferry.yaml", env: SECRETS, cwd: folder.path });
    expect(named.file).toBe(folder.file);
  });

  test.runIf(process.geteuid?.() === 0)(
    "nothing that it names is run for root where it is another user's",
    async () => {
      const yaml = `archive: { url: "http://127.0.0.1:9", accountKey: k, signing: { scheme: module, module: ./sign.mjs } }
mirrors: [{ source: ./scans, target: / }]
journal: ./journal.db
`;
      using folder = new ConfigFolder(yaml);
      const proof = join(folder.path, "has-run");
      folder.write(
        "sign.mjs",
        `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(proof)}, ""); export default () => "";`,
      );
      mkdirSync(join(folder.path, "scans"));
      for (const each of [folder.path, folder.file, join(folder.path, "sign.mjs")])
        chownSync(each, USER, USER);
      for (const args of [["check"], ["explain", "x"], ["archive", "folders"], ["plan"]]) {
        const { code, stderr } = await scanferry(args, { cwd: folder.path });
        expect(code).toBe(2);
        expect(linesOf(stderr)).toEqual([expect.stringContaining("it belongs to user 1000")]);
      }
      // Named, it is examined before anything of it is run.
      const checked = await scanferry(["--config", folder.file, "check"]);
      expect(checked.code).toBe(1);
      expect(checked.stdout).toContain("FAIL  configuration can be changed by another user");
      expect(existsSync(proof)).toBe(false);
    },
  );
});

test.for([
  [[], undefined, "root's and nobody's else"],
  [["open"], /open can be written by everyone/, "a directory above it that everybody writes"],
  [["sticky"], undefined, "a directory such as /tmp above it: it cannot be replaced"],
  [["link"], /open can be written by everyone/, "a link into such a directory"],
] as const)("what lies below %s is foreign: %s (%s)", ([below, expected]) => {
  using folder = new ConfigFolder();
  mkdirSync(join(folder.path, "open/inner"), { recursive: true });
  mkdirSync(join(folder.path, "sticky"));
  chmodSync(join(folder.path, "open"), 0o777);
  chmodSync(join(folder.path, "sticky"), 0o1777);
  for (const place of ["open/inner", "sticky", "."]) folder.write(join(place, "sign.mjs"), "");
  symlinkSync("open/inner", join(folder.path, "link"));
  const inner = below[0] === "open" ? ["open", "inner"] : below;
  const found = foreignPlace(join(folder.path, ...inner, "sign.mjs"), process.geteuid?.());
  if (expected === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(expected);
});

test("check names all that others can change: warned of, and for root refused", async () => {
  using folder = new ConfigFolder();
  const run = folder.write("bin/tell", "#!/bin/sh\n", 0o777);
  folder.write("bin/hook.mjs", "", 0o666);
  folder.write("sign.mjs", "", 0o666);
  folder.write("key", "k", 0o620);
  const yaml = `archive: { url: "http://127.0.0.1:9", accountKeyFile: key, signing: { scheme: module, module: sign.mjs } }
mirrors:
  - { name: m, source: /srv/scans, target: /, hooks: { before: { command: [/usr/bin/env, ./bin/hook.mjs] } } }
notify: { command: [{ run: [./bin/tell] }] }
`;
  const file = folder.write("other.yaml", yaml, 0o602);
  const config = await loadConfig({ file, env: {}, cwd: "/" });
  const lines = [
    `configuration can be changed by another user: ${file} `,
    "signing module ",
    `mirror m: before hook can be changed by another user: ${join(folder.path, "bin/hook.mjs")} `,
    `notify command: program can be changed by another user: ${run} `,
  ];
  const mine = [...examineForeign(config, process.geteuid?.())];
  for (const [at, line] of lines.entries()) expect(mine[at]?.what).toContain(line);
  expect([...examineForeign(config, OTHER)].every(({ level }) => level === "warn")).toBe(true);
  if (process.geteuid?.() === 0) expect(mine.every(({ level }) => level === "FAIL")).toBe(true);
});
