/** The seven operations from the shell, and the examination of everything. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { can, smallDisk } from "../fixtures/small-disk.ts";
import { ACCOUNT_KEY, SECRET, aWorld, type World } from "../fixtures/world.ts";
import { linesOf, scanferry } from "../unit/cli/in-process.ts";

/** A configuration that has nothing but the archive part. */
function archiveOnly(world: World, set: { url?: string; secret?: string } = {}): string {
  const file = join(world.dir, "archive.yaml");
  const { url = world.archive.url, secret = SECRET } = set;
  const text = `archive: { url: "${url}", accountKey: ${ACCOUNT_KEY}, signing: { secret: ${secret} } }\n`;
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

describe("archive", () => {
  test("uploads a file with every parameter, finds it, and shows it", async () => {
    await using world = await aWorld();
    const config = archiveOnly(world);
    const run = (...words: string[]) =>
      scanferry(["--config", config, "archive", ...words], { cwd: world.dir });
    const json = async (...words: string[]) => {
      const { code, stdout, stderr } = await run(...words, "--json");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout) as unknown;
    };
    writeFileSync(join(world.dir, "letter.txt"), "Dear Sir");
    const { folders } = (await json("folders")) as { folders: { id: number; name: string }[] };
    const folderId = String(folders[0]?.id);
    const metadata = ["--metadata-title", "A title", "--metadata-keywords", "one,two"];
    const name = ["--filename", "brief.txt", "--batch", "b1", "--expire-date", "1900000000000"];
    const place = ["--folderId", folderId];
    const uploaded = await json("upload", "letter.txt", ...place, ...name, ...metadata);
    expect(uploaded).toMatchObject({
      response: "OK",
      document: { filename: "brief.txt", status: "UPLOADED" },
    });
    await world.archive.idle();
    const id = String((uploaded as { document: { id: number } }).document.id);
    expect(await json("document", id)).toMatchObject({
      document: { title: "A title", filesize: 8 },
    });
    expect(await json("document", "--id", id)).toMatchObject({ document: { pages: 1 } });
    expect(
      await json("documents", "--folder-id", folderId, "--sort-by", "NAME", "--sort-desc"),
    ).toMatchObject({ paginationPages: 1, documents: [{ filename: "brief.txt" }] });
    expect(
      await json("search", "--docKeywords", "two", "--pages-end", "1", "--query-content", "false"),
    ).toMatchObject({ documents: [{ id: Number(id) }], folders: [] });
    expect(await json("folder")).toMatchObject({ folder: { root: true } });
    const table = await run("documents", folderId);
    expect(linesOf(table.stdout)[1]).toMatch(/^ *\d+ {2}CONVERTED +1 +8 B .* brief\.txt$/);
  });

  test.for([
    [["folder", "999"], 1, /FOLDER_NOT_EXISTS.*; .*folder/, "the archive's own code and its fix"],
    [
      ["document", "999"],
      1,
      /DOC_NOT_EXIST.*; the archive has no such document/,
      "no such document",
    ],
    [
      ["search", "--created-date-end", "tomorrow"],
      2,
      /INVALID_CREATED_DATE_END.*; correct the option of this name/,
      "what was typed is wrong",
    ],
    [
      ["documents", "--pagination-size", "20000"],
      2,
      /at most 10000/,
      "more than the interface gives",
    ],
    [["documents", "--sort-by", "SIZE"], 2, /NAME, PAGES/, "no such order"],
    [["upload", "f.txt", "--path", "/Nowhere"], 1, /FOLDER_NOT_EXISTS/, "a missing folder"],
    [["upload", "f.txt", "--filename", "a:b.txt"], 2, /filename holds :/, "a name it refuses"],
    [
      ["upload", "f.txt", "--batch", "b".repeat(37)],
      2,
      /36 are allowed/,
      "a batch that is too long",
    ],
  ] as const)("%j ends with %i and %s: %s", async ([words, code, line]) => {
    await using world = await aWorld();
    writeFileSync(join(world.dir, "f.txt"), "content");
    const ran = await scanferry(["--config", archiveOnly(world), "archive", ...words], {
      cwd: world.dir,
    });
    expect(linesOf(ran.stderr)).toEqual([expect.stringMatching(line)]);
    expect(ran).toMatchObject({ code, stdout: "" });
  });

  test.for([
    [
      "dropAfter",
      {},
      /CONNECTION_LOST: .*; the archive may have the document all the same: .*search/,
    ],
    ["error", { code: "ODD" }, /answered ODD.*; the archive may have the document all the same/],
    ["dropBefore", { status: 404 }, /; the archive may have the document all the same/],
    ["status", { status: 404 }, /HTTP 404\); (?!the archive may)/],
  ] as const)("an upload whose reply is lost (%s) may be stored", async ([fault, how, line]) => {
    await using world = await aWorld();
    writeFileSync(join(world.dir, "f.txt"), "content");
    world.archive.setFaults([{ on: "upload", do: fault, ...how } as never]);
    const words = ["--config", archiveOnly(world), "archive", "upload", "f.txt"];
    const ran = await scanferry(words, { cwd: world.dir });
    expect(linesOf(ran.stderr)).toEqual([expect.stringMatching(line)]);
    expect(ran.code).toBe(1);
  });

  test.for([
    [{ url: "http://127.0.0.1:9" }, /ARCHIVE_UNREACHABLE.*check `archive\.url`/, "nobody listens"],
    [
      { secret: "wrong-secret" },
      /check `archive\.accountKey` and `archive\.signing`/,
      "a wrong secret",
    ],
  ] as const)("%j ends with 1 and one line: %s (%s)", async ([set, line]) => {
    await using world = await aWorld();
    const ran = await scanferry(["--config", archiveOnly(world, set), "archive", "folders"]);
    expect(linesOf(ran.stderr)).toEqual([expect.stringMatching(line)]);
    expect(ran.stderr).not.toContain("wrong-secret");
    expect(ran.code).toBe(1);
  });

  test("what is wrong elsewhere in the configuration does not matter to it, and does to others", async () => {
    await using world = await aWorld();
    const config = archiveOnly(world);
    expect((await scanferry(["--config", config, "archive", "folder"])).code).toBe(0);
    const check = await scanferry(["--config", config, "check"]);
    expect(check).toMatchObject({ code: 2, stderr: expect.stringMatching(/mirrors: is missing/) });
  });

  test("what is wrong with its own part is told", async () => {
    await using world = await aWorld();
    const config = join(world.dir, "bad.yaml");
    writeFileSync(config, "archive: { url: ftp://x, timeout: fast }\n", { mode: 0o600 });
    const ran = await scanferry(["--config", config, "archive", "folder"], {});
    expect(linesOf(ran.stderr).length).toBeGreaterThanOrEqual(3);
    for (const line of linesOf(ran.stderr))
      expect(line).toMatch(/^scanferry: .*bad\.yaml:1: archive\./);
    expect(ran.code).toBe(2);
  });
});

describe("check", () => {
  const levels = (stdout: string, level: string) =>
    linesOf(stdout).filter((line) => line.startsWith(level));

  test("all is well: every line ok, 0", async () => {
    await using world = await aWorld();
    const { code, stdout, stderr } = await scanferry(["--config", world.configFile(), "check"]);
    expect(
      linesOf(stdout).every((line) => /^(ok|warn) /.test(line)),
      stdout,
    ).toBe(true);
    expect(stdout).toMatch(/archive folder \/Scans \(id \d+\)/);
    expect(stdout).toMatch(/^ok +time zone \S+$/m);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("each thing that is wrong is a FAIL line with its fix, 1", async () => {
    await using world = await aWorld();
    const config = world.configFile("", "    targetId: 99");
    const wrong = config.replace("scanferry.yaml", "wrong.yaml");
    const text = `archive: { url: "${world.archive.url}", accountKey: ${ACCOUNT_KEY}, signing: { secret: ${SECRET} } }
mirrors: [{ name: gone, source: ${world.dir}/gone, targetId: 99 }, { name: scans, source: ${world.source}, target: /Nowhere }]
journal: ${world.journal}
web: off
`;
    writeFileSync(wrong, text, { mode: 0o600 });
    const { code, stdout } = await scanferry(["--config", wrong, "check"]);
    expect(levels(stdout, "FAIL")).toEqual([
      expect.stringMatching(/mirror gone: .*no folder with id 99 — .*`targetId` is wrong/),
      expect.stringMatching(/mirror scans: .*Nowhere does not exist — create the folder/),
      expect.stringMatching(/mirror gone: source is offline: .*does not exist — /),
    ]);
    expect(code).toBe(1);
  });

  test.for([
    ["hold", 1, /^FAIL +mirror scans: .*Nowhere does not exist — create the folder/, "all wait"],
    ["nearest", 0, /^warn .*Nowhere does not exist; .* go to the nearest .*\(id 1\) — /, "told"],
    ["fallback:/Scans", 0, /^warn .*; its documents go to \/Scans \(id \d+\) — /, "told, too"],
    ["fallback:/Nope", 1, /^FAIL .*, nor its fallback \/Nope — create/, "all wait all the same"],
  ] as const)("no folder, and missingFolder %s: %d", async ([missingFolder, expected, line]) => {
    await using world = await aWorld();
    const config = world.configFile();
    const text = readFileSync(config, "utf8");
    const target = `target: /Nowhere\n    missingFolder: ${missingFolder}`;
    writeFileSync(config, text.replace(/target: .*/, target));
    const { code, stdout } = await scanferry(["--config", config, "check"]);
    const told = linesOf(stdout).filter((each) => /^(?!ok).*Nowhere/.test(each));
    expect(told).toEqual([expect.stringMatching(line)]);
    expect(code).toBe(expected);
  });

  test.runIf(can("unshare", "-m", "true"))(
    "a source on a read-only mount, and files that are to be moved out of it: told",
    async () => {
      await using world = await aWorld();
      const hook = `{ command: [/bin/true], afterVeto: "move:${world.dir}/vetoed" }`;
      const after = `    after: move:${world.dir}/done\n    hooks: { before: ${hook} }`;
      const config = world.configFile("", after);
      using disk = smallDisk(world.source, "400k");
      expect((await scanferry(["--config", config, "check"])).stdout).not.toContain("read-only");
      disk.remount("ro");
      const { stdout } = await scanferry(["--config", config, "check"]);
      expect(levels(stdout, "FAIL")).toEqual([
        expect.stringMatching(/after move: .*scans is mounted read-only — mount it for writing/),
        expect.stringMatching(/afterVeto move: .*scans is mounted read-only — .*afterVeto: keep/),
      ]);
      expect(stdout.match(/read-only/g)).toHaveLength(2);
      expect(stdout).toMatch(/watched by native \(tmpfs at .*scans is local\)/);
    },
  );

  test("a signing module of no use is a mistake of the configuration, to every command", async () => {
    await using world = await aWorld();
    const config = world.configFile();
    const text = readFileSync(config, "utf8");
    const signing = "signing: { scheme: module, module: ./sign.mjs }";
    writeFileSync(config, text.replace(/signing: .*/, signing));
    const line = `scanferry: ${config}: archive.signing.module: ${world.dir}/sign.mjs: there is no such file; name an ES module`;
    for (const words of [["sync"], ["archive", "folders"], ["check"], ["check", "--json"]]) {
      const { code, stderr } = await scanferry(["--config", config, ...words]);
      expect([words, code, linesOf(stderr)]).toEqual([words, 2, [expect.stringContaining(line)]]);
    }
    // The rest is examined all the same.
    const { stdout } = await scanferry(["--config", config, "check"]);
    expect(levels(stdout, "FAIL")).toEqual([
      expect.stringMatching(/signing.* — name an ES module/),
    ]);
    expect(stdout).toMatch(/^ok +mirror scans: on /m);
  });

  test("an archive that cannot be reached is one FAIL; the rest is examined all the same", async () => {
    await using world = await aWorld();
    const config = world.configFile();
    await world.archive.close();
    const { code, stdout } = await scanferry(["--config", config, "check", "--json"]);
    const { ok, findings } = JSON.parse(stdout) as {
      ok: boolean;
      findings: { level: string; what: string }[];
    };
    expect(ok).toBe(false);
    expect(findings.filter(({ level }) => level === "FAIL")).toEqual([
      expect.objectContaining({ what: expect.stringMatching(/ARCHIVE_UNREACHABLE/) }),
    ]);
    expect(findings.some(({ what }) => what.startsWith("journal"))).toBe(true);
    expect(code).toBe(1);
  });
});
