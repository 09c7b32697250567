import { mkdir } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import { codeOf, Fault, messageOf } from "../std/fault.ts";
import { Blobs } from "./blobs.ts";
import type { Context } from "./context.ts";
import { Conversion } from "./conversion.ts";
import { Converter } from "./converter.ts";
import { FaultSchedule } from "./faults.ts";
import type { Settings } from "./options.ts";
import { folderPath, MALFORMED } from "./reading.ts";
import { serverOf } from "./server.ts";
import { type Account, Store } from "./store.ts";
import { Traffic } from "./traffic.ts";

/** The parts of an open archive. */
export type Opened = {
  context: Context;
  app: FastifyInstance;
  traffic: Traffic;
  closing: AbortController;
};

/** Opens the data directory; nothing listens or converts yet. */
export async function openParts(settings: Settings): Promise<Opened> {
  const { dataDir, clock, log } = settings;
  await mkdir(dataDir, { recursive: true });
  const store = Store.open(dataDir);
  try {
    const blobs = await Blobs.open(dataDir, (sha256) => store.documents.hasBlob(sha256));
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
      accounts,
      closing: closing.signal,
      quotas: new Map([...accounts.values()].map(({ id }) => [id, settings.quotaPages])),
      lateStores: new Set(),
      reminderPlugin: settings.reminderPlugin,
      faults: new FaultSchedule(settings.faults),
    };
    for (const account of accounts.values())
      for (const path of settings.folders) makeFolder(context, account, path);
    const traffic = new Traffic();
    const app = await serverOf(context, (operation, work) => traffic.track(operation, work));
    return { context, app, traffic, closing };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** Closes what `openParts` opened, once no more requests come in. */
export async function closeParts(context: Context, traffic: Traffic): Promise<void> {
  // The thread first: an upload may be waiting for it to count pages.
  const stopped = context.conversion.stop();
  await context.converter.close();
  await stopped;
  await traffic.quiet();
  context.store.close();
}

/** Listens and returns the base address. */
export async function listen(
  { app, context, traffic }: Opened,
  { listen }: Settings,
): Promise<string> {
  const { host, port } = listen;
  try {
    await app.listen({ host, port });
    const address = app.server.address();
    const bound = typeof address === "object" && address !== null ? address.port : port;
    return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
  } catch (error) {
    await app.close();
    await closeParts(context, traffic);
    throw new Fault(
      "EMBEDDED_ARCHIVE_LISTEN",
      `${host}:${port} cannot be listened on: ${codeOf(error) ?? messageOf(error)}`,
      "Choose an address of this machine and a free port; port 0 takes any.",
      { cause: error },
    );
  }
}

/** Makes `/A/B` and all above it; a Fault with EMBEDDED_ARCHIVE_OPTIONS for what is no path. */
export function makeFolder({ store, settings }: Context, account: Account, path: string): number {
  if (folderPath(path) !== MALFORMED) return store.makeFolder(account, path, settings.clock.now());
  throw new Fault(
    "EMBEDDED_ARCHIVE_OPTIONS",
    `${JSON.stringify(path)} is not a folder's path`,
    "Write it as /A/B: a slash before every name, no empty names.",
  );
}
