import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { EmbeddedArchive } from "../../../src/embedded-archive/embedded-archive.ts";
import { PATHS } from "../../../src/wire/shapes.ts";
import { signedUpload } from "../../fixtures/sign.ts";
import { RemoteArchive } from "../../contract/conformance/remote-archive.ts";
import { linesOf, scanferry, Sink } from "./in-process.ts";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { accountsFrom } from "../../../src/cli/commands/serve-archive.ts";

describe("archive admin", () => {
  let dir: string;
  let id: number;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "archive-admin-"));
    const listen = { host: "127.0.0.1", port: 0 };
    await using archive = await EmbeddedArchive.open({ dataDir: dir, listen, convertDelayMs: 0 });
    const body = signedUpload({ filename: "a\u202eb.txt" }, Buffer.from("content"));
    const response = await fetch(archive.url + PATHS.upload, { method: "POST", body });
    id = ((await response.json()) as { document: { id: number } }).document.id;
    await archive.idle();
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const admin = (...args: string[]) => scanferry(["archive-admin", "--data", dir, ...args]);

  describe("archive-admin", () => {
    test("list prints a document a line, and as JSON", async () => {
      const { code, stdout } = await admin("list");
      expect([code, stdout]).toEqual([0, `${id}\tCONVERTED\t1\t7\t/a\\u202eb.txt\n`]);
      const json = await admin("list", "--json");
      expect(linesOf(json.stdout).map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { id, filename: "a\u202eb.txt", size: 7 },
      ]);
    });

    test("export writes the bytes into a new file only", async () => {
      const file = join(dir, "out.txt");
      const first = await admin("export", String(id), file);
      expect([first.code, await readFile(file, "utf8")]).toEqual([0, "content"]);
      const second = await admin("export", String(id), file);
      expect(second.code).toBe(1);
      expect(second.stderr).toMatch(/cannot be made: EEXIST/);
    });

    test("what is no folder's path cannot be made", async () => {
      expect(await admin("create-folder", "Scans")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("Write a path such as /Scans/2026"),
      });
    });

    test("create-folder and set-quota are there in the next run", async () => {
      const described = ["--index", "4-2", "--keywords", "scans", "--expire-date", "2099-12-31"];
      expect((await admin("create-folder", "/A/B", ...described)).code).toBe(0);
      expect((await admin("create-folder", "/A/B", "--index", "4-3")).code).toBe(0);
      expect((await admin("set-quota", "5")).code).toBe(0);
      const listen = { host: "127.0.0.1", port: 0 };
      const log = await EmbeddedArchive.open({ dataDir: dir, listen });
      expect(await (await fetch(log.url)).text()).toContain("1 of 5 pages used");
      const { body } = await new RemoteArchive(log.url).ask("folder", { id: "3" });
      expect(body["folder"]).toMatchObject({
        name: "B",
        index: "4-3",
        keywords: "scans",
        expireDate: Date.parse("2099-12-31"),
      });
      await log.close();
    });

    test("check ends with 1 once something is wrong, and says what", async () => {
      const whole = await admin("check");
      expect([whole.code, whole.stdout]).toEqual([0, "1 document, 1 file, 7 bytes: all is well\n"]);
      await writeFile(join(dir, "incoming", "half"), "x");
      const harmed = await admin("check");
      expect(harmed.code).toBe(1);
      expect(linesOf(harmed.stdout)).toEqual([
        "temporary: incoming/half is an unfinished upload",
        "1 document, 1 file, 7 bytes: 1 found wrong",
      ]);
    });

    test.for([
      [["check"], 2, /--data/, "a place is needed"],
      [["--data", "/nowhere", "check"], 1, /data directory/, "no archive is there"],
      [["--data", "/nowhere", "set-quota", "few"], 2, /unlimited or default/, "no number"],
      [["--data", "/nowhere", "export", "x", "y"], 2, /whole number/, "no id"],
    ] as const)("%j ends with %i, %s: %s", async ([args, code, line]) => {
      const ran = await scanferry(["archive-admin", ...args]);
      expect(ran.code).toBe(code);
      expect(ran.stderr).toMatch(line);
    });
  });

  describe("serve-archive", () => {
    test.for([
      ["file", "it is a file"],
      ["file/below", "it lies below a file"],
    ] as const)("--data %s ends with 2 and one line: %s", async ([name]) => {
      await writeFile(join(dir, "file"), "x");
      const data = join(dir, name);
      const words = ["serve-archive", "--data", data, "--listen", "127.0.0.1:0"];
      expect(await scanferry(words)).toEqual({
        code: 2,
        stdout: "",
        stderr: `scanferry: --data: ${data} cannot be used (ENOTDIR); name a directory that this user can write to\n`,
      });
    });

    test.for([
      [["--max-file-size", "docx=1MB"], /KIND=SIZE/, "no such kind"],
      [["--max-file-size", "pdf=much"], /10MB/, "no size"],
      [["--fault", "explode"], /no fault "explode"/, "no such fault"],
      [["--notify-url", "ftp://a"], /http/, "no web address"],
    ] as const)("%j is refused with %s: %s", async ([args, line]) => {
      const ran = await scanferry(["serve-archive", "--data", dir, ...args]);
      expect(ran.code).toBe(2);
      expect(linesOf(ran.stderr)).toEqual([expect.stringMatching(line)]);
    });

    test("administration on an open address is refused", async () => {
      const ran = await scanferry(["serve-archive", "--data", dir, "--admin", "0.0.0.0:0"]);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/this machine/);
    });

    test("limits, faults and administration are in force", async () => {
      const stdout = new Sink();
      const stopping = new AbortController();
      const words = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--max-file-size", "1kB"];
      const rules = [
        "--max-file-size",
        "text=3B",
        "--fault",
        "folder:status,status=503,stored=false",
      ];
      const running = scanferry(["serve-archive", "--data", dir, ...words, ...rules], {
        stdout,
        stopping: stopping.signal,
      });
      await expect.poll(() => linesOf(stdout.text).length).toBe(2);
      const [url = "", admin = ""] = linesOf(stdout.text).map((line) => line.split(" on ")[1]);
      expect((await fetch(url + PATHS.folder, { method: "POST" })).status).toBe(503);
      const body = signedUpload({ filename: "a.txt" }, Buffer.from("long"));
      const reply = await fetch(url + PATHS.upload, { method: "POST", body });
      expect(await reply.json()).toMatchObject({ responseDescription: "FILE_SIZE_TOO_BIG" });
      expect(await (await fetch(`${admin}/stats`)).json()).toMatchObject({ reminder: true });
      stopping.abort();
      expect((await running).code).toBe(0);
    });
  });
});

/** Where `serve-archive` has its accounts from. */
describe("serve archive accounts", () => {
  const CLI = [{ key: "c", secret: "cli" }];
  const FILE = [{ key: "f", secret: "a:b" }];
  const ENV = [{ key: "e", secret: "env" }];

  function surroundedBy(content: string, variable: string | undefined) {
    const cwd = mkdtempSync(join(tmpdir(), "scanferry-accounts-"));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    writeFileSync(join(cwd, "accounts"), content, { mode: 0o600 });
    const env = variable === undefined ? {} : { SCANFERRY_ARCHIVE_ACCOUNTS: variable };
    return { cwd, shell: { cwd, processContext: { env } } as Parameters<typeof accountsFrom>[1] };
  }

  test.for([
    [{}, undefined, undefined, "the archive's own default"],
    [{}, "e:env\n", ENV, "the variable, where nothing else is named"],
    [{ account: CLI }, "e:env", CLI, "an option goes before the variable"],
    [{ accountFile: "accounts" }, "e:env", FILE, "so does a file"],
    [{ account: CLI, accountFile: "accounts" }, undefined, [...CLI, ...FILE], "both options count"],
  ] as const)("%j and the variable %j give %j: %s", async ([options, variable, expected]) => {
    const { shell } = surroundedBy("# of the office\n\nf:a:b\r\n", variable);
    expect(await accountsFrom(options as Parameters<typeof accountsFrom>[0], shell)).toEqual(
      expected,
    );
  });

  test.for([
    [
      "c:secret\nc:again\n",
      0o600,
      /^--account-file: ".*", line 2: .*key of its own/,
      "named twice",
    ],
    ["x:y\nsecret\n", 0o600, /line 2: .*KEY:SECRET/, "a line without a key"],
    ["# none\n", 0o600, /names no account/, "nobody could sign"],
    ["x:secret\n", 0o644, /can be read by everyone \(mode 644\)/, "no secret any more"],
  ] as const)("a file of %j with mode %i is refused: %s (%s)", async ([content, mode, why]) => {
    const { cwd, shell } = surroundedBy(content, undefined);
    chmodSync(join(cwd, "accounts"), mode);
    const refused = accountsFrom({ accountFile: "accounts" }, shell);
    await expect(refused).rejects.toThrow(why);
    await expect(refused).rejects.not.toThrow("secret");
  });
});
