/** The dry run: what it says is what then happens, and it changes nothing. */
import { existsSync, readdirSync, renameSync, rmSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { SqliteJournal } from "../../src/journal/sqlite-journal.ts";
import { asiceOf, pdfOf, tiffOf } from "../fixtures/documents.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { linesOf, scanferry } from "../unit/cli/in-process.ts";

type Plan = {
  documents: {
    path: string;
    action: string;
    target: string;
    folderId: number | null;
    pages: number | null;
    sentName: string;
    error: { code: string } | null;
  }[];
  foldersToCreate: { path: string; documents: number }[];
  mirrors: { name: string; offline: string | null; archived: number }[];
  archive: { asked: boolean; error: { code: string } | null };
  totals: Record<string, number>;
};

async function planOf(config: string): Promise<Plan & { code: number }> {
  const { code, stdout, stderr } = await scanferry(["--config", config, "plan", "--json"]);
  expect(stderr).toBe("");
  return { ...(JSON.parse(stdout) as Plan), code };
}

const byPath = ([a]: readonly unknown[], [b]: readonly unknown[]) =>
  String(a) < String(b) ? -1 : 1;

function fill(world: World): void {
  world.write("letter.pdf", pdfOf(2));
  world.write("2026/pages.tiff", tiffOf(3));
  world.write("2026/what: why?.txt", "forbidden characters");
  world.write("New/Deep/signed.asice", asiceOf({ "a.txt": "one" }));
  world.write("2026/half.pdf", pdfOf(2, { seed: 7 }).subarray(0, 200));
  world.write("Thumbs.db", "no document");
}

test("names, pages, folders and reasons, without a byte sent or a file written", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026"] });
  fill(world);
  const before = readdirSync(world.dir, { recursive: true }).length;
  const config = world.configFile();
  const plan = await planOf(config);
  const told = plan.documents.map(({ path, action, target, pages, error }) => [
    path,
    action,
    target,
    pages,
    error?.code ?? null,
  ]);
  expect(told.sort(byPath)).toEqual([
    ["2026/half.pdf", "wait", "/Scans/2026", null, "FILE_UNFINISHED"],
    ["2026/pages.tiff", "send", "/Scans/2026", 3, null],
    ["2026/what: why?.txt", "send", "/Scans/2026", 1, null],
    ["New/Deep/signed.asice", "hold", "/Scans/New/Deep", null, "FOLDER_MISSING"],
    ["letter.pdf", "send", "/Scans", 2, null],
  ]);
  expect(plan.documents.find(({ path }) => path.includes("why"))?.sentName).toBe("what_ why_.txt");
  expect(plan.foldersToCreate).toEqual([
    { path: "/Scans/New", documents: 0 },
    { path: "/Scans/New/Deep", documents: 1 },
  ]);
  expect(plan.totals).toMatchObject({ send: 3, hold: 1, wait: 1, pages: 6 });
  expect(plan.code).toBe(0);
  expect(world.archive.documents()).toEqual([]);
  expect(existsSync(world.journal)).toBe(false);
  // The configuration is the one file that came to be, and the test wrote it.
  expect(readdirSync(world.dir, { recursive: true })).toHaveLength(before + 1);
});

test("what was planned is what a sync sends; a second plan has nothing left", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026"] });
  world.write("letter.pdf", pdfOf(2));
  world.write("2026/pages.tiff", tiffOf(3));
  const config = world.configFile();
  const { documents } = await planOf(config);
  const planned = documents.map(({ sentName, folderId }) => `${folderId} ${sentName}`).sort();
  expect((await scanferry(["--config", config, "sync"])).code).toBe(0);
  const sent = world.archive.documents().map(({ filename, folderId }) => `${folderId} ${filename}`);
  expect(sent.sort()).toEqual(planned);

  // Touched and moved files are not sent again, and the plan knows.
  utimesSync(join(world.source, "letter.pdf"), 1_000, 1_000);
  renameSync(join(world.source, "2026/pages.tiff"), join(world.source, "2026/moved.tiff"));
  const again = await planOf(config);
  expect(again.documents).toEqual([]);
  expect(again.mirrors).toMatchObject([{ archived: 2 }]);

  world.write("letter.pdf", pdfOf(4, { seed: 3 }));
  expect((await planOf(config)).documents).toMatchObject([
    { path: "letter.pdf", action: "send", pages: 4 },
  ]);
});

test.for([
  ["nearest", "/Scans", "the nearest folder above that is there"],
  ["fallback:/Inbox", "/Inbox", "the one that is configured"],
] as const)("missingFolder %s: the plan names the folder it goes to, %s: %s", async (row) => {
  const [missingFolder, folder] = row;
  await using world = await aWorld({ folders: ["/Inbox"] });
  world.write("New/Deep/letter.pdf", pdfOf(2));
  const config = world.configFile("", `    missingFolder: ${missingFolder}`);
  const { documents } = await planOf(config);
  expect(documents).toMatchObject([{ action: "send", target: "/Scans/New/Deep", folder }]);
  const text = await scanferry(["--config", config, "plan"]);
  expect(text.stdout).toContain(`letter.pdf  → ${folder} (id ${documents[0]?.folderId})`);
});

test.for([
  ["QUOTA_LIMIT", { quotaPages: 1 }, "what waits goes on as it was decided"],
  ["FILE_SIZE_TOO_BIG", { maxFileSizeBytes: 100 }, "what failed is sent as it was, if at all"],
] as const)("what met %s is planned by what the journal has of it: %#", async ([code, options]) => {
  await using world = await aWorld({ folders: ["/Bills"], ...options });
  world.write("bill-7.pdf", pdfOf(2));
  const rule = `{ name: bills, match: "^bill-", target: /Bills, metadata: { title: A bill } }`;
  const config = world.configFile("", `    rules: [${rule}]`);
  expect((await scanferry(["--config", config, "sync"])).code).toBe(3);
  const { documents } = await planOf(config);
  expect(documents).toMatchObject([
    {
      path: "bill-7.pdf",
      action: "hold",
      error: { code },
      target: "/Bills",
      folderId: expect.any(Number),
      pages: 2,
      rule: "bills",
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      metadata: { title: { value: "A bill" } },
    },
  ]);
});

test("an archive that cannot be asked leaves the folders open, and is said", async () => {
  await using world = await aWorld();
  world.write("letter.pdf", pdfOf(2));
  const config = world.configFile();
  await world.archive.close();
  const plan = await planOf(config);
  expect(plan.documents).toMatchObject([
    { path: "letter.pdf", action: "send", folderId: null, pages: 2 },
  ]);
  expect(plan.archive).toMatchObject({ asked: false, error: { code: "ARCHIVE_UNREACHABLE" } });
  expect(plan.code).toBe(0);
  const text = await scanferry(["--config", config, "plan"]);
  expect(text.stdout).toMatch(/the archive was not asked for folders: .*; check `archive\.url`/);
});

test("an offline source ends the plan with 1, and is named", async () => {
  await using world = await aWorld();
  rmSync(world.source, { recursive: true });
  const config = world.configFile();
  const plan = await planOf(config);
  expect(plan).toMatchObject({
    code: 1,
    documents: [],
    mirrors: [{ offline: expect.stringMatching(/does not exist/) }],
  });
  const { stdout } = await scanferry(["--config", config, "plan"]);
  expect(linesOf(stdout)).toContainEqual(expect.stringMatching(/^mirror scans is offline: /));
});

test("a first run: what has a name that the archive holds already is held, as the run then does", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026"] });
  world.write("letter.pdf", pdfOf(2));
  const config = world.configFile();
  expect((await scanferry(["--config", config, "sync"])).code).toBe(0);
  rmSync(dirname(world.journal), { recursive: true });
  world.write("2026/letter.pdf", pdfOf(3, { seed: 4 }));
  const { documents } = await planOf(config);
  const told = documents.map(({ path, action, error }) => [path, action, error?.code ?? null]);
  expect(told.sort(byPath)).toEqual([
    ["2026/letter.pdf", "send", null],
    ["letter.pdf", "hold", "FIRST_RUN"],
  ]);
  expect((await scanferry(["--config", config, "sync"])).code).toBe(3);
  expect(world.archive.documents()).toHaveLength(2);

  // By the choice for the mirror it is sent after all, also what is held already.
  expect((await planOf(config)).documents).toMatchObject([{ action: "hold" }]);
  const chosen = world.configFile("", "    firstRun: upload");
  expect((await planOf(chosen)).documents).toMatchObject([{ path: "letter.pdf", action: "send" }]);
});

test("a mirror of another name is known by its source: nothing of it would be sent again", async () => {
  await using world = await aWorld();
  world.write("letter.pdf", pdfOf(2));
  expect((await scanferry(["--config", world.configFile(), "sync"])).code).toBe(0);
  const plan = await planOf(world.configFile("", "    name: office"));
  expect(plan.documents).toEqual([]);
  expect(plan.mirrors).toMatchObject([{ name: "office", archived: 1 }]);
});

test("what was renamed is not sent again where its name is used anew; nor are two that have changed places", async () => {
  await using world = await aWorld();
  const [scan, a, b] = ["scan.pdf", "a.pdf", "b.pdf"].map((name, seed) =>
    world.write(name, pdfOf(1, { seed })),
  );
  const config = world.configFile("", "    duplicates: skip");
  expect((await scanferry(["--config", config, "sync"])).code).toBe(0);
  renameSync(scan ?? "", join(world.source, "invoice.pdf"));
  world.write("scan.pdf", pdfOf(1, { seed: 9 }));
  const aside = join(world.dir, "aside.pdf");
  renameSync(a ?? "", aside);
  renameSync(b ?? "", a ?? "");
  renameSync(aside, b ?? "");
  const plan = await planOf(config);
  expect(plan.documents).toMatchObject([{ path: "scan.pdf", action: "send" }]);
  expect((await scanferry(["--config", config, "sync"])).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(4);
  expect((await planOf(config)).documents).toEqual([]);
});

test("of two copies of a file that is gone one is that file, the other another document", async () => {
  await using world = await aWorld();
  const letter = world.write("letter.pdf", pdfOf(2));
  const config = world.configFile();
  expect((await scanferry(["--config", config, "sync"])).code).toBe(0);
  rmSync(letter);
  world.write("one.pdf", pdfOf(2));
  world.write("other.pdf", pdfOf(2));
  const plan = await planOf(config);
  expect(plan.documents).toMatchObject([{ action: "send" }]);
  expect((await scanferry(["--config", config, "sync"])).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(2);
});

test("what comes back after its row was dropped is known by its content", async () => {
  await using world = await aWorld();
  const letter = world.write("letter.pdf", pdfOf(2));
  const config = world.configFile();
  const sync = () => scanferry(["--config", config, "sync"]);
  expect((await sync()).code).toBe(0);
  rmSync(letter);
  expect((await sync()).code).toBe(0);
  await dropRows(world.journal);
  world.write("back.pdf", pdfOf(2));
  const plan = await planOf(config);
  expect(plan.documents).toEqual([]);
  expect(plan.mirrors).toMatchObject([{ archived: 1 }]);
  expect((await sync()).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(1);
});

/** As retention does after years. */
async function dropRows(path: string): Promise<void> {
  await using journal = await SqliteJournal.open({ path, role: "guest" });
  const ever = Number.MAX_SAFE_INTEGER;
  const mirrorIds = (await journal.mirrors()).map(({ id }) => id);
  const times = { at: Date.now(), before: ever, forgetBefore: 0 };
  const rest = { mirrorIds, after: 0, afterBatch: 0, limit: 100, receipts: false };
  expect(await journal.tidy({ ...times, ...rest })).toMatchObject({ dropped: 1 });
}

test("over a copy that was taken back, what was sent after it is held, as it will be", async () => {
  await using world = await aWorld();
  world.write("before.pdf", pdfOf(2));
  const config = world.configFile();
  const copy = join(world.dir, "copy.db");
  expect((await scanferry(["--config", config, "sync"])).code).toBe(0);
  expect((await scanferry(["--config", config, "backup", copy])).code).toBe(0);
  world.write("after.pdf", pdfOf(3));
  expect((await scanferry(["--config", config, "sync"])).code).toBe(0);
  expect((await scanferry(["--config", config, "restore", copy])).code).toBe(0);
  const held = [{ path: "after.pdf", action: "hold", error: { code: "FIRST_RUN" } }];
  expect((await planOf(config)).documents).toMatchObject(held);
  expect((await scanferry(["--config", config, "sync"])).code).toBe(3);
  expect((await planOf(config)).documents).toMatchObject(held);
  expect(world.archive.documents()).toHaveLength(2);
});
