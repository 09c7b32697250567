/** The report of several archives: each by itself, and for who looks at one figure the worst. */
import { expect, test } from "vitest";
import { awayMemo } from "../../../src/journal/crew.ts";
import type { GateRow, PaceRow } from "../../../src/journal/journal.ts";
import { type StatusReport, statusOf } from "../../../src/sync/status.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { aMirror } from "../cli/mirrors.ts";

const NOW = 1_700_000_000_000;
const interval = { initialMs: 1, maxMs: 1 };

/** A gate that was closed at this second. */
const shut = (second: number, code = "QUOTA_LIMIT"): GateRow => ({
  closedAt: NOW + second * 1_000,
  trouble: { code, message: "no" },
  probes: 1,
  nextProbeAt: NOW + second * 1_000 + 9,
});

const asked: PaceRow = { limit: 1, pausedAt: NOW - 9, pausedUntil: NOW + 9_000, trouble: null };

type Standing = { gate?: GateRow; pace?: PaceRow };

const CONFIG = {
  archive: { name: "main", url: "https://a" },
  furtherArchives: [],
  upload: { concurrency: 4, retry: interval, doubt: { windowMs: 1, toleranceMs: 1 } },
  quota: { retry: interval, retryAt: undefined },
  conversion: { poll: interval, stuckAfterMs: 1 },
};

async function reportOf(...standings: Standing[]): Promise<StatusReport> {
  const journal = new MemoryJournal();
  const archives: { name: string; url: string }[] = [];
  for (const [index, { gate, pace }] of standings.entries()) {
    const name = index === 0 ? "main" : `other-${index}`;
    const own = journal.of((await journal.archive(name, "https://a")).id);
    archives.push({ name, url: "https://a" });
    if (gate) await own.setGate(gate);
    if (pace) await own.setPace(pace);
  }
  const [archive = { name: "main", url: "" }, ...furtherArchives] = archives;
  const mirrors = archives.map(({ name }) => aMirror({ name, archive: name }));
  return statusOf(journal, { ...CONFIG, archive, furtherArchives, mirrors }, true, NOW);
}

test.for([
  [[{}, {}], null, null, "both are open"],
  [[{}, { gate: shut(5) }], 5, "QUOTA_LIMIT", "one is closed, and it is told"],
  [[{ gate: shut(7) }, { gate: shut(5) }], 5, "QUOTA_LIMIT", "the longest"],
  [[{ gate: shut(1, "CREDENTIALS_REFUSED") }, {}], null, "CREDENTIALS_REFUSED", "no quota"],
  [
    [{ gate: shut(1, "CREDENTIALS_REFUSED") }, { gate: shut(5) }],
    5,
    "CREDENTIALS_REFUSED",
    "each figure for itself",
  ],
] as const)("%#: quota spent since %s s, gate %s: %s", async ([standings, second, code]) => {
  const report = await reportOf(...standings);
  const since = second === null ? null : NOW + second * 1_000;
  expect(report.quota.blockedSince).toBe(since);
  expect(report.gate?.code ?? null).toBe(code);
  expect(report.archives.map(({ gate }) => gate?.closedAt ?? null)).toEqual(
    standings.map((standing: Standing) => standing.gate?.closedAt ?? null),
  );
});

test("a mirror is offline where that was noted, whatever it is called", async () => {
  const journal = new MemoryJournal();
  const memo = awayMemo((await journal.archive("main", "https://a")).id, "");
  const sources = { scans: { since: NOW, why: "not mounted" } };
  const member = journal.crew.memberId;
  await journal.setMemo(memo, JSON.stringify({ member, archive: null, sources }));
  const mirrors = ["scans", "constructor"].map((name) => aMirror({ name, archive: "main" }));
  const report = await statusOf(journal, { ...CONFIG, mirrors }, true, NOW);
  expect(report.mirrors.map(({ offline }) => offline)).toEqual([sources.scans, null]);
});

test.for([
  [[{ pace: asked }], "asked", 1, "the only one waits"],
  [[{ pace: asked }, {}], undefined, 5, "the other goes on"],
  [[{ pace: asked }, { pace: asked }], "asked", 2, "all of them wait"],
] as const)("%#: waits %s, %i uploads at a time: %s", async ([standings, why, concurrency]) => {
  const { sending, archives } = await reportOf(...standings);
  expect(sending.waits?.why).toBe(why);
  expect(sending.concurrency).toBe(concurrency);
  expect(archives[0]?.sending).toMatchObject({ waits: { why: "asked" }, concurrency: 1 });
});

test("of an archive that the journal does not know yet, nothing is known", async () => {
  const journal = new MemoryJournal();
  await journal.setGate(shut(1));
  const config = { ...CONFIG, archive: { name: "new", url: "https://b" }, mirrors: [] };
  const { archives, gate } = await statusOf(journal, config, false, NOW);
  expect(gate).toBeNull();
  expect(archives).toMatchObject([{ name: "new", gate: null, sending: { concurrency: 4 } }]);
});
