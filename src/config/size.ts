import { type Kind, kind } from "./kind.ts";
import { quoted } from "./quoted.ts";

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

/** A size between two written ones, both allowed; bytes. A bare number is bytes. */
export function size(min: string, max: string): Kind<number> {
  const bytesMin = parseSize(min) ?? 0;
  const bytesMax = parseSize(max) ?? Number.MAX_SAFE_INTEGER;
  return kind(
    "size",
    (value, refuse) => {
      const text = typeof value === "number" ? String(value) : value;
      const bytes = typeof text === "string" ? parseSize(text) : undefined;
      if (bytes === undefined) {
        const perSecond = typeof text === "string" && /(\/s|ps|bit)$/i.test(text);
        const fix = perSecond ? "write bytes alone, e.g. 2MB" : "write 512KB, 2MB or 10MiB";
        return refuse(`${quoted(value)} is not a size`, fix);
      }
      if (bytes < bytesMin) return refuse(`${quoted(value)} is too small`, `write ${min} or more`);
      if (bytes > bytesMax) return refuse(`${quoted(value)} is too large`, `write ${max} or less`);
      return bytes;
    },
    `${min} to ${max}`,
  );
}
