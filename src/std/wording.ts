/** How numbers, sizes and times are written for people. */

/** A number with its thousands apart: `12,345`; three decimals at most. Without `Intl`, which is slow to begin. */
export function numberText(number: number): string {
  const exact = Number.isInteger(number) ? number : Math.round(number * 1_000) / 1_000;
  const [whole = "", part] = String(exact).split(".");
  const apart = whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return part === undefined ? apart : `${apart}.${part}`;
}

/** `1 document`, `3 documents`. */
export function counted(number: number, noun: string): string {
  return `${numberText(number)} ${noun}${number === 1 ? "" : "s"}`;
}

const SIZES = ["B", "kB", "MB", "GB", "TB"];

/** Bytes in decimal units, three digits: `24.6 kB`. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < SIZES.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.5 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${SIZES[unit]}`;
}

/** A moment (epoch ms) in the host's time zone, to the second: `2026-11-20 21:04:05`. */
export function timeText(at: number): string {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

const SPANS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** A span of time in its largest unit: `3 minutes`. */
export function spanText(ms: number): string {
  const [unit, factor] = SPANS.find(([, factor]) => Math.abs(ms) >= factor) ?? SPANS[3];
  return counted(Math.round(Math.abs(ms) / factor), unit);
}

/** `in 3 minutes`, `3 minutes ago`, `now`. */
export function relativeText(at: number, now: number): string {
  if (Math.abs(at - now) < 1_000) return "now";
  return at > now ? `in ${spanText(at - now)}` : `${spanText(now - at)} ago`;
}

/** A hint as part of a line: without the full stop, and without a capital that is no name. */
export function clause(hint: string): string {
  const rest = hint.replace(/\.$/, "");
  return /^[A-Z][a-z' ]/.test(rest) ? rest.charAt(0).toLowerCase() + rest.slice(1) : rest;
}

/** Text as one word of a shell's command line, in quotes where it needs them. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
