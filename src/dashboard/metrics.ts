import { Gauge, Registry } from "prom-client";
import { STATES } from "../domain/document.ts";
import type { Journal } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { processMetrics } from "./process-metrics.ts";
import type { Snapshot } from "./snapshot.ts";

/** What the measures are read from. */
export type Measured = {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly snapshot: () => Promise<Snapshot>;
};

type Why = NonNullable<Snapshot["sending"]["waits"]>["why"];

const WHY_WAITING = ["hours", "asked", "conversion"] as const satisfies readonly Why[];

/**
 * The measures in Prometheus text. Labels are mirror, state and code: few values, and no file names.
 * Made anew for every scrape, so that a mirror that left the config leaves the measures too.
 */
export async function metricsText(measured: Measured): Promise<string> {
  const registry = new Registry();
  const snapshot = await measured.snapshot();
  addDocuments(registry, snapshot);
  addAccount(registry, snapshot);
  addSending(registry, snapshot);
  await addOldestPending(registry, measured);
  // The library spells what it could not measure in a way that strict readers do not know.
  const ofProcess = (await processMetrics().metrics()).replaceAll(/ Nan$/gm, " NaN");
  return `${await registry.metrics()}\n${ofProcess}`;
}

/** Prometheus text, version 0.0.4. */
export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

function addDocuments(registry: Registry, { mirrors, foldersToCreate }: Snapshot): void {
  const documents = new Gauge({
    name: "scanferry_documents",
    help: "Documents in the journal, by mirror and state.",
    labelNames: ["mirror", "state"],
    registers: [registry],
  });
  for (const mirror of mirrors)
    for (const state of STATES)
      documents.set({ mirror: mirror.name, state }, mirror.documents[state]);
  const folders = new Set(foldersToCreate.map(({ path }) => path));
  set(registry, "scanferry_folders_to_create", "Archive folders documents wait for.", folders.size);
}

function addAccount(registry: Registry, snapshot: Snapshot): void {
  const { gate, paused, health, version } = snapshot;
  new Gauge({
    name: "scanferry_info",
    help: "The version that runs; always 1.",
    labelNames: ["version"],
    registers: [registry],
  }).set({ version }, 1);
  set(registry, "scanferry_healthy", "1 while work is moving, or rightly at rest.", health.healthy);
  set(registry, "scanferry_ready", "1 once the daemon takes work.", health.ready);
  set(registry, "scanferry_paused", "1 while a person has paused sending.", paused);
  set(registry, "scanferry_gate_closed", "1 while the archive refuses the account.", gate !== null);
  if (gate === null) return;
  const since = "When the archive began to refuse the account, seconds since the epoch.";
  set(registry, "scanferry_gate_closed_timestamp_seconds", since, gate.closedAt / 1000);
  if (gate.nextProbeAt === null) return;
  const probe = "When the archive is tried again, seconds since the epoch.";
  set(registry, "scanferry_gate_next_probe_timestamp_seconds", probe, gate.nextProbeAt / 1000);
}

function addSending(registry: Registry, { sending: { waits, concurrency } }: Snapshot): void {
  const help = "Uploads at the same time at most, as far as the archive bears them.";
  set(registry, "scanferry_upload_concurrency", help, concurrency);
  const waiting = new Gauge({
    name: "scanferry_sending_waits",
    help: "1 while nothing new is sent for this reason.",
    labelNames: ["why"],
    registers: [registry],
  });
  for (const why of WHY_WAITING) waiting.set({ why }, Number(waits?.why === why));
  if (waits?.until == null) return;
  const until = "When sending goes on, seconds since the epoch.";
  set(registry, "scanferry_sending_waits_until_timestamp_seconds", until, waits.until / 1000);
}

/** Grows without a bound only when work does not move: what an alarm should watch. */
async function addOldestPending(registry: Registry, { journal, clock }: Measured): Promise<void> {
  const now = clock.now();
  const [oldest] = await journal.due({ state: "pending", now, limit: 1 });
  set(
    registry,
    "scanferry_oldest_pending_age_seconds",
    "How long the document that waits longest could have been sent; 0 when none waits.",
    oldest ? Math.max(0, now - (oldest.dueAt ?? oldest.firstSeenAt)) / 1000 : 0,
  );
}

function set(registry: Registry, name: string, help: string, value: number | boolean): void {
  new Gauge({ name, help, registers: [registry] }).set(Number(value));
}
