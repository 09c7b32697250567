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
  /**
   * Pages of the uploaded ones: as reckoned before they were sent and, once they are CONVERTED, as the
   * archive counts them. What the archive took off its allowance then, as far as can be known.
   */
  readonly charged: number;
  /** Pages that duplicates would have cost. */
  readonly saved: number;
};

const NOTHING: TallyCounts = {
  uploaded: 0,
  uploadedBytes: 0,
  converted: 0,
  pages: 0,
  charged: 0,
  saved: 0,
};

/** One mirror's quarter of an hour. */
export type Tally = TallyCounts & {
  readonly mirrorId: number;
  /** When it began, epoch milliseconds. */
  readonly at: number;
};

const COUNTS = Object.keys(NOTHING) as (keyof TallyCounts)[];

/** What is added to the tallies when `event` happens to `before`. */
export function talliedBy(before: Document, event: Event): Tally[] {
  const { mirrorId, seen, attempts, charge } = before;
  const none = { ...NOTHING, mirrorId, at: tallyStart(event.at) };
  if (event.type === "accepted" || event.type === "found")
    return [{ ...none, uploaded: 1, uploadedBytes: seen.sizeBytes, charged: charge ?? 0 }];
  if (event.type === "duplicated") return [{ ...none, saved: event.original.pages ?? 0 }];
  // Without an attempt it was adopted: its pages were paid for by somebody else.
  if (event.type !== "converted" || attempts === 0) return [];
  const converted = { ...none, converted: 1, pages: event.pages };
  // The allowance was charged when it was sent, which may have been in another month.
  const mended = charge === null ? 0 : event.pages - charge;
  if (mended === 0) return [converted];
  const sentAt = tallyStart(before.uploadedAt ?? event.at);
  if (sentAt === none.at) return [{ ...converted, charged: mended }];
  return [converted, { ...none, at: sentAt, charged: mended }];
}

function tallyStart(at: number): number {
  return Math.floor(at / TALLY_MS) * TALLY_MS;
}

/** Adds `tally` to the sums by time and mirror. */
export function addInto(
  sums: { get(key: string): Tally | undefined; set(key: string, sum: Tally): unknown },
  tally: Tally,
): void {
  const key = `${tally.at}:${tally.mirrorId}`;
  const sum = { ...tally, ...(sums.get(key) ?? NOTHING) };
  addTo(sum, tally);
  sums.set(key, sum);
}

/** The sum of some tallies. */
export function sumOf(tallies: readonly TallyCounts[]): TallyCounts {
  const sum = { ...NOTHING };
  for (const tally of tallies) addTo(sum, tally);
  return sum;
}

/** Adds the counts of `tally` to those of `sum`. */
export function addTo(
  sum: { -readonly [K in keyof TallyCounts]: number },
  tally: TallyCounts,
): void {
  for (const key of COUNTS) sum[key] += tally[key];
}
