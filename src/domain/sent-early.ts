/**
 * Documents that were sent too early: feeders append page by page, and the file is whole after each page. Nothing but
 * what comes later tells: the newer content begins with exactly what was sent.
 */
import { type Document, mayBeArchived } from "./document.ts";

/** More may be appended for this long, and it still was sent too early; later it is a file that is added to now and then. */
const APPENDED_MS_MAX = 5 * 60_000;

type Sent = Pick<Document, "state" | "doubtAt" | "goneAt" | "changedAt" | "digest" | "seen">;
type Newer = Pick<Document, "firstSeenAt" | "seen">;

/** How long the pause was, milliseconds, in which the content before this one was sent; not shorter than it was. */
function pauseMsOf(sent: Sent, { firstSeenAt, seen }: Newer): number {
  const seenMs = firstSeenAt - sent.changedAt;
  // Where files are rarely looked at, their own times tell more; a clock that was set tells nothing.
  const writtenMs = seen.modifiedAt - sent.seen.modifiedAt;
  return writtenMs > 0 ? Math.min(seenMs, writtenMs) : seenMs;
}

/**
 * The pause, milliseconds, in which `sent` may have been sent too early; undefined: it was not. Whether it was is
 * certain once `newer` begins with what was sent.
 *
 * @param settleMs how long is waited by now: a shorter pause teaches nothing
 */
export function suspectPause(sent: Sent, newer: Newer, settleMs: number): number | undefined {
  if (sent.digest === null || sent.goneAt !== null || !mayBeArchived(sent)) return undefined;
  if (newer.seen.sizeBytes <= sent.seen.sizeBytes) return undefined;
  const pauseMs = pauseMsOf(sent, newer);
  return pauseMs >= settleMs && pauseMs < APPENDED_MS_MAX ? pauseMs : undefined;
}

/** Whether a newer content with these pages was appended to one with those: a page more, as far as they can be counted. */
export function isAppended(sent: number | undefined, pages: number | undefined): boolean {
  // Editors append, too: a note on a page is an edit.
  return sent === undefined || pages === undefined || pages > sent;
}

/** What to wait instead of `settle` after such a pause, milliseconds, in whole seconds: the next one may be longer. */
export function longerSettleMs(pauseMs: number): number {
  return Math.min(Math.ceil((2 * pauseMs) / 1_000) * 1_000, APPENDED_MS_MAX);
}
