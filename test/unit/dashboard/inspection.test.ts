/** What an administrator looks at: the log, what is configured, and the check. */
import { expect, test } from "vitest";
import { openLog, RecentLines, recentLines } from "../../../src/daemon/open-log.ts";
import { ask, DELIBERATE, openDashboard } from "./open-dashboard.ts";

const LINES = [
  {
    level: 20,
    time: "2026-11-20T08:00:00.000Z",
    pid: 1,
    msg: "pending",
    mirror: "scans",
    path: "a.pdf",
  },
  { level: 30, time: "2026-11-20T08:00:01.000Z", pid: 1, msg: "started" },
  {
    level: 40,
    time: "2026-11-20T08:00:02.000Z",
    pid: 1,
    msg: "held",
    mirror: "scans",
    path: "a.pdf",
  },
  {
    level: 50,
    time: "2026-11-20T08:00:03.000Z",
    pid: 1,
    msg: "no",
    mirror: "other",
    path: "a.pdf",
  },
].map((line) => JSON.stringify(line));

const inspection = { lines: () => LINES, keys: [], check: async () => ({}) };

test.for([
  // parameters, messages, because
  ["", ["no", "held", "started", "pending"], "the latest first"],
  ["?level=info", ["no", "held", "started"], "no details"],
  ["?level=warn", ["no", "held"], "a level and above"],
  ["?level=error", ["no"], "a level and above"],
  ["?path=a.pdf", ["no", "held", "pending"], "a path"],
  ["?mirror=scans&path=a.pdf", ["held", "pending"], "a document"],
  ["?mirror=scans&path=a.pdf&level=warn", ["held"], "both"],
  ["?path=b.pdf", [], "nothing was logged of it"],
] as const)("/api/log%s has %j: %s", async ([parameters, messages]) => {
  await using opened = await openDashboard({ inspection });
  const { body } = await ask({ port: opened.port, path: `/api/log${parameters}` });
  const { lines } = JSON.parse(body) as { lines: { message: string }[] };
  expect(lines.map(({ message }) => message)).toEqual(messages);
});

test("a line is its time, level, message, and the rest", async () => {
  await using opened = await openDashboard({ inspection });
  const { body } = await ask({ port: opened.port, path: "/api/log?level=error" });
  const context = { mirror: "other", path: "a.pdf" };
  const at = Date.parse("2026-11-20T08:00:03.000Z");
  expect(JSON.parse(body)).toEqual({ lines: [{ at, level: "error", message: "no", context }] });
});

test("of a long log the latest 500 lines that match come", async () => {
  const line = (n: number) => JSON.stringify({ level: 30, time: "2026-11-20", msg: `line ${n}` });
  const lines = Array.from({ length: 5_000 }, (_, n) => line(n));
  await using opened = await openDashboard({ inspection: { ...inspection, lines: () => lines } });
  const { body } = await ask({ port: opened.port, path: "/api/log" });
  const found = (JSON.parse(body) as { lines: { message: string }[] }).lines;
  expect([found.length, found[0]?.message, found.at(-1)?.message]).toEqual([
    500,
    "line 4999",
    "line 4500",
  ]);
});

test("it is there while the journal is away, which the log tells of", async () => {
  await using opened = await openDashboard({ inspection, away: () => "no journal" });
  for (const path of ["/api/log", "/api/configuration"])
    expect((await ask({ port: opened.port, path })).status).toBe(200);
});

test("the check is run once for all who ask meanwhile, and again for those who ask later", async () => {
  let runs = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = async () => {
    runs += 1;
    await promise;
    return { ok: true, findings: [], runs };
  };
  await using opened = await openDashboard({ inspection: { ...inspection, check } });
  const asked = { port: opened.port, path: "/api/check", method: "POST", headers: DELIBERATE };
  const both = Promise.all([ask({ ...asked, body: "{}" }), ask({ ...asked, body: "{}" })]);
  expect((await ask({ ...asked, method: "GET" })).status).toBe(405);
  resolve();
  for (const { body } of await both) expect(JSON.parse(body)).toMatchObject({ ok: true, runs: 1 });
  expect(JSON.parse((await ask({ ...asked, body: "{}" })).body)).toMatchObject({ runs: 2 });
});

test.for([
  ["GET", "/api/log", 404, "not started for it"],
  ["GET", "/api/configuration", 404, "not started for it"],
  ["POST", "/api/check", 404, "not started for it"],
] as const)(
  "%s %s of a daemon without it is answered with %i: %s",
  async ([method, path, status]) => {
    await using opened = await openDashboard();
    const headers = method === "POST" ? DELIBERATE : {};
    expect((await ask({ port: opened.port, path, method, headers })).status).toBe(status);
  },
);

test("what the log writes is kept without secrets, and no more than so much", () => {
  const file = { path: "/dev/null", sizeBytesMax: 1_000_000, olderMax: 0 };
  using log = openLog({ level: "info", secrets: ["the secret"], pretty: false, file });
  log.info({ said: "the secret" }, "hello");
  expect(recentLines.all.at(-1)).toMatch(/"said":"\[redacted\]","msg":"hello"/);
  const few = new RecentLines();
  for (let n = 0; n < 6_000; n++) few.add(`${n}`);
  expect([few.all.length, few.all[0]]).toEqual([5_000, "1000"]);
  few.add("x".repeat(2_097_152));
  expect(few.all).toHaveLength(1);
});
