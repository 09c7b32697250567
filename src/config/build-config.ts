import { dirname, resolve } from "node:path";
import { invariant } from "../std/invariant.ts";
import { baseOf } from "../rules/folder.ts";
import { rulesOf } from "./build-rules.ts";
import type { After, Config, Mirror, Signing } from "./config.ts";
import { globBelow } from "./glob.ts";
import { type Layout, layoutOf, type MirrorLayout, wayDown } from "./layout.ts";
import type { FileShape } from "./schema.ts";
import type { Secrets } from "./secrets.ts";

/** The configuration of a file in which nothing was found wrong. Frozen all the way down. */
export function buildConfig(file: string, shape: FileShape, secrets: Secrets): Config {
  const { archive, upload, batch, quota, conversion } = shape;
  const layout = layoutOf(shape, dirname(file));
  invariant(secrets.accountKey !== undefined, "a checked configuration has an account key");
  invariant(layout.journal !== undefined, "a checked configuration has a journal");
  return frozen({
    file,
    archive: {
      url: archive.url,
      accountKey: secrets.accountKey,
      signing: signingOf(shape, secrets, dirname(file)),
      timeoutMs: archive.timeout,
    },
    mirrors: mirrorsOf(shape, layout, dirname(file)),
    journal: layout.journal,
    retention: retentionOf(shape.journal),
    upload: {
      concurrency: upload.concurrency,
      bytesPerSecond: upload.bandwidth,
      hours: upload.hours,
      retry: intervalOf(upload.retry),
      doubt: { windowMs: upload.doubt.window, toleranceMs: upload.doubt.tolerance },
    },
    batch: { quietMs: batch.quiet, maxDocuments: batch.maxDocuments },
    quota: { retry: intervalOf(quota.retry), retryAt: quota.retryAt },
    conversion: {
      poll: intervalOf(conversion.poll),
      stuckAfterMs: conversion.stuckAfter,
      outstandingMax: conversion.maxOutstanding,
    },
    schedule: { rescan: shape.schedule.rescan },
    web: shape.web && webOf(shape.web.listen, secrets.webToken),
    log: { level: shape.log.level, file: logFileOf(shape.log, layout) },
    shutdownMs: shape.shutdown,
    secretFiles: secrets.files,
  });
}

function retentionOf(journal: FileShape["journal"]): Config["retention"] {
  if (typeof journal === "string" || journal.retain === undefined) return undefined;
  return { retainMs: journal.retain, rememberMs: journal.remember };
}

function logFileOf({ keep }: FileShape["log"], { log }: Layout): Config["log"]["file"] {
  if (log === undefined) return undefined;
  return { path: log, sizeBytesMax: keep.size, olderMax: keep.files };
}

function webOf(listen: { host: string; port: number }, token: string | undefined): Config["web"] {
  return token === undefined ? listen : { ...listen, token };
}

function signingOf({ archive: { signing } }: FileShape, secrets: Secrets, folder: string): Signing {
  const { scheme, algorithm, encoding, module } = signing;
  if (scheme === "none") return { scheme };
  if (scheme === "module") {
    invariant(module !== undefined, "a checked configuration names its signing module");
    return { scheme, module: resolve(folder, module) };
  }
  invariant(secrets.signingSecret !== undefined, "a checked configuration has its secret");
  return { scheme, algorithm, encoding, secret: secrets.signingSecret };
}

function mirrorsOf(shape: FileShape, layout: Layout, folder: string): Mirror[] {
  return shape.mirrors.map((mirror, at) => {
    const place = layout.mirrors[at];
    const { name, source } = place ?? {};
    invariant(place && name !== undefined && source !== undefined, "a checked mirror has a source");
    return {
      name,
      source,
      target: targetOf(mirror),
      include: mirror.include,
      exclude: excludeOf(mirror.exclude, place),
      watch: mirror.watch,
      settleMs: mirror.settle,
      incompleteMs: mirror.incomplete,
      missingFolder: mirror.missingFolder,
      firstRun: mirror.firstRun,
      changed: mirror.changed,
      after: afterOf(mirror.after, place),
      rules: rulesOf(mirror, folder),
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
