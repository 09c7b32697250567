/**
 * Notices that a file which a secret was read from holds something else by now. Looks from time to time,
 * for a secret may lie on a mount that reports nothing, or be a link that is turned to another file.
 */
import { stat } from "node:fs/promises";
import { type StampedFile, stampOf } from "../std/small-file.ts";
import { unlessEnded } from "../std/abort.ts";
import type { Clock } from "../std/clock.ts";

/** How often the files are looked at. */
const LOOK_MS = 2_000;

/**
 * Resolves with what the files are by now, once one of them is another and has stayed so for a look:
 * anyone who writes a secret may not be done with it. Rejects with `signal`'s reason.
 */
export async function otherSecrets(
  known: readonly StampedFile[],
  clock: Clock,
  signal: AbortSignal,
): Promise<StampedFile[]> {
  let last = known;
  for (;;) {
    await clock.sleep(LOOK_MS, signal);
    const now = await Promise.all(
      known.map(async ({ path }) => ({ path, stamp: await look(path) })),
    );
    // One that is gone, or cannot be read for now, is on its way to something else.
    const files = now.filter((file): file is StampedFile => file.stamp !== undefined);
    if (files.length === known.length && same(files, last) && !same(files, known)) return files;
    last = files;
  }
}

/** Calls `changed` at every such change, until `signal` aborts; `since` is what was noticed before. */
export async function watchSecrets(
  since: readonly StampedFile[],
  changed: (files: readonly StampedFile[]) => Promise<void>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let known: readonly StampedFile[] | undefined = since;
  while (known && known.length > 0) {
    // Those that cannot be used are not tried again until they change once more.
    known = await unlessEnded(otherSecrets(known, clock, signal), signal);
    if (known) await changed(known);
  }
}

async function look(path: string): Promise<string | undefined> {
  try {
    return stampOf(await stat(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

function same(some: readonly StampedFile[], others: readonly StampedFile[]): boolean {
  return (
    some.length === others.length && some.every(({ stamp }, at) => stamp === others[at]?.stamp)
  );
}
