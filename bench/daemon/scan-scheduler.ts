/**
 * Large trees: first journaling, rescans, memory and idle time, at three sizes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Bench, type Case, median, rounded } from "./bench.ts";
import { cpuSecondsOf, peakBytesOf } from "./cost.ts";
import { growthPlot } from "./growth-plot.ts";
import { journalAgain, type KnownTree, knownTreeOf } from "./known-tree.ts";

/** What was measured of one tree, medians. */
type ScanScheduler = {
  readonly files: number;
  readonly journalSeconds: number;
  readonly rescanSeconds: number;
  readonly peakMib: number;
  /** NaN where it was not measured. */
  readonly idlePercent: number;
};

const RESCANS = 3;

export const scanScheduler: Case = {
  name: "scanScheduler",
  async run(bench) {
    const sizes = bench.quick ? [1_000, 10_000] : [10_000, 100_000, 1_000_000];
    const scanSchedulers: ScanScheduler[] = [];
    for (const files of sizes) {
      const isLargest = files === sizes.at(-1);
      scanSchedulers.push(await scanSchedulerOf(bench, knownTreeOf(bench, files), isLargest));
    }
    const [least, largest] = [scanSchedulers[0], scanSchedulers.at(-1)];
    if (!least || !largest) return;
    report(bench, least, largest);
    growth(bench, scanSchedulers);
  },
};

async function scanSchedulerOf(
  bench: Bench,
  tree: KnownTree,
  idles: boolean,
): Promise<ScanScheduler> {
  const rounds: Omit<ScanScheduler, "files">[] = [];
  for (let round = 0; round < bench.rounds; round++) rounds.push(await roundOf(bench, tree, idles));
  const of = (field: keyof Omit<ScanScheduler, "files">) =>
    median(rounds.map((each) => each[field]));
  return {
    files: tree.spec.files,
    journalSeconds: of("journalSeconds"),
    rescanSeconds: of("rescanSeconds"),
    peakMib: of("peakMib"),
    idlePercent: of("idlePercent"),
  };
}

async function roundOf(bench: Bench, tree: KnownTree, idles: boolean) {
  const { running, seconds: journalSeconds } = await journalAgain(tree);
  await using daemon = running;
  await sleep(bench.quick ? 500 : 3_000);
  const rescans: number[] = [];
  for (let scan = 0; scan < RESCANS; scan++) rescans.push(await daemon.rescan());
  const peakMib = peakBytesOf(daemon.pid) / 2 ** 20;
  const idlePercent = idles ? await idlePercentOf(bench, daemon.pid) : Number.NaN;
  await daemon.end();
  return { journalSeconds, rescanSeconds: median(rescans), peakMib, idlePercent };
}

/** Over a minute, in which every sweep of directories falls once, and a tick of the kernel's clock is little. */
async function idlePercentOf(bench: Bench, pid: number): Promise<number> {
  // Collecting what the scans left behind is not idling.
  await sleep(bench.quick ? 1_000 : 15_000);
  const [cpu, begun] = [cpuSecondsOf(pid), performance.now()];
  await sleep(bench.quick ? 3_000 : 60_000);
  const seconds = (performance.now() - begun) / 1_000;
  return (100 * (cpuSecondsOf(pid) - cpu)) / seconds;
}

function report(bench: Bench, least: ScanScheduler, largest: ScanScheduler): void {
  const files = largest.files.toLocaleString("en");
  bench.find({
    what: `start until ${files} new files are journaled`,
    ours: `${Math.round(largest.files / largest.journalSeconds)} files/s`,
    beside: "",
    value: largest.journalSeconds,
    bound: { atMost: 40, unit: "s" },
  });
  for (const [{ files: count, peakMib }, atMost] of [
    [largest, 350],
    [least, 170],
  ] as const) {
    bench.find({
      what: `memory with ${count.toLocaleString("en")} files`,
      ours: "",
      beside: "",
      value: peakMib,
      bound: { atMost, unit: "MiB" },
    });
  }
  bench.find({
    what: `idle, ${files} files watched`,
    ours: "",
    beside: "",
    value: largest.idlePercent,
    bound: { atMost: 0.5, unit: "% of a core" },
  });
}

function growth(bench: Bench, scanSchedulers: readonly ScanScheduler[]): void {
  const perFile = (field: "journalSeconds" | "rescanSeconds") =>
    scanSchedulers.map((each) => ({ files: each.files, micros: (1e6 * each[field]) / each.files }));
  for (const [what, field] of [
    ["first journaling", "journalSeconds"],
    ["rescan", "rescanSeconds"],
  ] as const) {
    const points = perFile(field);
    const [first, last] = [points[0]?.micros ?? 0, points.at(-1)?.micros ?? 0];
    bench.find({
      what: `cost of a file, ${what}, largest tree by smallest`,
      ours: `${rounded(last)} µs a file`,
      beside: `smallest tree: ${rounded(first)} µs`,
      value: last / first,
      bound: { atMost: 1.1, unit: "×" },
    });
    bench.notes.push(growthPlot(what, points));
  }
}
