/** The units a duration is written in, largest first, in milliseconds. */
const UNITS = [
  ["y", 31_536_000_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

const WRITTEN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|y)$/;

/**
 * Milliseconds of a duration written as `200ms`, `3s`, `1.5s`, `5m`, `6h`, `7d` or `3y` (of 365
 * days); `0` needs no unit. Undefined when the text is no duration, or one too long to be counted in milliseconds.
 */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const [, amount, unit] = WRITTEN.exec(text) ?? [];
  const factor = UNITS.find(([name]) => name === unit)?.[1];
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
  const [name, factor] = UNITS.find(([, factor]) => ms % factor === 0) ?? ["ms", 1];
  return `${ms / factor}${name}`;
}
