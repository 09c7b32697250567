/** The main job over the whole daemon: real readers, real files, the embedded archive over HTTP. */
import { appendFileSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { joinRaw, bytesOf } from "../../src/std/raw-path.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { audit, digestOf, rowsOf } from "../fixtures/auditor.ts";
import { asiceOf, pdfOf, pngOf, tiffOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { type World, aWorld } from "../fixtures/world.ts";

const rowAt = async (world: World, path: string) =>
  (await rowsOf(world.journal)).find(
    (row) => row.current && bytesOf(joinRaw(row.dir, row.name)).toString() === path,
  );

const inState = (world: World, path: string, state: string) =>
  until(`${path} ${state}`, async () => {
    const row = await rowAt(world, path);
    return row?.state === state && row;
  });

test("a tree of documents is archived once, whole, in its folders, with true page counts", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026/May", "/Scans/Contracts"] });
  world.write("letter.pdf", pdfOf(2));
  world.write("2026/May/pages.tiff", tiffOf(3));
  world.write("2026/May/photo.png", pngOf(1));
  world.write("Contracts/signed.asice", asiceOf({ "a.txt": "one", "b.txt": "two" }));
  // Ready together, however long it takes to look at each.
  const batch = { quietMs: 60_000, maxDocuments: 200 };
  {
    await using live = await aDaemon(world.config({ batch }));
    await live.quiescent();
    const { documents } = await live.daemon.status();
    expect(documents).toMatchObject({ converted: 4, held: 0, failed: 0 });
  }
  expect(await audit(world)).toEqual([]);
  const pages = Object.fromEntries(world.archive.documents().map((d) => [d.filename, d.pages]));
  expect(pages).toMatchObject({ "letter.pdf": 2, "pages.tiff": 3, "photo.png": 1 });
  const signed = await rowAt(world, "Contracts/signed.asice");
  expect(signed).toMatchObject({ digidoc: true, state: "converted" });
  const batches = new Set(world.archive.documents().map(({ batch }) => batch));
  expect(batches.size, "what becomes ready together shares a batch").toBe(1);
});

test("a second run over the same tree sends nothing", async () => {
  await using world = await aWorld();
  for (let n = 0; n < 20; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  for (let run = 0; run < 2; run++) {
    await using live = await aDaemon(world.config());
    await live.quiescent();
  }
  expect(await audit(world)).toEqual([]);
  expect(world.archive.documents()).toHaveLength(20);
});

test("a slow writer is waited for: with pauses longer than the quiet time, and never torn", async () => {
  await using world = await aWorld();
  const whole = pdfOf(6, { text: "page by page" });
  const file = join(world.source, "slow.pdf");
  await using _live = await aDaemon(world.config());
  const piece = Math.ceil(whole.length / 4);
  for (let at = 0; at < whole.length; at += piece) {
    appendFileSync(file, whole.subarray(at, at + piece));
    // Longer than `settle`: only the format tells that more is to come.
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await inState(world, "slow.pdf", "converted");
  expect(world.archive.documents().map(({ sha256 }) => sha256)).toEqual([digestOf(whole)]);
  expect(await audit(world)).toEqual([]);
});

test("a file renamed into place and one in new nested folders are found by their events", async () => {
  await using world = await aWorld({ folders: ["/Scans/new/deep/er"] });
  await using live = await aDaemon(world.config());
  await live.quiescent();
  world.write("upload.tmp", pdfOf(1, { seed: 1 }));
  renameSync(join(world.source, "upload.tmp"), join(world.source, "renamed.pdf"));
  world.write("new/deep/er/nested.pdf", pdfOf(1, { seed: 2 }));
  await inState(world, "renamed.pdf", "converted");
  await inState(world, "new/deep/er/nested.pdf", "converted");
  expect(await audit(world)).toEqual([]);
});

test("documents wait for their folder and go on by themselves when it is there", async () => {
  await using world = await aWorld();
  world.write("there.pdf", pdfOf(1, { seed: 1 }));
  world.write("not/yet.pdf", pdfOf(1, { seed: 2 }));
  await using live = await aDaemon(world.config());
  await live.quiescent();
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
  await live.quiescent();
  expect(world.archive.documents()).toMatchObject([{ folderPath: folder, status: "CONVERTED" }]);
});

test("a spent allowance stops everything, says so, and lets it go on when it is back", async () => {
  await using world = await aWorld({ quotaPages: 3 });
  for (let n = 0; n < 8; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  const began = performance.now();
  await using live = await aDaemon(world.config());
  await live.quiescent();
  // Every now and then one of them is on its way to find out whether the gate is open.
  const status = await until("all that waits to be held", async () => {
    const now = await live.daemon.status();
    return now.documents.held === 5 && now;
  });
  expect(status.documents).toMatchObject({ converted: 3, held: 5, pending: 0 });
  expect(status.quota.blockedSince).not.toBeNull();
  const asked =
    world.archive.requests().find(({ operation }) => operation === "upload")?.count ?? 0;
  // Each once before it closed, two probes at first, then one in half a second, however slow the machine is.
  const most = 8 + 2 + (performance.now() - began) / 500;
  expect(asked, "not every document hammers a closed gate").toBeLessThanOrEqual(most);
  world.archive.setQuota(undefined);
  await until("all converted", async () => {
    const { documents } = await live.daemon.status();
    return documents.converted === 8;
  });
  expect((await live.daemon.status()).gate).toBeNull();
  expect(await audit(world)).toEqual([]);
});

test("the closed gate survives a restart", async () => {
  await using world = await aWorld({ quotaPages: 1 });
  for (let n = 0; n < 3; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  const patient = {
    quota: { retry: { initialMs: 3_600_000, maxMs: 3_600_000 }, retryAt: undefined },
  };
  const uploads = () => world.archive.requests().find((r) => r.operation === "upload")?.count;
  {
    await using live = await aDaemon(world.config(patient));
    await live.quiescent();
  }
  const before = uploads();
  {
    await using live = await aDaemon(world.config(patient));
    await live.quiescent();
    expect((await live.daemon.status()).documents).toMatchObject({ converted: 1, held: 2 });
  }
  expect(uploads(), "nothing was tried behind the gate").toBe(before);
});

test("a refused signature closes the gate, with the mend, and nothing is lost", async () => {
  await using world = await aWorld();
  world.write("scan.pdf", pdfOf(1));
  const wrong = world.config();
  const archive = {
    ...wrong.archive,
    signing: { scheme: "hmac", algorithm: "sha256", encoding: "base64", secret: "not it" } as const,
  };
  {
    await using live = await aDaemon({ ...wrong, archive });
    await live.quiescent();
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
  await live.quiescent();
  expect(world.archive.documents()).toHaveLength(1);
  rmSync(file);
  await until("gone", async () => (await rowAt(world, "scan.pdf"))?.goneAt);
  writeFileSync(file, pdfOf(3, { seed: 3 }));
  await until("the new one", () => world.archive.documents().length === 2);
});

test("a scanner uses a name anew while its scan before is renamed: each is sent once", async () => {
  await using world = await aWorld();
  const file = world.write("scan.pdf", pdfOf(1, { seed: 1 }));
  await using live = await aDaemon(world.config({}, { settleMs: 1_000 }));
  await inState(world, "scan.pdf", "converted");
  renameSync(file, join(world.source, "invoice.pdf"));
  await until("its row", () => rowAt(world, "invoice.pdf"));
  world.write("scan.pdf", pdfOf(1, { seed: 2 }));
  expect((await inState(world, "invoice.pdf", "converted")).movedFrom).toBe("scan.pdf");
  await inState(world, "scan.pdf", "converted");
  await live.quiescent();
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
  await live.quiescent();
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
  await live.quiescent();
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
    return row?.trouble && row;
  });
  expect(waiting).toMatchObject({ state: "settling", trouble: { code: "FILE_UNFINISHED" } });
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

test("without events, `polling` finds a new file by itself, and `off` at the next rescan", async () => {
  await using world = await aWorld();
  for (const [watch, name] of [
    ["polling", "one.pdf"],
    ["off", "two.pdf"],
  ] as const) {
    await using live = await aDaemon(world.config({}, { watch }));
    await live.quiescent();
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
  await live.quiescent();
  const row = await rowAt(world, "invoices/scan.pdf");
  expect(row).toMatchObject({ state: "held", trouble: { code: "FOLDER_CASE" } });
  expect(row?.trouble?.message).toContain("Invoices");
});

test("a document that the archive never converts is reported as stuck, and the pass ends", async () => {
  await using world = await aWorld();
  world.archive.setFaults([{ on: "upload", do: "convert", afterMs: "never" }]);
  world.write("scan.pdf", pdfOf(1));
  const conversion = { poll: { initialMs: 50, maxMs: 200 }, stuckAfterMs: 500 };
  await using live = await aDaemon(world.config({ conversion }));
  await live.quiescent();
  const row = await rowAt(world, "scan.pdf");
  expect(row).toMatchObject({ state: "uploaded", trouble: { code: "CONVERSION_STUCK" } });
});

test("large and small files beside each other: each once, the large one whole", async () => {
  await using world = await aWorld();
  const large = Buffer.alloc(40 * 1024 * 1024, 7);
  world.write("large.bin", large);
  for (let n = 0; n < 20; n++) world.write(`small-${n}.pdf`, pdfOf(1, { seed: n }));
  await using live = await aDaemon(world.config());
  await live.quiescent();
  expect(world.archive.documents().find(({ filename }) => filename === "large.bin")).toMatchObject({
    size: large.length,
    sha256: digestOf(large),
  });
  expect(await audit(world)).toEqual([]);
});
