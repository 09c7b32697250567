/** The main job over the whole daemon: real readers, real files, the embedded archive over HTTP. */
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { joinRaw, bytesOf } from "../../src/std/raw-path.ts";
import { aConfig } from "../fixtures/a-config.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { audit, digestOf, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { type World, aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const rowAt = async (world: World, path: string) =>
  (await rowsOf(world.journal)).find(
    (row) => row.current && bytesOf(joinRaw(row.dir, row.name)).toString() === path,
  );

const inState = (world: World, path: string, state: string) =>
  until(`${path} ${state}`, async () => {
    const row = await rowAt(world, path);
    return row?.state === state && row;
  });

test("a second run over the same tree sends nothing", async () => {
  await using world = await aWorld();
  for (let n = 0; n < 20; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  for (let run = 0; run < 2; run++) {
    await using live = await aDaemon(world.config());
    await live.idle();
  }
  expect(await audit(world)).toEqual([]);
  expect(world.archive.documents()).toHaveLength(20);
});

test("a file renamed into place and one in new nested folders are found by their events", async () => {
  await using world = await aWorld({ folders: ["/Scans/new/deep/er"] });
  await using live = await aDaemon(world.config());
  await live.idle();
  world.write("upload.tmp", pdfOf(1, { seed: 1 }));
  renameSync(join(world.source, "upload.tmp"), join(world.source, "renamed.pdf"));
  world.write("new/deep/er/nested.pdf", pdfOf(1, { seed: 2 }));
  await inState(world, "renamed.pdf", "converted");
  await inState(world, "new/deep/er/nested.pdf", "converted");
  expect(await audit(world)).toEqual([]);
});

test("documents wait for their folder and continue automatically when it is there", async () => {
  await using world = await aWorld();
  world.write("there.pdf", pdfOf(1, { seed: 1 }));
  world.write("not/yet.pdf", pdfOf(1, { seed: 2 }));
  await using live = await aDaemon(world.config());
  await live.idle();
  const status = await live.daemon.status();
  expect(status.documents).toMatchObject({ converted: 1, held: 1 });
  expect(status.foldersToCreate).toMatchObject([{ path: "/Scans/not", documents: 1 }]);
  world.archive.createFolder("/Scans/not");
  live.daemon.rescan("test");
  await inState(world, "not/yet.pdf", "converted");
  expect(await audit(world)).toEqual([]);
});

test.for([
  ["nearest", { kind: "nearest" }, "/Scans", "the deepest folder that is there"],
  ["fallback", { kind: "fallback", path: "/Unsorted" }, "/Unsorted", "where it was said"],
] as const)("missing folders, %s: %o puts it into %s: %s", async ([, missingFolder, folder]) => {
  await using world = await aWorld({ folders: ["/Unsorted"] });
  world.write("a/b/c.pdf", pdfOf(1));
  await using live = await aDaemon(world.config({}, { missingFolder }));
  await live.idle();
  expect(world.archive.documents()).toMatchObject([{ folderPath: folder, status: "CONVERTED" }]);
});

test("the closed gate survives a restart", async () => {
  await using world = await aWorld({ quotaPages: 1 });
  for (let n = 0; n < 3; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  const { quota } = aConfig("quota: { retry: { initial: 1h, max: 1h } }");
  const uploads = () => world.archive.requests().upload;
  {
    await using live = await aDaemon(world.config({ quota }));
    await live.idle();
  }
  const before = uploads();
  {
    await using live = await aDaemon(world.config({ quota }));
    await live.idle();
    expect((await live.daemon.status()).documents).toMatchObject({ converted: 1, held: 2 });
  }
  expect(uploads(), "nothing was tried behind the gate").toBe(before);
});

test("a refused signature closes the gate, with the fix, and nothing is lost", async () => {
  await using world = await aWorld();
  world.write("scan.pdf", pdfOf(1));
  const wrong = world.config();
  const archive = {
    ...wrong.archive,
    signing: { scheme: "hmac", algorithm: "sha256", encoding: "base64", secret: "not it" } as const,
  };
  {
    await using live = await aDaemon({ ...wrong, archive });
    await live.idle();
    const { gate, documents } = await live.daemon.status();
    expect(gate).toMatchObject({ code: "CREDENTIALS_REFUSED" });
    expect(gate?.hint).toContain("archive.accountKey");
    expect(documents).toMatchObject({ held: 1 });
  }
  {
    await using live = await aDaemon(world.config());
    await inState(world, "scan.pdf", "converted");
    expect((await live.daemon.status()).gate).toBeNull();
  }
  expect(await audit(world)).toEqual([]);
});

test("an edit is a new document that names the one it supersedes; a touch is nothing", async () => {
  await using world = await aWorld();
  const first = pdfOf(1, { seed: 1 });
  const file = world.write("scan.pdf", first);
  await using live = await aDaemon(world.config());
  await inState(world, "scan.pdf", "converted");
  utimesSync(file, new Date(1_000), new Date(1_000));
  live.daemon.rescan("test");
  const touched = await until("the touch", async () => {
    const row = await rowAt(world, "scan.pdf");
    return row?.state === "converted" && row.seen.modifiedAt === 1_000 && row;
  });
  expect(world.archive.documents()).toHaveLength(1);
  writeFileSync(file, pdfOf(2, { seed: 2 }));
  const edited = await until("the edit", async () => {
    const row = await rowAt(world, "scan.pdf");
    return row?.id !== touched.id && row?.state === "converted" && row;
  });
  expect(edited.supersedes).toBe(touched.id);
  expect(world.archive.documents()).toHaveLength(2);
  expect(await audit(world, { formerly: [digestOf(first)] })).toEqual([]);
});

test("with `changed: ignore` an edit is not sent, and a new file of that name is", async () => {
  await using world = await aWorld();
  const first = pdfOf(1, { seed: 1 });
  const file = world.write("scan.pdf", first);
  await using live = await aDaemon(world.config({}, { changed: "ignore" }));
  await inState(world, "scan.pdf", "converted");
  writeFileSync(file, pdfOf(2, { seed: 2 }));
  await until("the remark", async () => (await rowAt(world, "scan.pdf"))?.remark);
  await live.idle();
  expect(world.archive.documents()).toHaveLength(1);
  rmSync(file);
  await until("gone", async () => (await rowAt(world, "scan.pdf"))?.goneAt);
  writeFileSync(file, pdfOf(3, { seed: 3 }));
  await until("the new one", () => world.archive.documents().length === 2);
});

test("a scanner uses a name again while its scan before is renamed: each is sent once", async () => {
  await using world = await aWorld();
  const file = world.write("scan.pdf", pdfOf(1, { seed: 1 }));
  await using live = await aDaemon(world.config({}, { settleMs: 1_000 }));
  await inState(world, "scan.pdf", "converted");
  renameSync(file, join(world.source, "invoice.pdf"));
  await until("its row", () => rowAt(world, "invoice.pdf"));
  world.write("scan.pdf", pdfOf(1, { seed: 2 }));
  expect((await inState(world, "invoice.pdf", "converted")).movedFrom).toBe("scan.pdf");
  await inState(world, "scan.pdf", "converted");
  await live.idle();
  expect(world.archive.documents().map(({ filename }) => filename)).toEqual([
    "scan.pdf",
    "scan.pdf",
  ]);
  expect(await audit(world)).toEqual([]);
});

test("a rename, and a move to another folder, send nothing; the journal follows", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026"] });
  const file = world.write("scan.pdf", pdfOf(1));
  await using live = await aDaemon(world.config());
  await inState(world, "scan.pdf", "converted");
  const moved = join(world.source, "2026", "contract.pdf");
  mkdirSync(dirname(moved));
  renameSync(file, moved);
  const row = await inState(world, "2026/contract.pdf", "converted");
  expect(row.movedFrom).toBe("scan.pdf");
  await live.idle();
  expect(world.archive.documents()).toHaveLength(1);
  expect(await rowAt(world, "scan.pdf")).toBeUndefined();
  expect((await live.daemon.status()).moved).toMatchObject([
    { path: "2026/contract.pdf", from: "scan.pdf", archivedIn: "/Scans" },
  ]);
  expect(await audit(world)).toEqual([]);
});

test("names that are no text, or that the archive forbids, are archived under legal ones", async () => {
  await using world = await aWorld();
  const odd = Buffer.concat([
    Buffer.from(`${world.source}/M`),
    Buffer.from([0xfc]),
    Buffer.from(".pdf"),
  ]);
  writeFileSync(odd, pdfOf(1, { seed: 1 }));
  world.write('a:b"c.pdf', pdfOf(1, { seed: 2 }));
  await using live = await aDaemon(world.config());
  await live.idle();
  const sent = world.archive.documents().map(({ filename, title }) => [filename, title] as const);
  expect(new Map(sent)).toEqual(
    new Map([
      ["M%FC.pdf", "M\\xfc.pdf"],
      ["a_b_c.pdf", 'a:b"c.pdf'],
    ]),
  );
});

test("temporary, empty and unfinished files are not sent", async () => {
  await using world = await aWorld();
  world.write("~$letter.docx", "lock");
  world.write("scan.pdf.part", pdfOf(1));
  world.write("empty.pdf", "");
  world.write("cut.pdf", pdfOf(3).subarray(0, 200));
  world.write("good.pdf", pdfOf(1));
  await using live = await aDaemon(world.config());
  await inState(world, "good.pdf", "converted");
  const waiting = await until("the cut one's reason", async () => {
    const row = await rowAt(world, "cut.pdf");
    return row?.problem && row;
  });
  expect(waiting).toMatchObject({ state: "settling", problem: { code: "FILE_UNFINISHED" } });
  expect(world.archive.documents().map(({ filename }) => filename)).toEqual(["good.pdf"]);
  expect(live.daemon.webUrl).toBeUndefined();
});

test("a source that vanishes is offline, not deleted; it goes on when it is back", async () => {
  await using world = await aWorld();
  world.write("one.pdf", pdfOf(1, { seed: 1 }));
  await using live = await aDaemon(world.config());
  await inState(world, "one.pdf", "converted");
  const away = `${world.source}-away`;
  renameSync(world.source, away);
  live.daemon.rescan("test");
  writeFileSync(join(away, "two.pdf"), pdfOf(1, { seed: 2 }));
  await until("it to be missed", async () => (await live.daemon.status()).mirrors[0]?.offline);
  expect((await rowAt(world, "one.pdf"))?.goneAt).toBeNull();
  renameSync(away, world.source);
  await inState(world, "two.pdf", "converted");
  expect(await audit(world)).toEqual([]);
});

test("without events, `polling` finds a new file on its own, and `off` at the next rescan", async () => {
  await using world = await aWorld();
  for (const [watch, name] of [
    ["polling", "one.pdf"],
    ["off", "two.pdf"],
  ] as const) {
    await using live = await aDaemon(world.config({}, { watch }));
    await live.idle();
    world.write(name, pdfOf(1, { seed: name.length + watch.length }));
    if (watch === "off") live.daemon.rescan("test");
    await inState(world, name, "converted");
  }
  expect(await audit(world)).toEqual([]);
});

test("a folder that differs in capitals only is reported, not guessed", async () => {
  await using world = await aWorld({ folders: ["/Scans/Invoices"] });
  world.write("invoices/scan.pdf", pdfOf(1));
  await using live = await aDaemon(world.config());
  await live.idle();
  const row = await rowAt(world, "invoices/scan.pdf");
  expect(row).toMatchObject({ state: "held", problem: { code: "FOLDER_CASE" } });
  expect(row?.problem?.message).toContain("Invoices");
});

test("a document that the archive never converts is reported as stuck, and the pass ends", async () => {
  await using world = await aWorld();
  world.archive.setFaults([{ on: "upload", do: "convert", afterMs: "never" }]);
  world.write("scan.pdf", pdfOf(1));
  const conversion = { poll: { initialMs: 50, maxMs: 200 }, stuckAfterMs: 500 };
  await using live = await aDaemon(world.config({ conversion }));
  await live.idle();
  const row = await rowAt(world, "scan.pdf");
  expect(row).toMatchObject({ state: "uploaded", problem: { code: "CONVERSION_STUCK" } });
});

test("large and small files next to each other: each once, the large one whole", async () => {
  await using world = await aWorld();
  const large = Buffer.alloc(40 * 1024 * 1024, 7);
  world.write("large.bin", large);
  for (let n = 0; n < 20; n++) world.write(`small-${n}.pdf`, pdfOf(1, { seed: n }));
  await using live = await aDaemon(world.config());
  await live.idle();
  expect(world.archive.documents().find(({ filename }) => filename === "large.bin")).toMatchObject({
    size: large.length,
    sha256: digestOf(large),
  });
  expect(await audit(world)).toEqual([]);
});

test("files that wait in a folder which is renamed are counted once, long before the next scan", async () => {
  await using world = await aWorld();
  await using live = await aDaemon(world.config({ schedule: { rescan: "0 0 1 1 *" } }));
  await live.daemon.journal.setPaused(true);
  for (let n = 0; n < 10; n++) world.write(`2025/May/${n}.pdf`, pdfOf(1, { seed: n }));
  const counted = async (settling: number, pending: number) => {
    const { documents } = await live.daemon.status();
    return documents.settling === settling && documents.pending === pending;
  };
  await until("all wait", () => counted(0, 10));
  renameSync(join(world.source, "2025"), join(world.source, "2025 (old)"));
  await until("all wait under the new name", () => rowAt(world, "2025 (old)/May/9.pdf"));
  await until("each is counted once", () => counted(0, 10));
  renameSync(join(world.source, "2025 (old)"), join(world.dir, "elsewhere"));
  await until("none waits any more", () => counted(0, 0));
});

test("a folder that is moved away, with a link in its place, is told by status, check and plan", async () => {
  await using world = await aWorld({ folders: ["/Scans/2025"] });
  world.write("2025/scan.pdf", pdfOf(1));
  const config = world.configFile();
  const run = (...words: string[]) => scanferry(["--config", config, ...words]);
  await using running = aProcess(["--config", config, "run"]);
  await until("archived", () => world.archive.documents().length === 1);
  await inState(world, "2025/scan.pdf", "converted");
  renameSync(join(world.source, "2025"), join(world.dir, "2025"));
  symlinkSync("../2025", join(world.source, "2025"));
  symlinkSync("../2025/scan.pdf", join(world.source, "other.pdf"));
  writeFileSync(join(world.dir, "2025", "new.pdf"), pdfOf(1, { seed: 2 }));
  running.child.kill("SIGUSR1");
  const told = "scans: 2025 was a folder and is a link now: nothing below it is sent";
  const others = "scans: 1 link is left out, never followed";
  await until("told", async () => (await run("status")).stdout.includes(told));
  for (const command of ["status", "check", "plan"]) {
    const { stdout } = await run(command);
    expect(stdout, command).toContain(told);
    expect(stdout, command).toContain(others);
  }
  const { stdout } = await run("status", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    mirrors: [{ links: { replaced: ["2025"], others: 1 } }],
  });
});

test("`explain` of a path whose file was renamed, twice, says where it is; and of one that was forgotten", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const run = async (...words: string[]) =>
    (await scanferry(["--config", config, ...words])).stdout;
  world.write("a.pdf", pdfOf(1));
  await run("sync");
  for (const [from, to] of [
    ["a.pdf", "b.pdf"],
    ["b.pdf", "c.pdf"],
  ] as const) {
    renameSync(join(world.source, from), join(world.source, to));
    await run("sync");
  }
  const [{ id } = { id: 0 }] = world.archive.documents();
  const moved = `the file was renamed or moved: it is now c.pdf, archived as document ${id}`;
  for (const path of ["a.pdf", "b.pdf"]) expect(await run("explain", path), path).toContain(moved);
  expect(await run("explain", "c.pdf")).toContain("moved from    a.pdf");
  world.write("never.pdf", pdfOf(1, { seed: 3 }));
  await run("pause");
  await run("sync");
  rmSync(join(world.source, "never.pdf"));
  await run("sync");
  expect(await run("explain", "never.pdf")).toContain(
    "it was not sent, and the journal has dropped it",
  );
});
