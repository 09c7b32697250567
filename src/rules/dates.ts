/**
 * Days and periods. A day stands for its noon in UTC, which is the same day nearly everywhere on
 * earth; years and months are counted by the calendar.
 */

/** A calendar day. */
export type Day = { readonly year: number; readonly month: number; readonly day: number };

/** A length of time as it is written: `7y`, `6mo`, `2w`, `30d`. */
export type Period = {
  readonly months: number;
  readonly days: number;
};

const DAY_MS = 86_400_000;
const NOON_MS = DAY_MS / 2;

/** A period beyond this is a typing error. */
const YEARS_MAX = 200;

const UNITS = { y: { months: 12 }, mo: { months: 1 }, w: { days: 7 }, d: { days: 1 } } as const;

/** The period that `text` writes; undefined when it writes none. */
export function parsePeriod(text: string): Period | undefined {
  const [, amount, unit] = /^(\d{1,5})(y|mo|w|d)$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  const { months = 0, days = 0 }: Partial<Period> = UNITS[unit as keyof typeof UNITS];
  const period = { months: months * Number(amount), days: days * Number(amount) };
  return period.months / 12 + period.days / 366 > YEARS_MAX ? undefined : period;
}

/** The period as it would be written. */
export function formatPeriod({ months, days }: Period): string {
  if (months > 0) return months % 12 === 0 ? `${months / 12}y` : `${months}mo`;
  return `${days}d`;
}

/** `at` (epoch ms) and a period later; the 29th of February plus a year is the 28th. */
export function later(at: number, { months, days }: Period): number {
  const start = new Date(at);
  const month = start.getUTCMonth() + months;
  const last = new Date(Date.UTC(start.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const moved = new Date(at);
  moved.setUTCFullYear(start.getUTCFullYear(), month, Math.min(start.getUTCDate(), last));
  return moved.getTime() + days * DAY_MS;
}

/** How the day of a text may be written: 2026-11-20 and with a time, 20261120, 20.11.2026, 2026/11/20. */
const WRITTEN = [
  /^(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})(?:[T ].{0,40})?$/s,
  /^(?<year>\d{4})[./_](?<month>\d{1,2})[./_](?<day>\d{1,2})$/,
  /^(?<day>\d{1,2})[./_](?<month>\d{1,2})[./_](?<year>\d{4})$/,
  /^(?<year>\d{4})(?<month>\d{2})(?<day>\d{2})$/,
] as const;

/** The day that a text writes; undefined when it writes none that exists. */
export function dayOf(text: string): Day | undefined {
  for (const written of WRITTEN) {
    const { year, month, day } = written.exec(text.trim())?.groups ?? {};
    if (year === undefined || month === undefined || day === undefined) continue;
    return existing({ year: Number(year), month: Number(month), day: Number(day) });
  }
  return undefined;
}

/** The day, when there is such a one: not the 30th of February, and from the year 1000 on. */
export function existing(day: Day): Day | undefined {
  const moment = new Date(Date.UTC(day.year, day.month - 1, day.day));
  const isSame = moment.getUTCMonth() === day.month - 1 && moment.getUTCDate() === day.day;
  return day.year >= 1000 && day.year <= 9999 && isSame ? day : undefined;
}

/** Epoch milliseconds of a day's noon in UTC. */
export function noonOf({ year, month, day }: Day): number {
  return Date.UTC(year, month - 1, day) + NOON_MS;
}

/** The day of a moment, on this host's clock. */
export function localDay(at: number): Day {
  const moment = new Date(at);
  return { year: moment.getFullYear(), month: moment.getMonth() + 1, day: moment.getDate() };
}

/** The parts of a day as they are written, two digits where they have one. */
export function partsOfDay({ year, month, day }: Day) {
  return {
    year: String(year).padStart(4, "0"),
    month: String(month).padStart(2, "0"),
    day: String(day).padStart(2, "0"),
    quarter: String(Math.ceil(month / 3)),
  };
}

/** `2026-11-20`. */
export function isoDay(day: Day): string {
  const parts = partsOfDay(day);
  return `${parts.year}-${parts.month}-${parts.day}`;
}
