import type { Context } from "./archive-context.ts";
import type { Settings } from "./archive-options.ts";
import { Conversion } from "./conversion.ts";
import { Converter } from "./converter.ts";
import { FaultSchedule } from "./faults.ts";
import { openStorage } from "./open-storage.ts";
import { Expiry } from "./remove-expired.ts";
import type { Store } from "./store.ts";
import { Traffic } from "./traffic.ts";

/** Opens the data directory; nothing listens or converts yet. All is closed with `opened`. */
export async function openContext(
  settings: Settings,
  opened: AsyncDisposableStack,
  closing: AbortSignal,
): Promise<Context> {
  const { dataDir, clock, log, notifyUrl } = settings;
  const { store, blobs } = await openStorage(dataDir, opened, settings.durable);
  await blobs.recover((sha256) => store.documents.hasBlob(sha256));
  store.documents.rearm(clock.now());
  const accounts = settings.accounts.map((option) => store.account(option, clock.now()));
  const traffic = new Traffic();
  opened.defer(() => traffic.quiet());
  const converter = new Converter(log);
  const conversion = new Conversion({ store, blobs, converter, clock, log });
  const expiry = new Expiry({ store, clock, log, notifyUrl });
  opened.defer(async () => {
    const stopped = Promise.all([conversion.stop(), expiry.stop()]);
    // An upload may be waiting for its thread to count pages.
    await converter.close();
    await stopped;
  });
  const context: Context = {
    settings,
    store,
    blobs,
    converter,
    conversion,
    expiry,
    traffic,
    accounts: new Map(accounts.map((account) => [account.key, account])),
    closing,
    quotas: new Map(accounts.map(({ id }) => [id, quotaOf(store, id, settings)])),
    lateStores: new Set(),
    reminderPlugin: settings.reminderPlugin,
    faults: new FaultSchedule(settings.faults),
  };
  for (const account of accounts)
    for (const path of settings.folders) store.makeFolder(account, path, clock.now());
  return context;
}

/** What was set by hand counts before what the options say. */
function quotaOf(store: Store, accountId: number, settings: Settings): number | undefined {
  const pages = store.allowance(accountId) ?? settings.quotaPages;
  return pages === -1 ? undefined : pages;
}
