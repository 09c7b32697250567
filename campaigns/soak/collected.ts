/**
 * Loaded into the soak's daemon next to the program itself: at SIGUSR2 it collects all garbage, and writes
 * what is left to the file `SOAK_KEPT`, a `Kept` in JSON. Only what is left tells what a process keeps; a heap
 * as it is has garbage of unknown age in it.
 */
import { renameSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes that a heap keeps. */
export type Kept = {
  /** Objects that have outlived some collections. */
  readonly objects: number;
  /**
   * What V8 made of the program: byte code, and machine code of what ran often. It grows for hours, ever more
   * slowly, as one function after the other is translated; there are no more of them than the program has.
   */
  readonly code: number;
};

/** What waits for its finalizers is garbage only the next time. */
const ROUNDS = 4;

/** V8's spaces by what is in them; in those of neither is what was made a moment ago. */
const OBJECTS = ["old_space", "large_object_space"];
const CODE = [
  "code_space",
  "code_large_object_space",
  "trusted_space",
  "trusted_large_object_space",
];

const file = process.env["SOAK_KEPT"];
delete process.env["SOAK_KEPT"];
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function usedIn(spaces: readonly string[]): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => spaces.includes(name))
    .reduce((sum, { space_used_size: used }) => sum + used, 0);
}

async function tellKept(to: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    collect();
    await delay(50);
  }
  const kept = { objects: usedIn(OBJECTS), code: usedIn(CODE) } satisfies Kept;
  writeFileSync(`${to}.part`, JSON.stringify(kept));
  renameSync(`${to}.part`, to);
}

if (file !== undefined) process.on("SIGUSR2", () => void tellKept(file));
