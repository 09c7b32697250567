import { SOLO_CLUSTER } from "../../journal/cluster.ts";
import type { Journal } from "../../journal/journal.ts";

/** What decides about documents asks this; nothing was ever journaled. */
const NOTHING: Partial<Journal> = {
  archiveId: 0,
  cluster: SOLO_CLUSTER,
  mirrors: async () => [],
  rowsIn: async () => [],
  document: async () => undefined,
  currentAt: async () => undefined,
  sentWith: async () => [],
  ignoredWith: async () => [],
  tombstones: async () => [],
  conflicts: async () => [],
  claimed: async () => new Map(),
  lastBatch: async () => undefined,
  keyValue: async () => null,
  async *list() {},
};

/** In the place of a journal that is not there yet, for `plan`. */
export const NO_JOURNAL = NOTHING as Journal;
