/** Numbers and times as people read them, in the reader's language and region. */
import { locale } from "./languages.js";

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });
const number = new Intl.NumberFormat(locale);

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** "3 minutes ago", "in 2 hours"; times in epoch milliseconds. */
export function relativeTime(at, now) {
  const distance = at - now;
  for (const [unit, ms] of UNITS) {
    if (Math.abs(distance) >= ms) return relative.format(Math.trunc(distance / ms), unit);
  }
  return relative.format(Math.trunc(distance / 1000), "second");
}

const hour = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const date = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" });
const SIZES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"].map(
  (unit) =>
    new Intl.NumberFormat(locale, {
      style: "unit",
      unit,
      unitDisplay: unit === "byte" ? "long" : "short",
      maximumSignificantDigits: 3,
    }),
);

/** "1.2 MB"; a kilobyte has a thousand bytes. */
export function bytes(value) {
  const step = Math.min(SIZES.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return SIZES[step].format(value / 1000 ** step);
}

export const hourOf = (at) => hour.format(at);
export const dayOf = (at) => day.format(at);
/** "Nov 20" of "2026-11-20": a day of the daemon's host, whatever this one's clock shows. */
export const dateOf = (iso) => date.format(new Date(iso));
export const fullTime = (at) => moment.format(at);
export const timeOfDay = (at) => clock.format(at);
export const count = (value) => number.format(value);

const share = new Intl.NumberFormat(locale, { style: "percent" });
export const percent = (part) => share.format(part);

/** "4 minutes": a span of time in its largest unit; `ms` are milliseconds. */
export function span(ms) {
  const [unit, factor] = UNITS.find(([, factor]) => ms >= factor) ?? ["second", 1_000];
  const style = { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 0 };
  return new Intl.NumberFormat(locale, style).format(Math.max(1, ms / factor));
}

const rules = new Intl.PluralRules(locale);

/** "1 document", "3 documents": `one` and `other` are the forms of the noun. */
export function many(value, one, other) {
  return `${count(value)} ${rules.select(value) === "one" ? one : other}`;
}
