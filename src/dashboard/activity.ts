/** What has reached the archive: today, this month, hour by hour, day by day, batch by batch. */
import { dateOf, dayStart, lastDays, lastHours, monthStart } from "../domain/calendar.ts";
import type { BatchProgress, Batches, Registry, Reports } from "../journal/journal.ts";
import { sumOf, type UsageBucket, type UsageBucketCounts } from "../journal/usage-bucket.ts";

const HOURS = 24;
const DAYS = 31;
const BATCHES = 10;

/** A stretch of time that is shown as one bar of a plot; it ends where the next one begins. */
export type Bar = UsageBucketCounts & { readonly at: number };

/** A bar of a day, and its date by the host's clock: the reader may be in another time zone. */
export type DayBar = Bar & { readonly day: string };

/** What reached the archive in some time, all together and by mirror. */
export type Sums = UsageBucketCounts & {
  readonly mirrors: readonly (UsageBucketCounts & { readonly mirror: string })[];
};

/** A batch as the page shows it. */
export type BatchReport = Omit<BatchProgress, "mirrorId"> & { readonly mirror: string };

/** What `/api/activity` answers; days and months are those of the daemon's host. */
export type Activity = {
  readonly at: number;
  readonly today: Sums;
  readonly month: Sums;
  readonly hours: readonly Bar[];
  readonly days: readonly DayBar[];
  readonly batches: readonly BatchReport[];
};

/** Reads it from the journal: a few thousand rows of usage buckets at most. */
export async function activityOf(
  journal: Batches & Registry & Reports,
  now: number,
): Promise<Activity> {
  const names = new Map((await journal.mirrors()).map(({ id, name }) => [id, name]));
  const hours = lastHours(now, HOURS);
  const days = lastDays(now, DAYS);
  const from = Math.min(monthStart(now), days[0] ?? now, hours[0] ?? now);
  const usageBuckets = await journal.usageBuckets(from, Number.MAX_SAFE_INTEGER);
  const batches = await journal.latestBatches(BATCHES);
  return {
    at: now,
    today: sumsOf(since(usageBuckets, dayStart(now)), names),
    month: sumsOf(since(usageBuckets, monthStart(now)), names),
    hours: barsOf(usageBuckets, hours),
    days: barsOf(usageBuckets, days).map((bar) => ({ ...bar, day: dateOf(bar.at) })),
    batches: batches.map(({ mirrorId, ...batch }) => {
      return { ...batch, mirror: names.get(mirrorId) ?? "" };
    }),
  };
}

/** Sums of all usage buckets, and of each mirror's. */
function sumsOf(usageBuckets: readonly UsageBucket[], names: ReadonlyMap<number, string>): Sums {
  const mirrors = [...Map.groupBy(usageBuckets, ({ mirrorId }) => mirrorId)]
    .toSorted(([a], [b]) => a - b)
    .map(([id, group]) => ({ mirror: names.get(id) ?? "", ...sumOf(group) }));
  return { ...sumOf(usageBuckets), mirrors };
}

function since(usageBuckets: readonly UsageBucket[], from: number): UsageBucket[] {
  return usageBuckets.filter(({ at }) => at >= from);
}

/** One bar for each of `starts`, which ascend; an usage bucket falls into the last one that began before. */
function barsOf(usageBuckets: readonly UsageBucket[], starts: readonly number[]): Bar[] {
  const groups = starts.map((): UsageBucket[] => []);
  for (const usageBucket of usageBuckets) {
    groups[starts.findLastIndex((start) => start <= usageBucket.at)]?.push(usageBucket);
  }
  return starts.map((at, index) => ({ at, ...sumOf(groups[index] ?? []) }));
}
