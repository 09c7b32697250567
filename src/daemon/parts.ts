/** Opens what a daemon is made of, in order; each is closed in reverse by the stack it is put on. */
import { randomUUID } from "node:crypto";
import { archiveSettings } from "../archive/archive-settings.ts";
import { HttpArchive } from "../archive/http-archive.ts";
import { openSigner } from "../archive/credentials.ts";
import { accountsOf, type Config, secretsOf } from "../config/config.ts";
import type { Applied, Journal } from "../journal/journal.ts";
import type { MirrorRow } from "../journal/rows.ts";
import { ReceiptFolder } from "../receipts/receipt-folder.ts";
import type { Reader } from "../reader/reader.ts";
import { mountOf, readMounts } from "../source/mounts.ts";
import type { Clock, Random } from "../std/clock.ts";
import { invariant } from "../std/fault.ts";
import { Listeners } from "../std/wakeup.ts";
import { type Log, logWith, redactor } from "../std/log.ts";
import { assured, IdentityGuard } from "../sync/archive-identity.ts";
import { Bandwidth } from "../sync/bandwidth.ts";
import type { LiveMirror, SyncContext } from "../sync/context.ts";
import { type Ownership, ownershipOf } from "../sync/ownership.ts";
import { asLearned } from "../sync/learned-settle.ts";
import { MAX_SLEEP_MS } from "../sync/loop.ts";
import { Pace } from "../sync/pace.ts";
import { UploadMeter } from "../dashboard/upload-meter.ts";
import { throttledArchive } from "../sync/wrapped-archive.ts";
import { Sync } from "../sync/sync.ts";
import { Accounts, bindArchives, type LiveAccount } from "./bind-archives.ts";
import { ClusterWatch, soughtBy } from "./cluster-watch.ts";
import { Heartbeats } from "./heartbeats.ts";
import type { DaemonJournal } from "./daemon-journal.ts";
import { journalClock } from "./journal-clock.ts";
import { type ForReaders, openReader } from "./open-reader.ts";
import { Schedule } from "./schedule.ts";
import { assertApart } from "./source-places.ts";
import type { Document, State } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import { joinRaw, shown } from "../std/raw-path.ts";

/** What the parts get. */
export type PartsOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  /** False: everything but sending. Default true. */
  readonly sending?: boolean;
  /** Already open, and not closed with the parts. */
  readonly journal: DaemonJournal;
  readonly journaled?: (
    applied: readonly Applied[],
    mirrorName: (mirrorId: number) => string,
  ) => void;
  /** A reader was started again; told with the names of its mirrors. */
  readonly readerRestarted?: (mirrors: readonly string[]) => void;
};

/** What a daemon works with from then on; the stack it was put on closes it. */
export type Parts = {
  readonly journal: DaemonJournal["journal"];
  readonly accounts: Accounts;
  readonly cluster: ClusterWatch;
  /** What this daemon goes by. */
  readonly clock: Clock;
  /** Whether it does what is done once for the first archive, as of now: it notifies people. */
  readonly tells: () => boolean;
  readonly changed: Listeners;
  readonly uploads: UploadMeter;
  /** Ends every reader, also one that hangs: what waits for it goes on. */
  readonly endReaders: () => Promise<void>;
};

/** Connections of the daemon itself, for lists and look-ups. */
const LOOKUP_CONNECTIONS = 4;

/** Opens journal, archives, readers and loops. On a failure the stack closes what was opened. */
export async function openParts(given: PartsOptions, stack: AsyncDisposableStack): Promise<Parts> {
  const { config, log, journal: opened } = given;
  const { journal } = opened;
  const clock = journalClock(given.clock, journal.cluster);
  const options = { ...given, clock };
  const changed = new Listeners();
  const names = new Map<number, string>();
  const nameOf = (id: number) => names.get(id) ?? "";
  const accounts: LiveAccount[] = [];
  const all = new Accounts(accounts);
  opened.onApplied = (applied) => {
    logApplied(log, applied, nameOf);
    options.journaled?.(applied, nameOf);
    all.journaled(applied);
  };
  assertApart(config.mirrors);
  const rows = await bindArchives(config, journal, log);
  const mirrors = await journal.mirrors();
  for (const { id, name } of mirrors) names.set(id, name);
  // Before anything can happen to a document: what nobody keeps is not told.
  await journal.keepOutboxEntries(toldOf(config, mirrors));
  const archiveIds = [...rows.values()].map(({ id }) => id);
  const sought = () => soughtBy(config, archiveIds, mirrors);
  const cluster = stack.use(
    await ClusterWatch.open(journal.cluster, sought, log, () => all.rest()),
  );
  const bandwidth = new Bandwidth(config.upload.bytesPerSecond, clock);
  const uploads = new UploadMeter(clock);
  const readers = new Set<Reader>();
  const redact = redactor(secretsOf(config));
  for (const account of accountsOf(config)) {
    const archiveId = rows.get(account.archive.name)?.id;
    invariant(archiveId !== undefined, `archive ${account.archive.name} was just bound`);
    const ids = new Set(mirrors.flatMap((row) => (row.archiveId === archiveId ? [row.id] : [])));
    const ownLog = rows.size > 1 ? logWith(log, { archive: account.archive.name }) : log;
    const ownership = ownershipOf(journal.cluster, archiveId);
    const replaced = () => cluster.replaced();
    const own = { journal: journal.of(archiveId), ownership, bandwidth, uploads };
    const common = { ...own, changed, readers, redact, replaced };
    const opened = await openAccount({ ...options, config: account, log: ownLog }, stack, common);
    accounts.push({ ...opened, owns: (mirrorId) => ids.has(mirrorId) });
  }
  const endReaders = async () => {
    await Promise.all([...readers].map((reader) => reader.close()));
  };
  const first = rows.get(config.archive.name)?.id;
  const tells = () => first !== undefined && journal.cluster.owns({ kind: "account", id: first });
  return { journal, accounts: all, cluster, clock, tells, changed, uploads, endReaders };
}

/** The mirrors whose outcomes an `after` hook gets. */
function toldOf({ mirrors }: Config, rows: readonly MirrorRow[]): number[] {
  const heard = new Set(mirrors.flatMap(({ name, hooks }) => (hooks?.after ? [name] : [])));
  return rows.flatMap(({ id, name }) => (heard.has(name) ? [id] : []));
}

/** What the accounts have in common; `journal` speaks for the one that is opened. */
type Common = {
  readonly journal: Journal;
  readonly ownership: Ownership;
  readonly bandwidth: Bandwidth;
  readonly uploads: UploadMeter;
  readonly changed: Listeners;
  readonly readers: Set<Reader>;
  readonly redact: (text: string) => string;
  /** Called when a person has said that an archive is another one. */
  readonly replaced: () => void;
};

/** Opens the client, the readers and the loops of one archive; `config` is of that alone. */
async function openAccount(
  options: PartsOptions,
  stack: AsyncDisposableStack,
  { journal, ownership, bandwidth, uploads, changed, readers, redact, replaced }: Common,
): Promise<Omit<LiveAccount, "owns">> {
  const { config, log, clock, random } = options;
  const hearts = new Heartbeats(clock, config.archive.timeoutMs);
  const ready = Promise.withResolvers<Sync>();
  const settings = archiveSettings(config.archive, LOOKUP_CONNECTIONS);
  const signer = await openSigner(settings.signing);
  const archive = stack.use(await HttpArchive.open(settings, clock, signer));
  const pace = await Pace.open({ journal, config, clock, log });
  const patient = throttledArchive(archive, pace, clock);
  const asking = { archive: patient, journal, account: config.archive, upload: config.upload };
  const asks = ownership.account;
  const identity = new IdentityGuard(asking, { clock, log, asks, replaced });
  const common = { journal, ownership, hearts, ready: ready.promise, signer };
  const mirrors = await openMirrors(options, stack, common);
  for (const { reader } of mirrors.values()) readers.add(reader);
  const context: SyncContext = {
    config,
    journal,
    archive: assured(patient, identity),
    identity,
    mirrors,
    configured: mirrors,
    ownership,
    pace,
    bandwidth,
    uploads,
    wakeups: wakeupsOf(hearts, ownership),
    clock,
    random,
    log,
    redact,
    receipts: config.receipts && new ReceiptFolder(config.receipts),
    sending: options.sending ?? true,
    maxSleepMs: MAX_SLEEP_MS,
    newBatchId: randomUUID,
  };
  const probes = new Schedule(config.quota.retryAt);
  const sync = await Sync.open(
    context,
    (at) => probes.next(at),
    () => changed.tell(),
  );
  ready.resolve(sync);
  return { config, journal, sync, identity, hearts };
}

type ForMirrors = ForReaders & { readonly hearts: Heartbeats };

/**
 * One reader per file system and archive, as it signs requests itself; the sources are not touched to
 * find out which that is.
 */
async function openMirrors(
  options: PartsOptions,
  stack: AsyncDisposableStack,
  common: ForMirrors,
): Promise<Map<number, LiveMirror>> {
  const { mirrors } = options.config;
  const { journal, ownership, hearts } = common;
  const mounts = readMounts();
  const pointOf = (source: string) => mountOf(source, mounts)?.point ?? "/";
  const live = new Map<number, LiveMirror>();
  for (const [point, group] of Map.groupBy(mirrors, ({ source }) => pointOf(source))) {
    const rows = await Promise.all(
      group.map(async (mirror) => ({
        mirror,
        row: await journal.mirror(mirror.name, mirror.source),
      })),
    );
    const reader = stack.use(openReader(point, rows, options, common));
    for (const { row, mirror } of rows) {
      const settings = await asLearned(journal, row.id, mirror);
      const isWaiting = () => reader.pid === undefined || !ownership.owns(row.id);
      const wakeup = () => hearts.wakeup(`settling:${row.id}`, isWaiting);
      live.set(row.id, { row, settings, reader, settling: { small: wakeup(), large: wakeup() } });
    }
  }
  return live;
}

/** Only loops that run can be missed. */
function wakeupsOf(hearts: Heartbeats, ownership: Ownership): SyncContext["wakeups"] {
  const wakeup = (service: "doubts" | "polling" | "held") =>
    hearts.wakeup(service, () => !ownership.account);
  return {
    sending: hearts.wakeup("sending"),
    doubts: wakeup("doubts"),
    polling: wakeup("polling"),
    held: wakeup("held"),
    after: hearts.wakeup("after"),
  };
}

/** What every document passes on its way to the archive. */
const ON_THE_WAY: ReadonlySet<State> = new Set(["settling", "pending", "uploading"]);

/**
 * One line for what becomes of a document: sent, converted, held and the like; two as a rule. What it
 * passes on its way there, and what repeats without a change of its state, is detail.
 */
function logApplied(
  log: Log,
  applied: readonly Applied[],
  mirrorName: (mirrorId: number) => string,
): void {
  for (const { change, document, from, skipped } of applied) {
    if (skipped || !document) continue;
    if (change.type !== "event" && change.type !== "add" && change.type !== "follow") continue;
    const context = {
      mirror: mirrorName(document.mirrorId),
      path: shown(joinRaw(document.dir, document.name)),
      state: document.state,
      ...(from === undefined ? {} : { from }),
      ...(document.batch === null ? {} : { batch: document.batch }),
      ...(document.documentId === null ? {} : { documentId: document.documentId }),
      ...(document.problem === null ? {} : { code: document.problem.code }),
    };
    if (change.type === "event" && document.state === from) {
      log.debug(context, change.event.type);
    } else if (change.type !== "follow" && ON_THE_WAY.has(document.state) && !isPutBack(document)) {
      log.debug(context, document.state);
    } else if (document.problem && ["held", "failed", "inDoubt"].includes(document.state)) {
      const { code, message } = document.problem;
      log.warn(context, `${document.state}: ${message}. ${failureOf(code).hint}`);
    } else {
      log.info(context, change.type === "follow" ? "renamed or moved" : document.state);
    }
  }
}

/** A try that failed, and is made again: not what every document passes. */
function isPutBack({ state, problem }: Pick<Document, "state" | "problem">): boolean {
  return state === "pending" && problem !== null;
}
