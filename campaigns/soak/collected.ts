/**
 * Loaded into the soak's daemon beside the program itself: at SIGUSR2 it collects all garbage, and writes
 * what is left to the file `SOAK_KEPT`. Only what is left tells what a process keeps; a heap as it is has
 * garbage of unknown age in it.
 */
import { renameSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What waits for its finalizers is garbage only the next time. */
const ROUNDS = 4;

const file = process.env["SOAK_KEPT"];
delete process.env["SOAK_KEPT"];
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

async function tellKept(to: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    collect();
    await delay(50);
  }
  writeFileSync(`${to}.part`, String(process.memoryUsage().heapUsed));
  renameSync(`${to}.part`, to);
}

if (file !== undefined) process.on("SIGUSR2", () => void tellKept(file));
