import { expect, test } from "vitest";
import { statusLines } from "../../../src/cli/status-lines.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { MemoryCluster } from "../../fakes/memory-cluster.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";
import { metricsText, RunningSums } from "../../../src/dashboard/metrics.ts";
import { instancesOf } from "../../../src/report/instance-report.ts";
import { ACCOUNT, ofMirror } from "../../fixtures/assignments.ts";

async function aCluster() {
  const clock = new ManualClock();
  const first = new MemoryJournal();
  const { store } = first;
  const [scans, archives] = [await first.mirror("scans", "/srv/scans"), await first.archives()];
  const clusters = ["alpha", "beta"].map((name) => MemoryCluster.join(store, { name, clock }));
  const [alpha] = clusters as [MemoryCluster, MemoryCluster];
  await alpha.seek([ACCOUNT, ofMirror(scans.id)]);
  clusters[1]?.stayAlive();
  const journal = new MemoryJournal({ store, cluster: alpha });
  const instances = async () =>
    instancesOf(await journal.cluster.instances(), { mirrors: [scans], archives }, clock.now());
  return { clock, journal, instances };
}

test("each daemon is told with its assignments by name, its lease and when it was last heard of", async () => {
  const { clock, instances } = await aCluster();
  const startedAt = clock.now();
  await clock.advance(12_000);
  expect(await instances()).toMatchObject([
    {
      name: "alpha",
      startedAt,
      leaseUntil: startedAt + 15_000,
      lagMs: 12_000,
      assignments: ["archive main", "mirror scans"],
    },
    { name: "beta", lagMs: 2_000, assignments: [] },
  ]);
});

test("a journal with one owner has no instances to tell of", async () => {
  const instances = await new MemoryJournal().cluster.instances();
  expect(instancesOf(instances, { mirrors: [], archives: [] }, 0)).toEqual([]);
});

test("status says it in a line each, and who was not heard of for long", async () => {
  const { clock, instances } = await aCluster();
  await clock.advance(12_000);
  const terminal = { isInteractive: false, width: 80, paint: (_: unknown, text: string) => text };
  const around = { owner: undefined, findings: [], now: clock.now() };
  const report = reportOf({ instances: await instances() });
  const lines = statusLines(report, around, terminal as never, 50);
  expect(lines.filter((line) => line.startsWith("daemon "))).toEqual([
    expect.stringMatching(
      /^daemon alpha sends, owns archive main, mirror scans; .*; no heartbeat for 12 s$/,
    ),
    expect.stringMatching(/^daemon beta sends; started [^;]*$/),
  ]);
});

test("measures have the daemon's name for a label", async () => {
  const { clock, journal, instances } = await aCluster();
  await clock.advance(5_000);
  const health = { healthy: true, ready: true, why: "ok" };
  const told = {
    version: "1",
    at: clock.now(),
    health,
    signsIn: false,
    inspects: false,
    findings: [],
  };
  const snapshot = async () => ({ ...reportOf({ instances: await instances() }), ...told });
  const ever = new RunningSums(journal);
  const text = await metricsText({
    journal,
    clock,
    ever,
    month: ever,
    snapshot,
    channels: () => [],
  });
  expect(text).toContain('scanferry_instance{instance="alpha"} 1');
  expect(text).toContain('scanferry_instance_lease_seconds{instance="alpha"} 10');
  expect(text).toContain('scanferry_instance_lag_seconds{instance="alpha"} 5');
  expect(text).toContain('scanferry_instance_assignments{instance="beta"} 0');
});
