/** All loops together, over fakes: what ties them to one another. */
import { describe, expect, test } from "vitest";
import { type RawPath, rawOfText } from "../../../src/std/raw-path.ts";
import { Sync } from "../../../src/sync/sync.ts";
import { emptyScan } from "../../fakes/fake-reader.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { online as status, HOUR, SECOND, SyncDesk, never } from "./desk.ts";

const noSchedule = () => null;

async function aSync() {
  const desk = await SyncDesk.open();
  desk.archive.addFolder("Scans");
  const sync = await Sync.open(desk.context, noSchedule, () => {});
  return { desk, sync };
}

test("one file, from the reader's word to CONVERTED", async () => {
  const { desk, sync } = await aSync();
  await desk.run(sync);
  await sync.told(status());
  const seen = { sizeBytes: 5, modifiedAt: 0, stamp: "a" };
  desk.reader.files.set("scan.pdf", { seen, digest: "d1" });
  const files = [{ name: "scan.pdf" as RawPath, seen }];
  await sync.readerCalls.listing(1, { dir: "" as RawPath, fingerprint: "print", files });
  const folderId = 100;
  desk.reader.onSend = ({ filename }) => {
    const documentId = desk.archive.addDocument({ folderId, filename });
    return { kind: "accepted", documentId, status: "UPLOADED" };
  };
  await desk.advance(3 * SECOND);
  expect(desk.states()).toEqual(["uploaded"]);
  const { documentId } = await desk.row(1);
  desk.archive.change(documentId ?? 0, { status: "CONVERTED", pages: 2 });
  await desk.advance(10 * SECOND);
  expect(await desk.row(1)).toMatchObject({ state: "converted", pages: 2, attempts: 1 });
});

test("a first run is not over while a folder of the source cannot be read", async () => {
  const desk = await SyncDesk.open({ mirrors: [{ firstRun: "hold" }] });
  desk.put({ state: "converted", documentId: 17 });
  const unreadable = [
    { path: "x" as RawPath, problem: { code: "FILE_UNREADABLE", message: "no" } },
  ];
  desk.reader.onScan = () => emptyScan({ unreadable });
  const sync = await Sync.open(desk.context, noSchedule, () => {});
  await desk.run(sync);
  await sync.told(status());
  await desk.advance(10 * SECOND);
  expect(await desk.journal.firstRuns()).toEqual([1]);
  desk.reader.onScan = () => emptyScan();
  sync.rescan("SIGUSR1");
  await desk.advance(10 * SECOND);
  expect(await desk.journal.firstRuns()).toEqual([]);
});

test("what was under way when the last run ended is in doubt, however much it is", async () => {
  const desk = await SyncDesk.open();
  for (let n = 0; n < 1_200; n++) desk.put({ state: "uploading", dueAt: null });
  const sync = await Sync.open(desk.context, noSchedule, () => {});
  expect(new Set(desk.states())).toEqual(new Set(["inDoubt"]));
  expect(await desk.row(1)).toMatchObject({
    problem: { code: "REPLY_LOST" },
    doubtAt: desk.clock.now(),
  });
  expect(sync.underWay).toBe(0);
});

test("what fails next to the loops ends them all, with its own error", async () => {
  const { sync } = await aSync();
  const running = sync.run(never);
  sync.fail(new Error("the disk is gone"));
  await expect(running).rejects.toThrow("the disk is gone");
});

describe("another process writes to the journal", () => {
  test("`pause` stops sending, `resume` lets it go on, within a second", async () => {
    const { desk, sync } = await aSync();
    const other = new MemoryJournal({ store: desk.journal.store });
    await desk.run(sync);
    await other.setPaused(true);
    await desk.advance(SECOND);
    desk.pending();
    desk.context.wakeups.sending.notify();
    await desk.advance(HOUR);
    expect(desk.states()).toEqual(["pending"]);
    await other.setPaused(false);
    await desk.advance(SECOND);
    expect(desk.states()).toEqual(["uploaded"]);
  });

  test("`retry` puts a failed document back, and it is sent", async () => {
    const { desk, sync } = await aSync();
    const { id } = desk.put({ state: "failed", problem: { code: "ODD", message: "odd" } });
    const other = new MemoryJournal({ store: desk.journal.store });
    await desk.run(sync);
    const event = { type: "goesOn", at: desk.clock.now() } as const;
    await other.apply([{ type: "event", id, event }]);
    await desk.advance(SECOND);
    expect((await desk.row(id)).state).toBe("uploaded");
  });
});

describe("sources", () => {
  test("one that comes back lets go what waited for it", async () => {
    const { desk, sync } = await aSync();
    const problem = { code: "SOURCE_OFFLINE", message: "not mounted" };
    const { id } = desk.put({ state: "held", problem, digest: null, dueAt: null });
    await desk.run(sync);
    await sync.told(status({ online: false, why: "not mounted" }));
    await desk.advance(0);
    expect((await desk.row(id)).state).toBe("held");
    await sync.told(status());
    expect((await desk.row(id)).state).toBe("settling");
  });

  test("a reader that is up again is sent through at once", async () => {
    const { desk, sync } = await aSync();
    desk.reader.pid = undefined;
    desk.pending();
    await desk.run(sync);
    await desk.advance(SECOND);
    expect(desk.states()).toEqual(["pending"]);
    desk.reader.pid = 4712;
    await sync.told(status());
    await desk.advance(0);
    expect(desk.states()).toEqual(["uploaded"]);
  });

  test("events that may be missing ask for a scan of that mirror", async () => {
    const { desk, sync } = await aSync();
    await desk.run(sync);
    await sync.told(status());
    await desk.advance(0);
    await sync.readerCalls.doubt(1, "the process stood still for 3 s");
    await desk.advance(0);
    expect(desk.reader.scans).toBe(2);
    expect(desk.warnings).toEqual([]);
  });

  test("a hint is taken up without a scan", async () => {
    const { desk, sync } = await aSync();
    await desk.run(sync);
    const seen = { sizeBytes: 5, modifiedAt: 0, stamp: "a" };
    await sync.readerCalls.hint(1, [{ path: rawOfText("2026/scan.pdf"), seen }]);
    expect(desk.states()).toEqual(["settling"]);
    expect(desk.reader.scans).toBe(0);
  });
});

test("a rescan looks for missing folders too, at once", async () => {
  const { desk, sync } = await aSync();
  const problem = { code: "FOLDER_MISSING", message: "2026 does not exist" };
  const row = desk.pending({ state: "held", problem, dueAt: null, targetPath: "/2026" });
  await desk.run(sync);
  await desk.advance(HOUR);
  desk.archive.addFolder("2026");
  sync.rescan("SIGUSR1");
  await desk.advance(0);
  expect((await desk.row(row)).state).toBe("uploaded");
});

test("a loop that fails ends all the others, and is what is told", async () => {
  const { desk, sync } = await aSync();
  const running = sync.run(new AbortController().signal);
  running.catch(() => {});
  await desk.advance(0);
  desk.journal.due = () => Promise.reject(new Error("disk full"));
  desk.context.wakeups.doubts.notify();
  await desk.advance(0);
  await expect(running).rejects.toThrow("disk full");
});

test("an archive folder is renamed, and another made under its name: what comes next goes into that", async () => {
  const { desk, sync } = await aSync();
  const row = desk.pending();
  await desk.run(sync);
  const { folderId } = await desk.row(row);
  await desk.advance(60 * SECOND);
  desk.archive.changeFolder(folderId ?? 0, { name: "Scans, closed" });
  const next = desk.archive.addFolder("Scans");
  const later = desk.pending();
  desk.context.wakeups.sending.notify();
  await desk.advance(SECOND);
  expect(await desk.row(later)).toMatchObject({ state: "uploaded", folderId: next });
});

test("a batch whose last file is removed has its receipt at once, not when another is converted", async () => {
  const desk = await SyncDesk.open();
  const batch = "b";
  const at = desk.clock.now();
  desk.journal.store.tables.activity.setBatch({
    id: batch,
    mirrorId: 1,
    openedAt: at,
    joinedAt: at,
    documents: 2,
  });
  desk.put({ state: "converted", documentId: 9_000, batch });
  const waits = desk.put({ state: "failed", problem: { code: "ODD", message: "odd" }, batch });
  const written: string[] = [];
  const write = async (receipt: { readonly batch: string }) => {
    written.push(receipt.batch);
    return [];
  };
  const receipts = { write };
  const sync = await Sync.open({ ...desk.context, receipts }, noSchedule, () => {});
  await desk.run(sync);
  await desk.advance(HOUR);
  expect(written).toEqual([]);
  const change = { type: "forget", id: waits.id, at, why: "removed" } as const;
  sync.journaled(await desk.journal.apply([change]));
  await desk.advance(SECOND);
  expect(written).toEqual([batch]);
});
