import { SOLO_CLUSTER } from "../../journal/cluster.ts";
import type { ContentIndex, Journal } from "../../journal/journal.ts";

/** In the place of a journal that is not there yet, for `plan`: what decides about documents asks this. */
export const NO_JOURNAL = {
  archiveId: 0,
  cluster: SOLO_CLUSTER,
  mirrors: async () => [],
  rowsIn: async () => [],
  document: async () => undefined,
  currentAt: async () => undefined,
  sentWith: async () => [],
  knownContents: async () => new Set(),
  movedAway: async () => undefined,
  ignoredWith: async () => [],
  tombstones: async () => [],
  conflicts: async () => [],
  claimed: async () => new Map(),
  lastBatch: async () => undefined,
  keyValue: async () => null,
  async *list() {},
} satisfies ContentIndex & Partial<Journal> as Partial<Journal> as Journal;
