/** Looks at the processes every few seconds and writes down what they take. */
import { appendFileSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import type { Town } from "./town.ts";

/** One look. Bytes, seconds; NaN for what could not be had at that moment. */
export type Sample = {
  readonly seconds: number;
  readonly daemonRss: number;
  /** Of it, what is the process's own; the rest are pages of files, which the kernel takes back as it likes. */
  readonly daemonOwn: number;
  readonly daemonHeap: number;
  /** Of it, objects that all garbage collections leave; now and then. */
  readonly daemonKept: number;
  /** Of it, what V8 made of the program, when it was last looked at. */
  readonly daemonCode: number;
  readonly daemonFds: number;
  /** The reader that is there; another one after it was ended. */
  readonly readerPid: number;
  readonly readerRss: number;
  readonly readerOwn: number;
  readonly readerFds: number;
  readonly archiveRss: number;
  readonly wal: number;
  readonly journal: number;
  /** 99th percentile of the daemon's event loop since the last look. */
  readonly lag: number;
  /** CPU that daemon and reader have used. */
  readonly cpu: number;
  readonly documents: number;
};

/** Between looks at what the daemon keeps: more often would change what the other figures show. */
const KEPT_EVERY_S = 5 * 60;

export class Sampler {
  readonly samples: Sample[] = [];
  readonly #town: Town;
  readonly #file: string;
  readonly #startedAt = performance.now();
  #keptAt = Number.NEGATIVE_INFINITY;
  #code = Number.NaN;

  /** `file` is a CSV, written line by line so that a look into it is possible at any time. */
  constructor(town: Town, file: string) {
    this.#town = town;
    this.#file = file;
  }

  async look(): Promise<Sample> {
    const { daemonPid, archivePid, journal } = this.#town;
    const [reader = 0] = this.#town.readers();
    const metrics = await this.#metrics();
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000);
    const sample: Sample = {
      seconds,
      daemonRss: memoryOf(daemonPid, "VmRSS"),
      daemonOwn: memoryOf(daemonPid, "RssAnon"),
      daemonHeap: metrics("nodejs_heap_size_used_bytes"),
      daemonKept: await this.#kept(seconds),
      daemonCode: this.#code,
      daemonFds: fdsOf(daemonPid),
      readerPid: reader,
      readerRss: memoryOf(reader, "VmRSS"),
      readerOwn: memoryOf(reader, "RssAnon"),
      readerFds: fdsOf(reader),
      archiveRss: memoryOf(archivePid, "VmRSS"),
      wal: sizeOf(`${journal}-wal`),
      journal: sizeOf(journal),
      lag: metrics("nodejs_eventloop_lag_p99_seconds"),
      cpu: metrics("process_cpu_seconds_total"),
      documents: metrics("scanferry_documents"),
    };
    if (this.samples.length === 0) writeFileSync(this.#file, `${Object.keys(sample).join(",")}\n`);
    appendFileSync(this.#file, `${Object.values(sample).join(",")}\n`);
    this.samples.push(sample);
    return sample;
  }

  async #kept(seconds: number): Promise<number> {
    if (seconds - this.#keptAt < KEPT_EVERY_S) return Number.NaN;
    const kept = await this.#town.kept();
    if (!kept) return Number.NaN;
    this.#keptAt = seconds;
    this.#code = kept.code;
    return kept.objects;
  }

  /** Sums of the daemon's measures by name; NaN while its page does not answer. */
  async #metrics(): Promise<(name: string) => number> {
    try {
      const text = await (await this.#town.page("/metrics")).text();
      const lines = text.split("\n").flatMap((line) => {
        const [, name = "", value] = /^(\w+)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
        return [[name, Number(value)] as const];
      });
      return (wanted) => {
        const values = lines.filter(([name]) => name === wanted).map(([, value]) => value);
        return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0);
      };
    } catch {
      return () => Number.NaN;
    }
  }
}

/** A line of `/proc/PID/status`, in bytes. */
function memoryOf(pid: number, line: "VmRSS" | "RssAnon"): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kilobytes = new RegExp(`^${line}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
    return kilobytes === undefined ? Number.NaN : Number(kilobytes) * 1024;
  } catch {
    return Number.NaN;
  }
}

function fdsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return Number.NaN;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
