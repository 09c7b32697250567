/** Where things stand, from the journal alone: the same with the daemon running or not. */
import type { Config } from "../config/config.ts";
import { STATES, type State } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import type { Duplicates, Journal } from "../journal/journal.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import { mountOf, readMounts, watchMode } from "../source/mounts.ts";
import { accountOf, allowanceWait, type PageReport, pageReportOf } from "./page-report.ts";
import { type Waiting, type WaitingConfig, waitingOf } from "./waiting.ts";

/** Documents by state, every state present. */
export type Counts = Record<State, number>;

/** The report behind `status --json`, the page and the metrics. Times are epoch milliseconds. */
export type StatusReport = {
  readonly running: boolean;
  readonly paused: boolean;
  readonly documents: Counts;
  readonly quota: { readonly blockedSince: number | null; readonly nextProbeAt: number | null };
  /** Why nothing is sent at all; null while the gate is open. */
  readonly gate: {
    readonly closedAt: number;
    readonly code: string;
    readonly message: string;
    readonly hint: string;
    readonly nextProbeAt: number | null;
  } | null;
  /** What keeps new uploads from beginning besides, and how many run at the same time at most. */
  readonly sending: { readonly waits: Waiting | null; readonly concurrency: number };
  readonly mirrors: readonly MirrorStatusReport[];
  /** Documents whose local file was renamed or moved: the archive has them where they were. */
  readonly moved: readonly {
    readonly mirror: string;
    readonly path: string;
    readonly from: string;
    readonly archivedIn: string;
    readonly documentId: number | null;
  }[];
  /** Pages: used, waiting, left. */
  readonly pages: PageReport;
  /** Documents that were not sent as the archive has their content, and the pages that saved. */
  readonly duplicates: Duplicates;
  /** The work order: archive folders that documents wait for. */
  readonly foldersToCreate: readonly {
    readonly mirror: string;
    readonly path: string;
    readonly code: string;
    readonly documents: number;
  }[];
};

export type MirrorStatusReport = {
  readonly name: string;
  readonly source: string;
  /** How the source is followed: `native`, `polling` or `off`. */
  readonly watch: string;
  readonly documents: Counts;
  /** By state, when the one of its documents that is known longest was first seen. */
  readonly oldestAt: Readonly<Partial<Record<State, number>>>;
};

/** A report names no more than this many moved documents. */
const MOVED_MAX = 100;

/** No document in any state. */
export function noDocuments(): Counts {
  return Object.fromEntries(STATES.map((state) => [state, 0])) as Counts;
}

/** Reads the report as of `now`; mirrors that are not in the config are left out. */
export async function statusOf(
  journal: Journal,
  config: Pick<Config, "mirrors" | "quota"> & WaitingConfig,
  running: boolean,
  now: number,
): Promise<StatusReport> {
  const { mirrors, upload, quota } = config;
  const { limit } = await journal.pace();
  const rows = await journal.mirrors();
  const counts = await journal.counts();
  const gate = await journal.gate();
  const waiting = await journal.waitingFolders();
  const nameOf = new Map(rows.map(({ id, name }) => [id, name]));
  const configured = new Set(mirrors.map(({ name }) => name));
  const documents = noDocuments();
  for (const { mirrorId, state, documents: number } of counts) {
    if (configured.has(nameOf.get(mirrorId) ?? "")) documents[state] += number;
  }
  const account = await accountOf(journal, quota.pages, mirrors);
  const pages = await pageReportOf(journal, account, now);
  const mounts = readMounts();
  const blocked = gate.closedAt !== null && gate.trouble?.code === "QUOTA_LIMIT";
  return {
    running,
    paused: await journal.paused(),
    documents,
    quota: {
      blockedSince: blocked ? gate.closedAt : null,
      nextProbeAt: blocked ? gate.nextProbeAt : null,
    },
    gate:
      gate.closedAt === null || gate.trouble === null
        ? null
        : {
            closedAt: gate.closedAt,
            ...gate.trouble,
            hint: failureOf(gate.trouble.code).hint,
            nextProbeAt: gate.nextProbeAt,
          },
    sending: {
      waits: (await waitingOf(journal, config, now)) ?? allowanceWait(pages, documents.pending),
      concurrency: Math.min(limit ?? upload.concurrency, upload.concurrency),
    },
    mirrors: mirrors.map((mirror) => {
      const id = rows.find(({ name }) => name === mirror.name)?.id;
      const own = noDocuments();
      const oldestAt: Partial<Record<State, number>> = {};
      for (const count of counts.filter(({ mirrorId }) => mirrorId === id)) {
        own[count.state] += count.documents;
        oldestAt[count.state] = count.oldestAt;
      }
      const { mode } = watchMode(mirror.watch, mountOf(mirror.source, mounts));
      return { name: mirror.name, source: mirror.source, watch: mode, documents: own, oldestAt };
    }),
    pages,
    duplicates: await journal.duplicates(),
    moved: (await journal.moved(MOVED_MAX)).map((document) => ({
      mirror: nameOf.get(document.mirrorId) ?? "",
      path: shown(joinRaw(document.dir, document.name)),
      from: document.movedFrom ?? "",
      archivedIn: document.targetPath ?? "",
      documentId: document.documentId,
    })),
    foldersToCreate: waiting.map(({ mirrorId, targetPath, code, documents: number }) => ({
      mirror: nameOf.get(mirrorId) ?? "",
      path: targetPath,
      code,
      documents: number,
    })),
  };
}
