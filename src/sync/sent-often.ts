import {
  CHANGES_PER_HOUR,
  isRecentChange,
  type TooOften,
  tooOften,
} from "../domain/change-rate.ts";
import type { Document } from "../domain/document.ts";
import type { Journal } from "../journal/journal.ts";

/**
 * Whether a path was sent too often; `last` is its latest content that was. Reads no more of those before it than may
 * be sent within an hour.
 */
export async function sentTooOften(
  journal: Pick<Journal, "document">,
  last: Document | undefined,
  { now, max = CHANGES_PER_HOUR }: { readonly now: number; readonly max: number | undefined },
): Promise<TooOften | undefined> {
  const recent: Document[] = [];
  for (let row = last; row && isRecentChange(row, now) && recent.length < max; ) {
    recent.push(row);
    row = row.supersedes === null ? undefined : await journal.document(row.supersedes);
  }
  return tooOften(recent, now, max);
}
