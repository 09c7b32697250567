import { findingsOf } from "../../../src/report/findings.ts";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Health } from "../../../src/dashboard/dashboard.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { Fault } from "../../../src/std/fault.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import {
  mirrorReportOf,
  ask,
  DELIBERATE,
  openDashboard,
  reportOf,
  WELL,
} from "./open-dashboard.ts";
import { documentOf } from "./scripted-journal.ts";
import { noDocuments } from "../../../src/report/status.ts";

describe("health", () => {
  test.for([
    // health, healthz, readyz, because
    [WELL, 200, 200, "all is well"],
    [{ ...WELL, ready: false }, 200, 503, "starting is no reason to be restarted"],
    [{ ...WELL, healthy: false, ready: false }, 503, 503, "work does not move"],
  ] as [Health, number, number, string][])(
    "%j: %i and %i, %s",
    async ([health, healthz, readyz]) => {
      await using opened = await openDashboard({ health: async () => health });
      const [healthy, ready] = [
        await ask({ port: opened.port, path: "/healthz" }),
        await ask({ port: opened.port, path: "/readyz" }),
      ];
      expect([healthy.status, ready.status]).toEqual([healthz, readyz]);
      expect(healthy.body).toBe(`{"healthy":${health.healthy},"why":"work is moving"}\n`);
      expect(ready.body).toBe(`{"ready":${health.ready},"why":"work is moving"}\n`);
      expect((await ask({ port: opened.port, path: "/healthz", method: "HEAD" })).status).toBe(
        healthz,
      );
    },
  );

  test("is the present one, also where the journal takes a moment and was last asked an hour ago", async () => {
    let [aheadMs, healthy] = [0, true];
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
    const health = async () => {
      await setTimeout(100);
      return { ...WELL, healthy };
    };
    await using opened = await openDashboard({ health, clock });
    const asked = () => ask({ port: opened.port, path: "/healthz" });
    expect((await asked()).body).toContain("work is moving");
    [aheadMs, healthy] = [3_600_000, false];
    expect((await asked()).status).toBe(503);
  });

  test("that cannot be told is no health", async () => {
    await using opened = await openDashboard({
      health: async () => Promise.reject(new Error("the journal is broken")),
    });
    const { status, body } = await ask({ port: opened.port, path: "/healthz" });
    expect([status, JSON.parse(body)]).toEqual([
      503,
      { healthy: false, why: "health is not known: the journal is broken" },
    ]);
  });
});

describe("status", () => {
  test("is the report, with version, time, health and findings", async () => {
    const report = reportOf({ paused: true });
    await using opened = await openDashboard({ status: async () => report });
    const { body } = await ask({ port: opened.port, path: "/api/status" });
    expect(JSON.parse(body)).toEqual({
      ...report,
      version: "0.0.0-test",
      signsIn: false,
      inspects: false,
      at: expect.any(Number),
      health: WELL,
      findings: findingsOf({ report, problems: [], health: WELL }),
    });
  });

  test.for([
    ["/api/status", 1, 1],
    ["/healthz", 0, 1],
    ["/readyz", 0, 1],
  ] as const)("a hundred questions at once are one question: %s", async ([path, ...once]) => {
    const asked = { status: 0, health: 0 };
    await using opened = await openDashboard({
      // It stands still, however long the machine takes over them.
      clock: new ManualClock(),
      status: async () => {
        asked.status++;
        return reportOf();
      },
      health: async () => {
        asked.health++;
        return WELL;
      },
    });
    const { port } = opened;
    await Promise.all(Array.from({ length: 100 }, () => ask({ port, path })));
    expect([asked.status, asked.health]).toEqual(once);
  });

  test("a failure is told without its details, which may be anything", async () => {
    await using opened = await openDashboard({
      status: async () => Promise.reject(new Error("/home/someone/secret")),
    });
    const { status, body } = await ask({ port: opened.port, path: "/api/status" });
    expect(status).toBe(500);
    expect(body).not.toContain("secret");
  });
});

describe("metrics", () => {
  const documents = { ...noDocuments(), pending: 2, converted: 7 };
  const report = reportOf({
    documents,
    mirrors: [mirrorReportOf({ name: 'a "quoted"\nmirror', documents })],
    gate: { closedAt: 5000, code: "QUOTA_LIMIT", message: "no", hint: "", nextProbeAt: 65_000 },
    foldersToCreate: [
      { mirror: "a", path: "/Secret folder", code: "FOLDER_MISSING", documents: 1 },
    ],
    afterFailed: [
      { mirror: 'a "quoted"\nmirror', files: 3, path: "private.pdf", why: "private.pdf is gone" },
    ],
  });

  test("are Prometheus text: documents by mirror and state, the gate, the process", async () => {
    await using opened = await openDashboard({ status: async () => report });
    const { headers, body } = await ask({ port: opened.port, path: "/metrics" });
    const values = parseMetrics(body);
    expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
    const mirror = 'mirror="a \\"quoted\\"\\nmirror"';
    expect(values.get(`scanferry_documents{${mirror},state="pending"}`)).toBe(2);
    expect(values.get(`scanferry_documents{${mirror},state="converted"}`)).toBe(7);
    expect(values.get(`scanferry_documents{${mirror},state="failed"}`)).toBe(0);
    expect(values.get(`scanferry_after_failed{${mirror}}`)).toBe(3);
    expect(values.get(`scanferry_gate_closed{archive="main"}`)).toBe(1);
    expect(values.get(`scanferry_gate_next_probe_timestamp_seconds{archive="main"}`)).toBe(65);
    expect(values.get("scanferry_folders_to_create")).toBe(1);
    expect(values.get("scanferry_paused")).toBe(0);
    expect(values.get("scanferry_healthy")).toBe(1);
    expect(values.get('scanferry_info{version="0.0.0-test"}')).toBe(1);
    expect(values.get("process_resident_memory_bytes")).toBeGreaterThan(0);
  });

  test("of several archives tell gate and pace of each", async () => {
    const [main] = report.archives;
    if (!main) throw new Error("there is one");
    const waits = { why: "asked", message: "", until: 65_000 } as const;
    const legal = { ...main, name: "legal", gate: null, sending: { waits, concurrency: 1 } };
    const status = async () => ({ ...report, archives: [main, legal] });
    await using opened = await openDashboard({ status });
    const values = parseMetrics((await ask({ port: opened.port, path: "/metrics" })).body);
    const of = (name: string, more = "") =>
      ["main", "legal"].map((archive) => values.get(`${name}{archive="${archive}"${more}}`));
    expect(of("scanferry_gate_closed")).toEqual([1, 0]);
    expect(of("scanferry_gate_closed_timestamp_seconds")).toEqual([5, undefined]);
    expect(of("scanferry_upload_concurrency")).toEqual([4, 1]);
    expect(of("scanferry_sending_waits", ',why="asked"')).toEqual([0, 1]);
  });

  test("name no file, no path and no folder", async () => {
    const rows = [documentOf({ name: "private.pdf", dueAt: 0 })];
    await using opened = await openDashboard({ status: async () => report, rows });
    const { body } = await ask({ port: opened.port, path: "/metrics" });
    expect(body).not.toMatch(/private|\/srv|Secret/);
  });

  test.for([
    // due at, age in seconds, because
    [[], 0, "nothing waits"],
    [[40_000, 90_000], 60, "the longest wait counts"],
    [[200_000], 0, "a document that is to wait does not wait in vain"],
  ] as const)("pending since %j: %i s old, %s", async ([dueAts, seconds]) => {
    const clock = { ...systemClock, now: () => 100_000 };
    const rows = dueAts.map((dueAt, id) => documentOf({ id, dueAt }));
    await using opened = await openDashboard({ clock, rows });
    const { body } = await ask({ port: opened.port, path: "/metrics" });
    expect(parseMetrics(body).get("scanferry_oldest_pending_age_seconds")).toBe(seconds);
  });

  /** Values by name and labels; throws for a line that is neither comment nor sample. */
  function parseMetrics(text: string): Map<string, number> {
    const values = new Map<string, number>();
    for (const line of text.split("\n")) {
      if (line === "" || /^# (HELP|TYPE) [a-z0-9_]+ ./.test(line)) continue;
      const label = String.raw`[a-z_]+="(?:[^"\\\n]|\\.)*"`;
      const sample = new RegExp(
        String.raw`^([a-z0-9_]+(?:\{${label}(?:,${label})*\})?) (\S+)$`,
        "i",
      );
      const [, name, value] = sample.exec(line) ?? [];
      if (name === undefined || (value !== "NaN" && Number.isNaN(Number(value))))
        throw new Error(`no sample: ${line}`);
      values.set(name, Number(value));
    }
    return values;
  }
});

describe("actions", () => {
  test("that the daemon refuses are told with the fix", async () => {
    const broken = async () =>
      Promise.reject(new Fault("JOURNAL_FULL", "disk full", "Free space."));
    const changing = { adopt: broken, sendAsNew: broken, pause: broken, resume: broken };
    await using opened = await openDashboard({
      actions: { retry: broken, rescan: broken, ...changing },
    });
    const asked = { port: opened.port, path: "/api/pause", method: "POST", headers: DELIBERATE };
    const { status, body } = await ask(asked);
    expect([status, JSON.parse(body)]).toEqual([
      503,
      { error: { code: "JOURNAL_FULL", message: "disk full", hint: "Free space." } },
    ]);
  });
});

describe("the listener", () => {
  test("names the port that is taken, and the fix", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const opening = openDashboard({ listen: { host: "127.0.0.1", port } });
    await expect(opening).rejects.toMatchObject({
      code: "WEB_LISTEN",
      message: `cannot listen on 127.0.0.1:${port}: the port is taken by another program`,
      hint: "Change `web.listen`, or set `web: off`.",
    });
    other.close();
  });

  test.for([
    // host, message, because
    ["192.0.2.1", "this host has no such address", "an address of documentation"],
    ["no-such-host.invalid", "no address is known for this name", "a name that can never be"],
  ] as const)("cannot be had on %s: %s (%s)", async ([host, message]) => {
    await expect(openDashboard({ listen: { host, port: 0 } })).rejects.toMatchObject({
      code: "WEB_LISTEN",
      message: expect.stringContaining(message),
    });
  });

  test.for([
    // host, url, because
    ["localhost", /^http:\/\/localhost:\d+$/, "as it was configured"],
    ["0.0.0.0", /^http:\/\/localhost:\d+$/, "a wildcard is no place to go to"],
  ] as const)("on %s tells its address: %s", async ([host, url]) => {
    await using opened = await openDashboard({ listen: { host, port: 0 } });
    expect(opened.dashboard.url).toMatch(url);
  });

  test("keeps 200 connections at most, and answers again when they have gone", async () => {
    await using opened = await openDashboard();
    const sockets = Array.from({ length: 220 }, () => connect(opened.port, "127.0.0.1"));
    for (const socket of sockets)
      socket
        .on("error", () => {})
        .resume()
        .write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const closed = () => sockets.filter(({ closed }) => closed).length;
    await expect.poll(closed).toBe(20);
    for (const socket of sockets) socket.destroy();
    await expect
      .poll(() => ask({ port: opened.port, path: "/healthz" }).then(({ status }) => status))
      .toBe(200);
  });

  test("refuses giant headers", async () => {
    await using opened = await openDashboard();
    const headers = { "x-filler": "x".repeat(10_000) };
    expect((await ask({ port: opened.port, path: "/", headers })).status).toBe(431);
  });
});
