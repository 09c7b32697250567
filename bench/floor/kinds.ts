/** What the least that sends is told. */
import type { TreeSpec } from "../daemon/tree.ts";

/** What each adds to the one before it. */
export const KINDS = {
  send: "reads and sends",
  hash: "and hashes each file before",
  journal: "and journals: three durable writes",
} as const;

export type Least = TreeSpec & {
  readonly kind: keyof typeof KINDS;
  readonly url: string;
  readonly root: string;
  readonly concurrency: number;
  /** A file that is not there yet. */
  readonly journal: string;
};
