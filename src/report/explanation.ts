import type { Document, State } from "../domain/document.ts";
import { targetPathOf } from "../domain/naming.ts";
import type {
  ArchiveState,
  AttemptRow,
  Content,
  ContentIndex,
  DocumentReader,
  GateRow,
  HistoryRow,
  Journal,
} from "../journal/journal.ts";
import { shownPath } from "../journal/revision.ts";
import { mountOf, readMounts } from "../source/mounts.ts";
import { messageOf } from "../std/fault.ts";
import { dirOf, joinRaw, type RawPath, shown } from "../std/raw-path.ts";
import { accountsOf, type Config, type Mirror } from "../config/config.ts";
import { type LearnedSettle, learnedSettle } from "../sync/learned-settle.ts";
import { type DocumentRecord, recordOf, withProbe } from "../sync/record.ts";
import { type Standing, standingOf } from "./standing.ts";
import { oneLine } from "./finding-text.ts";
import type { Clock, Random } from "../std/clock.ts";
import { counted } from "../std/wording.ts";
import { sourceSettings } from "../sync/reader-mirror.ts";
import { whyLeftOut } from "../source/eligible.ts";
import { StatReader } from "./stat-reader.ts";
import { statusOf } from "./status.ts";
import { accountOf, whyKept } from "./page-report.ts";
import { runningDaemon } from "../journal/open-journal.ts";
import { type Finding, type FindingKind, MOVING } from "./finding.ts";

/** The last line of a row that turned out to be a document that was moved: which one. */
const FOLLOWED = /^is (?:document|journal row) (\d+), moved here$/u;

/** The note on a path where nothing is, and nothing was. */
export const NO_SUCH_FILE =
  "There is no regular file here, and the journal has none. scanferry does not follow symbolic links.";

/** One revision of the file, with everything the journal has of it. */
export type Revision = {
  readonly document: DocumentRecord;
  readonly history: readonly HistoryRow[];
  readonly attempts: readonly AttemptRow[];
  readonly contents: readonly Content[];
};

/** Everything that is known of one path. */
export type Explanation = {
  readonly mirror: string;
  readonly source: string;
  readonly path: string;
  /** The archive folder it belongs in. */
  readonly target: string;
  /** Why the rules leave it out; null when they do not. */
  readonly leftOut: string | null;
  /** Longer than the mirror's `settle`, which was too short; null: nothing was learned. */
  readonly learnedSettle: LearnedSettle | null;
  /** What there is to say where the journal has no row of it. */
  readonly note: string | null;
  /** Why nothing goes on with it though nothing is wrong with itself; null where nothing keeps it but its turn. */
  readonly waits: string | null;
  /** The current one last. */
  readonly revisions: readonly Revision[];
  /** History of rows that were forgotten. */
  readonly forgotten: readonly HistoryRow[];
};

/** What an explanation is made with. */
type Means = { readonly config: Config; readonly clock: Clock; readonly random: Random };

/** Asks the journal and, where that knows nothing, the source. Writes nothing. */
export async function explanationOf(
  means: Means,
  place: KnownPlace,
  journal: Journal | undefined,
): Promise<Explanation> {
  const { mirror, path, mirrorId } = place;
  const settings = sourceSettings(mirror, mountOf(mirror.source, readMounts()), null);
  const leftOut = path === "" ? undefined : whyLeftOut(settings, path);
  const { revisions, below } = await revisionsOf(place, journal);
  const gate = await gateOf(mirror, journal);
  const forgotten = mirrorId === null ? [] : ((await journal?.forgotten(mirrorId, path)) ?? []);
  const known = revisions.length > 0;
  return {
    mirror: mirror.name,
    source: mirror.source,
    path: shown(path),
    target: targetPathOf(mirror.target, dirOf(path)),
    leftOut: leftOut ?? null,
    learnedSettle: (await learnedOf(place, journal)) ?? null,
    waits: await waitsOf(means, revisions, journal),
    note:
      known || leftOut !== undefined
        ? null
        : ((await movedNote(place, journal, forgotten)) ??
          (await noteOn(means, place, below, forgotten.length > 0))),
    revisions: revisions.map((revision) => {
      return { ...revision, document: withProbe(revision.document, gate) };
    }),
    forgotten,
  };
}

async function gateOf(
  { archive }: Mirror,
  journal: Journal | undefined,
): Promise<GateRow | undefined> {
  const row = (await journal?.archives())?.find(({ name }) => name === archive);
  return row && journal?.of(row.id).gate();
}

async function learnedOf(
  { mirror, mirrorId }: KnownPlace,
  journal: ArchiveState | undefined,
): Promise<LearnedSettle | undefined> {
  if (!journal || mirrorId === null) return undefined;
  return learnedSettle(journal, mirrorId, mirror.settleMs);
}

/** That it needs more pages than are left; else what stops all, or its mirror. */
async function waitsOf(
  means: Means,
  revisions: readonly Revision[],
  journal: Journal | undefined,
): Promise<string | null> {
  const record = revisions.at(-1)?.document;
  const document = await journal?.document(record?.id ?? 0);
  if (!journal || !record || !document) return null;
  const { config } = means;
  const now = means.clock.now();
  for (const { quota, mirrors } of accountsOf(config)) {
    const account = await accountOf(journal, quota.pages, mirrors);
    if (!account.mirrors.has(document.mirrorId)) continue;
    const kept = await whyKept(journal, account, document, now);
    if (kept !== null) return kept;
  }
  const standing = async () => {
    const isRunning = (await runningDaemon(config)) !== undefined;
    return standingOf(journal, await statusOf(journal, config, isRunning, now));
  };
  const found = await whyWaits(standing, record);
  return found && oneLine(found, now);
}

/** Every revision of the path, oldest first; and how many documents there are below it. */
async function revisionsOf(
  { mirror, path, mirrorId }: KnownPlace,
  journal: DocumentReader | undefined,
): Promise<{ revisions: Revision[]; below: number }> {
  const revisions: Revision[] = [];
  let below = 0;
  if (!journal || mirrorId === null) return { revisions, below };
  for await (const document of journal.list({ path: { mirrorId, path } })) {
    if (joinRaw(document.dir, document.name) !== path) below += 1;
    else revisions.push(await revisionOf(document, mirror.name, journal));
  }
  return { revisions, below };
}

async function revisionOf(
  document: Document,
  mirror: string,
  journal: DocumentReader,
): Promise<Revision> {
  const { id } = document;
  return {
    document: recordOf(document, mirror),
    history: await journal.history(id),
    attempts: await journal.attempts(id),
    contents: await journal.contents(id),
  };
}

/** What became of the file that was there when it was sent, or on its way since; undefined where that is not known. */
async function movedNote(
  { path, mirrorId }: KnownPlace,
  journal: (ContentIndex & DocumentReader) | undefined,
  forgotten: readonly HistoryRow[],
): Promise<string | undefined> {
  if (!journal || mirrorId === null) return undefined;
  const [, id] =
    FOLLOWED.exec(forgotten.findLast(({ event }) => event === "follow")?.detail ?? "") ?? [];
  const row =
    (await journal.movedAway(mirrorId, shown(path))) ??
    (id === undefined ? undefined : await journal.document(Number(id)));
  if (!row) return undefined;
  const archived = row.documentId === null ? "" : `, archived as document ${row.documentId}`;
  return `the file was renamed or moved: it is now ${shownPath(row)}${archived}`;
}

/** A path without a row: a directory, a file that was not seen yet, one that is forgotten, or nothing at all. */
async function noteOn(
  means: Means,
  place: KnownPlace,
  below: number,
  wasSeen: boolean,
): Promise<string> {
  if (below > 0 || place.path === "") {
    return `a directory with ${counted(below, "document")} in the journal; see scanferry list`;
  }
  const { clock, random } = means;
  const { mirror, path, mirrorId } = place;
  try {
    await using statReader = await StatReader.open(
      mirror,
      { id: mirrorId ?? 1, device: null },
      { clock, random },
    );
    if (!statReader.status.online) return `the source is offline: ${statReader.status.why}`;
    return await lookAt(statReader, path, wasSeen);
  } catch (error) {
    return `cannot read the source: ${messageOf(error)}`;
  }
}

async function lookAt(statReader: StatReader, path: RawPath, wasSeen: boolean): Promise<string> {
  const [look] = await statReader.reader.look(statReader.mirrorId, [path]);
  if (look === null && wasSeen)
    return "the file does not exist any more; it was not sent, and the journal has dropped it";
  if (look === null) return NO_SUCH_FILE;
  if (look === undefined)
    return "cannot look at it: the file, or a directory above it, is not readable";
  return "the file exists, but scanferry has not seen it yet: the next scan finds it";
}

/** A place, and the id of its mirror in the journal; null where that has none yet. */
export type KnownPlace = MirrorPath & { readonly mirrorId: number | null };

/** A path below a mirror's source; the empty one is the source itself. */
export type MirrorPath = { readonly mirror: Mirror; readonly path: RawPath };

/** What of a document decides which findings are about it. */
type Waiter = { readonly mirror: string; readonly state: State };

/** What keeps documents in these states that are not the reason themselves. */
const KEEPS: { readonly [K in FindingKind]?: readonly State[] } = {
  stalled: ["settling", "pending"],
  gate: ["pending"],
  paused: ["pending"],
  waits: ["pending"],
  outage: MOVING.filter((state) => state !== "settling"),
  source: ["settling", "pending"],
  formerMirror: MOVING,
  notRunning: MOVING,
};

/**
 * Why nothing goes on with a document though nothing is wrong with itself: the first finding that keeps it. Null where
 * none does. `standing` is asked only where one can.
 */
export async function whyWaits(
  standing: () => Promise<Pick<Standing, "report" | "findings">>,
  { mirror, state }: Waiter,
): Promise<Finding | null> {
  if (!MOVING.includes(state)) return null;
  const { report, findings } = await standing();
  const archive = report.mirrors.find(({ name }) => name === mirror)?.archive;
  const isAbout = (finding: Finding) =>
    KEEPS[finding.kind]?.includes(state) === true &&
    (finding.mirror === null || finding.mirror === mirror) &&
    (finding.archive === null || finding.archive === archive);
  return findings.find(isAbout) ?? null;
}
