import type { Settings } from "./archive-options.ts";
import { Conversion, Converter } from "./converter.ts";
import { FaultSchedule } from "./faults.ts";
import { Delivery, Expiry } from "./remove-expired.ts";
import { openStorage } from "./store.ts";
import { type Operation, PATHS } from "../wire/shapes.ts";

/** What answering a request needs. The last ones may change while the archive is open. */
export type Context = Awaited<ReturnType<typeof openContext>>;

/** Opens the data directory; nothing listens or converts yet. All is closed with `opened`. */
export async function openContext(
  settings: Settings,
  opened: AsyncDisposableStack,
  closing: AbortSignal,
) {
  const { dataDir, clock, log, notifyUrl } = settings;
  const { store, blobs } = await openStorage(dataDir, opened);
  await blobs.recover((sha256) => store.documents.hasBlob(sha256));
  store.documents.rearm(clock.now());
  const accounts = settings.accounts.map((option) => store.account(option, clock.now()));
  const traffic = new Traffic();
  opened.defer(() => traffic.quiet());
  const parts = { store, clock, log, closing, notifyUrl };
  const converter = new Converter(parts);
  const conversion = new Conversion({ ...parts, blobs, converter });
  const delivery = new Delivery(parts);
  const expiry = new Expiry({ ...parts, delivery });
  const loops = [conversion, expiry, delivery];
  opened.defer(async () => {
    await Promise.all(loops.map(({ ended }) => ended));
    await converter.close();
  });
  for (const account of accounts)
    for (const path of settings.folders) store.makeFolder(account.id, path, clock.now());
  return {
    settings,
    store,
    blobs,
    converter,
    conversion,
    expiry,
    loops,
    traffic,
    /** By account key. */
    accounts: new Map(accounts.map((account) => [account.key, account])),
    /** Aborted when the archive closes. */
    closing,
    reminderPlugin: settings.reminderPlugin,
    faults: new FaultSchedule(settings.faults),
  };
}

/** Requests under way, and how many there were. */
class Traffic {
  /** Since the start, of every operation: 0 of those that nobody asked. */
  readonly counts = Object.fromEntries(
    Object.keys(PATHS).map((operation) => [operation, 0]),
  ) as Record<Operation, number>;
  /** Requests under way; a document that a fault stores late is part of its request. */
  readonly active = new Set<Promise<void>>();

  /** Counts the request whatever becomes of it. Rejects as `work` does. */
  track(operation: Operation, work: () => Promise<void>): Promise<void> {
    this.counts[operation] += 1;
    const active = work().finally(() => this.active.delete(active));
    this.active.add(active);
    return active;
  }

  /** Resolves once nothing is under way, what began meanwhile included. */
  async quiet(): Promise<void> {
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }
}
