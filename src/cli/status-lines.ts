import { type State, STATES } from "../domain/document.ts";
import type { Owner } from "../journal/owner-lock.ts";
import { FOLDERS_MAX } from "../report/document-findings.ts";
import type { Finding } from "../report/finding.ts";
import { linkLines, paragraphs, titleLine } from "../report/finding-text.ts";
import { summaryOf } from "../report/standing.ts";
import { printable } from "../std/printable.ts";
import { clause, counted, numberText, relativeText, timeText } from "../std/wording.ts";
import { cut, fit, padded, table, widthOf, wrapped } from "./text-table.ts";
import type { Style, Terminal } from "./terminal.ts";
import type { Counts, StatusReport } from "../report/status.ts";
import type { Config } from "../config/config.ts";
import type { AllowanceReport, PageReport } from "../report/page-report.ts";

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

/** What the report itself does not have. */
export type StatusContext = {
  readonly owner: Owner | undefined;
  /** What the daemon says of its own. */
  readonly health?: DaemonHealth | undefined;
  readonly findings: readonly Finding[];
  readonly now: number;
  /** More lines than the screen has may be printed where findings need them. */
  readonly scrolls?: boolean;
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

/** The colour of each severity. */
const SEVERITY_STYLES = { error: "red", warning: "yellow", info: "dim" } as const;

const SUMMARY_STYLES = { busy: "cyan", good: "green", quiet: "dim" } as const;

/**
 * The report for people, what matters first, in at most `rowsMax` lines of the terminal's width.
 * Findings are wrapped, never cut.
 */
export function statusLines(
  report: StatusReport,
  around: StatusContext,
  terminal: Terminal,
  rowsMax: number,
): string[] {
  const width = terminal.isInteractive ? terminal.width : Number.POSITIVE_INFINITY;
  const isWell = around.findings.every(({ severity }) => severity === "info");
  const [first, ...others] = around.findings.map((finding) =>
    findingLines(finding, around.now, width, terminal),
  );
  const summary = isWell ? summaryLines(report, width, terminal) : [];
  const daemon = daemonLines(around).map((line) => terminal.paint("dim", cut(line, width)));
  const findings = (isWell ? [...(first ? [first] : []), ...others] : others).flat();
  const head = [...(isWell ? summary : (first ?? [])), ...daemon];
  const counts = countLines(report, terminal.width);
  const sections = [
    { lines: head, keeps: head.length },
    { lines: findings, keeps: findings.length },
    { lines: counts, keeps: Math.min(counts.length, 3) },
    ...[
      folderLines(report),
      instanceLines(report, around),
      linkLines(report.mirrors),
      movedLines(report),
      noteLines(report, around),
    ].map((lines) => ({
      lines: lines.map((line) => cut(line, width)),
      keeps: Math.min(lines.length, 2),
    })),
  ];
  const needs = around.scrolls === true ? head.length + findings.length + COUNT_ROWS : 0;
  return fit(sections, Math.max(rowsMax, needs));
}

/** Of the counts, with the blank lines around them, and the line that says how much is left out. */
const COUNT_ROWS = 6;

/** A finding, its title first. */
function findingLines(finding: Finding, now: number, width: number, terminal: Terminal): string[] {
  const style = SEVERITY_STYLES[finding.severity];
  const [title = "", ...rest] = wrapped(titleLine(finding), width);
  const below = paragraphs(finding, now).flatMap((text) => wrapped(text, width - 2));
  return [
    terminal.paint(["bold", style], title),
    ...rest.map((line) => terminal.paint(["bold", style], line)),
    ...below.map((line) => `  ${line}`),
  ];
}

function summaryLines(report: StatusReport, width: number, terminal: Terminal): string[] {
  const { tone, title, detail } = summaryOf(report);
  return [
    terminal.paint(["bold", SUMMARY_STYLES[tone]], cut(title, width)),
    ...wrapped(detail, width),
  ];
}

/** A finding may say already that it does not run. */
function daemonLines({ owner, health, findings, now }: StatusContext): string[] {
  if (findings.some(({ kind }) => kind === "notRunning")) return [];
  if (!owner) return [`scanferry is ${health?.healthy === false ? "running" : "not running"}`];
  const web = owner.web === undefined ? "" : `; page at ${owner.web}`;
  const started = relativeText(owner.startedAt, now);
  return [printable(`scanferry is running (pid ${owner.pid}, started ${started})${web}`)];
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

function noteLines(report: StatusReport, { now }: StatusContext): string[] {
  const { documents, pages } = report.duplicates;
  const saved = `${counted(documents, "duplicate")} not sent, ${counted(pages, "page")} saved`;
  const { undelivered } = report;
  return [
    ...pageLines(report.pages, now).filter((line) => line !== ""),
    ...(documents === 0 ? [] : [saved]),
    ...(undelivered === 0 ? [] : [`${counted(undelivered, "outcome")} to report to after hooks`]),
  ];
}

/** What was moved here and not in the archive; nobody but a person can move it there. */
function movedLines({ moved, movedDocuments }: StatusReport): string[] {
  if (moved.length === 0) return [];
  return [
    `${counted(movedDocuments, "document")} renamed or moved here; the archive still has ${movedDocuments === 1 ? "it" : "them"} under the old path${movedDocuments > moved.length ? ` (the latest ${moved.length})` : ""}:`,
    ...moved.map(({ path, from, archivedIn, documentId }) =>
      printable(`  ${path}  was ${from}, in ${archivedIn} as document ${documentId}`),
    ),
  ];
}

/** Who works on the journal, where it may be several. */
function instanceLines({ instances }: StatusReport, { now }: StatusContext): string[] {
  return instances.map(({ name, startedAt, lagMs, leaseUntil, assignments }) => {
    const since = `started ${relativeText(startedAt, now)}`;
    const late = lagMs > LAG_MS_MAX ? `; no heartbeat for ${Math.round(lagMs / 1_000)} s` : "";
    const over = leaseUntil <= now ? ", its lease has expired" : "";
    const does = assignments.length === 0 ? "sends" : `sends, owns ${assignments.join(", ")}`;
    return printable(`daemon ${name} ${does}; ${since}${late}${over}`);
  });
}

/** All of them, where a finding names only the first. */
function folderLines({ foldersToCreate }: StatusReport): string[] {
  if (foldersToCreate.length <= FOLDERS_MAX) return [];
  const width = Math.max(...foldersToCreate.map(({ path }) => widthOf(printable(path))));
  return [
    "Folders that documents wait for in the archive:",
    ...foldersToCreate.map(({ path, code, documents }) => {
      const place = padded(printable(path), Math.min(width, 48));
      return `  ${place}  ${counted(documents, "document")}  ${code}`;
    }),
  ];
}

/** What `/healthz` answers to who is trusted. */
export type DaemonHealth = { readonly healthy: boolean; readonly why: string };

/** A daemon of this host answers at once; one that has a page and says nothing for so long stands still. */
const ANSWER_MS_MAX = 1_000;
const SILENCE_MS_MAX = 10_000;

const ANSWER_LENGTH_MAX = 4_000;

const WILDCARDS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" };

/**
 * Asks the page of `config`; undefined where nothing, or another program, answers there. `owner`: the daemon that has
 * the journal; it is not healthy where it takes the question and does not answer.
 */
export async function daemonHealth(
  { web }: Pick<Config, "web">,
  owner: Owner | undefined,
): Promise<DaemonHealth | undefined> {
  if (!web || web.port === 0) return undefined;
  const { host, port, token } = web;
  const name = WILDCARDS[host] ?? (host.includes(":") ? `[${host}]` : host);
  const isAsked = owner?.web !== undefined;
  const over = AbortSignal.timeout(isAsked ? SILENCE_MS_MAX : ANSWER_MS_MAX);
  try {
    const reply = await fetch(`http://${name}:${port}/healthz`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      redirect: "error",
      signal: over,
    });
    return healthIn(JSON.parse((await reply.text()).slice(0, ANSWER_LENGTH_MAX)));
  } catch {
    if (!isAsked || !over.aborted) return undefined;
    const seconds = SILENCE_MS_MAX / 1_000;
    return { healthy: false, why: `the daemon has not answered for ${seconds} seconds` };
  }
}

function healthIn(answer: unknown): DaemonHealth | undefined {
  if (typeof answer !== "object" || answer === null) return undefined;
  if (!("healthy" in answer && "why" in answer)) return undefined;
  const { healthy, why } = answer;
  return typeof healthy === "boolean" && typeof why === "string" ? { healthy, why } : undefined;
}

/** Pages for people: what is used, what waits, what is left and for how long; the worst first. */
export function pageLines(report: PageReport, now: number): string[] {
  const { allowance, month, today, perDay, waiting } = report;
  if (allowance === null && month === 0 && waiting.documents === 0) return [];
  const parts = [
    waiting.pages === 0 ? "" : counted(waiting.pages, "page"),
    waiting.unknown === 0 ? "" : `${counted(waiting.unknown, "document")} not counted`,
  ].filter((part) => part !== "");
  const waits = parts.length === 0 ? "" : `; ${parts.join(" and ")} waiting`;
  const rate = perDay === 0 ? "" : `, lately ${perDay} a day`;
  const sent = `pages: ${today} today, ${month} this month${rate}${waits}`;
  return ["", ...(allowance ? allowanceLines(allowance, report, now) : []), sent];
}

function allowanceLines(
  { pages, used, left, runsOutAt, reserve, keeps, problem, level }: AllowanceReport,
  { to, waiting }: PageReport,
  now: number,
): string[] {
  const percent = Math.floor((100 * used) / pages);
  const renewed = `renewed ${timeText(to)}`;
  const lasts =
    runsOutAt === null
      ? `enough until it is ${renewed}`
      : level === "usedUp"
        ? renewed
        : `used up ${relativeText(runsOutAt, now)} at this rate, ${renewed}`;
  const lines = [`allowance: ${used} of ${counted(pages, "page")} used (${percent} %), ${lasts}`];
  if (waiting.pages > left && left > 0)
    lines.push("  waiting documents need more pages than are left");
  if (reserve)
    lines.push(`  ${reserve.left} of ${reserve.pages} reserved for ${reserve.mirrors.join(", ")}`);
  if (keeps.documents > 0) {
    const kept = counted(keeps.documents, "document");
    lines.push(
      `  ${kept} of ${keeps.mirrors.join(", ")} ${keeps.documents === 1 ? "waits" : "wait"} for that`,
    );
  }
  if (problem) lines.push(`  ${clause(problem.hint)}`);
  return lines.map(printable);
}
