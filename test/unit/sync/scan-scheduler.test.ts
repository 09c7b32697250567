import { describe, expect, test } from "vitest";
import type { MirrorStatus } from "../../../src/reader/protocol.ts";
import type { RawPath } from "../../../src/std/raw-path.ts";
import { Intake } from "../../../src/sync/intake.ts";
import { ScanScheduler } from "../../../src/sync/scan-scheduler.ts";
import { emptyScan } from "../../fakes/fake-reader.ts";
import { online as status, HOUR, MINUTE, SECOND, SyncDesk } from "./desk.ts";

/** A scan scheduler whose source is not known to be there yet. */
async function aScanScheduler() {
  const desk = await SyncDesk.open();
  let changes = 0;
  const changed = () => {
    changes += 1;
  };
  const scanScheduler = new ScanScheduler(
    desk.context,
    desk.mirror(),
    new Intake(desk.context),
    changed,
  );
  return { desk, scanScheduler, changes: () => changes };
}

/** Runs the scan scheduler, then finds its source there. */
async function online(
  desk: SyncDesk,
  scanScheduler: ScanScheduler,
  set: Partial<MirrorStatus> = {},
) {
  await desk.run(scanScheduler);
  await scanScheduler.told(status(set));
  await desk.advance(0);
}

describe("when a mirror is scanned", () => {
  test("not before its source is known to be there, then at once", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    await desk.run(scanScheduler);
    scanScheduler.request("schedule");
    await desk.advance(MINUTE);
    expect(desk.reader.scans).toBe(0);
    await scanScheduler.told(status());
    await desk.advance(0);
    expect(desk.reader.scans).toBe(1);
    expect(scanScheduler.state).toMatchObject({ scans: 1 });
  });

  test("also for what happened before a folder was watched, or while it is not", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    await online(desk, scanScheduler);
    for (const unwatched of ["too many", "too many", null]) {
      await scanScheduler.told(status({ unwatched }));
      await desk.advance(0);
    }
    expect(desk.reader.scans).toBe(3);
    expect(desk.warnings).toEqual(["some folders are not watched: too many"]);
  });

  test("several requests before it begins are one", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    await scanScheduler.told(status());
    for (const why of ["schedule", "SIGUSR1", "schedule", "events may be missing"]) {
      scanScheduler.request(why);
    }
    await desk.run(scanScheduler);
    expect(desk.reader.scans).toBe(1);
  });

  test("a request while one is under way asks for another: it may be past that place", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    const finish = Promise.withResolvers<void>();
    desk.reader.onScan = async () => {
      await finish.promise;
      return emptyScan();
    };
    await online(desk, scanScheduler);
    scanScheduler.request("schedule");
    scanScheduler.request("SIGUSR1");
    await desk.advance(0);
    expect(desk.reader.scans).toBe(1);
    finish.resolve();
    await desk.advance(0);
    expect(desk.reader.scans).toBe(2);
    await desk.advance(HOUR);
    expect(desk.reader.scans).toBe(2);
  });

  test.for([
    ["native", 1, "events tell of the rest"],
    ["off", 1, "the schedule tells when"],
    ["polling", 13, "nothing else tells of changes"],
  ] as const)("mode %s: %i scans in a minute, because %s", async ([mode, scans]) => {
    const { desk, scanScheduler } = await aScanScheduler();
    await online(desk, scanScheduler, { mode });
    await desk.advance(MINUTE);
    expect(desk.reader.scans).toBe(scans);
  });

  test("where a scan takes long, polling takes a tenth of the time", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    const finish: (() => void)[] = [];
    desk.reader.onScan = async () => {
      await new Promise<void>((resolve) => finish.push(resolve));
      return emptyScan();
    };
    await online(desk, scanScheduler, { mode: "polling" });
    await desk.advance(2 * SECOND);
    finish.shift()?.();
    await desk.advance(19 * SECOND);
    expect(desk.reader.scans).toBe(1);
    await desk.advance(SECOND);
    expect(desk.reader.scans).toBe(2);
  });

  test("nor more than that where a scan takes minutes, but for what is asked for", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    desk.reader.onScan = async () => {
      await desk.clock.pass(2 * MINUTE);
      return emptyScan();
    };
    await online(desk, scanScheduler, { mode: "polling" });
    await desk.advance(21 * MINUTE);
    expect(desk.reader.scans).toBe(1);
    scanScheduler.request("SIGUSR1");
    await desk.advance(0);
    expect(desk.reader.scans).toBe(2);
    await desk.advance(20 * MINUTE);
    expect(desk.reader.scans).toBe(2);
    await desk.advance(2 * MINUTE);
    expect(desk.reader.scans).toBe(3);
  });

  test("a source that comes back is scanned; one that stays is not", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    await online(desk, scanScheduler);
    await scanScheduler.told(status());
    await desk.advance(MINUTE);
    expect(desk.reader.scans).toBe(1);
    await scanScheduler.told(status({ online: false, why: "not mounted" }));
    await scanScheduler.told(status());
    await desk.advance(0);
    expect(desk.reader.scans).toBe(2);
  });
});

describe("a source that is away", () => {
  test("is not scanned, and nothing is declared vanished", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    const row = desk.put({ state: "converted", documentId: 5 });
    await online(desk, scanScheduler, { online: false, why: "not mounted" });
    scanScheduler.request("schedule");
    await desk.advance(HOUR);
    expect(desk.reader.scans).toBe(0);
    expect((await desk.row(row)).goneAt).toBeNull();
    expect(scanScheduler.state.status).toMatchObject({ online: false, why: "not mounted" });
  });

  test("is warned of once, and again only for another reason", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    for (const why of ["not mounted", "not mounted", "no right to read", "no right to read"]) {
      await scanScheduler.told(status({ online: false, why }));
    }
    expect(desk.warnings).toHaveLength(2);
  });

  test("found away in the middle of a scan: nothing vanished, and it is scanned again", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    const row = desk.put({ state: "converted", documentId: 5 });
    const offline = Object.assign(new Error("not mounted"), { code: "SOURCE_OFFLINE" });
    desk.reader.onScan = () => Promise.reject(offline);
    await online(desk, scanScheduler);
    expect((await desk.row(row)).goneAt).toBeNull();
    desk.reader.onScan = () => emptyScan();
    await desk.advance(10 * SECOND);
    expect(scanScheduler.state.scans).toBe(1);
  });

  test("going away for days in the middle of every scan leaves no more to tell than once", async () => {
    const desk = await SyncDesk.open();
    const scanned: object[] = [];
    const log = { ...desk.context.log, info: (context: object) => void scanned.push(context) };
    const context = { ...desk.context, log };
    const scanScheduler = new ScanScheduler(context, desk.mirror(), new Intake(context), () => {});
    const offline = Object.assign(new Error("not mounted"), { code: "SOURCE_OFFLINE" });
    desk.reader.onScan = () => Promise.reject(offline);
    await online(desk, scanScheduler);
    for (let times = 0; times < 200; times++) {
      scanScheduler.request(times % 2 === 0 ? "schedule" : `it stood still for ${times} ms`);
      await desk.advance(10 * SECOND);
    }
    desk.reader.onScan = () => emptyScan();
    await desk.advance(10 * SECOND);
    expect(scanned).toMatchObject([{ why: "it stood still for 199 ms" }]);
  });

  test("by each scan, though it looks there: warned of once, and scanned a tenth of the time", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    desk.reader.onScan = async () => {
      await desk.clock.pass(MINUTE);
      throw Object.assign(new Error("input/output error"), { code: "SOURCE_OFFLINE" });
    };
    await online(desk, scanScheduler);
    await desk.advance(HOUR);
    expect(desk.warnings).toEqual(["scan ended early: input/output error"]);
    expect(desk.reader.scans).toBeLessThan(8);
    desk.reader.onScan = () => emptyScan();
    await desk.advance(11 * MINUTE);
    expect(scanScheduler.state.scans).toBe(1);
    desk.reader.cutNext("scan");
    scanScheduler.request("again");
    await desk.advance(0);
    expect(desk.warnings).toHaveLength(2);
  });
});

describe("what a scan finds", () => {
  test("directories that are gone take what was in them along", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    const sent = desk.put({ state: "converted", documentId: 5, path: "old/deep/scan.pdf" });
    const unsent = desk.put({ state: "settling", digest: null, path: "old/deep/new.pdf" });
    const other = desk.put({ state: "converted", documentId: 6, path: "older/scan.pdf" });
    desk.reader.onScan = () => emptyScan({ vanished: ["old" as RawPath] });
    await online(desk, scanScheduler);
    expect((await desk.row(sent)).goneAt).toBe(desk.clock.now());
    expect(await desk.journal.document(unsent.id)).toBeUndefined();
    expect((await desk.row(other)).goneAt).toBeNull();
  });

  test("what cannot be read is kept, and warned of once, until it can be read", async () => {
    const { desk, scanScheduler, changes } = await aScanScheduler();
    const problem = { code: "FILE_UNREADABLE", message: "no right to read" };
    desk.reader.onScan = () => emptyScan({ unreadable: [{ path: "x" as RawPath, problem }] });
    await scanScheduler.told(status());
    await desk.run(scanScheduler);
    const unread = { directories: 1, path: "x", why: "no right to read" };
    expect(scanScheduler.state.unread).toEqual(unread);
    expect(desk.warnings).toEqual(["cannot be read: no right to read"]);
    // Once for the source, once for the scan.
    expect(changes()).toBe(2);
    scanScheduler.request("again");
    await desk.run(scanScheduler);
    expect(desk.warnings).toHaveLength(1);
    desk.reader.onScan = () => emptyScan();
    scanScheduler.request("once more");
    await desk.run(scanScheduler);
    expect(scanScheduler.state.unread).toBeNull();
  });

  test("the device is remembered, so that another one is known for what it is", async () => {
    const { desk, scanScheduler } = await aScanScheduler();
    await scanScheduler.told(status({ device: "8:1/ef53/77" }));
    expect((await desk.journal.mirrors())[0]?.device).toBe("8:1/ef53/77");
  });
});

test("a reader that dies during a scan: the scan is made again", async () => {
  const { desk, scanScheduler } = await aScanScheduler();
  desk.reader.cutNext("scan");
  await online(desk, scanScheduler);
  expect(scanScheduler.state.scans).toBe(0);
  await desk.advance(10 * SECOND);
  expect(scanScheduler.state.scans).toBe(1);
  expect(desk.reader.scans).toBe(2);
});

test("a link in the place of a folder of documents is told apart from others, as long as it is there", async () => {
  const { desk, scanScheduler } = await aScanScheduler();
  desk.put({ path: "2024/a.pdf", state: "converted", documentId: 9_000 });
  desk.pending({ path: "2025/May/b.pdf" });
  const paths = ["2024", "2025", "other"] as RawPath[];
  const dirs = ["2024", "2025/May"] as RawPath[];
  const links = { paths, number: 7 };
  desk.reader.onScan = () => emptyScan({ links, vanished: dirs });
  await online(desk, scanScheduler);
  expect(scanScheduler.state.links).toEqual({ replaced: ["2024", "2025"], others: 5 });
  // What was never sent is forgotten by now.
  expect(desk.states()).toEqual(["converted"]);
  desk.reader.onScan = () => emptyScan({ links });
  scanScheduler.request("schedule");
  await desk.advance(0);
  expect(scanScheduler.state.links).toEqual({ replaced: ["2024", "2025"], others: 5 });
  desk.reader.onScan = () => emptyScan({ links: { paths: [], number: 1 } });
  scanScheduler.request("schedule");
  await desk.advance(0);
  expect(scanScheduler.state.links).toEqual({ replaced: [], others: 1 });
});
