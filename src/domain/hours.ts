/**
 * Hours of sending: windows of the host's local time, by the clock on the wall. What is asked of a
 * moment is only what such a clock shows then, so a day that is set forward or back needs no rule:
 * an hour that comes twice counts twice, one that is left out is not waited for.
 */

/** From the minute of the day `from` up to, and without, `to`; over midnight where `to` is earlier. */
export type HoursWindow = { readonly from: number; readonly to: number };

/** One window or more; sending begins within them only. */
export type Hours = readonly HoursWindow[];

/** Minutes of a day. */
export const DAY_MINUTES = 1_440;

const MINUTE_MS = 60_000;

/** Further than this no change of a clock is looked for: two days, whatever is left out of one. */
const LOOK_MINUTES_MAX = 2 * DAY_MINUTES;

/** Whether the wall's clock shows a time within the hours at this moment. */
export function isWithinHours(hours: Hours, at: number): boolean {
  const local = new Date(at);
  const minute = local.getHours() * 60 + local.getMinutes();
  return hours.some(({ from, to }) =>
    from < to ? minute >= from && minute < to : minute >= from || minute < to,
  );
}

/**
 * The next moment after `at` (epoch ms) at which the hours begin or end; null when they never do.
 * Looks minute by minute, since nothing shorter tells what a clock will show: a millisecond of work.
 */
export function hoursChangeAt(hours: Hours, at: number): number | null {
  const isWithin = isWithinHours(hours, at);
  const first = (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS;
  for (let minutes = 0; minutes < LOOK_MINUTES_MAX; minutes++) {
    const next = first + minutes * MINUTE_MS;
    if (isWithinHours(hours, next) !== isWithin) return next;
  }
  return null;
}

/** When sending may begin next: null when it may at `at`. */
export function opensAt(hours: Hours | undefined, at: number): number | null {
  if (hours === undefined || isWithinHours(hours, at)) return null;
  // Hours that never begin cannot be written down.
  return hoursChangeAt(hours, at) ?? at + LOOK_MINUTES_MAX * MINUTE_MS;
}
