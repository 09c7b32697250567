import { expect, test } from "vitest";
import { statusLines } from "../../../src/cli/status-lines.ts";
import { membersOf } from "../../../src/sync/member-report.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { MemoryCrew } from "../../fakes/memory-crew.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";
import { Ever } from "../../../src/dashboard/ever.ts";
import { metricsText } from "../../../src/dashboard/metrics.ts";

async function aCrew() {
  const clock = new ManualClock();
  const first = new MemoryJournal();
  const { store } = first;
  const [scans, archives] = [await first.mirror("scans", "/srv/scans"), await first.archives()];
  const crews = ["alpha", "beta"].map((name) => MemoryCrew.join(store, { name, clock }));
  const [alpha] = crews as [MemoryCrew, MemoryCrew];
  await alpha.seek(["account:1", `mirror:${scans.id}`]);
  crews[1]?.stayAlive();
  const journal = new MemoryJournal({ store, crew: alpha });
  const members = async () =>
    membersOf(await journal.crew.members(), { mirrors: [scans], archives }, clock.now());
  return { clock, journal, members };
}

test("each daemon is told with its duties by name, its lease and when it was last heard of", async () => {
  const { clock, members } = await aCrew();
  const startedAt = clock.now();
  await clock.advance(12_000);
  expect(await members()).toMatchObject([
    {
      name: "alpha",
      startedAt,
      leaseUntil: startedAt + 15_000,
      lagMs: 12_000,
      duties: ["archive main", "mirror scans"],
    },
    { name: "beta", lagMs: 2_000, duties: [] },
  ]);
});

test("a journal with one owner has no members to tell of", async () => {
  const members = await new MemoryJournal().crew.members();
  expect(membersOf(members, { mirrors: [], archives: [] }, 0)).toEqual([]);
});

test("status says it in a line each, and who was not heard of for long", async () => {
  const { clock, members } = await aCrew();
  await clock.advance(12_000);
  const terminal = { isInteractive: false, width: 80, paint: (_: unknown, text: string) => text };
  const around = { owner: undefined, findings: [], now: clock.now() };
  const report = reportOf({ members: await members() });
  const lines = statusLines(report, around, terminal as never, 50);
  expect(lines.filter((line) => line.startsWith("daemon "))).toEqual([
    expect.stringMatching(
      /^daemon alpha sends, owns archive main, mirror scans; .*; no sign of life for 12 s$/,
    ),
    expect.stringMatching(/^daemon beta sends; started [^;]*$/),
  ]);
});

test("measures have the daemon's name for a label", async () => {
  const { clock, journal, members } = await aCrew();
  await clock.advance(5_000);
  const health = { healthy: true, ready: true, why: "ok" };
  const told = { version: "1", at: clock.now(), health, findings: [] };
  const snapshot = async () => ({ ...reportOf({ members: await members() }), ...told });
  const ever = new Ever(journal);
  const text = await metricsText({ journal, clock, ever, snapshot, channels: () => [] });
  expect(text).toContain('scanferry_member{instance="alpha"} 1');
  expect(text).toContain('scanferry_member_lease_seconds{instance="alpha"} 10');
  expect(text).toContain('scanferry_member_lag_seconds{instance="alpha"} 5');
  expect(text).toContain('scanferry_member_duties{instance="beta"} 0');
});
