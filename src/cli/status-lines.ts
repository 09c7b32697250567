import { STATES, type State } from "../domain/document.ts";
import type { Owner } from "../journal/owner-lock.ts";
import type { StatusReport } from "../sync/status.ts";
import type { Waiting } from "../sync/waiting.ts";
import { padded, table } from "./columns.ts";
import { clause } from "./exit.ts";
import { pageLines } from "./page-lines.ts";
import { printable } from "./printable.ts";
import type { Style, Terminal } from "./terminal.ts";
import { type Trouble, troubleLines } from "./troubles.ts";
import { counted, relativeText, timeText } from "./wording.ts";

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
  readonly troubles: readonly Trouble[];
  readonly now: number;
};

/** The report for people. */
export function statusLines(report: StatusReport, around: Around, terminal: Terminal): string[] {
  const lines = [headline(report, around), ...archiveLines(report, around.now), ""];
  const rows = report.mirrors.map(({ name, documents, watch }) => [
    printable(name),
    ...STATES.map((state) => String(documents[state])),
    watch,
  ]);
  const heading = ["MIRROR", ...STATES, "watch"];
  const total = ["all", ...STATES.map((state) => String(report.documents[state])), ""];
  const numbers = STATES.map((_, index) => index + 1);
  lines.push(...table([heading, ...rows, ...(rows.length > 1 ? [total] : [])], numbers));
  if (around.troubles.length > 0) {
    const paint = (line: string) =>
      terminal.paint(line.startsWith("failed") ? "red" : "yellow", line);
    lines.push("", ...troubleLines(around.troubles).map(paint));
  }
  return [
    ...lines,
    ...pageLines(report.pages, around.now),
    ...duplicateLines(report),
    ...untoldLines(report),
    ...folderLines(report),
    ...movedLines(report),
  ];
}

function duplicateLines({ duplicates: { documents, pages } }: StatusReport): string[] {
  if (documents === 0) return [];
  const saved = `${counted(documents, "duplicate")} not sent, ${counted(pages, "page")} saved`;
  return ["", saved];
}

function untoldLines({ untold }: StatusReport): string[] {
  return untold === 0 ? [] : ["", `${counted(untold, "outcome")} to tell to after hooks`];
}

function headline({ running, paused }: StatusReport, { owner, now }: Around): string {
  const state = running ? `running (process ${owner?.pid ?? "?"}` : "not running";
  const since = running && owner ? `, since ${relativeText(owner.startedAt, now)})` : "";
  const web = owner?.web === undefined ? "" : `; page at ${owner.web}`;
  return `scanferry is ${state}${since}${paused ? "; paused, see scanferry resume" : ""}${web}`;
}

/** What stops or slows each archive; which one is said where there are several. */
function archiveLines({ archives }: StatusReport, now: number): string[] {
  return archives.flatMap(({ name, gate, sending: { waits } }) => {
    const to = archives.length > 1 ? ` to ${name}` : "";
    return [
      ...(gate ? [gateLine(gate, to, now)] : []),
      ...(waits ? [waitingLine(waits, now, to)] : []),
    ];
  });
}

function gateLine(gate: NonNullable<StatusReport["gate"]>, to: string, now: number): string {
  const next =
    gate.nextProbeAt === null ? "" : `; asked again ${relativeText(gate.nextProbeAt, now)}`;
  const since = `nothing is sent${to} since ${timeText(gate.closedAt)}`;
  return printable(`${since}: ${gate.message}; ${clause(gate.hint)}${next}`);
}

/** Why nothing new is sent, and until when; ` to NAME` where there are several archives. */
export function waitingLine({ message, until }: Waiting, now: number, to = ""): string {
  const opens = until === null ? "" : ` until ${timeText(until)} (${relativeText(until, now)})`;
  return printable(`nothing new is sent${to}${opens}: ${message}`);
}

/** What was moved here and not in the archive; nobody but a person can move it there. */
function movedLines({ moved }: StatusReport): string[] {
  if (moved.length === 0) return [];
  return [
    "",
    "renamed or moved here; the archive still has them where they were:",
    ...moved.map(({ path, from, archivedIn, documentId }) =>
      printable(`  ${path}  was ${from}, in ${archivedIn} as document ${documentId}`),
    ),
  ];
}

/** The work order. */
function folderLines({ foldersToCreate }: StatusReport): string[] {
  if (foldersToCreate.length === 0) return [];
  const width = Math.max(...foldersToCreate.map(({ path }) => path.length));
  return [
    "",
    "folders that documents wait for in the archive:",
    ...foldersToCreate.map(({ path, code, documents }) => {
      const place = padded(printable(path), Math.min(width, 60));
      return `  ${place}  ${counted(documents, "document")}  ${code}`;
    }),
  ];
}
