import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** This share of all cores' time is idle on a machine that is at rest. */
const IDLE_SHARE = 0.95;
const LOOK_MS = 1_000;
/** Others may be at work for hours; the load next to each figure tells. */
const PATIENCE_MS = 60_000;

/** Waits until what went before is over: written to the disk, and tidied up behind. */
export async function quiet(): Promise<void> {
  execFileSync("sync");
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const before = spent();
    await sleep(LOOK_MS);
    const after = spent();
    if (after.idle - before.idle >= IDLE_SHARE * (after.all - before.all)) return;
  }
}

/** Milliseconds of all cores since the machine was started. */
function spent(): { idle: number; all: number } {
  const times = cpus().map((each) => each.times);
  const idle = times.reduce((sum, each) => sum + each.idle, 0);
  const all = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle);
  return { idle, all };
}
