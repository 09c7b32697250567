/** Commands over a journal: what they print, what they change, and how they end. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { STATES } from "../../src/domain/document.ts";
import { SqliteJournal } from "../../src/journal/sqlite-journal.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { aStory, aSyncedStory } from "../fixtures/a-story.ts";
import { rowsOf } from "../fixtures/auditor.ts";
import { aWorld } from "../fixtures/world.ts";
import { linesOf, scanferry } from "../unit/cli/in-process.ts";

test("for programs every path is whole, for people it is escaped", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const names = ["two\nlines.txt", "turned\u202eround.txt", "wake-up\u0007\u009b.txt", "pläin.txt"];
  for (const name of names) world.write(name, name);
  const run = (...words: string[]) => scanferry(["--config", config, ...words]);
  const pathsOf = (text: string) =>
    linesOf(text).map((line) => (JSON.parse(line) as { path: string }).path);
  const plan = JSON.parse((await run("plan", "--json")).stdout) as { documents: object[] };
  expect(plan.documents).toHaveLength(names.length);
  expect(plan.documents).toEqual(
    expect.arrayContaining(names.map((path) => expect.objectContaining({ path }))),
  );
  expect((await run("sync")).code).toBe(0);
  for (const words of [
    ["list", "--json"],
    ["verify", "--json"],
  ]) {
    const { stdout } = await run(...words);
    expect(pathsOf(stdout).toSorted(), words[0]).toEqual(names.toSorted());
    expect(stdout.replaceAll("\n", ""), words[0]).not.toMatch(/[\p{Cc}\u202e]/u);
  }
  const [hard = ""] = names;
  const explained = JSON.parse((await run("explain", "--json", hard)).stdout);
  expect(explained).toMatchObject({ path: hard, revisions: [{ document: { path: hard } }] });
  expect((await run("list")).stdout).toContain("two\\x0alines.txt");
});

test("a source that is away keeps `sync` from nothing else, and is told at the end", async () => {
  await using world = await aWorld();
  const source = join(world.dir, "share");
  const away = `${source}-away`;
  const also = `  - { name: share, source: ${source}, target: /Scans, settle: 300ms, after: delete }`;
  const config = world.configFile("", also);
  const run = (...words: string[]) => scanferry(["--config", config, ...words]);
  mkdirSync(source);
  writeFileSync(join(source, "there.pdf"), pdfOf(1, { seed: 5 }));
  expect((await run("pause")).code).toBe(0);
  expect((await run("sync")).code).toBe(3);
  expect((await run("resume")).code).toBe(0);
  // What was found on it can neither be looked at nor sent.
  renameSync(source, away);
  world.write("here.pdf", pdfOf(2, { seed: 6 }));
  const told = /^scanferry: mirror share: .*share does not exist; mount the source again/m;
  const sync = await run("sync");
  expect(sync, sync.stderr).toMatchObject({ code: 1, stderr: expect.stringMatching(told) });
  const states = async () =>
    new Map((await rowsOf(world.journal)).map((row) => [String(row.name), row.state]));
  expect(Object.fromEntries(await states())).toEqual({
    "here.pdf": "converted",
    "there.pdf": "held",
  });
  renameSync(away, source);
  expect((await run("sync")).code).toBe(0);
  expect(new Set((await states()).values())).toEqual(new Set(["converted"]));
});

describe("before there is a journal", () => {
  test("status, list, explain and check say so, and make none", async () => {
    await using world = await aWorld();
    const config = world.configFile();
    world.write("scan.pdf", pdfOf(1));
    const run = (...words: string[]) => scanferry(["--config", config, ...words]);
    const status = await run("status", "--json");
    const report = JSON.parse(status.stdout) as { running: boolean; documents: object };
    expect(report.running).toBe(false);
    expect(Object.keys(report.documents)).toEqual([...STATES]);
    expect(await run("list")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await run("explain", "scan.pdf")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/the file exists, but scanferry has not seen it yet/),
    });
    symlinkSync(join(world.source, "scan.pdf"), join(world.source, "link.pdf"));
    for (const nothing of ["none.pdf", "link.pdf"]) {
      const explained = await run("explain", nothing);
      expect(explained.stdout).toMatch(
        /There is no regular file here, .* scanferry does not follow symbolic links/,
      );
      expect(explained.code).toBe(1);
    }
    expect((await run("check")).stdout).toMatch(/the first start creates the journal/);
    const retry = await run("retry");
    expect(retry.code).toBe(1);
    expect(linesOf(retry.stderr)).toEqual([
      expect.stringMatching(/there is none; check `journal`/),
    ]);
    expect(existsSync(world.journal)).toBe(false);
  });

  test("pause makes one: a daemon that starts paused sends nothing", async () => {
    await using world = await aWorld();
    const config = world.configFile();
    world.write("scan.pdf", pdfOf(1));
    const run = (...words: string[]) => scanferry(["--config", config, ...words]);
    expect((await run("pause")).stdout).toMatch(/^paused.*not running/);
    expect((await run("status")).stdout).toMatch(/paused/);
    expect(await run("sync")).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^Sending is paused\. 1 document waits\./),
    });
    expect(world.archive.documents()).toEqual([]);
    expect((await run("resume")).stdout).toMatch(/^sending continues/);
    expect((await run("sync")).code).toBe(0);
    expect(world.archive.documents()).toHaveLength(1);
  });
});

test("sync tells each document and, last, why what is left is left", async () => {
  await using story = await aStory();
  const { code, stdout, stderr } = await story.run("sync");
  expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
  const lines = linesOf(stdout);
  expect(lines).toContainEqual(
    expect.stringMatching(/^converted {2}done\.pdf {2}document \d+, 2 pages$/),
  );
  expect(lines).toContainEqual(
    expect.stringMatching(/^1 document is held: FOLDER_MISSING .*New.* Create the folder/),
  );
  expect(lines).toContainEqual(
    expect.stringMatching(
      /^1 document failed: the archive rejected it \(FILE_SIZE_TOO_BIG\) .* Split the document/,
    ),
  );
  expect(lines.at(-1)).toBe("sent 1, converted 1, held 1, failed 1");

  const again = await story.run("sync", "--no-wait");
  expect(linesOf(again.stdout).at(-1)).toBe("sent 0, converted 0, held 1, failed 1");
});

test("what is for a program is JSON alone, whatever the command", async () => {
  await using story = await aStory();
  const one = async (...words: string[]) => {
    const { stdout, stderr } = await story.run(...words, "--json");
    expect(stderr).toBe("");
    return JSON.parse(stdout) as unknown;
  };
  expect(await one("sync")).toMatchObject({
    sent: 1,
    converted: 1,
    documents: { held: 1, failed: 1 },
    problems: expect.arrayContaining([expect.objectContaining({ code: "FOLDER_MISSING" })]),
    foldersToCreate: [{ path: "/Scans/New" }],
  });
  expect(await one("pause")).toEqual({ paused: true, changed: true, running: false });
  expect(await one("resume")).toEqual({ paused: false, changed: true, running: false });
  expect(await one("retry")).toEqual({
    queued: 2,
    gated: 0,
    again: 0,
    empty: 0,
    afterAction: 0,
    running: false,
  });
  expect(await one("receipt")).toMatchObject({ mirror: "scans", states: { converted: 1 } });
  expect(await one("check")).toMatchObject({ findings: expect.any(Array) });
});

test("list and status have the shape that scripts rely on", async () => {
  await using story = await aSyncedStory();
  const rows = linesOf((await story.run("list", "--json")).stdout).map(
    (line) => JSON.parse(line) as Record<string, unknown> & { path: string; state: string },
  );
  expect(rows.map(({ path, state }) => `${path} ${state}`)).toEqual([
    "done.pdf converted",
    "huge.txt failed",
    "New/held.pdf held",
  ]);
  expect(rows[0]).toMatchObject({
    mirror: "scans",
    documentId: expect.any(Number),
    folderId: expect.any(Number),
    batch: expect.any(String),
    size: pdfOf(2).length,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    attempts: 1,
    error: null,
    uploadedAt: expect.any(Number),
    convertedAt: expect.any(Number),
    pages: 2,
  });
  expect(rows[2]).toMatchObject({
    documentId: null,
    error: { code: "FOLDER_MISSING", message: expect.any(String) },
  });

  const status = JSON.parse((await story.run("status", "--json")).stdout) as unknown;
  const counts = {
    settling: 0,
    pending: 0,
    uploading: 0,
    inDoubt: 0,
    uploaded: 0,
    converted: 1,
    held: 1,
    failed: 1,
  };
  expect(status).toMatchObject({
    running: false,
    documents: counts,
    quota: { blockedSince: null, nextProbeAt: null },
    mirrors: [
      { name: "scans", source: story.source, watch: expect.any(String), documents: counts },
    ],
    foldersToCreate: [{ path: "/Scans/New", documents: 1 }],
  });
});

test("what is never moved or deleted is named by status and listed, as long as its file is there", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const files = ["a.pdf", "b.pdf", "c.pdf"].map((name, n) => world.write(name, pdfOf(n + 1)));
  const told = async (...words: string[]) =>
    (await scanferry(["--config", config, ...words])).stdout;
  const never = async () =>
    (JSON.parse(await told("status", "--json")) as { afterFailed: object[] }).afterFailed;
  await told("sync");
  expect(await never()).toEqual([]);
  const why = "document 7 is now in folder 9";
  {
    await using journal = await SqliteJournal.open({ path: world.journal, role: "owner" });
    const rows = await Array.fromAsync(journal.list({ state: "converted" }));
    const set = { after: "refused", afterMessage: why, dueAt: null } as const;
    const note = { type: "note", at: 0, why, set } as const;
    await journal.apply(rows.slice(0, 2).map(({ id }) => ({ ...note, id })));
  }
  const path = expect.stringMatching(/^[ab]\.pdf$/);
  expect(await never()).toEqual([{ mirror: "scans", files: 2, path, why }]);
  expect(await told("status")).toMatch(
    /^2 files of scans will not .*\n {2}One of 2: .\.pdf: document 7 is now in folder 9\.\n {2}See `scanferry list --after-pending`\.$/m,
  );
  const lines = linesOf(await told("list", "--after-pending"));
  expect(lines).toEqual([
    expect.stringMatching(/ a\.pdf {2}not moved or deleted: document 7 is now in folder 9$/),
    expect.stringMatching(/ b\.pdf {2}not moved or deleted: document 7 is now in folder 9$/),
  ]);
  rmSync(files[0] ?? "");
  await told("sync");
  expect(await never()).toEqual([{ mirror: "scans", files: 1, path: "b.pdf", why }]);
  expect(linesOf(await told("list", "--after-pending", "--json"))).toHaveLength(1);
});

test("list filters by state, mirror and path", async () => {
  await using story = await aSyncedStory();
  const paths = async (...words: string[]) => {
    const { stdout } = await story.run("list", "--json", ...words);
    return linesOf(stdout).map((line) => (JSON.parse(line) as { path: string }).path);
  };
  expect(await paths("--state", "failed")).toEqual(["huge.txt"]);
  expect(await paths("New")).toEqual(["New/held.pdf"]);
  expect(await paths(join(story.source, "done.pdf"), "scans/huge.txt")).toEqual([
    "done.pdf",
    "huge.txt",
  ]);
  // A document is meant once, however often it is named.
  expect(await paths("New/held.pdf", "done.pdf", "New", "done.pdf", "New/held.pdf")).toEqual([
    "done.pdf",
    "New/held.pdf",
  ]);
  expect(await paths("scans/huge.txt", "scans")).toHaveLength(3);
  expect(await paths("--mirror", "scans", "--state", "settling")).toEqual([]);
  const wrong = await story.run("list", "--mirror", "scan");
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/did you mean scans\?/) });
});

test("explain tells states, attempts, the last error with its fix, and what comes next", async () => {
  await using story = await aSyncedStory();
  const failed = (await story.run("explain", "huge.txt")).stdout;
  expect(failed).toMatch(/last error +.*FILE_SIZE_TOO_BIG/);
  expect(failed).toMatch(/fix +split the document/);
  expect(failed).toMatch(/uploading → failed/);
  expect(failed).toMatch(/attempts\n.*folder \d+/);
  const held = (await story.run("explain", "New/held.pdf")).stdout;
  expect(held).toMatch(/folder +\/Scans\/New\n/);
  expect(held).toMatch(/next +when the missing part is there/);
  const done = JSON.parse((await story.run("explain", "--json", "done.pdf")).stdout) as unknown;
  expect(done).toMatchObject({
    path: "done.pdf",
    revisions: [{ document: { state: "converted" } }],
  });
  expect((await story.run("explain", "a/Thumbs.db")).stdout).toMatch(/never sent: .*built-in list/);
});

describe("retry", () => {
  test.for([
    [["--state", "held"], ["huge.txt failed", "New/held.pdf settling"], "only what is held"],
    [
      ["--error", "file_size_too_big"],
      ["huge.txt pending", "New/held.pdf held"],
      "only that error",
    ],
    [["New"], ["huge.txt failed", "New/held.pdf settling"], "only what is below"],
    [[], ["huge.txt pending", "New/held.pdf settling"], "everything that is held or failed"],
  ] as const)("%j leaves %j: %s", async ([words, states]) => {
    await using story = await aSyncedStory();
    const { code, stdout } = await story.run("retry", ...words);
    const count = states.filter((state) => / (?:pending|settling)$/.test(state)).length;
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^${count} documents? put back in the queue\\n`)),
    });
    const rows = await rowsOf(story.journal);
    const others = rows.filter(({ state }) => state !== "converted");
    const found = others.map(
      ({ dir, name, state }) => `${dir === "" ? "" : `${dir}/`}${name} ${state}`,
    );
    expect(found.sort((a, b) => (a < b ? 1 : -1))).toEqual([...states]);
  });

  test("what the gate holds is not re-queued: the archive is asked at once", async () => {
    await using world = await aWorld({ quotaPages: 1 });
    const config = world.configFile("");
    for (let n = 0; n < 3; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
    const run = (...words: string[]) => scanferry(["--config", config, ...words]);
    const sync = await run("sync");
    expect(sync.code).toBe(3);
    expect(sync.stdout).toMatch(
      /^Sending has stopped: the page allowance is used up .* 2 documents wait\. .* buy pages/m,
    );
    const files = [0, 1, 2].map((n) => join(world.source, `scan-${n}.pdf`));
    const twice = await run("retry", world.source, ...files, "--json");
    expect(JSON.parse(twice.stdout)).toMatchObject({ gated: 2 });
    const { stdout } = await run("retry");
    // No daemon runs that would ask it now.
    expect(linesOf(stdout)).toEqual([
      "2 documents wait until the archive accepts the account: scanferry asks it first",
      "the daemon is not running: this takes effect when it starts",
    ]);
    await using journal = await SqliteJournal.open({ path: world.journal, role: "reader" });
    expect((await journal.gate()).nextProbeAt).toBeLessThanOrEqual(Date.now());
  });

  test("once pages are there again `sync` sends at once, whenever the archive was to be asked next", async () => {
    await using world = await aWorld({ quotaPages: 1 });
    const config = world.configFile("");
    const text = readFileSync(config, "utf8");
    // At no hour of the day comes the moment of `retryAt` sooner.
    const retry = `quota: { retryAt: "0 0 29 2 *", retry: { initial: 6h, max: 6h }`;
    writeFileSync(config, text.replace("quota: { retry: { initial: 300ms, max: 1s }", retry));
    for (let n = 0; n < 3; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
    const run = async () => (await scanferry(["--config", config, "sync"])).code;
    expect(await run()).toBe(3);
    expect(await run(), "they are refused again").toBe(3);
    const held = world.archive.documents()[0]?.filename === "scan-0.pdf" ? "scan-1" : "scan-0";
    const told = await scanferry(["--config", config, "explain", `${held}.pdf`]);
    expect(told.stdout).toMatch(/^ {2}next +tried again in [3-6](?:\.\d)? hours \(/m);
    world.archive.setQuota(undefined);
    expect(await run()).toBe(0);
    expect(world.archive.documents()).toHaveLength(3);
  });

  test("what could not be moved or deleted is tried at once", async () => {
    await using world = await aWorld({ folders: ["/Scans/a"] });
    const done = join(world.dir, "done");
    writeFileSync(done, "in the way");
    const file = world.write("a/scan.pdf", pdfOf(1));
    const config = world.configFile("", `    after: move:${done}`);
    const run = (...words: string[]) => scanferry(["--config", config, ...words]);
    expect((await run("sync")).code).toBe(0);
    expect((await run("status")).stdout).toMatch(
      /could not be moved or deleted yet\n {2}a\/scan\.pdf: AFTER_REFUSED: ENOTDIR/,
    );
    expect(existsSync(file)).toBe(true);
    rmSync(done);
    expect((await run("retry", join(world.source, "b"))).stdout).toMatch(/^nothing/);
    expect((await run("retry", join(world.source, "a"))).stdout).toMatch(
      /^1 file to be moved or deleted\n/,
    );
    expect((await run("sync")).code).toBe(0);
    expect(existsSync(join(done, "a/scan.pdf"))).toBe(true);
  });

  test("nothing to retry is said, and ends with 1", async () => {
    await using story = await aStory();
    await story.run("pause");
    expect(await story.run("retry")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^nothing/),
    });
  });
});

test("what is unfinished by its format is named, held and sent only as a person asks", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const run = (...words: string[]) => scanferry(["--config", config, ...words], { cwd: world.dir });
  const whole = pdfOf(3, { seed: 1 });
  world.write("good.pdf", pdfOf(1));
  world.write("cut.pdf", whole.subarray(0, 300));
  world.write("old.pdf", pdfOf(2, { seed: 2 }).subarray(0, 300));
  const old = join(world.source, "old.pdf");
  utimesSync(old, 1e9, 1e9);
  const archived = () =>
    world.archive
      .documents()
      .map(({ filename }) => filename)
      .toSorted();
  for (const pass of [1, 2]) {
    const { code, stdout } = await run("sync");
    expect(code, `pass ${pass}`).toBe(3);
    expect(stdout).toMatch(/^1 file is not finished yet .* cut\.pdf: /m);
    expect(stdout).toMatch(/^1 document is held: FILE_INCOMPLETE .* old\.pdf: /m);
    expect(archived()).toEqual(["good.pdf"]);
  }
  expect((await run("list")).stdout).toMatch(/^held .* old\.pdf .*FILE_INCOMPLETE/m);
  expect((await run("status")).stdout).toMatch(/FILE_INCOMPLETE.*\n.*old\.pdf/);
  expect((await run("explain", old)).stdout).toContain("scanferry retry --anyway");
  expect((await run("retry", "--anyway", join(world.source, "good.pdf"))).code).toBe(1);
  world.write("cut.pdf", whole);
  const asked = await run("retry", "--anyway", old);
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1 document put back/) });
  expect((await run("plan")).stdout).toMatch(/send .*old\.pdf/);
  expect((await run("sync")).code).toBe(0);
  expect(archived()).toEqual(["cut.pdf", "good.pdf", "old.pdf"]);
  expect((await run("list")).stdout).toMatch(/ old\.pdf .*unfinished by its format/);
  const row = (await rowsOf(world.journal)).find(({ name }) => name === "old.pdf");
  const receipt = await run("receipt", row?.batch ?? "");
  expect(receipt.stdout).toMatch(/old\.pdf\tunfinished by its format$/m);
});

test("a file that was sent and is left out by now is not called gone, nor never sent", async () => {
  await using world = await aWorld();
  world.write("done.pdf", pdfOf(1));
  const run = (...words: string[]) => scanferry(["--config", config, ...words], { cwd: world.dir });
  let config = world.configFile();
  expect((await run("sync")).code).toBe(0);
  config = world.configFile("", '    exclude: ["done*"]');
  expect((await run("sync")).code).toBe(0);
  expect((await run("list")).stdout).toContain("(the local file is gone or left out)");
  const { stdout } = await run("explain", join(world.source, "done.pdf"));
  expect(stdout).toMatch(/left out +now: exclude has/);
  expect(stdout).toMatch(/local file +left out or gone since/);
});

test("retry does not promise that an empty file is sent, whatever is asked for", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const run = (...words: string[]) => scanferry(["--config", config, ...words], { cwd: world.dir });
  const empty = join(world.source, "empty.pdf");
  writeFileSync(empty, "");
  utimesSync(empty, 1e9, 1e9);
  for (const words of [["retry"], ["retry", "--anyway"]]) {
    expect((await run("sync")).stdout).toContain("FILE_EMPTY");
    expect((await run(...words)).stdout).toMatch(
      /^1 document put back in the queue\n1 of them is empty: empty files are never sent/,
    );
  }
  await run("sync");
  expect((await run("explain", empty)).stdout).toMatch(/next +when the file changes/);
  expect(JSON.parse((await run("retry", "--json", "--state", "failed")).stdout)).toEqual({
    queued: 0,
    gated: 0,
    again: 0,
    empty: 0,
    afterAction: 0,
    running: false,
  });
});

test("verify finds what is missing and what nobody journaled, and ends with 3", async () => {
  await using story = await aSyncedStory();
  expect(await story.run("verify")).toMatchObject({
    code: 0,
    stdout: "1 as journaled, 0 missing, 0 changed, 0 unknown\n",
  });
  const stranger = join(story.dir, "stranger.txt");
  writeFileSync(stranger, "not ours");
  await story.run("archive", "upload", stranger, "--path", "/Scans");
  const more = await story.run("verify", "--all");
  expect(more.code).toBe(0);
  expect(linesOf(more.stdout)).toEqual([
    expect.stringMatching(/^= document \d+ {2}scans {2}done\.pdf$/),
    expect.stringMatching(/^- document \d+ {2}stranger\.txt, in folder \d+$/),
    "1 as journaled, 0 missing, 0 changed, 1 unknown",
  ]);

  // The same journal against an archive that knows nothing of it.
  await using other = await aWorld();
  const config = join(story.dir, "other.yaml");
  writeFileSync(
    config,
    `archive: { url: "${other.archive.url}", accountKey: office, signing: { secret: canary-secret-4711 } }
mirrors: [{ source: ${story.source}, target: /Scans }]
journal: ${story.journal}
`,
    { mode: 0o600 },
  );
  const lost = await scanferry(["--config", config, "verify", "--json"]);
  expect(lost.code).toBe(3);
  expect(linesOf(lost.stdout).map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ mark: "+", kind: "missing", path: "done.pdf", mirror: "scans" }),
  ]);
});

test("backup and restore: a copy takes the journal's place, and one of a later scanferry does not", async () => {
  await using story = await aStory();
  const copy = join(story.dir, "copy.db");
  const early = await story.run("backup", copy);
  expect(early).toMatchObject({ code: 1, stderr: expect.stringMatching(/there is none yet/) });
  await story.run("sync");
  expect((await story.run("backup", copy)).stdout).toContain(copy);
  const list = (await story.run("list", "--json")).stdout;
  rmSync(story.journal);
  expect(await story.run("restore", copy)).toMatchObject({ code: 0, stderr: "" });
  expect((await story.run("list", "--json")).stdout).toBe(list);
  const again = await story.run("restore", copy);
  expect(again.stdout).toContain(`${story.journal}.replaced-1`);
  const db = new Database(story.journal);
  db.pragma("user_version = 99");
  db.close();
  for (const command of [["sync"], ["list"], ["status"], ["backup", copy]]) {
    const { code, stdout, stderr } = await story.run(...command);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(linesOf(stderr)).toEqual([
      expect.stringMatching(/schema 99, this scanferry writes \d+; install the version that wrote/),
    ]);
  }
});

test.for(["plan", "status", "list", "explain huge.txt", "verify", "receipt", "check"])(
  "%s leaves a closed journal's directory as it was",
  async (command) => {
    await using story = await aSyncedStory();
    const directory = dirname(story.journal);
    const seen = () =>
      readdirSync(directory).map((name) => {
        const file = join(directory, name);
        return { name, bytes: readFileSync(file, "hex"), changed: statSync(file).mtimeMs };
      });
    const before = seen();
    expect((await story.run(...command.split(" "))).stdout).not.toBe("");
    expect(seen()).toEqual(before);
  },
);

test("a backup never takes the place of the journal's own files, by whatever name", async () => {
  await using story = await aStory();
  await story.run("sync");
  const link = join(story.dir, "link");
  symlinkSync(dirname(story.journal), link);
  const { ino } = statSync(story.journal);
  const name = basename(story.journal);
  for (const file of [
    story.journal,
    `${story.journal}-wal`,
    `${story.journal}-shm`,
    `${story.journal}.lock`,
    join(link, name),
  ]) {
    const { code, stderr } = await story.run("backup", file);
    expect({ file, code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/belongs to the journal itself; name another file\n$/),
    });
  }
  expect(statSync(story.journal).ino).toBe(ino);
});

test("a backup takes the place of an earlier copy alone", async () => {
  await using story = await aStory();
  await story.run("sync");
  const [scan, link, fresh] = ["scan.pdf", "link", "a\nb.db"].map((name) => join(story.dir, name));
  writeFileSync(scan ?? "", "%PDF-1.4");
  symlinkSync(scan ?? "", link ?? "");
  for (const [file, why] of [
    [scan, "is not a copy of a journal"],
    [link, "is not a copy of a journal"],
    [story.dir, "is not a file"],
    [join(story.source, "new.db"), "lies in the source of scans, which would send it"],
  ] as const) {
    const said = await story.run("backup", file ?? "");
    expect(said, file).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  }
  const words = ["journal", "copy", "--from", story.journal, "--to"];
  expect(await story.run(...words, join(story.source, "new.db"))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("new.db lies in the source of scans, which would send it"),
  });
  expect(existsSync(join(story.source, "new.db"))).toBe(false);
  expect(await story.run(...words, scan ?? "")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is not a copy of a journal; name another file"),
  });
  expect(existsSync(`${scan}.lock`)).toBe(false);
  expect(readFileSync(scan ?? "", "utf8")).toBe("%PDF-1.4");
  for (const nowhere of [join(scan ?? "", "x.db"), "x".repeat(300)])
    expect(await story.run("backup", nowhere)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("name a place in a directory that is there"),
    });
  writeFileSync(fresh ?? "", "");
  for (const _ of ["into an empty file", "over an earlier copy"])
    expect(await story.run("backup", fresh ?? "")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("a b.db\n"),
    });
  expect(await story.run("restore", story.dir)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("there is no such file; name a copy"),
  });
});

test("`retry` sends what waited for a folder of a mistaken `target` where it belongs", async () => {
  await using world = await aStory();
  const config = world.configFile();
  const mistaken = readFileSync(config, "utf8").replace("target: /Scans", "target: /Scanz");
  writeFileSync(config, mistaken);
  expect((await world.run("sync")).code).toBe(3);
  writeFileSync(config, mistaken.replace("target: /Scanz", "target: /Scans"));
  await world.run("retry", "--error", "FOLDER_MISSING");
  await world.run("sync");
  expect(world.archive.documents().map(({ filename }) => filename)).toContain("done.pdf");
});

test("mirrors that have exchanged their sources are told by `check` before a start is refused", async () => {
  await using world = await aWorld();
  const other = join(world.dir, "other");
  mkdirSync(other);
  world.write("here.pdf", pdfOf(1));
  const also = `  - { name: other, source: ${other}, target: /Scans, settle: 300ms }`;
  const config = world.configFile("", `    name: scans\n${also}`);
  const run = (...words: string[]) => scanferry(["--config", config, ...words]);
  expect((await run("sync")).code).toBe(0);
  expect((await run("check")).stdout).not.toContain("FAIL");
  const between = `${world.dir}/between`;
  const text = readFileSync(config, "utf8")
    .replace(`source: ${world.source}`, `source: ${between}`)
    .replace(`source: ${other}`, `source: ${world.source}`)
    .replace(`source: ${between}`, `source: ${other}`);
  writeFileSync(config, text);
  const check = await run("check");
  expect(check).toMatchObject({ code: 1, stdout: expect.stringContaining("have exchanged") });
  expect((await run("sync")).stderr).toContain("have exchanged their sources");
});
