/** Where things stand, from the journal alone: the same with the daemon running or not. */
import type { ArchiveAccount, Config } from "../config/config.ts";
import { isRetired } from "../domain/archive-identity.ts";
import { type Document, type State, STATES } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import { targetPathOf } from "../domain/naming.ts";
import type { DocumentReader, Duplicates, Journal, Registry, Reports } from "../journal/journal.ts";
import type { MirrorRow } from "../journal/rows.ts";
import { mountOf, readMounts, watchMode } from "../source/mounts.ts";
import { ROOT, joinRaw, shown } from "../std/raw-path.ts";
import {
  type ArchiveAway,
  type Away,
  awayOf,
  noteOf,
  observersOf,
  type SourceNote,
} from "../sync/away.ts";
import { learnedIn, type LearnedSettle } from "../sync/learned-settle.ts";
import { type WaitingConfig, waitingOf, type WaitReason } from "../sync/pace.ts";
import {
  accountOf,
  type AllowanceReport,
  allowanceWait,
  type PageReport,
  pageReportOf,
  pagesOfAll,
} from "./page-report.ts";
import { configuredRows } from "./problems.ts";
import { type InstanceReport, instancesOf } from "./instance-report.ts";

/** Documents by state, every state present. */
export type Counts = Record<State, number>;

/** The report behind `status --json`, the page and the metrics. Times are epoch milliseconds. */
export type StatusReport = StatusLists & {
  readonly running: boolean;
  readonly paused: boolean;
  readonly documents: Counts;
  /** Of several archives: the one whose quota has been spent for the longest. */
  readonly quota: Quota;
  /** Why nothing is sent at all; null while the gate is open. Of several: the one closed the longest. */
  readonly gate: ClosedGate | null;
  /** Of several archives: what keeps all of them, and how many uploads run at the same time in all. */
  readonly sending: Sending;
  /** Where each archive stands, in the order of the configuration. */
  readonly archives: readonly ArchiveStatusReport[];
  readonly mirrors: readonly MirrorStatusReport[];
  /** Mirrors that are not configured any more and have documents that are not converted: nobody works on these. */
  readonly formerMirrors: readonly Pick<MirrorStatusReport, "name" | "source" | "documents">[];
  /** The daemons on the journal, where it may have several; else none. */
  readonly instances: readonly InstanceReport[];
  /** Pages: used, waiting, left. */
  readonly pages: PageReport;
  /** Documents that were not sent as the archive has their content, and the pages that saved. */
  readonly duplicates: Duplicates;
  /** Outcomes that `after` hooks have not been told yet. */
  readonly undelivered: number;
};

type Quota = { readonly blockedSince: number | null; readonly nextProbeAt: number | null };

type ClosedGate = {
  readonly closedAt: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly nextProbeAt: number | null;
};

/** What keeps new uploads from beginning, and how many run at the same time at most. */
type Sending = { readonly waits: WaitReason | null; readonly concurrency: number };

/** Where one archive stands. */
export type ArchiveStatusReport = {
  readonly name: string;
  readonly url: string;
  readonly quota: Quota;
  readonly gate: ClosedGate | null;
  readonly sending: Sending;
  /** It does not answer; null while it does, or no daemon is there to try. */
  readonly outage: (ArchiveAway & { readonly hint: string }) | null;
  /** Of its account; null where none is configured. */
  readonly allowance: AllowanceReport | null;
};

/** What of the configuration the report is about. */
export type StatusConfig = WaitingConfig &
  Pick<Config, "mirrors" | "quota"> & {
    readonly archive: Pick<ArchiveAccount, "name" | "url">;
    readonly furtherArchives?: readonly Pick<ArchiveAccount, "name" | "url">[] | undefined;
  };

/** Where one mirror stands; what is noted of its source is null where no daemon is there to look. */
export type MirrorStatusReport = SourceNote & {
  readonly name: string;
  readonly source: string;
  /** The name of the archive it is carried into. */
  readonly archive: string;
  /** The archive folder that its documents go into, or below: a path, or `#17` for a folder by its id. */
  readonly target: string;
  /** How the source is followed: `native`, `polling` or `off`. */
  readonly watch: string;
  /** Longer than `settle`, which was too short; null: nothing was learned. */
  readonly learnedSettle: LearnedSettle | null;
  readonly documents: Counts;
  /** By state, when the one of its documents that is known longest was first seen. */
  readonly oldestAt: Readonly<Partial<Record<State, number>>>;
};

/** No archive has this id: of one that the journal does not know yet, nothing is known. */
const NO_ARCHIVE = 0;

/** No document in any state. */
export function noDocuments(): Counts {
  return Object.fromEntries(STATES.map((state) => [state, 0])) as Counts;
}

type Standing = {
  readonly report: ArchiveStatusReport;
  readonly pages: PageReport;
  readonly away: Away;
};

/** `pending`: documents of a mirror that are ready. */
async function archiveReports(
  journal: Journal,
  config: StatusConfig,
  pending: (mirror: string) => number,
  { observers, now }: { readonly observers: ReturnType<typeof observersOf>; readonly now: number },
): Promise<Standing[]> {
  const { upload, mirrors, quota: allowed } = config;
  const rows = await journal.archives();
  return Promise.all(
    [config.archive, ...(config.furtherArchives ?? [])].map(async ({ name, url }) => {
      const own = journal.of(rows.find((row) => row.name === name)?.id ?? NO_ARCHIVE);
      const { closedAt, problem, nextProbeAt } = await own.gate();
      const { limit } = await own.pace();
      const gate =
        closedAt === null || problem === null
          ? null
          : { closedAt, ...problem, hint: failureOf(problem.code).hint, nextProbeAt };
      const isSpent = closedAt !== null && problem?.code === "QUOTA_LIMIT";
      const quota = isSpent
        ? { blockedSince: closedAt, nextProbeAt }
        : { blockedSince: null, nextProbeAt: null };
      const concurrency = Math.min(limit ?? upload.concurrency, upload.concurrency);
      const carried = mirrors.filter(({ archive }) => archive === name);
      const account = await accountOf(own, allowed.pages, carried);
      const pages = await pageReportOf(own, account, now);
      const ready = carried.reduce((sum, mirror) => sum + pending(mirror.name), 0);
      const waits = (await waitingOf(own, config, now)) ?? allowanceWait(pages, ready);
      const away = await awayOf(own, observers);
      const { archive } = away;
      const outage = archive && { ...archive, hint: failureOf(archive.code).hint };
      const sending = { waits, concurrency };
      const { allowance } = pages;
      return { report: { name, url, quota, gate, sending, outage, allowance }, pages, away };
    }),
  );
}

/** Where all archives stand together: for those who look at one figure, the worst. */
function standingOf(
  archives: readonly ArchiveStatusReport[],
): Pick<StatusReport, "quota" | "gate" | "sending"> {
  const since = ({ quota }: ArchiveStatusReport) => quota.blockedSince ?? Infinity;
  const spent = archives.toSorted((a, b) => since(a) - since(b))[0]?.quota;
  const gates = archives.flatMap(({ gate }) => gate ?? []);
  const waits = archives.map(({ sending }) => sending.waits);
  return {
    quota: spent ?? { blockedSince: null, nextProbeAt: null },
    gate: gates.toSorted((a, b) => a.closedAt - b.closedAt)[0] ?? null,
    sending: {
      waits: waits.includes(null) ? null : (waits[0] ?? null),
      concurrency: archives.reduce((sum, { sending }) => sum + sending.concurrency, 0),
    },
  };
}

type OfMirror = { readonly mirrorId: number };
type StateCount = Awaited<ReturnType<Journal["counts"]>>[number];

/** Reads the report as of `now`; mirrors that are not in the config are left out. */
export async function statusOf(
  journal: Journal,
  config: StatusConfig,
  running: boolean,
  now: number,
): Promise<StatusReport> {
  const rows = await configuredRows(journal, config.mirrors);
  const counts = await journal.counts();
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  const mirrorOf = ({ mirrorId }: OfMirror) => names.get(mirrorId) ?? "";
  const configured = new Set(config.mirrors.map(({ name }) => name));
  const isConfigured = (each: OfMirror) => configured.has(mirrorOf(each));
  const pending = (name: string) =>
    counts.find((each) => each.state === "pending" && mirrorOf(each) === name)?.documents ?? 0;
  const instances = await journal.cluster.instances();
  const observers = observersOf(instances, running);
  const standings = await archiveReports(journal, config, pending, { observers, now });
  const archives = standings.map(({ report }) => report);
  const sources = Object.fromEntries(standings.flatMap(({ away }) => Object.entries(away.sources)));
  return {
    running,
    paused: await journal.paused(),
    documents: sumOf(counts.filter(isConfigured)),
    ...standingOf(archives),
    archives,
    mirrors: mirrorReports(config, rows, counts, {
      sources,
      learned: await learnedIn(journal, config.mirrors, rows),
    }),
    formerMirrors: formerMirrorsOf(config, await withoutRetired(journal, rows), counts),
    instances: instancesOf(instances, { mirrors: rows, archives: await journal.archives() }, now),
    pages: pagesOfAll(standings.map(({ pages }) => pages)),
    duplicates: await journal.duplicates(),
    undelivered: (await journal.undelivered())
      .filter(isConfigured)
      .reduce((sum, { outboxEntries }) => sum + outboxEntries, 0),
    ...(await listsOf(journal, mirrorOf, isConfigured)),
  };
}

function sumOf(counts: readonly StateCount[]): Counts {
  const sum = noDocuments();
  for (const { state, documents } of counts) sum[state] += documents;
  return sum;
}

function mirrorReports(
  { mirrors }: StatusConfig,
  rows: readonly MirrorRow[],
  counts: readonly StateCount[],
  known: {
    readonly sources: Away["sources"];
    readonly learned: ReadonlyMap<string, LearnedSettle>;
  },
): MirrorStatusReport[] {
  const mounts = readMounts();
  return mirrors.map(({ name, source, archive, target, watch }) => {
    const id = rows.find((row) => row.name === name)?.id;
    const own = counts.filter(({ mirrorId }) => mirrorId === id);
    const documents = sumOf(own);
    const oldestAt = Object.fromEntries(own.map((count) => [count.state, count.oldestAt]));
    const { mode } = watchMode(watch, mountOf(source, mounts));
    const learnedSettle = known.learned.get(name) ?? null;
    return {
      name,
      source,
      archive,
      target: targetPathOf(target, ROOT),
      watch: mode,
      ...noteOf(known, name),
      learnedSettle,
      documents,
      oldestAt,
    };
  });
}

/** What was sent to an archive that was replaced is history: nobody is to work on it. */
async function withoutRetired(journal: Registry, rows: readonly MirrorRow[]): Promise<MirrorRow[]> {
  const archives = await journal.archives();
  const retired = new Set(archives.flatMap(({ id, name }) => (isRetired(name) ? [id] : [])));
  return rows.filter(({ archiveId }) => !retired.has(archiveId));
}

function formerMirrorsOf(
  { mirrors }: StatusConfig,
  rows: readonly MirrorRow[],
  counts: readonly StateCount[],
): StatusReport["formerMirrors"] {
  const configured = new Set(mirrors.map(({ name }) => name));
  return rows.flatMap(({ id, name, source }) => {
    if (configured.has(name)) return [];
    const own = counts.filter(({ mirrorId }) => mirrorId === id);
    const isOver = own.every(({ state, documents }) => state === "converted" || documents === 0);
    return isOver ? [] : [{ name, source, documents: sumOf(own) }];
  });
}

/** The part of a report that names documents and folders. Times are epoch milliseconds. */
export type StatusLists = {
  /** How many sent documents' files were renamed or moved and stand there: the archive has them where they were. */
  readonly movedDocuments: number;
  /** Of these the ones that were moved last, the latest first. */
  readonly moved: readonly {
    readonly mirror: string;
    readonly path: string;
    readonly from: string;
    readonly archivedIn: string;
    readonly documentId: number | null;
  }[];
  /** Archived files that could not be moved or deleted (`after`) and are tried again; of each archive the soonest first. */
  readonly afterPending: readonly {
    readonly mirror: string;
    readonly path: string;
    readonly why: string;
    readonly nextAttemptAt: number | null;
  }[];
  /** Files whose after-action is refused for good: of each mirror how many, and the one known longest. */
  readonly afterFailed: readonly {
    readonly mirror: string;
    readonly files: number;
    readonly path: string;
    readonly why: string;
  }[];
  /** The folders to create: archive folders that documents wait for. */
  readonly foldersToCreate: readonly {
    readonly mirror: string;
    readonly path: string;
    readonly code: string;
    readonly documents: number;
  }[];
};

/** A report names no more than this many moved documents, and as many that are not moved or deleted. */
export const NAMED_MAX = 100;

/** Reads the lists. Of a mirror that was taken out a folder helps nobody. */
async function listsOf(
  journal: Journal,
  mirrorOf: (each: OfMirror) => string,
  isConfigured: (each: OfMirror) => boolean,
): Promise<StatusLists> {
  const ids = (await journal.mirrors()).map(({ id }) => id);
  const mirrorIds = ids.filter((mirrorId) => isConfigured({ mirrorId }));
  const moved = await journal.moved(mirrorIds, NAMED_MAX);
  const kept = (await afterPending(journal)).filter(isConfigured);
  const waiting = (await journal.waitingFolders()).filter(isConfigured);
  return {
    movedDocuments: moved.documents,
    moved: moved.latest.map((document) => movedReport(document, mirrorOf(document))),
    afterPending: kept.map((document) => afterPendingReport(document, mirrorOf(document))),
    afterFailed: await afterFailed(journal, mirrorOf, isConfigured),
    foldersToCreate: waiting.map(({ targetPath: path, code, documents, ...folder }) => {
      return { mirror: mirrorOf(folder), path, code, documents };
    }),
  };
}

function movedReport(document: Document, mirror: string): StatusLists["moved"][number] {
  const { dir, name, movedFrom, targetPath, documentId } = document;
  const path = shown(joinRaw(dir, name));
  return { mirror, path, from: movedFrom ?? "", archivedIn: targetPath ?? "", documentId };
}

/** Of every archive. */
async function afterPending(journal: Journal): Promise<Document[]> {
  const archives = await journal.archives();
  const found = await Promise.all(archives.map(({ id }) => journal.of(id).afterPending(NAMED_MAX)));
  return found.flat().slice(0, NAMED_MAX);
}

function afterPendingReport(
  document: Document,
  mirror: string,
): StatusLists["afterPending"][number] {
  const { dir, name, afterMessage, dueAt } = document;
  const path = shown(joinRaw(dir, name));
  return { mirror, path, why: afterMessage ?? "", nextAttemptAt: dueAt };
}

async function afterFailed(
  journal: DocumentReader & Reports,
  mirrorOf: (each: OfMirror) => string,
  isConfigured: (each: OfMirror) => boolean,
): Promise<StatusLists["afterFailed"]> {
  const found = (await journal.afterFailed()).filter(isConfigured);
  return Promise.all(
    found.map(async ({ first, documents: files, ...mirror }) => {
      const document = await journal.document(first);
      const path = document ? shown(joinRaw(document.dir, document.name)) : "";
      return { mirror: mirrorOf(mirror), files, path, why: document?.afterMessage ?? "" };
    }),
  );
}
