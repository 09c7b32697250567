/** How something that was measured over hours moves, told apart from its noise. */

/** A value at a moment; `x` is in hours. */
export type Point = { readonly x: number; readonly y: number };

/** `slope` is in units an hour; `rise` what that makes over the whole time; `noise` how far values stray. */
export type Trend = { readonly slope: number; readonly rise: number; readonly noise: number };

/** The middle value; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[half] ?? Number.NaN;
  return ((sorted[half - 1] ?? Number.NaN) + (sorted[half] ?? Number.NaN)) / 2;
}

/** The slope of Theil and Sen: the median over all pairs, which a few odd values cannot move. */
export function trendOf(points: readonly Point[]): Trend {
  const slopes = points.flatMap((a, index) =>
    points.slice(index + 1).flatMap((b) => (b.x === a.x ? [] : [(b.y - a.y) / (b.x - a.x)])),
  );
  const slope = median(slopes);
  const level = median(points.map(({ x, y }) => y - slope * x));
  const noise = median(points.map(({ x, y }) => Math.abs(y - slope * x - level)));
  const hours = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
  return { slope, rise: slope * hours, noise };
}

/**
 * The least of every `size` values in a row. Memory of a process that collects its garbage is a
 * saw; what it keeps shows at the teeth's lower ends.
 */
export function lowerEnds(points: readonly Point[], size: number): Point[] {
  const ends: Point[] = [];
  for (let at = 0; at + size <= points.length; at += size) {
    const some = points.slice(at, at + size);
    ends.push(some.reduce((least, point) => (point.y < least.y ? point : least)));
  }
  return ends;
}

/** The medians of the first and of the last third. */
export function thirdsOf(points: readonly Point[]): { first: number; last: number } {
  const third = Math.floor(points.length / 3);
  const of = (some: readonly Point[]) => median(some.map(({ y }) => y));
  return { first: of(points.slice(0, third)), last: of(points.slice(points.length - third)) };
}
