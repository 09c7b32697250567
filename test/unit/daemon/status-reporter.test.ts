import { afterEach, beforeEach, expect, test } from "vitest";
import type { Notifier } from "../../../src/daemon/notifier.ts";
import { type ServiceStatus, reportStatus } from "../../../src/daemon/status-reporter.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";

let clock: ManualClock;
let stop: AbortController;
let told: string[];
let wrongs: string[];

beforeEach(() => {
  clock = new ManualClock();
  stop = new AbortController();
  told = [];
  wrongs = [];
});

afterEach(() => stop.abort(new Error("over")));

function watch(
  look: () => Promise<ServiceStatus>,
  watchdogMs?: number,
  problem?: string,
): Promise<void> {
  const notifier: Notifier = {
    watchdogMs,
    tell: async (...assignments) => {
      told.push(assignments.join(" "));
      return problem;
    },
  };
  return reportStatus({ notifier, clock, look, wrong: (what) => wrongs.push(what) }, stop.signal);
}

const well = async (): Promise<ServiceStatus> => ({ line: "idle", stuck: undefined });

test("without a watchdog only news is told", async () => {
  let line = "idle";
  void watch(async () => ({ line, stuck: undefined }));
  await clock.advance(60_000);
  line = "1 uploading";
  await clock.advance(60_000);
  expect(told).toEqual(["STATUS=idle", "STATUS=1 uploading"]);
});

test("a watchdog is pinged three times within its patience, idle or not", async () => {
  void watch(well, 120_000);
  await clock.advance(120_000);
  expect(told).toEqual(Array.from({ length: 4 }, () => "WATCHDOG=1 STATUS=idle"));
});

test("even a short patience is met", async () => {
  void watch(well, 3_000);
  await clock.advance(30_000);
  expect(told.length).toBeGreaterThanOrEqual(30);
});

test("a loop that is stuck gets no ping, is said once, and is forgiven when it turns", async () => {
  let stuck: string | undefined;
  void watch(async () => ({ line: "idle", stuck }), 120_000);
  await clock.advance(1_000);
  stuck = 'the loop "sending" has not turned for 31 minutes';
  await clock.advance(60_000);
  stuck = 'the loop "sending" has not turned for 32 minutes';
  await clock.advance(60_000);
  expect(told).toEqual(["WATCHDOG=1 STATUS=idle"]);
  expect(wrongs).toEqual(['the loop "sending" has not turned for 31 minutes']);
  stuck = undefined;
  await clock.advance(10_000);
  expect(told).toHaveLength(2);
});

test("a journal that does not answer keeps the ping away; the end is not kept waiting", async () => {
  const watching = watch(() => new Promise<ServiceStatus>(() => {}), 3_000);
  await clock.advance(60_000);
  expect(told).toEqual([]);
  stop.abort(new Error("over"));
  await watching;
});

test("a journal that cannot be asked is no reason to ping", async () => {
  void watch(() => Promise.reject(new Error("closed")), 3_000);
  await clock.advance(10_000);
  expect(told).toEqual(["STATUS=not known"]);
  expect(wrongs).toEqual(["where things stand is not known: closed"]);
});

test("a manager that cannot be told is complained of once, and told again", async () => {
  void watch(well, 3_000, "systemd-notify ended with 1");
  await clock.advance(10_000);
  expect(told.length).toBeGreaterThan(5);
  expect(wrongs).toEqual(["cannot notify the service manager: systemd-notify ended with 1"]);
});
