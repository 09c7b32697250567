import { dirname, resolve } from "node:path";
import type { PagePolicy } from "../domain/allowance.ts";
import type { Signing } from "../domain/signing.ts";
import { invariant } from "../std/invariant.ts";
import { baseOf } from "../rules/folder.ts";
import { rulesOf } from "./build-rules.ts";
import { archiveNameOf, archivesIn } from "./archives.ts";
import type { ConfigFile } from "./config-file.ts";
import type { ArchiveAccount, Config, Mirror } from "./config.ts";
import type { Networks } from "./find-networks.ts";
import { globBelow } from "./glob.ts";
import { type JournalPlace, LEASE_MS } from "./journal-place.ts";
import { type Layout, layoutOf, type MirrorLayout, wayDown } from "./layout.ts";
import { notifyOf } from "./notify.ts";
import type { FileShape } from "./file-schema.ts";
import type { Secrets } from "./secrets.ts";
import type { After } from "./place-kinds.ts";
import { RECEIPT_FORMATS } from "./keeping-schema.ts";
import { hooksOf } from "./build-hooks.ts";
import { writtenJournal } from "./written-journal.ts";

type ArchiveShape = NonNullable<FileShape["archive"]>;

/** What was found elsewhere than in the file. */
type Found = Secrets & {
  readonly networks?: Networks;
};

/** The configuration of a file in which nothing was found wrong. Frozen all the way down. */
export function buildConfig(
  { path, isWritten }: Pick<ConfigFile, "path" | "isWritten">,
  shape: FileShape,
  secrets: Found,
): Config {
  const folder = dirname(path);
  const { upload, batch, quota, conversion } = shape;
  const layout = layoutOf(shape, folder);
  const [archive, ...furtherArchives] = accountsIn(shape, secrets, folder);
  invariant(archive, "a checked configuration has an archive");
  return frozen({
    file: isWritten ? path : undefined,
    archive,
    ...(furtherArchives.length === 0 ? {} : { furtherArchives }),
    mirrors: mirrorsOf(shape, layout, folder),
    journal: journalOf(shape.journal, layout, secrets.journalPassword),
    retention: retentionOf(shape.journal),
    upload: {
      concurrency: upload.concurrency,
      bytesPerSecond: upload.bandwidth,
      hours: upload.hours,
      retry: intervalOf(upload.retry),
      doubt: { windowMs: upload.doubt.window, toleranceMs: upload.doubt.tolerance },
    },
    batch: { quietMs: batch.quiet, maxDocuments: batch.maxDocuments },
    quota: {
      retry: intervalOf(quota.retry),
      retryAt: quota.retryAt,
      pages: pagesOf(quota),
    },
    conversion: {
      poll: intervalOf(conversion.poll),
      stuckAfterMs: conversion.stuckAfter,
      outstandingMax: conversion.maxOutstanding,
    },
    schedule: { rescan: shape.schedule.rescan },
    web: shape.web && webOf(shape.web, secrets.webToken),
    notify: notifyOf(shape.notify, secrets.notify ?? { channels: [], ping: {} }, {
      folder,
      networkTo: secrets.networks?.to ?? (() => undefined),
    }),
    log: { level: shape.log.level, file: logFileOf(shape.log, layout) },
    receipts: receiptsOf(shape.receipts, layout),
    shutdownMs: shape.shutdown,
    secretFiles: secrets.files,
  });
}

function pagesOf(quota: FileShape["quota"]): PagePolicy {
  const { monthlyPages, monthBegins, whenUsedUp, reserve } = quota;
  return {
    monthlyPages,
    monthBegins,
    whenUsedUp,
    reserve: reserve.pages > 0 ? reserve : undefined,
  };
}

function journalOf(
  journal: FileShape["journal"],
  { journal: path }: Layout,
  password: string | undefined,
): JournalPlace {
  if (path !== undefined) return path;
  const { url, lease, instance } = writtenJournal(journal);
  invariant(url, "a checked configuration has a journal");
  return {
    server: url.server,
    schema: url.schema,
    password,
    hasPasswordInUrl: url.password !== undefined,
    leaseMs: lease ?? LEASE_MS,
    instance,
  };
}

function retentionOf(journal: FileShape["journal"]): Config["retention"] {
  if (typeof journal === "string" || "server" in journal) return undefined;
  if (journal.retain === undefined) return undefined;
  return { retainMs: journal.retain, rememberMs: journal.remember };
}

function logFileOf({ keep }: FileShape["log"], { log }: Layout): Config["log"]["file"] {
  if (log === undefined) return undefined;
  return { path: log, sizeBytesMax: keep.size, olderMax: keep.files };
}

function receiptsOf(
  receipts: FileShape["receipts"],
  { receipts: dir }: Layout,
): Config["receipts"] {
  if (receipts === undefined || dir === undefined) return undefined;
  return typeof receipts === "string"
    ? { dir, formats: [...RECEIPT_FORMATS] }
    : { dir, formats: receipts.formats };
}

function webOf(
  { listen, names }: NonNullable<FileShape["web"]>,
  token: string | undefined,
): Config["web"] {
  return {
    ...listen,
    ...(token === undefined ? {} : { token }),
    ...(names.length === 0 ? {} : { names }),
  };
}

function accountsIn(shape: FileShape, secrets: Found, folder: string): ArchiveAccount[] {
  return archivesIn(shape).map(({ name, section: { url, timeout, signing, storedSize } }) => {
    const network = secrets.networks?.archives.get(name);
    const { accountKey, signingSecret } = secrets.archives.get(name) ?? {};
    invariant(accountKey !== undefined, "a checked configuration has an account key");
    const signs = signingOf(signing, signingSecret, folder);
    return {
      name,
      url,
      accountKey,
      signing: signs,
      ...(network && { network }),
      timeoutMs: timeout,
      storedSize,
    };
  });
}

/** How an archive's requests are signed; `folder` is what a module's path is relative to. */
export function signingOf(
  { scheme, algorithm, encoding, module }: ArchiveShape["signing"],
  secret: string | undefined,
  folder: string,
): Signing {
  if (scheme === "none") return { scheme };
  if (scheme === "module") {
    invariant(module !== undefined, "a checked configuration names its signing module");
    return { scheme, module: resolve(folder, module) };
  }
  invariant(secret !== undefined, "a checked configuration has its secret");
  return { scheme, algorithm, encoding, secret };
}

function mirrorsOf(shape: FileShape, layout: Layout, folder: string): Mirror[] {
  const archives = archivesIn(shape);
  return shape.mirrors.map((mirror, at) => {
    const place = layout.mirrors[at];
    const { name, source } = place ?? {};
    invariant(place && name !== undefined && source !== undefined, "a checked mirror has a source");
    const archive = archiveNameOf(mirror, archives);
    invariant(archive !== undefined, "a checked mirror has an archive");
    return {
      name,
      source,
      archive,
      target: targetOf(mirror),
      include: mirror.include,
      exclude: excludeOf(mirror.exclude, place),
      watch: mirror.watch,
      settleMs: mirror.settle,
      incompleteMs: mirror.incomplete,
      stillIncomplete: mirror.stillIncomplete,
      missingFolder: mirror.missingFolder,
      firstRun: mirror.firstRun,
      changed: mirror.changed,
      changesPerHour: mirror.changesPerHour,
      after: afterOf(mirror.after, place),
      rules: rulesOf(mirror),
      hooks: hooksOf(mirror.hooks, folder),
    };
  });
}

function targetOf({ target, targetId }: FileShape["mirrors"][number]): Mirror["target"] {
  if (targetId !== undefined) return { id: targetId };
  invariant(target !== undefined, "a checked mirror has a target");
  return { path: baseOf(target) };
}

/** What was moved within the source must not be found there and sent a second time. */
function excludeOf(exclude: string[], { source, moveTo }: MirrorLayout): string[] {
  const way = source && moveTo ? wayDown(source, moveTo) : undefined;
  return way ? [...exclude, globBelow(way)] : exclude;
}

function afterOf(after: After, { moveTo }: MirrorLayout): After {
  return after.kind === "move" && moveTo !== undefined ? { kind: "move", to: moveTo } : after;
}

function intervalOf({ initial, max }: { initial: number; max: number }) {
  return { initialMs: initial, maxMs: max };
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}
