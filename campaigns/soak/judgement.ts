/** What a soak's measurements say, and which of them break a promise. */
import type { Figures } from "../campaign.ts";
import type { Sample } from "./sampler.ts";
import { lowerEnds, type Point, thirdsOf, type Trend, trendOf } from "./slope.ts";

const MB = 1024 * 1024;

/** Memory may grow by so much an hour, beyond noise. */
const SLOPE_MB_MAX = 1;

const WAL_MB_MAX = 16;

/** Connections come and go: descriptors of the last third may be so many more than of the first. */
const DESCRIPTORS_MAX = 4;

/** In this part of a run, or of a reader's life, memory still grows to what a process needs: V8 and malloc take an hour. */
const WARM_UP_PART = 0.5;

/** What is followed must be followed for so long for its slope to mean anything. */
const LIFE_SECONDS = 15 * 60;

/** Looks that make one lower end. */
const LOOKS = 12;

/** Figures of the run; `broken` learns about every one that is too high. */
export function judge(samples: readonly Sample[], broken: (what: string) => void): Figures {
  const warm = warmPart(samples);
  const peak = (of: (sample: Sample) => number) => Math.max(0, ...samples.map(of).filter(isNumber));
  const walMb = peak(({ wal }) => wal) / MB;
  if (walMb >= WAL_MB_MAX) broken(`the WAL grew to ${walMb.toFixed(1)} MB`);
  const figures: Record<string, string | number> = {
    "WAL at most": `${walMb.toFixed(1)} MB`,
    "daemon memory at most": `${(peak(({ daemonRss }) => daemonRss) / MB).toFixed(0)} MB`,
    "reader memory at most": `${(peak(({ readerRss }) => readerRss) / MB).toFixed(0)} MB`,
    "event loop lag, 99 %, at most": `${(peak(({ lag }) => lag) * 1_000).toFixed(0)} ms`,
    "daemon's CPU": `${peak(({ cpu }) => cpu).toFixed(0)} s`,
  };
  if (lengthOf(warm) < LIFE_SECONDS) return figures;
  const growth = (
    name: string,
    some: readonly Sample[],
    of: (sample: Sample) => number,
    looks = LOOKS,
  ) => {
    const trend = memoryTrend(some, of, looks);
    figures[name] = told(trend);
    if (isGrowth(trend)) broken(`${name} ${told(trend)}`);
  };
  // SQLite keeps pages of the journal in memory, up to a bound that a few hours do not reach.
  figures["daemon memory"] = told(memoryTrend(warm, ({ daemonRss }) => daemonRss));
  figures["daemon's own memory less the journal"] = told(
    memoryTrend(warm, ({ daemonOwn, journal }) => daemonOwn - journal),
  );
  figures["daemon's compiled code"] = told(memoryTrend(warm, ({ daemonCode }) => daemonCode));
  growth(
    "daemon's own memory less the journal and compiled code",
    warm,
    ({ daemonOwn, journal, daemonCode }) => daemonOwn - journal - daemonCode,
  );
  figures["daemon heap"] = told(memoryTrend(warm, ({ daemonHeap }) => daemonHeap));
  growth("daemon's objects without garbage", warm, ({ daemonKept }) => daemonKept, 1);
  const reader = warmPart(longestLife(samples));
  if (lengthOf(reader) >= LIFE_SECONDS)
    growth("reader's own memory, longest life", reader, ({ readerOwn }) => readerOwn);
  for (const [name, of] of [
    ["daemon descriptors", ({ daemonFds }: Sample) => daemonFds],
    ["reader descriptors", ({ readerFds }: Sample) => readerFds],
  ] as const) {
    const { first, last } = thirdsOf(pointsOf(warm, of));
    figures[name] = `${first} in the first third, ${last} in the last`;
    if (last - first > DESCRIPTORS_MAX) broken(`${name}: ${figures[name]}`);
  }
  return figures;
}

/** Beyond noise: what grew over the whole run is more than values stray from their line. */
function isGrowth({ slope, rise, noise }: Trend): boolean {
  return slope >= SLOPE_MB_MAX && rise > 2 * noise;
}

function memoryTrend(
  samples: readonly Sample[],
  of: (sample: Sample) => number,
  looks = LOOKS,
): Trend {
  const points = pointsOf(samples, of).map(({ x, y }) => ({ x, y: y / MB }));
  return trendOf(lowerEnds(points, looks));
}

function pointsOf(samples: readonly Sample[], of: (sample: Sample) => number): Point[] {
  return samples
    .map((sample) => ({ x: sample.seconds / 3_600, y: of(sample) }))
    .filter(({ y }) => isNumber(y));
}

/** Those of the later part. */
function warmPart(samples: readonly Sample[]): Sample[] {
  const from = (samples[0]?.seconds ?? 0) + lengthOf(samples) * WARM_UP_PART;
  return samples.filter(({ seconds }) => seconds >= from);
}

/** The samples of the reader that lived longest. */
function longestLife(samples: readonly Sample[]): Sample[] {
  const lives = [...Map.groupBy(samples, ({ readerPid }) => readerPid)]
    .filter(([pid]) => pid !== 0)
    .map(([, life]) => life);
  return lives.reduce((best, life) => (lengthOf(life) > lengthOf(best) ? life : best), []);
}

function lengthOf(life: readonly Sample[]): number {
  return (life.at(-1)?.seconds ?? 0) - (life[0]?.seconds ?? 0);
}

function told({ slope, rise, noise }: Trend): string {
  return `${slope.toFixed(2)} MB/h (${rise.toFixed(1)} MB in all, noise ${noise.toFixed(1)} MB)`;
}

function isNumber(value: number): boolean {
  return !Number.isNaN(value);
}
