/** The dry run: what it says is what then happens, and it changes nothing. */
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
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

test("sources that overlap by a link, with which nothing is sent, make no plan", async () => {
  await using world = await aWorld();
  world.write("letter.pdf", pdfOf(1));
  const config = world.configFile();
  symlinkSync(world.source, join(world.dir, "link"));
  const mirror = "mirrors:\n  - { name: other, source: ./link, target: /Scans }\n";
  writeFileSync(config, readFileSync(config, "utf8").replace("mirrors:\n", mirror));
  const refused = { code: 1, stdout: "", stderr: expect.stringContaining("by a link or a mount") };
  for (const command of ["sync", "plan"])
    expect(await scanferry(["--config", config, command])).toMatchObject(refused);
});

function fill(world: World): void {
  world.write("letter.pdf", pdfOf(2));
  world.write("2026/pages.tiff", tiffOf(3));
  world.write("2026/what: why?.txt", "forbidden characters");
  world.write("New/Deep/signed.asice", asiceOf({ "a.txt": "one" }));
  world.write("2026/half.pdf", pdfOf(2, { seed: 7 }).subarray(0, 200));
  world.write("2026/old.pdf", pdfOf(2, { seed: 8 }).subarray(0, 200));
  utimesSync(join(world.source, "2026/old.pdf"), 1e9, 1e9);
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
    ["2026/old.pdf", "hold", "/Scans/2026", null, "FILE_INCOMPLETE"],
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
  expect(plan.totals).toMatchObject({ send: 3, hold: 2, wait: 1, pages: 6 });
  expect(plan.code).toBe(3);
  expect(world.archive.documents()).toEqual([]);
  expect(existsSync(world.journal)).toBe(false);
  // The configuration is the one file that came to be, and the test wrote it.
  expect(readdirSync(world.dir, { recursive: true })).toHaveLength(before + 1);
});

test("litter asks for no folder, holds nothing back, and is sent only where a glob names its dot", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026"] });
  world.write("2026/letter.pdf", pdfOf(2));
  const litter = [
    "2026/.letter.pdf",
    ".inbox/2026/hidden.pdf",
    ".sync/Archive/letter.pdf",
    "@eaDir/letter.pdf/thumb.jpg",
    "_gsdata_/state.pdf",
    "2026/letter.pdf:Zone.Identifier",
    "2026/letter.pdf\uf022AFP_AfpInfo",
    "2026/.trashed-1767225600-photo.jpg",
    "2026/letter.pdf.sb-1a2b3c4d-Xy9aB0/letter.pdf",
    "2026/Icon\r",
    "2026/NEXTNAME.DAT",
    "2026/other.pdf.rsls",
  ];
  // Unfinished, too: what is looked into is held.
  for (const path of litter) world.write(path, pdfOf(2, { seed: path.length }).subarray(0, 99));
  const config = world.configFile();
  const plan = await planOf(config);
  expect(plan.documents.map(({ path }) => path)).toEqual(["2026/letter.pdf"]);
  expect(plan.foldersToCreate).toEqual([]);
  expect((await scanferry(["--config", config, "sync"])).code).toBe(0);
  expect(world.archive.documents().map(({ filename }) => filename)).toEqual(["letter.pdf"]);
  const { stdout } = await scanferry(["--config", config, "list", "--json"]);
  expect(linesOf(stdout)).toHaveLength(1);

  world.write(".inbox/2026/hidden.pdf", pdfOf(3));
  const named = world.configFile("", '    include: ["**/*", ".inbox/**"]');
  expect((await planOf(named)).documents.map(({ path }) => path)).toEqual([
    ".inbox/2026/hidden.pdf",
  ]);
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
  expect(text.stdout).toMatch(/cannot ask the archive for its folders: .*; check `archive\.url`/);
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

test("what was renamed is not sent again where its name is used again; nor are two that have changed places", async () => {
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

test("an edit that is left alone stays so wherever it is put; a name that was free is a new document", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026", "/Scans/2027"] });
  const scan = world.write("2026/scan.pdf", pdfOf(1, { seed: 1 }));
  const config = world.configFile("", "    changed: ignore");
  const sync = () => scanferry(["--config", config, "sync"]);
  const edited = pdfOf(2, { seed: 2 });
  expect((await sync()).code).toBe(0);
  for (const step of [
    () => writeFileSync(scan, edited),
    () => renameSync(dirname(scan), join(world.source, "2027")),
    () => {
      rmSync(join(world.source, "2027/scan.pdf"));
      world.write("2026/back.pdf", edited);
    },
  ]) {
    step();
    expect((await planOf(config)).documents).toEqual([]);
    expect((await sync()).code).toBe(0);
    expect(world.archive.documents()).toHaveLength(1);
  }
  rmSync(join(world.source, "2026/back.pdf"));
  world.write("2026/back.pdf", pdfOf(3, { seed: 3 }));
  expect((await planOf(config)).documents).toMatchObject([{ action: "send" }]);
  expect((await sync()).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(2);
});

test("what is archived is not held by rules that came later, renamed or not", async () => {
  await using world = await aWorld();
  world.write("a.pdf", pdfOf(1, { seed: 1 }));
  expect((await scanferry(["--config", world.configFile(), "sync"])).code).toBe(0);
  renameSync(join(world.source, "a.pdf"), join(world.source, "b.pdf"));
  for (const rule of [
    "metadata: { sidecar: required }",
    "ready: marker",
    "maxSize: 1KB",
    "minAge: 7d",
  ]) {
    const plan = await planOf(world.configFile("", `    ${rule}`));
    expect([plan.documents, plan.mirrors[0]?.archived], rule).toEqual([[], 1]);
  }
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

test.for([
  ["paused", "while sending is paused"],
  ["without pages", "while the archive takes no more pages, and two are held for that"],
])("a corrected target and expiry date reach what waits, as the plan says: %s", async ([why]) => {
  await using world = await aWorld({
    folders: ["/Right"],
    ...(why === "paused" ? {} : { quotaPages: 2 }),
  });
  const configOf = (target: string, after: string) => {
    const file = world.configFile("", `    expire: { after: ${after}, minimum: 1d }`);
    writeFileSync(file, readFileSync(file, "utf8").replace("/Scans", target));
    return file;
  };
  const run = (config: string, ...words: string[]) => scanferry(["--config", config, ...words]);
  const wrong = configOf("/Scans", "7d");
  world.write("full.pdf", pdfOf(2));
  if (why !== "paused") expect((await run(wrong, "sync")).code).toBe(0);
  else await run(wrong, "pause");
  world.write("a.pdf", pdfOf(1, { seed: 1 }));
  world.write("b.pdf", pdfOf(1, { seed: 2 }));
  await run(wrong, "sync");
  const right = configOf("/Right", "7y");
  const planned = async () =>
    (await planOf(right)).documents
      .filter(({ path }) => path !== "full.pdf")
      .map(({ action, target }) => `${action} ${target}`);
  expect(await planned()).toEqual(["send /Right", "send /Right"]);
  // Decided, it waits; nothing is decided twice by the same settings.
  await run(right, "sync");
  const now = why === "paused" ? "send /Right" : "hold /Right";
  expect(await planned()).toEqual([now, now]);
  world.archive.setQuota(100);
  await run(right, "resume");
  await run(right, "retry");
  expect((await run(right, "sync")).code).toBe(0);
  for (const name of ["a.pdf", "b.pdf"]) {
    const [document, ...more] = world.archive.documents().filter((each) => each.filename === name);
    expect(more).toEqual([]);
    expect(document?.folderPath).toBe("/Right");
    expect((document?.expireDate ?? 0) - Date.now()).toBeGreaterThan(6 * 365 * 86_400_000);
  }
});

test("files that are no documents are named by plan and check, by type and number", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  for (const name of ["setup.EXE", "b/tool.exe", "b/x.dll", "a.pdf"]) world.write(name, pdfOf(1));
  const types = { exe: 2, dll: 1 };
  expect((await planOf(config)).mirrors).toMatchObject([{ noDocuments: types }]);
  const said = /3 files are no documents \(2 exe, 1 dll\).*`exclude: \["\*\*\/\*\.\{exe,dll\}"\]`/;
  for (const command of ["plan", "check"]) {
    expect((await scanferry(["--config", config, command])).stdout, command).toMatch(said);
  }
});
