/** What reached the archive, counted in quarters of an hour as it happens. Pure. */
import type { Document } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";

/**
 * The time one tally covers. A quarter of an hour, since every time zone's days begin at one: sums
 * of a day, a month or an hour are made of tallies wherever the host stands.
 */
export const TALLY_MS = 900_000;

/** What the tallies count. */
export type TallyCounts = {
  /** Documents the archive accepted, or was found to have after a doubt. */
  readonly uploaded: number;
  readonly uploadedBytes: number;
  /** Documents that became CONVERTED; those that were adopted are in no tally. */
  readonly converted: number;
  /** Pages of the converted ones, as the archive counts them. */
  readonly pages: number;
};

/** One mirror's quarter of an hour. */
export type Tally = TallyCounts & {
  readonly mirrorId: number;
  /** When it began, epoch milliseconds. */
  readonly at: number;
};

/** What is added to the tallies when `event` happens to `before`; undefined for nothing. */
export function talliedBy(before: Document, event: Event): Tally | undefined {
  const { mirrorId, seen, attempts } = before;
  const at = Math.floor(event.at / TALLY_MS) * TALLY_MS;
  const none = { mirrorId, at, uploaded: 0, uploadedBytes: 0, converted: 0, pages: 0 };
  if (event.type === "accepted" || event.type === "found")
    return { ...none, uploaded: 1, uploadedBytes: seen.sizeBytes };
  // Without an attempt it was adopted: its pages were paid for by somebody else.
  if (event.type === "converted" && attempts > 0)
    return { ...none, converted: 1, pages: event.pages };
  return undefined;
}

/** The sum of some tallies. */
export function sumOf(tallies: readonly TallyCounts[]): TallyCounts {
  const sum = { uploaded: 0, uploadedBytes: 0, converted: 0, pages: 0 };
  for (const { uploaded, uploadedBytes, converted, pages } of tallies) {
    sum.uploaded += uploaded;
    sum.uploadedBytes += uploadedBytes;
    sum.converted += converted;
    sum.pages += pages;
  }
  return sum;
}
