import { describe, expect, test } from "vitest";
import type { MirrorStatus } from "../../../src/reader/protocol.ts";
import type { RawPath } from "../../../src/std/raw-path.ts";
import { Intake } from "../../../src/sync/intake.ts";
import { Survey } from "../../../src/sync/survey.ts";
import { emptyScan } from "../../fakes/fake-reader.ts";
import { HOUR, MINUTE, SECOND, SyncDesk } from "./desk.ts";

/** A survey whose source is not known to be there yet. */
async function aSurvey() {
  const desk = await SyncDesk.open();
  let changes = 0;
  const changed = () => {
    changes += 1;
  };
  const survey = new Survey(desk.context, desk.mirror(), new Intake(desk.context), changed);
  return { desk, survey, changes: () => changes };
}

function status(set: Partial<MirrorStatus> = {}): MirrorStatus {
  return { mirrorId: 1, online: true, why: "", device: "8:1/ef53/2", mode: "native", ...set };
}

/** Runs the survey, then finds its source there. */
async function online(desk: SyncDesk, survey: Survey, set: Partial<MirrorStatus> = {}) {
  await desk.run(survey);
  await survey.told(status(set));
  await desk.advance(0);
}

describe("when a mirror is scanned", () => {
  test("not before its source is known to be there, then at once", async () => {
    const { desk, survey } = await aSurvey();
    await desk.run(survey);
    survey.request("schedule");
    await desk.advance(MINUTE);
    expect(desk.reader.scans).toBe(0);
    await survey.told(status());
    await desk.advance(0);
    expect(desk.reader.scans).toBe(1);
    expect(survey.state).toMatchObject({ scans: 1 });
  });

  test("several requests before it begins are one", async () => {
    const { desk, survey } = await aSurvey();
    await survey.told(status());
    for (const why of ["schedule", "SIGUSR1", "schedule", "events may be missing"]) {
      survey.request(why);
    }
    await desk.run(survey);
    expect(desk.reader.scans).toBe(1);
  });

  test("a request while one is under way asks for another: it may be past that place", async () => {
    const { desk, survey } = await aSurvey();
    const finish = Promise.withResolvers<void>();
    desk.reader.onScan = async () => {
      await finish.promise;
      return emptyScan();
    };
    await online(desk, survey);
    survey.request("schedule");
    survey.request("SIGUSR1");
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
    const { desk, survey } = await aSurvey();
    await online(desk, survey, { mode });
    await desk.advance(MINUTE);
    expect(desk.reader.scans).toBe(scans);
  });

  test("where a scan takes long, polling takes a tenth of the time", async () => {
    const { desk, survey } = await aSurvey();
    const finish: (() => void)[] = [];
    desk.reader.onScan = async () => {
      await new Promise<void>((resolve) => finish.push(resolve));
      return emptyScan();
    };
    await online(desk, survey, { mode: "polling" });
    await desk.advance(2 * SECOND);
    finish.shift()?.();
    await desk.advance(19 * SECOND);
    expect(desk.reader.scans).toBe(1);
    await desk.advance(SECOND);
    expect(desk.reader.scans).toBe(2);
  });

  test("nor more than that where a scan takes minutes, but for what is asked for", async () => {
    const { desk, survey } = await aSurvey();
    desk.reader.onScan = async () => {
      await desk.clock.pass(2 * MINUTE);
      return emptyScan();
    };
    await online(desk, survey, { mode: "polling" });
    await desk.advance(21 * MINUTE);
    expect(desk.reader.scans).toBe(1);
    survey.request("SIGUSR1");
    await desk.advance(0);
    expect(desk.reader.scans).toBe(2);
    await desk.advance(20 * MINUTE);
    expect(desk.reader.scans).toBe(2);
    await desk.advance(2 * MINUTE);
    expect(desk.reader.scans).toBe(3);
  });

  test("a source that comes back is scanned; one that stays is not", async () => {
    const { desk, survey } = await aSurvey();
    await online(desk, survey);
    await survey.told(status());
    await desk.advance(MINUTE);
    expect(desk.reader.scans).toBe(1);
    await survey.told(status({ online: false, why: "not mounted" }));
    await survey.told(status());
    await desk.advance(0);
    expect(desk.reader.scans).toBe(2);
  });
});

describe("a source that is away", () => {
  test("is not scanned, and nothing is declared vanished", async () => {
    const { desk, survey } = await aSurvey();
    const row = desk.put({ state: "converted", documentId: 5 });
    await online(desk, survey, { online: false, why: "not mounted" });
    survey.request("schedule");
    await desk.advance(HOUR);
    expect(desk.reader.scans).toBe(0);
    expect((await desk.row(row)).goneAt).toBeNull();
    expect(survey.state.status).toMatchObject({ online: false, why: "not mounted" });
  });

  test("is warned of once, and again only for another reason", async () => {
    const { desk, survey } = await aSurvey();
    for (const why of ["not mounted", "not mounted", "no right to read", "no right to read"]) {
      await survey.told(status({ online: false, why }));
    }
    expect(desk.warnings).toHaveLength(2);
  });

  test("found away in the middle of a scan: nothing vanished, and it is scanned again", async () => {
    const { desk, survey } = await aSurvey();
    const row = desk.put({ state: "converted", documentId: 5 });
    const offline = Object.assign(new Error("not mounted"), { code: "SOURCE_OFFLINE" });
    desk.reader.onScan = () => Promise.reject(offline);
    await online(desk, survey);
    expect((await desk.row(row)).goneAt).toBeNull();
    desk.reader.onScan = () => emptyScan();
    await desk.advance(10 * SECOND);
    expect(survey.state.scans).toBe(1);
  });

  test("going away for days in the middle of every scan leaves no more to tell than once", async () => {
    const desk = await SyncDesk.open();
    const scanned: object[] = [];
    const log = { ...desk.context.log, info: (context: object) => void scanned.push(context) };
    const context = { ...desk.context, log };
    const survey = new Survey(context, desk.mirror(), new Intake(context), () => {});
    const offline = Object.assign(new Error("not mounted"), { code: "SOURCE_OFFLINE" });
    desk.reader.onScan = () => Promise.reject(offline);
    await online(desk, survey);
    for (let times = 0; times < 200; times++) {
      survey.request(times % 2 === 0 ? "schedule" : `it stood still for ${times} ms`);
      await desk.advance(10 * SECOND);
    }
    desk.reader.onScan = () => emptyScan();
    await desk.advance(10 * SECOND);
    expect(scanned).toMatchObject([{ why: "it stood still for 199 ms" }]);
  });

  test("by each scan, though it looks there: warned of once, and scanned a tenth of the time", async () => {
    const { desk, survey } = await aSurvey();
    desk.reader.onScan = async () => {
      await desk.clock.pass(MINUTE);
      throw Object.assign(new Error("input/output error"), { code: "SOURCE_OFFLINE" });
    };
    await online(desk, survey);
    await desk.advance(HOUR);
    expect(desk.warnings).toEqual(["scan ended early: input/output error"]);
    expect(desk.reader.scans).toBeLessThan(8);
    desk.reader.onScan = () => emptyScan();
    await desk.advance(11 * MINUTE);
    expect(survey.state.scans).toBe(1);
    desk.reader.cutNext("scan");
    survey.request("again");
    await desk.advance(0);
    expect(desk.warnings).toHaveLength(2);
  });
});

describe("what a scan finds", () => {
  test("directories that are gone take what was in them along", async () => {
    const { desk, survey } = await aSurvey();
    const sent = desk.put({ state: "converted", documentId: 5, path: "old/deep/scan.pdf" });
    const unsent = desk.put({ state: "settling", digest: null, path: "old/deep/new.pdf" });
    const other = desk.put({ state: "converted", documentId: 6, path: "older/scan.pdf" });
    desk.reader.onScan = () => emptyScan({ vanished: ["old" as RawPath] });
    await online(desk, survey);
    expect((await desk.row(sent)).goneAt).toBe(desk.clock.now());
    expect(await desk.journal.document(unsent.id)).toBeUndefined();
    expect((await desk.row(other)).goneAt).toBeNull();
  });

  test("what cannot be read is kept, and warned of once, until it can be read", async () => {
    const { desk, survey, changes } = await aSurvey();
    const trouble = { code: "FILE_UNREADABLE", message: "no right to read" };
    desk.reader.onScan = () => emptyScan({ obstacles: [{ path: "x" as RawPath, trouble }] });
    await survey.told(status());
    await desk.run(survey);
    const unread = { directories: 1, path: "x", why: "no right to read" };
    expect(survey.state.unread).toEqual(unread);
    expect(desk.warnings).toEqual(["cannot be read: no right to read"]);
    // Once for the source, once for the scan.
    expect(changes()).toBe(2);
    survey.request("again");
    await desk.run(survey);
    expect(desk.warnings).toHaveLength(1);
    desk.reader.onScan = () => emptyScan();
    survey.request("once more");
    await desk.run(survey);
    expect(survey.state.unread).toBeNull();
  });

  test("the device is remembered, so that another one is known for what it is", async () => {
    const { desk, survey } = await aSurvey();
    await survey.told(status({ device: "8:1/ef53/77" }));
    expect((await desk.journal.mirrors())[0]?.device).toBe("8:1/ef53/77");
  });
});

test("a reader that dies during a scan: the scan is made again", async () => {
  const { desk, survey } = await aSurvey();
  desk.reader.cutNext("scan");
  await online(desk, survey);
  expect(survey.state.scans).toBe(0);
  await desk.advance(10 * SECOND);
  expect(survey.state.scans).toBe(1);
  expect(desk.reader.scans).toBe(2);
});

test("a link in the place of a folder of documents is told apart from others, as long as it is there", async () => {
  const { desk, survey } = await aSurvey();
  desk.put({ path: "2024/a.pdf", state: "converted", documentId: 9_000 });
  desk.pending({ path: "2025/May/b.pdf" });
  const paths = ["2024", "2025", "other"] as RawPath[];
  const dirs = ["2024", "2025/May"] as RawPath[];
  const links = { paths, number: 7 };
  desk.reader.onScan = () => emptyScan({ links, vanished: dirs });
  await online(desk, survey);
  expect(survey.state.links).toEqual({ replaced: ["2024", "2025"], others: 5 });
  // What was never sent is forgotten by now.
  expect(desk.states()).toEqual(["converted"]);
  desk.reader.onScan = () => emptyScan({ links });
  survey.request("schedule");
  await desk.advance(0);
  expect(survey.state.links).toEqual({ replaced: ["2024", "2025"], others: 5 });
  desk.reader.onScan = () => emptyScan({ links: { paths: [], number: 1 } });
  survey.request("schedule");
  await desk.advance(0);
  expect(survey.state.links).toEqual({ replaced: [], others: 1 });
});
