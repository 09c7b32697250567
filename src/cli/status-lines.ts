import { formatDuration } from "../config/duration.ts";
import { STATES, type State } from "../domain/document.ts";
import { failureOf, UNREAD_HINT } from "../domain/failure.ts";
import type { Owner } from "../journal/owner-lock.ts";
import type { Counts, StatusReport } from "../sync/status.ts";
import { NAMED_MAX } from "../sync/status-lists.ts";
import type { Unread } from "../sync/survey.ts";
import type { Waiting } from "../sync/waiting.ts";
import { shellWord } from "../std/shell-word.ts";
import { cut, padded, table, widthOf, wrapped } from "./columns.ts";
import { clause } from "./exit.ts";
import type { DaemonHealth } from "./daemon-health.ts";
import { fit } from "./fit.ts";
import { headlineOf, nextProbe } from "./headline.ts";
import { pageLines } from "./page-lines.ts";
import { linkLines } from "./links-text.ts";
import { printable } from "../std/printable.ts";
import type { Style, Terminal } from "./terminal.ts";
import { type Trouble, troubleParts } from "./troubles.ts";
import { counted, numberText, relativeText, timeText } from "../std/wording.ts";

/** The colour of each state, wherever it is shown. */
export const STATE_STYLES: Readonly<Record<State, Style>> = {
  settling: "dim",
  pending: "dim",
  uploading: "cyan",
  inDoubt: "yellow",
  uploaded: "cyan",
  converted: "green",
  held: "yellow",
  failed: "red",
};

/** What the report itself does not tell. */
export type Around = {
  readonly owner: Owner | undefined;
  /** What the daemon says of itself. */
  readonly health?: DaemonHealth | undefined;
  readonly troubles: readonly Trouble[];
  readonly now: number;
};

/** States that share a column where not every one has room for its own. */
const GROUPS: readonly (readonly [heading: string, states: readonly State[]])[] = [
  ["waiting", ["settling", "pending"]],
  ["on its way", ["uploading", "inDoubt", "uploaded"]],
  ["converted", ["converted"]],
  ["held", ["held"]],
  ["failed", ["failed"]],
];

const NAME_COLUMNS = 24;

/** A daemon is heard of every few seconds; longer is worth a word. */
const LAG_MS_MAX = 10_000;

/**
 * The report for people, what matters first, in at most `rowsMax` lines of the terminal's width.
 * Only lines that are drawn on a terminal are cut at its width.
 */
export function statusLines(
  report: StatusReport,
  around: Around,
  terminal: Terminal,
  rowsMax: number,
): string[] {
  const width = terminal.isInteractive ? terminal.width : Number.POSITIVE_INFINITY;
  const { style, title, detail } = headlineOf(report, around);
  const head = [
    terminal.paint(["bold", style], cut(title, width)),
    ...(detail === "" ? [] : wrapped(detail, width, 2)),
    terminal.paint("dim", cut(printable(daemonLine(around)), width)),
  ];
  const counts = countLines(report, terminal.width);
  const troubles = [
    ...offlineLines(report, width, terminal),
    ...unreadLines(report).flatMap(([what, mend]) => [
      terminal.paint("red", cut(what, width)),
      cut(mend, width),
    ]),
    ...around.troubles.flatMap((trouble) => troublePair(trouble, width, terminal)),
  ];
  const sections = [
    { lines: head, keeps: head.length },
    { lines: counts, keeps: Math.min(counts.length, 3) },
    { lines: troubles, keeps: Math.min(troubles.length, 2) },
    ...[
      folderLines(report),
      memberLines(report, around),
      linkLines(report.mirrors),
      movedLines(report),
      notPutAwayLines(report, around.now),
      neverPutAwayLines(report),
      formerLines(report),
      noteLines(report, around),
    ].map((lines) => ({
      lines: lines.map((line) => cut(line, width)),
      keeps: Math.min(lines.length, 2),
    })),
  ];
  return fit(sections, rowsMax);
}

/** What happened, and the mend below it. */
function troublePair(trouble: Trouble, width: number, terminal: Terminal): string[] {
  const { what, mend } = troubleParts(trouble);
  const style = trouble.state === "failed" ? "red" : "yellow";
  return [terminal.paint(style, cut(what, width)), cut(`  ${mend}`, width)];
}

/** Since when a source is offline, and why; the mend below it. */
function offlineLines({ mirrors }: StatusReport, width: number, terminal: Terminal): string[] {
  return mirrors.flatMap(({ name, offline }) => {
    if (!offline) return [];
    const what = printable(`${name}: offline since ${timeText(offline.since)}: ${offline.why}`);
    const mend = clause(failureOf("SOURCE_OFFLINE").hint);
    return [terminal.paint("red", cut(what, width)), cut(`  ${mend}`, width)];
  });
}

/** Which folders cannot be read, and why; the mend below it. */
export function unreadLines({
  mirrors,
}: Pick<StatusReport, "mirrors">): (readonly [what: string, mend: string])[] {
  return mirrors.flatMap(({ name, unread }) => {
    return unread ? [[unreadText(name, unread), `  ${clause(UNREAD_HINT)}`] as const] : [];
  });
}

/** Of one mirror. */
export function unreadText(mirror: string, { directories, path, why }: Unread): string {
  const others = directories === 1 ? "" : ` (and ${counted(directories - 1, "other")})`;
  return printable(`${mirror}: folder ${path}${others} cannot be read: ${why}`);
}

function daemonLine({ owner, health, now }: Around): string {
  if (!owner)
    return health?.healthy === false ? "scanferry is running" : "scanferry is not running";
  const web = owner.web === undefined ? "" : `; page at ${owner.web}`;
  return `scanferry is running (process ${owner.pid}, since ${relativeText(owner.startedAt, now)})${web}`;
}

/** A row a mirror. Columns without any number are left out. */
function countLines({ mirrors, documents }: StatusReport, width: number): string[] {
  const own = STATES.map((state) => [state, [state]] as const).filter(
    ([state]) => documents[state] > 0 || state === "converted",
  );
  const lines = countTable(mirrors, documents, own);
  const isTooWide = lines.some((line) => widthOf(line) > width);
  return isTooWide ? countTable(mirrors, documents, GROUPS) : lines;
}

function countTable(
  mirrors: StatusReport["mirrors"],
  documents: Counts,
  columns: readonly (readonly [heading: string, states: readonly State[]])[],
): string[] {
  const numbers = (counts: Counts) =>
    columns.map(([, states]) => numberText(states.reduce((sum, state) => sum + counts[state], 0)));
  const rows = mirrors.map((mirror) => [
    cut(printable(mirror.name), NAME_COLUMNS),
    ...numbers(mirror.documents),
    mirror.offline ? "offline" : mirror.watch,
  ]);
  const heading = ["mirror", ...columns.map(([name]) => name), "watch"];
  const all = rows.length > 1 ? [["all", ...numbers(documents), ""]] : [];
  // The sum first: it is what stays when there are more mirrors than lines.
  return table(
    [heading, ...all, ...rows],
    columns.map((_, index) => index + 1),
  );
}

function noteLines(report: StatusReport, around: Around): string[] {
  const { now } = around;
  const { documents, pages } = report.duplicates;
  const saved = `${counted(documents, "duplicate")} not sent, ${counted(pages, "page")} saved`;
  const { archives, mirrors, untold } = report;
  return [
    ...pageLines(report.pages, now).filter((line) => line !== ""),
    ...archives.flatMap((archive) => archiveLines(archive, archives.length > 1, around)),
    ...mirrors.flatMap(learnedLine),
    ...(documents === 0 ? [] : [saved]),
    ...(untold === 0 ? [] : [`${counted(untold, "outcome")} to tell to after hooks`]),
  ];
}

/** That files were sent too early, and what is waited since. */
function learnedLine({ name, learnedSettle }: StatusReport["mirrors"][number]): string[] {
  if (!learnedSettle) return [];
  const settle = formatDuration(learnedSettle.settleMs);
  const line = `mirror ${name}: a file was sent too early, so all wait ${settle} now; raise \`settle\``;
  return [printable(line)];
}

/** What stops or slows an archive; the headline has told of the only one's gate or outage. */
function archiveLines(
  { name, gate, outage, sending: { waits } }: StatusReport["archives"][number],
  isOneOfMany: boolean,
  around: Around,
): string[] {
  const to = isOneOfMany ? ` to ${name}` : "";
  return [
    ...(gate && isOneOfMany ? [gateLine(gate, to, nextProbe(gate, around))] : []),
    ...(outage && isOneOfMany ? [outageLine(outage, name)] : []),
    ...(waits ? [waitingLine(waits, around.now, to)] : []),
  ];
}

function gateLine(gate: NonNullable<StatusReport["gate"]>, to: string, next: string): string {
  const since = `nothing is sent${to} since ${timeText(gate.closedAt)}`;
  return printable(`${since}: ${gate.message}; ${clause(gate.hint)}${next}`);
}

function outageLine(
  { since, message, hint }: NonNullable<StatusReport["archives"][number]["outage"]>,
  name: string,
): string {
  const what = `archive ${name} is not reached since ${timeText(since)}`;
  return printable(`${what}: ${message}; ${clause(hint)}`);
}

/** Why nothing new is sent, and until when; ` to NAME` where there are several archives. */
export function waitingLine({ message, until }: Waiting, now: number, to = ""): string {
  const opens = until === null ? "" : ` until ${timeText(until)} (${relativeText(until, now)})`;
  return printable(`nothing new is sent${to}${opens}: ${message}`);
}

/** What was moved here and not in the archive; nobody but a person can move it there. */
function movedLines({ moved, movedDocuments }: StatusReport): string[] {
  if (moved.length === 0) return [];
  return [
    `${counted(movedDocuments, "document")} renamed or moved here, and where they were in the archive${movedDocuments > moved.length ? `, the latest ${moved.length} of them` : ""}:`,
    ...moved.map(({ path, from, archivedIn, documentId }) =>
      printable(`  ${path}  was ${from}, in ${archivedIn} as document ${documentId}`),
    ),
  ];
}

/** What stays where it is though it is archived, and why: a line a cause. */
function notPutAwayLines({ notPutAway }: StatusReport, now: number): string[] {
  if (notPutAway.length === 0) return [];
  const orMore = notPutAway.length === NAMED_MAX ? " or more" : "";
  const causes = Map.groupBy(notPutAway, ({ mirror, why }) => `${mirror}: ${why}`);
  return [
    "archived, and not put away yet; tried again without being asked:",
    ...[...causes].map(([cause, [first, ...others]]) => {
      const files = others.length === 0 ? "" : `, one of ${others.length + 1}${orMore}`;
      const next =
        first?.nextAttemptAt == null ? "" : ` (${relativeText(first.nextAttemptAt, now)})`;
      return printable(`  ${cause}: ${first?.path}${files}${next}`);
    }),
  ];
}

/** What stays where it is for good, and why: a line a mirror, with one of its files. */
function neverPutAwayLines({ neverPutAway }: StatusReport): string[] {
  if (neverPutAway.length === 0) return [];
  return [
    "never put away, see scanferry list --not-put-away:",
    ...neverPutAway.map(({ mirror, files, path, why }) => {
      const others = files === 1 ? "" : `, one of ${numberText(files)}`;
      return printable(`  ${mirror}: ${why}: ${path}${others}`);
    }),
  ];
}

/** What nobody works on any more, its mirror being out of the configuration. */
function formerLines({ formerMirrors }: StatusReport): string[] {
  return formerMirrors.map(({ name, documents }) => {
    const left = STATES.filter((state) => state !== "converted" && documents[state] > 0);
    const counts = left.map((state) => `${numberText(documents[state])} ${state}`).join(", ");
    const command = `scanferry list --mirror ${shellWord(name)}`;
    return printable(`mirror ${name} is no longer configured: ${counts}; see ${command}`);
  });
}

/** Who works on the journal, where it may be several. */
function memberLines({ members }: StatusReport, { now }: Around): string[] {
  return members.map(({ name, startedAt, lagMs, leaseUntil, duties }) => {
    const since = `since ${relativeText(startedAt, now)}`;
    const late = lagMs > LAG_MS_MAX ? `; not heard of for ${Math.round(lagMs / 1_000)} s` : "";
    const over = leaseUntil <= now ? ", its lease is over" : "";
    const does = duties.length === 0 ? "sends" : `sends, and leads ${duties.join(", ")}`;
    return printable(`daemon ${name} ${does}; ${since}${late}${over}`);
  });
}

/** The work order. */
function folderLines({ foldersToCreate }: StatusReport): string[] {
  if (foldersToCreate.length === 0) return [];
  const width = Math.max(...foldersToCreate.map(({ path }) => widthOf(printable(path))));
  return [
    "folders that documents wait for in the archive:",
    ...foldersToCreate.map(({ path, code, documents }) => {
      const place = padded(printable(path), Math.min(width, 48));
      return `  ${place}  ${counted(documents, "document")}  ${code}`;
    }),
  ];
}
