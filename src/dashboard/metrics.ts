import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import { STATES } from "../domain/document.ts";
import type { Journal, Reports } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { sumOf, type UsageBucket, type UsageBucketCounts } from "../journal/usage-bucket.ts";
import type { ChannelReport } from "./options.ts";
import { type Metric, type MetricName, METRICS } from "./metric-table.ts";
import type { Snapshot } from "./snapshot.ts";

/** What the measures are read from. */
export type Measured = {
  readonly journal: Journal;
  readonly clock: Clock;
  /** Kept from one scrape to the next. */
  readonly ever: RunningSums;
  readonly month: RunningSums;
  readonly snapshot: () => Promise<Snapshot>;
  readonly channels: () => readonly ChannelReport[];
};

type Why = NonNullable<Snapshot["sending"]["waits"]>["why"];

const WHY_WAITING = [
  "hours",
  "asked",
  "conversion",
  "allowance",
  "reading",
] as const satisfies readonly Why[];

/** Sets one measure. */
type Tell = (name: MetricName, value: number | boolean, labels?: Record<string, string>) => void;

/**
 * The measures in Prometheus text. Labels are archive, mirror and state: few values, and no file names. Made
 * again for every scrape, so that a mirror that left the config leaves the measures too.
 */
export async function metricsText(measured: Measured): Promise<string> {
  const registry = new Registry();
  const set = setterIn(registry);
  const snapshot = await measured.snapshot();
  addDocuments(set, snapshot);
  addState(set, snapshot);
  addInstances(set, snapshot);
  addArchives(set, snapshot);
  addPages(set, snapshot);
  addChannels(set, measured.channels());
  await addOldestPending(set, measured, snapshot);
  await addSent(set, measured, snapshot);
  return `${await registry.metrics()}\n${await processMetrics()}`;
}

/** Prometheus text, version 0.0.4. */
export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

function setterIn(registry: Registry): Tell {
  const made = new Map<MetricName, (labels: Record<string, string>, value: number) => void>();
  return (name, value, labels = {}) => {
    const set = made.get(name) ?? make(registry, name);
    made.set(name, set);
    set(labels, Number(value));
  };
}

function make(registry: Registry, name: MetricName) {
  const { type, help, labels }: Metric = METRICS[name];
  const about = { name, help, labelNames: [...labels], registers: [registry] };
  if (type === "gauge") {
    const gauge = new Gauge(about);
    return (values: Record<string, string>, value: number) => gauge.set(values, value);
  }
  const counter = new Counter(about);
  return (values: Record<string, string>, value: number) => counter.inc(values, value);
}

function addDocuments(set: Tell, snapshot: Snapshot): void {
  const { mirrors, foldersToCreate, afterPending, afterFailed, at } = snapshot;
  for (const { name: mirror, offline, unread, documents, oldestAt } of mirrors) {
    set("scanferry_source_offline", offline !== null, { mirror });
    set("scanferry_unread_directories", unread?.directories ?? 0, { mirror });
    const left = afterPending.filter((file) => file.mirror === mirror);
    set("scanferry_after_pending", left.length, { mirror });
    const stay = afterFailed.find((files) => files.mirror === mirror);
    set("scanferry_after_failed", stay?.files ?? 0, { mirror });
    for (const state of STATES) {
      set("scanferry_documents", documents[state], { mirror, state });
      const oldest = state === "converted" ? undefined : oldestAt[state];
      if (oldest === undefined) continue;
      const age = Math.max(0, at - oldest) / 1000;
      set("scanferry_oldest_document_age_seconds", age, { mirror, state });
    }
  }
  const folders = new Set(foldersToCreate.map(({ path }) => path));
  set("scanferry_folders_to_create", folders.size);
}

function addState(set: Tell, { paused, health, version }: Snapshot): void {
  set("scanferry_info", 1, { version });
  set("scanferry_healthy", health.healthy);
  set("scanferry_ready", health.ready);
  set("scanferry_paused", paused);
}

function addInstances(set: Tell, { instances, at }: Snapshot): void {
  for (const { name: instance, leaseUntil, lagMs, assignments } of instances) {
    set("scanferry_instance", 1, { instance });
    set("scanferry_instance_lease_seconds", (leaseUntil - at) / 1000, { instance });
    set("scanferry_instance_lag_seconds", lagMs / 1000, { instance });
    set("scanferry_instance_assignments", assignments.length, { instance });
  }
}

function addArchives(set: Tell, { archives }: Snapshot): void {
  for (const { name: archive, gate, outage, sending } of archives) {
    set("scanferry_archive_unreachable", outage !== null, { archive });
    set("scanferry_gate_closed", gate !== null, { archive });
    if (gate !== null) {
      set("scanferry_gate_closed_timestamp_seconds", gate.closedAt / 1000, { archive });
    }
    const next = gate?.nextProbeAt ?? null;
    if (next !== null) set("scanferry_gate_next_probe_timestamp_seconds", next / 1000, { archive });
    const { waits, concurrency } = sending;
    set("scanferry_upload_concurrency", concurrency, { archive });
    for (const why of WHY_WAITING) {
      set("scanferry_sending_waits", waits?.why === why, { archive, why });
    }
    if (waits?.until == null) continue;
    set("scanferry_sending_waits_until_timestamp_seconds", waits.until / 1000, { archive });
  }
}

function addChannels(set: Tell, channels: readonly ChannelReport[]): void {
  for (const { name: channel, sent, failed, dropped, waiting } of channels) {
    set("scanferry_notify_sent_total", sent, { channel });
    set("scanferry_notify_failed_tries_total", failed, { channel });
    set("scanferry_notify_given_up_total", dropped, { channel });
    set("scanferry_notify_waiting", waiting, { channel });
  }
}

function addPages(set: Tell, { pages: { mirrors }, archives }: Snapshot): void {
  for (const { mirror, waiting } of mirrors)
    set("scanferry_pages_waiting", waiting.pages, { mirror });
  for (const { name: archive, allowance } of archives) {
    if (allowance === null) continue;
    set("scanferry_allowance_pages", allowance.pages, { archive });
    set("scanferry_allowance_used_pages", allowance.used, { archive });
  }
}

/** Grows without a bound only when work does not move: what an alarm should watch. */
async function addOldestPending(
  set: Tell,
  { journal, clock }: Measured,
  { mirrors }: Snapshot,
): Promise<void> {
  const now = clock.now();
  const carried = new Set(mirrors.map(({ name }) => name));
  let readyAt = now;
  for (const { id: mirrorId, name } of await journal.mirrors()) {
    if (!carried.has(name)) continue;
    const [oldest] = await journal.due({ state: "pending", now, limit: 1, mirrorId });
    if (oldest) readyAt = Math.min(readyAt, oldest.dueAt ?? oldest.firstSeenAt);
  }
  set("scanferry_oldest_pending_age_seconds", Math.max(0, now - readyAt) / 1000);
}

/** Counted from the journal's first day, so that a restart is no reset. */
async function addSent(
  set: Tell,
  { journal, clock, ever, month }: Measured,
  { mirrors }: Snapshot,
): Promise<void> {
  const now = clock.now();
  const ids = new Map((await journal.mirrors()).map(({ id, name }) => [name, id]));
  const [sums, lately] = await Promise.all([ever.sums(now), month.sums(now)]);
  for (const { name: mirror } of mirrors) {
    const id = ids.get(mirror) ?? 0;
    const sum = sums.get(id) ?? sumOf([]);
    set("scanferry_uploaded_documents_total", sum.uploaded, { mirror });
    set("scanferry_uploaded_bytes_total", sum.uploadedBytes, { mirror });
    set("scanferry_converted_documents_total", sum.converted, { mirror });
    set("scanferry_pages_total", sum.pages, { mirror });
    set("scanferry_pages_this_month", lately.get(id)?.pages ?? 0, { mirror });
  }
}

let registry: Registry | undefined;

/** What an empty histogram says: no mean, and the least that fits into 64 bits as its minimum, nanoseconds. */
const NOT_MEASURED = /^[^#].* (?:nan|9223372036\.854776)\n/gim;

/**
 * Memory, CPU, event loop, garbage collection, in Prometheus text; what was not measured yet is left out. One registry
 * for the process, since these are the process's, and their observers cannot be taken down again.
 */
export async function processMetrics(): Promise<string> {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return (await registry.metrics()).replaceAll(NOT_MEASURED, "");
}

/** What was tallied longer ago than this changes no more, but for what a clock that is set back adds. */
const SETTLED_MS = 24 * 3_600_000;

/**
 * What was tallied since some time, by mirror. Most of it is read once: a journal of some years has
 * hundreds of thousands of usage buckets, and is asked several times a minute.
 */
export class RunningSums {
  readonly #journal: Pick<Reports, "usageBuckets">;
  readonly #beginOf: (now: number) => number;
  /** What was tallied from `begin` to `until`. */
  #known = { begin: 0, until: 0, past: new Map<number, UsageBucketCounts>() };

  /** From `beginOf` on, epoch milliseconds. */
  constructor(journal: Pick<Reports, "usageBuckets">, beginOf: (now: number) => number = () => 0) {
    this.#journal = journal;
    this.#beginOf = beginOf;
  }

  /** The sums at `now`, by the mirror's id. */
  async sums(now: number): Promise<ReadonlyMap<number, UsageBucketCounts>> {
    const begin = this.#beginOf(now);
    if (begin !== this.#known.begin) this.#known = { begin, until: begin, past: new Map() };
    const known = this.#known;
    const from = known.until;
    const until = now - SETTLED_MS;
    if (until > from) {
      const settled = await this.#journal.usageBuckets(from, until);
      // Anyone who asked at the same time may have added them.
      if (known.until === from) {
        addAll(known.past, settled);
        known.until = until;
      }
    }
    const sums = new Map(known.past);
    addAll(sums, await this.#journal.usageBuckets(known.until, Number.MAX_SAFE_INTEGER));
    return sums;
  }
}

function addAll(sums: Map<number, UsageBucketCounts>, usageBuckets: readonly UsageBucket[]): void {
  for (const [mirrorId, own] of Map.groupBy(usageBuckets, (usageBucket) => usageBucket.mirrorId)) {
    sums.set(mirrorId, sumOf([...own, sums.get(mirrorId) ?? sumOf([])]));
  }
}
