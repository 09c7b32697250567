/** What the history says of a change. Pure, so that every journal tells the same story. */
import type { Document, State, Trouble } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";
import type { HistoryRow } from "./journal.ts";
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
    detail: supersedes === null ? detail : `${detail}, supersedes document ${supersedes}`,
  };
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
  const detail = `is document ${id}, moved here`;
  return { at, from: successor.state, to: null, event: "follow", detail };
}

/** By which a row is looked at again, and waits on for the same reason. */
export const RETURNING: readonly string[] = ["recheck", "goesOn", "heldBack"];

/** Whether a line may be counted in an earlier one; any other one is a line of its own. */
export function mayRepeat({ from, to, event }: HistoryLine): boolean {
  return from === to || RETURNING.includes(event);
}

/**
 * The lines to write for one that is told, given the last one and the one before that. Polls and the like
 * repeat for months; the same line in a row is counted, not written again. What waits is looked at and held
 * in turns, perhaps every few minutes for years: these two lines are counted as well, the latest one last.
 */
export function linesFor(
  line: HistoryLine,
  last: NumberedLine | undefined,
  before: NumberedLine | undefined,
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
  return [{ ...line, number: (last?.number ?? 0) + 1, times: 1 }];
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
      return event.trouble ? troubleText(event.trouble) : event.status;
    case "converted":
      return `${event.pages} ${event.pages === 1 ? "page" : "pages"}, ${event.archiveBytes} bytes`;
    default:
      return "trouble" in event && event.trouble ? troubleText(event.trouble) : null;
  }
}

function troubleText({ code, message }: Trouble): string {
  return `${code}: ${message}`;
}
