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
