/** The units a duration is written in, largest first, in milliseconds. */
const DURATION_UNITS = [
  ["y", 31_536_000_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|y)$/;

/**
 * Milliseconds of a duration written as `200ms`, `3s`, `1.5s`, `5m`, `6h`, `7d` or `3y` (of 365
 * days); `0` needs no unit. Undefined when the text is no duration, or one too long to be counted in milliseconds.
 */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const [, amount, unit] = DURATION.exec(text) ?? [];
  const factor = DURATION_UNITS.find(([name]) => name === unit)?.[1];
  if (amount === undefined || factor === undefined) return undefined;
  const ms = Math.round(Number(amount) * factor);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/**
 * The shortest exact way to write `ms` (a whole number of milliseconds, 0 or more):
 * `parseDuration(formatDuration(ms))` is `ms`.
 */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0s";
  const [name, factor] = DURATION_UNITS.find(([, factor]) => ms % factor === 0) ?? ["ms", 1];
  return `${ms / factor}${name}`;
}

/** What a size may end in, in bytes; without one it is bytes. Capitals do not matter. */
const SIZE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 1_000,
  kb: 1_000,
  m: 1_000_000,
  mb: 1_000_000,
  g: 1_000_000_000,
  gb: 1_000_000_000,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};

/** Bytes of a size written as `1048576`, `512KB`, `1.5 MB`, `10MiB`; undefined when it is none. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?) ?([a-z]*)$/i.exec(text) ?? [];
  const factor = SIZE_UNITS[unit.toLowerCase()];
  const bytes = Math.round(Number(amount) * (factor ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
