/** What is shipped for those who watch: each measure that an alarm or a panel asks for exists. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { METRICS } from "../../../src/dashboard/metric-table.ts";
import { Desk, events } from "../../contract/journal-desk.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { ask, openDashboard, mirrorReportOf, reportOf } from "./open-dashboard.ts";
import { noDocuments, type StatusReport } from "../../../src/report/status.ts";
import { noPages } from "../../../src/report/page-report.ts";

type Rule = { alert: string; expr: string; for?: string; annotations: Record<string, string> };
type Panel = { id: number; title: string; targets: { expr: string }[] };

const read = (file: string) =>
  readFileSync(new URL(`../../../config/${file}`, import.meta.url), "utf8");
const rules = (
  parse(read("prometheus-alerts.yaml")) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(read("grafana-dashboard.json")) as { panels: Panel[] };

const pages = noPages({ monthlyPages: 9, monthBegins: 1, whenUsedUp: "warn" }, 0);
const waiting = { documents: 1, pages: 8, unknown: 0 };

/** Everything is there to be measured: a gate that is closed, problem, something sent. */
const report: StatusReport = reportOf({
  instances: [
    {
      id: 1,
      name: "alpha",
      pid: 4711,
      version: "0.1.0",
      web: null,
      startedAt: 0,
      leaseUntil: 0,
      lagMs: 0,
      assignments: ["archive main"],
    },
  ],
  sending: { waits: { why: "asked", message: "", until: 65_000 }, concurrency: 4 },
  gate: { closedAt: 5_000, code: "QUOTA_LIMIT", message: "no", hint: "", nextProbeAt: 65_000 },
  pages: { ...pages, mirrors: [{ mirror: "scans", today: 0, month: 0, saved: 0, waiting }] },
  mirrors: [
    mirrorReportOf({
      documents: { ...noDocuments(), held: 1, converted: 1 },
      oldestAt: { held: 1_000, converted: 500 },
    }),
  ],
});

async function metrics(): Promise<string> {
  const desk = await Desk.at(new MemoryJournal());
  const { id } = await desk.uploaded("private.pdf", 501);
  await desk.after(id, events.converted());
  await using opened = await openDashboard({
    journal: desk.journal,
    status: async () => report,
    channels: () => [{ name: "office", sent: 7, failed: 2, dropped: 1, waiting: 3 }],
  });
  return (await ask({ port: opened.port, path: "/metrics" })).body;
}

const namesIn = (text: string) => new Set(text.match(/\b(?:scanferry|process|nodejs)_[a-z0-9_]+/g));

test("every measure of the table is told, with its type, and no other", async () => {
  const text = await metrics();
  const told = [...text.matchAll(/^# TYPE (scanferry_\w+) (\w+)$/gm)].map(([, ...pair]) => pair);
  const known = Object.entries(METRICS).map(([name, { type }]) => [name, type]);
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(known));
  expect(text).not.toContain("private");
});

test("a channel that people are told by shows how it does", async () => {
  const text = await metrics();
  expect(text).toContain('scanferry_notify_sent_total{channel="office"} 7');
  expect(text).toContain('scanferry_notify_failed_tries_total{channel="office"} 2');
  expect(text).toContain('scanferry_notify_given_up_total{channel="office"} 1');
  expect(text).toContain('scanferry_notify_waiting{channel="office"} 3');
});

test("what was sent is counted since the journal's first day", async () => {
  const text = await metrics();
  expect(text).toContain('scanferry_uploaded_documents_total{mirror="scans"} 1');
  expect(text).toContain('scanferry_uploaded_bytes_total{mirror="scans"} 100');
  expect(text).toContain('scanferry_pages_total{mirror="scans"} 3');
  expect(text).toContain('scanferry_pages_waiting{mirror="scans"} 8');
  expect(text).toContain('scanferry_allowance_pages{archive="main"} 9');
  expect(text).toMatch(/scanferry_oldest_document_age_seconds\{mirror="scans",state="held"\} \d+/);
  expect(text).not.toMatch(/age_seconds\{mirror="scans",state="converted"\}/);
});

describe("config/prometheus-alerts.yaml", () => {
  test("each alarm has a name of its own, and tells what to do", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    expect(rules.length).toBeGreaterThan(5);
    for (const { alert, annotations, ...rule } of rules) {
      expect(alert).toMatch(/^Scanferry[A-Z]\w+$/);
      expect(annotations["summary"]).not.toBe("");
      expect(annotations["description"]).toMatch(/\.$/);
      expect(rule.for ?? "1m").toMatch(/^\d+[smhd]$/);
    }
  });

  test.for(rules.map(({ alert, expr }) => [alert, expr] as const))(
    "%s asks for what is measured",
    async ([, expr]) => {
      const known = namesIn(await metrics());
      const asked = [...namesIn(expr)];
      expect(asked.length).toBeGreaterThan(0);
      expect(asked.filter((name) => !known.has(name))).toEqual([]);
    },
  );
});

test("config/grafana-dashboard.json: each panel asks for what is measured, none covers another", async () => {
  const known = namesIn(await metrics());
  const asked = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => [...namesIn(expr)]));
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter((name) => !known.has(name))).toEqual([]);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});
