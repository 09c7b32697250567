import { describe, expect, test } from "vitest";
import type { PagePolicy } from "../../../src/domain/allowance.ts";
import { periodOf } from "../../../src/domain/calendar.ts";
import { sumOf } from "../../../src/journal/usage-bucket.ts";
import { NO_RULES } from "../../../src/rules/rules.ts";
import { Budget } from "../../../src/sync/budget.ts";
import { answers, aSender, type Bench, oneAtATime, refusal, stalled, stored } from "./a-sender.ts";
import { CONFIG, HOUR, MINUTE, SECOND } from "./desk.ts";
import { NO_ALLOWANCE } from "../../fixtures/a-config.ts";
import { allowanceWait, pageReportOf, whyKept } from "../../../src/report/page-report.ts";

const DAY = 24 * HOUR;
const NOTHING = sumOf([]);

/** A bench whose account has so many pages a month. */
function withPages(set: Partial<PagePolicy>, mirrors: Parameters<typeof aSender>[0] = {}) {
  const quota = { ...CONFIG.quota, pages: { ...NO_ALLOWANCE, ...set } };
  return aSender({ ...mirrors, config: { quota, upload: oneAtATime(), ...mirrors?.config } });
}

/** Every upload is stored, and CONVERTED at once with as many pages as were counted. */
function stores(bench: Bench): void {
  let last = 500;
  answers(bench, () => stored(++last));
}

const account = ({ desk }: Bench) => ({
  policy: desk.context.config.quota.pages,
  mirrors: new Map([...desk.context.mirrors].map(([id, { settings }]) => [id, settings.name])),
});
const reportOf = (bench: Bench) =>
  pageReportOf(bench.desk.journal, account(bench), bench.desk.clock.now());
const sentPaths = ({ desk }: Bench) =>
  [...desk.readers.values()].flatMap(({ sent }) => sent.map(({ path }) => path));

describe("hold", () => {
  test("passes over what does not fit, and goes on with the new month", async () => {
    const bench = await withPages({ monthlyPages: 10, whenUsedUp: "hold" });
    const { desk } = bench;
    stores(bench);
    for (const [path, estimate] of [
      ["a", 4],
      ["b", 9],
      ["c", 5],
      ["d", 2],
      ["e", 1],
    ] as const)
      desk.pending({ path, estimate, digest: path });
    await desk.run(bench.sender);
    expect(sentPaths(bench)).toEqual(["a", "c", "e"]);
    const { allowance, waiting } = await reportOf(bench);
    expect(allowance).toMatchObject({
      used: 10,
      left: 0,
      level: "usedUp",
      keeps: { documents: 2 },
    });
    expect(waiting).toEqual({ documents: 2, pages: 11, unknown: 0 });
    await desk.advance(periodOf(desk.clock.now(), 1).to - desk.clock.now() + SECOND);
    // Nine of ten: what is left takes nothing that waits.
    expect(sentPaths(bench)).toEqual(["a", "c", "e", "b"]);
    expect((await reportOf(bench)).allowance).toMatchObject({ used: 9, keeps: { documents: 1 } });
  });

  test("what is being sent counts, and so does what is in doubt", async () => {
    const bench = await withPages(
      { monthlyPages: 10, whenUsedUp: "hold" },
      { config: { upload: { ...oneAtATime(), concurrency: 4 } } },
    );
    const { desk } = bench;
    const open = stalled(bench);
    for (let n = 0; n < 6; n++) desk.pending({ path: `${n}`, estimate: 3, digest: `${n}` });
    await desk.run(bench.sender);
    expect(open).toHaveLength(3);
    const problem = { code: "REPLY_LOST", message: "cut" };
    open[0]?.end({ kind: "inDoubt", problem });
    await desk.advance(MINUTE);
    expect(desk.states()).toEqual([
      "inDoubt",
      "uploading",
      "uploading",
      "pending",
      "pending",
      "pending",
    ]);
    expect((await reportOf(bench)).allowance).toMatchObject({ used: 9, left: 1 });
    open[1]?.end(refusal("FILE_SIZE_TOO_BIG"));
    await desk.advance(MINUTE);
    expect(open, "what was refused cost nothing").toHaveLength(4);
  });

  test("a document that turns out to have more pages than were counted takes them from the others", async () => {
    const bench = await withPages({ monthlyPages: 10, whenUsedUp: "hold" });
    const { desk } = bench;
    stores(bench);
    const office = desk.pending({ path: "a.docx", estimate: null });
    await desk.run(bench.sender);
    expect((await reportOf(bench)).allowance).toMatchObject({ used: 1 });
    const at = desk.clock.now();
    const counted = { pages: 9, archiveBytes: 1, digidoc: false, after: null };
    await desk.journal.apply([
      { type: "event", id: office.id, event: { type: "converted", at, ...counted } },
    ]);
    const next = desk.pending({ path: "b", estimate: 2, digest: "b" });
    desk.context.wakeups.sending.notify();
    await desk.advance(SECOND);
    expect((await reportOf(bench)).allowance).toMatchObject({ used: 9, left: 1 });
    expect(await desk.row(next)).toMatchObject({ state: "pending" });
    expect(await whyKept(desk.journal, account(bench), await desk.row(next), at)).toContain(
      "2 of its pages, 1 left",
    );
    const wait = allowanceWait(await reportOf(bench), 1);
    expect(wait).toMatchObject({ why: "allowance", until: periodOf(at, 1).to });
  });

  test("a probe of the closed gate goes past it", async () => {
    const bench = await withPages({ monthlyPages: 3, whenUsedUp: "hold" });
    const { desk } = bench;
    answers(bench, refusal("QUOTA_LIMIT"));
    desk.pending({ path: "a", estimate: 3 });
    desk.pending({
      path: "b",
      estimate: 50,
      digest: "b",
      seen: { sizeBytes: 1, modifiedAt: 0, stamp: "b" },
    });
    await desk.run(bench.sender);
    expect(desk.states()).toEqual(["held", "held"]);
    stores(bench);
    await desk.advance(6 * MINUTE);
    // The smallest by bytes probes, then the budget counts again: nothing is left of it.
    expect(desk.states()).toEqual(["pending", "uploaded"]);
    expect(sentPaths(bench)).toEqual(["a", "b"]);
  });
});

describe("a reserve", () => {
  const mirrors = [{ name: "scans" }, { name: "contracts" }];
  const reserve = { pages: 4, mirrors: ["contracts"] };

  test.for(["warn", "hold"] as const)("is kept for its mirror, with %s", async (whenUsedUp) => {
    const bench = await withPages({ monthlyPages: 10, reserve, whenUsedUp }, { mirrors });
    const { desk } = bench;
    for (const reader of desk.readers.values()) {
      let last = reader === desk.reader ? 500 : 900;
      reader.onSend = async () => stored(++last);
    }
    for (let n = 0; n < 9; n++) {
      desk.pending({ path: `s${n}`, estimate: 1, digest: `s${n}` });
      if (n < 3) desk.pending({ path: `c${n}`, estimate: 1, digest: `c${n}`, mirrorId: 2 });
    }
    await desk.run(bench.sender);
    expect(desk.reader.sent).toHaveLength(6);
    expect(desk.readerOf(2).sent).toHaveLength(3);
    const { allowance } = await reportOf(bench);
    expect(allowance).toMatchObject({
      used: 9,
      reserve: { pages: 4, left: 1 },
      keeps: { documents: 3, mirrors: ["scans"] },
    });
    expect(allowanceWait(await reportOf(bench), 3)).toMatchObject({ why: "allowance" });
  });
});

test.for([
  // order, sent
  ["oldest", ["a", "b", "c", "d"]],
  ["newest", ["d", "c", "b", "a"]],
] as const)("a mirror whose order is %s sends %j", async ([order, expected]) => {
  const bench = await aSender({
    mirrors: [{ rules: { ...NO_RULES, order } }],
    config: { upload: oneAtATime() },
  });
  const { desk } = bench;
  stores(bench);
  const now = desk.clock.now();
  for (const [index, sizeBytes] of [30, 90_000_000, 10, 40].entries()) {
    const path = "abcd".charAt(index);
    const seen = { sizeBytes, modifiedAt: 0, stamp: path };
    desk.pending({ path, digest: path, dueAt: now - 10 + index, seen });
  }
  await desk.run(bench.sender);
  expect(sentPaths(bench)).toEqual(expected);
});

describe("warnings", () => {
  test("at 80 % and at 100 %, once a month each, also over a restart; a new month is told", async () => {
    const bench = await withPages({ monthlyPages: 10 });
    const { desk } = bench;
    const infos: string[] = [];
    const log = {
      ...desk.context.log,
      info: (_: object, message: string) => void infos.push(message),
    };
    const { policy, mirrors } = account(bench);
    const open = () => new Budget({ journal: desk.journal, log, policy, mirrors });
    const look = () => open().shares(desk.clock.now());
    const uses = (charged: number) =>
      desk.journal.store.tables.activity.add({
        mirrorId: 1,
        at: desk.clock.now(),
        ...NOTHING,
        charged,
      });
    uses(7);
    await look();
    expect(desk.warnings).toEqual([]);
    uses(1);
    await look();
    await look();
    expect(desk.warnings).toHaveLength(1);
    expect(desk.warnings[0]).toContain("8 of this month's 10 pages are used");
    uses(-2);
    await look();
    uses(5);
    await look();
    await look();
    expect(desk.warnings).toHaveLength(2);
    expect(desk.warnings[1]).toContain("11 of this month's 10");
    await desk.advance(32 * DAY);
    await look();
    await look();
    expect(infos).toEqual(["a new month of the page allowance has begun"]);
    expect(desk.warnings).toHaveLength(2);
  });
});

test("an allowance that was made larger is warned of again", async () => {
  const bench = await withPages({});
  const { desk } = bench;
  const look = async (monthlyPages: number, charged: number) => {
    desk.journal.store.tables.activity.add({
      mirrorId: 1,
      at: desk.clock.now(),
      ...NOTHING,
      charged,
    });
    const { mirrors } = account(bench);
    const { journal, log } = desk.context;
    const policy = { ...NO_ALLOWANCE, monthlyPages };
    await new Budget({ journal, log, policy, mirrors }).shares(desk.clock.now());
    return desk.warnings.length;
  };
  expect(await look(100, 100)).toBe(1);
  expect(await look(120, 0), "four fifths of it are used, and that was told").toBe(1);
  expect(await look(120, 20)).toBe(2);
  expect(await look(400, 0)).toBe(2);
  expect(await look(400, 200)).toBe(3);
  expect(await look(400, -1)).toBe(3);
  expect(await look(400, 1)).toBe(3);
});

test("what a mirror has used that is no longer configured counts, another archive's does not", async () => {
  const bench = await withPages({ monthlyPages: 10, whenUsedUp: "hold" });
  const { journal, clock } = bench.desk;
  const { id: mirrorId } = await journal.mirror("former", "/srv/former");
  const { id: other } = await journal.archive("legal", "https://legal.example");
  const { id: theirs } = await journal.of(other).mirror("theirs", "/srv/theirs");
  journal.store.tables.activity.add({ mirrorId, at: clock.now(), ...NOTHING, charged: 4 });
  journal.store.tables.activity.add({ mirrorId: theirs, at: clock.now(), ...NOTHING, charged: 5 });
  expect((await reportOf(bench)).allowance).toMatchObject({ used: 4, left: 6 });
});

test("how long it lasts is told by the last days, and that it lasts where it does", async () => {
  const bench = await withPages({ monthlyPages: 1_000 });
  const { desk } = bench;
  const { from, to } = periodOf(desk.clock.now(), 1);
  const now = from + 10 * DAY;
  const uses = (at: number, charged: number) =>
    desk.journal.store.tables.activity.add({
      mirrorId: 1,
      at,
      ...NOTHING,
      charged,
      saved: charged,
    });
  for (let day = 0; day < 10; day++) uses(from + day * DAY + HOUR, 70);
  const report = await pageReportOf(desk.journal, account(bench), now);
  expect(report).toMatchObject({ month: 700, saved: 700, perDay: 70 });
  expect(report.allowance).toMatchObject({ used: 700, level: "ok", problem: null });
  const runsOut = report.allowance?.runsOutAt ?? 0;
  expect(runsOut - now).toBeCloseTo((300 / 70) * DAY, -5);
  const late = await pageReportOf(desk.journal, account(bench), to - DAY);
  expect(late.allowance?.runsOutAt).toBeNull();
});
