/** What a command costs: wall time, processor time and memory, of all its processes. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { childrenOf } from "../../test/fixtures/a-process.ts";
import { WrongResult } from "./bench.ts";

export type Cost = {
  readonly seconds: number;
  /** Of the command and all that it waited for. */
  readonly cpuSeconds: number;
  /** The largest that the command and its children were resident at a time, bytes. */
  readonly peakBytes: number;
  readonly stdout: string;
};

/** Kernel's clock ticks a second as /proc counts them, on every Linux that Node runs on. */
const TICKS = 100;
/** Peaks are the kernel's own, and times add up: this only has to be short next to a process's life. */
const LOOK_MS = 20;

/** Runs a command to its end. @throws `WrongResult` unless it ends with 0 */
export async function costOf(
  command: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Cost> {
  const cpuBefore = waitedForSeconds();
  const begun = performance.now();
  const child = spawn(command, words, {
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const spare = endWithThis(child);
  const said = Promise.all([buffer(child.stdout), buffer(child.stderr)]);
  const over = new AbortController();
  const watched = watch(child.pid ?? 0, over.signal);
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  const seconds = (performance.now() - begun) / 1_000;
  const waitedFor = waitedForSeconds() - cpuBefore;
  over.abort();
  spare();
  const [stdout, stderr] = await said;
  const { peakBytes, cpuSeconds } = await watched;
  if (code !== 0) {
    const what = `${command} ${words.slice(0, 5).join(" ")}`;
    throw new WrongResult(`${what} ended with ${code ?? signal}: ${stderr.toString()}`);
  }
  // Whom the command did not wait for is known by the last look alone.
  return {
    seconds,
    cpuSeconds: Math.max(waitedFor, cpuSeconds),
    peakBytes,
    stdout: stdout.toString(),
  };
}

/** Has a process end no later than this one; what it returns forgets that. */
export function endWithThis(child: ChildProcess): () => void {
  const kill = () => void child.kill("SIGKILL");
  // Before what it writes to is removed.
  process.prependOnceListener("exit", kill);
  return () => void process.off("exit", kill);
}

async function watch(pid: number, over: AbortSignal) {
  let [peakBytes, cpuSeconds] = [0, 0];
  while (!over.aborted) {
    peakBytes = Math.max(peakBytes, peakBytesOf(pid));
    cpuSeconds = Math.max(cpuSeconds, cpuSecondsOf(pid));
    await sleep(LOOK_MS, undefined, { signal: over }).catch(() => {});
  }
  return { peakBytes, cpuSeconds };
}

/**
 * What a process and its children took together at most. Their own peaks are added up, which is no
 * less than what they had at any one time; the pages of the program's files, which all of them run
 * and the kernel holds once, are counted once.
 */
export function peakBytesOf(pid: number): number {
  const each = [pid, ...childrenOf(pid)].map((one) => proc(one, "status"));
  const files = each.map((status) => bytesIn(status, "RssFile"));
  const own = each.map((status, index) => bytesIn(status, "VmHWM") - (files[index] ?? 0));
  return own.reduce((sum, bytes) => sum + bytes, Math.max(...files));
}

function bytesIn(status: string, field: string): number {
  return 1_024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0);
}

/** Processor seconds of a living process and its living children so far. */
export function cpuSecondsOf(pid: number): number {
  const ticks = [pid, ...childrenOf(pid)].map((each) => {
    const [user = 0, system = 0] = timesOf(each);
    return user + system;
  });
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS;
}

/** Who started a living process; 0 where it has ended. */
export function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(proc(pid, "status"))?.[1] ?? 0);
}

/** Processor seconds of all ended processes that this one started, and of theirs. */
function waitedForSeconds(): number {
  const [, , user = 0, system = 0] = timesOf(process.pid);
  return (user + system) / TICKS;
}

/** `utime`, `stime`, `cutime` and `cstime` of proc(5), in ticks. */
function timesOf(pid: number): number[] {
  const stat = proc(pid, "stat");
  return stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 15)
    .map(Number);
}

/** Empty when the process has ended. */
function proc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
