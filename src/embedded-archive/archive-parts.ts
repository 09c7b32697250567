import type { FastifyInstance } from "fastify";
import { codeOf, Fault, messageOf } from "../std/fault.ts";
import { Blobs } from "./blobs.ts";
import { type Context, makeFolder } from "./archive-context.ts";
import { Conversion } from "./conversion.ts";
import { Converter } from "./converter.ts";
import { Expiry } from "./remove-expired.ts";
import { FaultSchedule } from "./faults.ts";
import type { Settings } from "./archive-options.ts";
import { adminOf } from "./admin.ts";
import { makePrivate } from "./privacy.ts";
import { serverOf } from "./server.ts";
import { Store } from "./store.ts";
import { Traffic } from "./traffic.ts";

/** The parts of an open archive. */
export type OpenedArchive = {
  context: Context;
  app: FastifyInstance;
  /** The listener for administration, where one is wanted. */
  admin: FastifyInstance | undefined;
  traffic: Traffic;
  closing: AbortController;
};

/** Opens the data directory; nothing listens or converts yet. */
export async function openParts(settings: Settings): Promise<OpenedArchive> {
  const { dataDir, clock, log, notifyUrl } = settings;
  const { store, blobs } = await openStorage(dataDir, settings.durable);
  try {
    await blobs.recover((sha256) => store.documents.hasBlob(sha256));
    store.documents.rearm(clock.now());
    const accounts = new Map(
      settings.accounts.map((option) => [option.key, store.account(option, clock.now())]),
    );
    const converter = new Converter(log);
    const conversion = new Conversion({ store, blobs, converter, clock, log });
    const closing = new AbortController();
    const context: Context = {
      settings,
      store,
      blobs,
      converter,
      conversion,
      expiry: new Expiry({ store, clock, log, notifyUrl }),
      accounts,
      closing: closing.signal,
      quotas: new Map([...accounts.values()].map(({ id }) => [id, quotaOf(store, id, settings)])),
      lateStores: new Set(),
      reminderPlugin: settings.reminderPlugin,
      faults: new FaultSchedule(settings.faults),
    };
    for (const account of accounts.values())
      for (const path of settings.folders) makeFolder(context, account, path);
    const traffic = new Traffic();
    const app = await serverOf(context, (operation, work) => traffic.track(operation, work));
    const admin = settings.admin && adminOf(context, traffic, settings.admin.host);
    return { context, app, admin, traffic, closing };
  } catch (error) {
    store.close();
    await blobs.close();
    throw error;
  }
}

/** The store and the blobs that its commits wait for. Nothing is swept away or fixed yet. */
export async function openStorage(
  dataDir: string,
  durable = true,
): Promise<{ store: Store; blobs: Blobs }> {
  makePrivate(dataDir);
  const blobs = await Blobs.open(dataDir, durable);
  try {
    return { store: Store.open(dataDir, { beforeCommit: () => blobs.settle(), durable }), blobs };
  } catch (error) {
    await blobs.close();
    throw error;
  }
}

/** What was set by hand counts before what the options say. */
function quotaOf(store: Store, accountId: number, settings: Settings): number | undefined {
  const pages = store.allowance(accountId) ?? settings.quotaPages;
  return pages === -1 ? undefined : pages;
}

/** Closes what `openParts` opened, once no more requests come in. */
export async function closeParts(context: Context, traffic: Traffic): Promise<void> {
  // The thread first: an upload may be waiting for it to count pages.
  const stopped = Promise.all([context.conversion.stop(), context.expiry.stop()]);
  await context.converter.close();
  await stopped;
  await traffic.quiet();
  context.store.close();
  await context.blobs.close();
}

/** Listens on every address and returns them; closes everything when one cannot be had. */
export async function listen(
  { app, admin, context, traffic }: OpenedArchive,
  settings: Settings,
): Promise<{ url: string; adminUrl: string | undefined }> {
  try {
    const url = await listenOn(app, settings.listen);
    const adminUrl = admin && settings.admin && (await listenOn(admin, settings.admin));
    return { url, adminUrl };
  } catch (error) {
    await app.close();
    await admin?.close();
    await closeParts(context, traffic);
    throw error;
  }
}

async function listenOn(app: FastifyInstance, { host, port }: Settings["listen"]): Promise<string> {
  try {
    await app.listen({ host, port });
    const address = app.server.address();
    const bound = typeof address === "object" && address !== null ? address.port : port;
    return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
  } catch (error) {
    throw new Fault(
      "EMBEDDED_ARCHIVE_LISTEN",
      `${host}:${port} cannot be listened on: ${codeOf(error) ?? messageOf(error)}`,
      "Choose an address of this machine and a free port; port 0 takes any.",
      { cause: error },
    );
  }
}
