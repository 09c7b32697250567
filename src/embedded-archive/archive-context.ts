import type { Blobs } from "./blobs.ts";
import type { Conversion } from "./conversion.ts";
import type { Converter } from "./converter.ts";
import type { Expiry } from "./remove-expired.ts";
import type { FaultSchedule } from "./faults.ts";
import type { Settings } from "./archive-options.ts";
import type { Account, Store } from "./store.ts";
import type { Traffic } from "./traffic.ts";

/** What answering a request needs. The last ones may change while the archive is open. */
export type Context = {
  readonly settings: Settings;
  readonly store: Store;
  readonly blobs: Blobs;
  readonly converter: Converter;
  readonly conversion: Conversion;
  readonly expiry: Expiry;
  readonly traffic: Traffic;
  /** By account key. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** Aborted when the archive closes. */
  readonly closing: AbortSignal;
  /** Documents that a fault stores after their connection broke. */
  readonly lateStores: Set<Promise<unknown>>;
  /** Pages allowed, by account id; undefined: unlimited. */
  readonly quotas: Map<number, number | undefined>;
  reminderPlugin: boolean;
  faults: FaultSchedule;
};
