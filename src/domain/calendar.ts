/** Hours, days and months as this host's people count them. Times are epoch milliseconds. */

const HOUR_MS = 3_600_000;

/** The beginning of the hour that `at` is in. */
function hourStart(at: number): number {
  return new Date(at).setMinutes(0, 0, 0);
}

/** Midnight before `at`; `days` days earlier. */
export function dayStart(at: number, days = 0): number {
  const day = new Date(at);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - days).getTime();
}

/** The date on which `at` is: `2026-11-20`. */
export function dateOf(at: number): string {
  const day = new Date(at);
  const two = (value: number) => `${value}`.padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** The first of the month that `at` is in; `months` months later. */
export function monthStart(at: number, months = 0): number {
  const day = new Date(at);
  return new Date(day.getFullYear(), day.getMonth() + months).getTime();
}

/** The account's month that `at` is in, which begins at midnight of the day `begins`, 1 to 28. */
export function periodOf(at: number, begins: number): { from: number; to: number } {
  const day = new Date(at);
  const months = day.getDate() < begins ? -1 : 0;
  const start = (more: number) =>
    new Date(day.getFullYear(), day.getMonth() + months + more, begins).getTime();
  return { from: start(0), to: start(1) };
}

/** The last `count` hours up to `at`, oldest first: when each begins. */
export function lastHours(at: number, count: number): number[] {
  const last = hourStart(at);
  return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * HOUR_MS);
}

/** The last `count` days up to `at`, oldest first: when each begins. */
export function lastDays(at: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => dayStart(at, count - 1 - index));
}

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
