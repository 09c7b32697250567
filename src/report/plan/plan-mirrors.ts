import { type Config, type Mirror, accountsOf } from "../../config/config.ts";
import type { MirrorRow, ContentIndex, Journal } from "../../journal/journal.ts";
import { ChannelClosed } from "../../reader/rpc-channel.ts";
import type { Reader } from "../../reader/reader.ts";
import { Wakeup } from "../../std/wakeup.ts";
import { codeOf, invariant, messageOf } from "../../std/fault.ts";
import { silentLog } from "../../std/log.ts";
import { AfterActions } from "../../sync/after-actions.ts";
import type { LiveMirror } from "../../sync/context.ts";
import { isDecidedOtherwise } from "../../sync/decided-again.ts";
import { FirstRun } from "../../sync/first-run.ts";
import { linksIn } from "../../sync/scan-scheduler.ts";
import { FULL_OWNERSHIP } from "../../sync/ownership.ts";
import type { Clock, Random } from "../../std/clock.ts";
import { StatReader } from "../stat-reader.ts";
import { NoDocuments } from "../no-documents.ts";
import { randomUUID } from "node:crypto";
import { type PlannedArchive, Planner } from "./planner.ts";
import type { Destinations, KnownArchive } from "./destinations.ts";
import type { MirrorPlan, PlanLine } from "./plan-line.ts";
import { SOLO_CLUSTER } from "../../journal/cluster.ts";

/** What a plan is made of, and where it goes line by line. */
export type Planning = {
  readonly config: Config;
  /** By the archive's name. */
  readonly known: ReadonlyMap<string, KnownArchive>;
  readonly destinations: ReadonlyMap<string, Destinations>;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Told before the lines of a mirror. */
  readonly begin: (mirror: Mirror) => Promise<void>;
  readonly emit: (line: PlanLine) => Promise<void>;
};

/** Plans mirror after mirror; one whose source is offline does not stop the others. */
export async function planMirrors(planning: Planning): Promise<MirrorPlan[]> {
  await using stack = new AsyncDisposableStack();
  const archives = new Map(
    accountsOf(planning.config).map((account) => [
      account.archive.name,
      plannedArchive(planning, account, stack),
    ]),
  );
  const plans: MirrorPlan[] = [];
  for (const mirror of planning.config.mirrors) {
    await planning.begin(mirror);
    const archive = archives.get(mirror.archive);
    invariant(archive, `mirror ${mirror.name} has an archive`);
    plans.push(await planMirror(planning, mirror, archive));
  }
  return plans;
}

/** An archive and its mirrors as a run would have them. Mirrors that the journal does not know have numbers of no row. */
function plannedArchive(
  { known, destinations: all, clock, random }: Planning,
  account: Config,
  stack: AsyncDisposableStack,
): PlannedArchive {
  const { name } = account.archive;
  const destinations = all.get(name);
  invariant(destinations, `the archive ${name} has destinations`);
  const { journal = NO_JOURNAL, mirrors: rows, pastFirstRun } = known.get(name) ?? {};
  const mirrors = new Map<number, LiveMirror>();
  const inFirstRun = new Set<number>();
  for (const [index, settings] of account.mirrors.entries()) {
    const { name: mirror, source } = settings;
    const unknown = { id: -1 - index, name: mirror, source, device: null, archiveId: 1 };
    const row = rows?.get(mirror) ?? unknown;
    if (settings.firstRun === "hold" && !pastFirstRun?.has(row.id)) inFirstRun.add(row.id);
    const settling = { small: new Wakeup(), large: new Wakeup() };
    const reader = lookingReader(settings, row, { clock, random }, stack);
    mirrors.set(row.id, { row, settings, reader, settling });
  }
  const context = {
    config: account,
    journal,
    archive: destinations.archive,
    mirrors,
    configured: mirrors,
    ownership: FULL_OWNERSHIP,
    clock,
    random,
    log: silentLog,
    newBatchId: randomUUID,
  };
  destinations.firstRun = FirstRun.planned(context, inFirstRun);
  const followed = {
    rows: new Set<number>(),
    tombstones: new Set<number>(),
    afterActions: new AfterActions(),
  };
  return { context, destinations, followed };
}

/** Of a mirror that another one's files may have come from: opened when it is asked for the first time. */
function lookingReader(
  settings: Mirror,
  row: MirrorRow,
  options: { readonly clock: Clock; readonly random: Random },
  stack: AsyncDisposableStack,
): Reader {
  let opened: Promise<StatReader | undefined> | undefined;
  const open = async () => {
    try {
      return stack.use(await StatReader.open(settings, row, options));
    } catch (error) {
      if (codeOf(error) === "SOURCE_OFFLINE") return undefined;
      throw error;
    }
  };
  const look: Reader["look"] = async (id, paths, spelt) => {
    const statReader = await (opened ??= open());
    if (!statReader?.status.online) return paths.map(() => undefined);
    return statReader.reader.look(id, paths, spelt);
  };
  // Nothing else is asked of another mirror.
  return { pid: process.pid, silent: false, look } as unknown as Reader;
}

async function planMirror(
  planning: Planning,
  mirror: Mirror,
  archive: PlannedArchive,
): Promise<MirrorPlan> {
  const { clock, random, signal } = planning;
  const { name, source } = mirror;
  const { journal, mirrors } = archive.context;
  const live = [...mirrors.values()].find(({ settings }) => settings === mirror);
  invariant(live, `mirror ${name} is planned`);
  const { row } = live;
  let planner: Planner | undefined;
  const noDocuments = new NoDocuments();
  const base = { name, source, archived: 0, unreadable: [], noDocuments: {}, links: null };
  try {
    await using statReader = await StatReader.open(mirror, row, {
      clock,
      random,
      listing: async (listing) => {
        for (const { name } of listing.files) noDocuments.add(name);
        await planner?.listing(listing);
      },
    });
    if (!statReader.status.online) return { ...base, offline: statReader.status.why };
    planner = new Planner({
      ...archive,
      mirror: { ...live, reader: statReader.reader },
      isDecidedOtherwise: await isDecidedOtherwise(journal, row.id, mirror),
      signal,
      emit: planning.emit,
    });
    const { unreadable, links: found } = await statReader.reader.scan(row.id, null);
    const links = await linksIn(journal, row.id, found);
    const { archived } = planner;
    return { ...base, offline: null, archived, unreadable, noDocuments: noDocuments.types, links };
  } catch (error) {
    const away = codeOf(error) === "SOURCE_OFFLINE" || error instanceof ChannelClosed;
    if (!away) throw error;
    return { ...base, offline: messageOf(error), archived: planner?.archived ?? 0 };
  }
}

/** In the place of a journal that is not there yet, for `plan`: what decides about documents asks this. */
const NO_JOURNAL = {
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
