/** What a size may end in, in bytes; without one it is bytes. Capitals do not matter. */
const UNITS: Readonly<Record<string, number>> = {
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
  const factor = UNITS[unit.toLowerCase()];
  const bytes = Math.round(Number(amount) * (factor ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
