import { expect, test } from "vitest";
import { systemClock } from "../../../src/std/clock.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { UploadMeter } from "../../../src/dashboard/upload-meter.ts";
import { seenOf } from "../../contract/journal-desk.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { EventStream } from "./event-stream.ts";
import { openDashboard, reportOf } from "./open-dashboard.ts";

test("a page is told where things stand, and again when something changed", async () => {
  let paused = false;
  await using opened = await openDashboard({ status: async () => reportOf({ paused }) });
  await using page = await EventStream.open(opened.dashboard.url);
  expect(await page.next()).toMatchObject({ event: "status", data: { paused: false } });
  paused = true;
  opened.dashboard.changed();
  expect(await page.next()).toMatchObject({
    event: "status",
    data: { paused: true, version: "0.0.0-test", health: { healthy: true } },
  });
});

test("an action is told to every page", async () => {
  let paused = false;
  const actions = {
    retry: async () => 0,
    adopt: async () => ({ documents: 0, unclear: 0, changed: 0 }),
    sendAsNew: async () => ({ documents: 0, unclear: 0, changed: 0 }),
    pause: async () => void (paused = true),
    resume: async () => undefined,
    rescan: async () => undefined,
  };
  await using opened = await openDashboard({ actions, status: async () => reportOf({ paused }) });
  await using page = await EventStream.open(opened.dashboard.url);
  await page.next();
  await fetch(`${opened.dashboard.url}/api/pause`, {
    method: "POST",
    headers: { "x-scanferry": "1", "content-type": "application/json" },
  });
  expect(await page.next()).toMatchObject({ data: { paused: true } });
});

test("many changes are few pushes, and the last of them is told", async () => {
  let asked = 0;
  let count = 0;
  const clock = new ManualClock();
  await using opened = await openDashboard({
    clock,
    status: async () => {
      asked++;
      return reportOf({ documents: { ...reportOf().documents, pending: count } });
    },
  });
  await using page = await EventStream.open(opened.dashboard.url);
  await page.next();
  for (count = 1; count <= 1000; count++) {
    opened.dashboard.changed();
    if (count % 100 === 0) await clock.advance(90);
  }
  await clock.advance(500);
  let told: unknown;
  do told = (await page.next()).data;
  while ((told as { documents: { pending: number } }).documents.pending < count);
  expect(asked).toBeLessThan(5);
});

test("nobody looks: changes ask the journal nothing", async () => {
  let asked = 0;
  await using opened = await openDashboard({
    status: async () => {
      asked++;
      return reportOf();
    },
  });
  opened.dashboard.changed();
  await systemClock.sleep(20, new AbortController().signal);
  expect(asked).toBe(0);
});

test("a journal that cannot be read is told as problem, and the stream goes on", async () => {
  let isBroken = true;
  await using opened = await openDashboard({
    status: async () => {
      if (isBroken) throw new Error("journal /j: disk I/O error");
      return reportOf();
    },
  });
  await using page = await EventStream.open(opened.dashboard.url);
  expect(await page.next()).toEqual({
    event: "problem",
    data: { message: "journal /j: disk I/O error" },
  });
  isBroken = false;
  opened.dashboard.changed();
  expect(await page.next()).toMatchObject({ event: "status" });
});

test("a journal that is away is told as problem at once, and asked nothing until it is back", async () => {
  let away: string | undefined = "the journal cannot be reached: connection refused";
  let asked = 0;
  await using opened = await openDashboard({
    away: () => away,
    status: async () => {
      asked++;
      return reportOf();
    },
  });
  const { url } = opened.dashboard;
  await using page = await EventStream.open(url);
  expect(await page.next()).toEqual({ event: "problem", data: { message: away } });
  const headers = { "x-scanferry": "1", "content-type": "application/json" };
  for (const [path, method] of [
    ["/api/status", "GET"],
    ["/api/documents", "GET"],
    ["/api/activity", "GET"],
    ["/metrics", "GET"],
    ["/api/pause", "POST"],
  ] as const) {
    const answer = await fetch(`${url}${path}`, { method, headers });
    expect([path, answer.status, await answer.json()]).toEqual([
      path,
      503,
      { error: expect.objectContaining({ code: "JOURNAL_UNREACHABLE", message: away }) },
    ]);
  }
  expect([asked, opened.asked]).toEqual([0, []]);
  away = undefined;
  opened.dashboard.changed();
  expect(await page.next()).toMatchObject({ event: "status" });
});

test("a question that is not answered is problem after a while, and keeps nobody from closing", async () => {
  const clock = new ManualClock();
  await using opened = await openDashboard({ clock, status: () => new Promise(() => {}) });
  await using page = await EventStream.open(opened.dashboard.url);
  const told = page.next();
  await clock.advance(10_000);
  expect(await told).toEqual({ event: "problem", data: { message: "no answer within 10 s" } });
  await clock.advance(15_000);
  await opened.dashboard.close();
});

test("a sign of life comes every 2 s, also while the journal does not answer", async () => {
  const clock = new ManualClock();
  await using opened = await openDashboard({ clock, status: () => new Promise(() => {}) });
  await using page = await EventStream.open(opened.dashboard.url);
  for (let n = 0; n < 3; n++) {
    const told = page.next({ alive: true });
    await clock.advance(2_000);
    expect(await told).toEqual({ event: "alive", data: {} });
  }
});

test("twenty pages are live at a time; one that leaves makes room", async () => {
  await using opened = await openDashboard();
  await using pages = new AsyncDisposableStack();
  const { url } = opened.dashboard;
  const all = await Promise.all(Array.from({ length: 20 }, () => EventStream.open(url)));
  for (const page of all) pages.use(page);
  const oneTooMany = await EventStream.open(url);
  expect([...new Set(all.map(({ status }) => status)), oneTooMany.status]).toEqual([200, 503]);
  await all[0]?.[Symbol.asyncDispose]();
  await expect.poll(async () => pages.use(await EventStream.open(url)).status).toBe(200);
});

test("closing ends live pages at once", async () => {
  await using opened = await openDashboard();
  await using page = await EventStream.open(opened.dashboard.url);
  await page.next();
  await opened.dashboard.close();
  await expect(page.next()).rejects.toThrow();
  await expect(fetch(opened.dashboard.url)).rejects.toThrow();
});

test("how far uploads are is told four times a second at most, and the last of it always", async () => {
  const clock = new ManualClock();
  const uploads = new UploadMeter(clock);
  await using opened = await openDashboard({ clock, uploads });
  await using page = await EventStream.open(opened.dashboard.url);
  await page.next();
  const ended = Promise.withResolvers<Outcome>();
  const document = { id: 7, seen: seenOf(1_000) };
  const sending = uploads.during(document, () => ended.promise);
  const told: unknown[] = [];
  const next = async () => told.push((await page.next()).data);
  await next();
  for (let n = 1; n <= 10; n++) {
    uploads.sent(7, n * 50);
    await clock.advance(20);
  }
  await clock.advance(50);
  await next();
  ended.resolve({ kind: "released" });
  await sending;
  await clock.advance(250);
  await next();
  expect(told).toMatchObject([
    { uploads: [{ id: 7, sentBytes: 0, sizeBytes: 1_000 }] },
    { uploads: [{ id: 7, sentBytes: 500, sizeBytes: 1_000 }] },
    { uploads: [] },
  ]);
});
