/** Readers that race with the racer: the one that is shipped, and a naive one that proves the rig. */
import { closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { openInside } from "../../src/source/open-inside.ts";
import { Fault } from "../../src/std/fault.ts";
import { rawOfText } from "../../src/std/raw-path.ts";

/** What the two readers met until `over`. */
export type Probes = { opens: number; refusals: number; outside: number; naiveOutside: number };

/** Opens these paths again and again in both ways until `over` aborts. */
export async function probe(
  source: string,
  paths: readonly string[],
  word: string,
  over: AbortSignal,
): Promise<Probes> {
  const probes: Probes = { opens: 0, refusals: 0, outside: 0, naiveOutside: 0 };
  while (!over.aborted) {
    for (const path of paths) {
      const inside = read(source, path);
      probes.opens += 1;
      if (inside === undefined) probes.refusals += 1;
      if (inside?.includes(word)) probes.outside += 1;
      if (naive(source, path)?.includes(word)) probes.naiveOutside += 1;
    }
    await turn();
  }
  return probes;
}

function read(source: string, path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openInside(source, rawOfText(path));
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function naive(source: string, path: string): Buffer | undefined {
  try {
    return readFileSync(join(source, path));
  } catch {
    return undefined;
  }
}
