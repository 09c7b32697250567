import type { Journal } from "../journal/journal.ts";
import { isShared } from "./ownership.ts";

/** When a person last asked for a rescan, where several daemons share the journal. */
export const RESCAN_KEY = "rescan";

/** Asks the other daemons on the journal to scan what they lead; nothing where there are none. */
export async function askRescan(journal: Journal, now: number): Promise<void> {
  // Another word each time.
  if (isShared(journal.cluster))
    await journal.setKeyValue(RESCAN_KEY, `${now} ${journal.cluster.instanceId}`);
}
