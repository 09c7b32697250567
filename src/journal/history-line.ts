/** What the history says of a change. Pure, so that every journal tells the same story. */
import type { Document, State, Problem } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";
import type { Change, HistoryRow } from "./journal.ts";
import { shownPath } from "./revision.ts";

/** One line, before it is known how often in a row it happened. */
export type HistoryLine = Omit<HistoryRow, "times">;

/** A line of history with its place in it, and how often in a row it happened. */
export type NumberedLine = HistoryLine & { readonly number: number; readonly times: number };

/** The line of a row's birth. */
export function seenLine({ firstSeenAt, seen, supersedes }: Document): HistoryLine {
  const detail = `${seen.sizeBytes} bytes`;
  return {
    at: firstSeenAt,
    from: null,
    to: "settling",
    event: "add",
    detail: supersedes === null ? detail : `${detail}, supersedes journal row ${supersedes}`,
  };
}

/** The states of an ordinary life, in the order in which a document comes to be in them. */
const ORDINARY_STATES: readonly State[] = [
  "settling",
  "pending",
  "uploading",
  "uploaded",
  "converted",
];
/** Lines that may follow one step of an ordinary life before the next; repetitions are counted in one. */
const LINES_MAX = 1_000_000;

/** The number of the line that tells how an ordinary document came to be in this state; what follows in it has the next ones. */
export function numberOf(state: State): number {
  return ORDINARY_STATES.indexOf(state) * LINES_MAX + 1;
}

/** Whether a step is one of those that the times of an ordinary row tell on their own. */
export function isOrdinary(event: Pick<HistoryLine, "event">): boolean {
  return ["add", "settled", "claimed", "accepted", "converted"].includes(event.event);
}

/** Whether a row's times still tell its ordinary steps after this change of it: it leads nowhere else, and they stay. */
export function staysOrdinary(change: Extract<Change, { type: "event" | "note" }>): boolean {
  if (change.type === "note") return change.set.seen === undefined;
  const { type } = change.event;
  return type === "polled" || isOrdinary({ event: type });
}

/** The lines that the times of an ordinary row tell. */
export function ordinaryLines(row: Document): NumberedLine[] {
  const line = (to: State, event: string, at: number | null, detail: string): NumberedLine[] => {
    const from = ORDINARY_STATES[ORDINARY_STATES.indexOf(to) - 1] ?? null;
    return at === null ? [] : [{ number: numberOf(to), at, from, to, event, detail, times: 1 }];
  };
  const { sentName, targetPath, folderId, batch, documentId, pages } = row;
  return [
    { ...seenLine(row), number: 1, times: 1 },
    ...line("pending", "settled", row.settledAt, `as ${sentName} for ${targetPath}`),
    ...line("uploading", "claimed", row.sentAt, `folder ${folderId}, batch ${batch}`),
    ...line("uploaded", "accepted", row.uploadedAt, `document ${documentId}`),
    ...line("converted", "converted", row.convertedAt, countedText(pages, row.archiveBytes)),
  ];
}

/** The whole history of a row, which may be gone, of which these lines were written when it was read, or since. */
export function historyOf(
  row: Document | undefined,
  written: readonly NumberedLine[],
): HistoryRow[] {
  const told = row?.ordinary ? ordinaryLines(row) : [];
  const lines = new Map([...told, ...written].map((line) => [line.number, line]));
  return [...lines.values()].sort((a, b) => a.number - b.number).map(historyRow);
}

/** The line as people are shown it: how often is said only of what happened again. */
export function historyRow({ number: _number, times, ...line }: NumberedLine): HistoryRow {
  return times === 1 ? line : { ...line, times };
}

/** The line of an event. */
export function eventLine(from: State, to: State, event: Event): HistoryLine {
  return { at: event.at, from, to, event: event.type, detail: detailOf(event) };
}

/** The line of a note. */
export function noteLine({ state }: Document, at: number, why: string): HistoryLine {
  return { at, from: state, to: state, event: "note", detail: why };
}

/** The last line of a row that is forgotten. */
export function forgetLine({ state }: Document, at: number, why: string): HistoryLine {
  return { at, from: state, to: null, event: "forget", detail: why };
}

/** The line of a sent row that takes over the place of `successor`. */
export function followLine(document: Document, successor: Document, at: number): HistoryLine {
  const detail = `from ${shownPath(document)} to ${shownPath(successor)}`;
  return { at, from: document.state, to: document.state, event: "follow", detail };
}

/** The last line of the row whose file turned out to be a sent document that was moved. */
export function successorLine(successor: Document, id: number, at: number): HistoryLine {
  const detail = `is journal row ${id}, moved here`;
  return { at, from: successor.state, to: null, event: "follow", detail };
}

/** By which a row is looked at again, and waits on for the same reason. */
export const RETURNING: readonly string[] = ["recheck", "goesOn", "heldBack"];

/**
 * The lines to write for a new one, given the last one and the one before that; a new one has at least the number
 * `least`. Polls and the like
 * repeat for months; the same line in a row is counted, not written again. What waits is looked at and held
 * in turns, perhaps every few minutes for years: these two lines are counted as well, the latest one last.
 */
export function linesFor(
  line: HistoryLine,
  last: NumberedLine | undefined,
  before: NumberedLine | undefined,
  least: number,
): NumberedLine[] {
  if (last && line.from === line.to && isSame(last, line))
    return [{ ...last, at: line.at, times: last.times + 1 }];
  const returns = last && RETURNING.includes(last.event) && RETURNING.includes(line.event);
  if (returns && before && isSame(before, line)) {
    const { number, times } = before;
    return [
      { ...last, number },
      { ...line, number: last.number, times: times + 1 },
    ];
  }
  return [{ ...line, number: Math.max((last?.number ?? 0) + 1, least), times: 1 }];
}

function isSame(a: HistoryLine, b: HistoryLine): boolean {
  return a.from === b.from && a.to === b.to && a.event === b.event && a.detail === b.detail;
}

function detailOf(event: Event): string | null {
  switch (event.type) {
    case "settled":
      return `as ${event.sentName} for ${event.targetPath}`;
    case "claimed":
      return `folder ${event.folderId}, batch ${event.batch}`;
    case "adopted":
      return `document ${event.documentId}${event.sentBytes === null ? ", by name and size" : ""}`;
    case "accepted":
    case "found":
      return `document ${event.documentId}`;
    case "duplicated":
      return event.remark;
    case "polled":
      return event.problem ? problemText(event.problem) : event.status;
    case "converted":
      return countedText(event.pages, event.archiveBytes);
    default:
      return "problem" in event && event.problem ? problemText(event.problem) : null;
  }
}

function countedText(pages: number | null, archiveBytes: number | null): string {
  return `${pages} ${pages === 1 ? "page" : "pages"}, ${archiveBytes} bytes`;
}

function problemText({ code, message }: Problem): string {
  return `${code}: ${message}`;
}
