/** What reached the archive, counted in quarters of an hour as it happens. Pure. */
import type { Document } from "../domain/document.ts";
import type { Event } from "../domain/life.ts";

/**
 * The time one usage bucket covers. A quarter of an hour, since every time zone's days begin at one: sums
 * of a day, a month or an hour are made of usage buckets wherever the host stands.
 */
export const USAGE_BUCKET_MS = 900_000;

/** What the usage buckets count. */
export type UsageBucketCounts = {
  /** Documents the archive accepted, or was found to have after a doubt. */
  readonly uploaded: number;
  readonly uploadedBytes: number;
  /** Documents that became CONVERTED; those that were adopted are in no usage bucket. */
  readonly converted: number;
  /** Pages of the converted ones, as the archive counts them. */
  readonly pages: number;
  /**
   * Pages of the uploaded ones: as estimated before they were sent and, once they are CONVERTED, as the
   * archive counts them. What the archive took off its allowance then, as far as can be known.
   */
  readonly charged: number;
  /** Pages that duplicates would have cost. */
  readonly saved: number;
  /** Documents that failed, be they sent again later or not. */
  readonly failed: number;
};

/** The column of each. */
const COLUMNS: Readonly<Record<keyof UsageBucketCounts, string>> = {
  uploaded: "uploaded",
  uploadedBytes: "uploaded_bytes",
  converted: "converted",
  pages: "pages",
  charged: "charged",
  saved: "saved",
  failed: "failed",
};
const COUNTS = Object.keys(COLUMNS) as (keyof UsageBucketCounts)[];
/** The columns of what usage buckets count. */
export const USAGE_COLUMNS = Object.values(COLUMNS);

const NOTHING = Object.fromEntries(COUNTS.map((key) => [key, 0])) as UsageBucketCounts;

/** One mirror's quarter of an hour. */
export type UsageBucket = UsageBucketCounts & {
  readonly mirrorId: number;
  /** When it began, epoch milliseconds. */
  readonly at: number;
};

/** Adds to the bucket of a mirror and time: the counts in the order of `USAGE_COLUMNS`, after these two. */
export const ADD_USAGE = `INSERT INTO usage_buckets AS t (at, mirror_id, ${USAGE_COLUMNS.join()})
  VALUES ($1, $2, ${USAGE_COLUMNS.map((_, index) => `$${index + 3}`).join()})
  ON CONFLICT (at, mirror_id) DO UPDATE
    SET ${USAGE_COLUMNS.map((name) => `${name} = t.${name} + excluded.${name}`).join()}`;

/** The values of the same. */
export function usageValues(usageBucket: UsageBucket): number[] {
  return [usageBucket.at, usageBucket.mirrorId, ...COUNTS.map((key) => usageBucket[key])];
}

/** What is added to the usage buckets when `event` happens to `before`. */
export function talliedBy(before: Document, event: Event): UsageBucket[] {
  const { mirrorId, seen, attempts, charge } = before;
  const none = { ...NOTHING, mirrorId, at: usageBucketStart(event.at) };
  if (event.type === "accepted" || event.type === "found")
    return [{ ...none, uploaded: 1, uploadedBytes: seen.sizeBytes, charged: charge ?? 0 }];
  if (event.type === "refused" || event.type === "vanished") return [{ ...none, failed: 1 }];
  if (event.type === "duplicated") return [{ ...none, saved: event.original.pages ?? 0 }];
  // Without an attempt it was adopted: others paid for its pages.
  if (event.type !== "converted" || attempts === 0) return [];
  const converted = { ...none, converted: 1, pages: event.pages };
  // The allowance was charged when it was sent, which may have been in another month.
  const fixed = charge === null ? 0 : event.pages - charge;
  if (fixed === 0) return [converted];
  const sentAt = usageBucketStart(before.uploadedAt ?? event.at);
  if (sentAt === none.at) return [{ ...converted, charged: fixed }];
  return [converted, { ...none, at: sentAt, charged: fixed }];
}

function usageBucketStart(at: number): number {
  return Math.floor(at / USAGE_BUCKET_MS) * USAGE_BUCKET_MS;
}

/** One sum for each time and mirror. */
export function summed(usageBuckets: readonly UsageBucket[]): UsageBucket[] {
  const sums = new Map<string, UsageBucket>();
  for (const usageBucket of usageBuckets) {
    const key = `${usageBucket.at}:${usageBucket.mirrorId}`;
    const sum = sums.get(key);
    if (sum) addTo(sum, usageBucket);
    else sums.set(key, { ...usageBucket });
  }
  return [...sums.values()];
}

/** The sum of some usage buckets. */
export function sumOf(usageBuckets: readonly UsageBucketCounts[]): UsageBucketCounts {
  const sum = { ...NOTHING };
  for (const usageBucket of usageBuckets) addTo(sum, usageBucket);
  return sum;
}

/** Adds the counts of `usageBucket` to those of `sum`. */
export function addTo(
  sum: { -readonly [K in keyof UsageBucketCounts]: number },
  usageBucket: UsageBucketCounts,
): void {
  for (const key of COUNTS) sum[key] += usageBucket[key];
}
