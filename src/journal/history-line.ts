/** What the history says of a change. Pure, so that every journal tells the same story. */
import type { Document, State, Trouble } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";
import type { HistoryRow } from "./journal.ts";
import { shownPath } from "./revision.ts";

/** One line, before it is known how often in a row it happened. */
export type HistoryLine = Omit<HistoryRow, "times">;

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

/** Polls and the like repeat for months; the same line in a row is counted, not written again. */
export function isRepeat(last: HistoryLine | undefined, line: HistoryLine): boolean {
  return (
    line.from === line.to &&
    last?.from === line.from &&
    last.to === line.to &&
    last.event === line.event &&
    last.detail === line.detail
  );
}

function detailOf(event: Event): string | null {
  switch (event.type) {
    case "settled":
      return `as ${event.sentName} for ${event.targetPath}`;
    case "claimed":
      return `folder ${event.folderId}, batch ${event.batch}`;
    case "accepted":
    case "adopted":
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
