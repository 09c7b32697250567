/** What an empty or unknown `TZ` is called. */
const UNKNOWN = "Etc/Unknown";

/** What is wrong with the host's time zone, where the environment names one; and what fixes it. */
export const TIME_ZONE_HINT = "Set TZ to the name of a zone, e.g. Europe/Berlin, or leave it out.";

/**
 * Says so where this runtime does not know the zone of `TZ`: a misspelt name, a path, a rule such as
 * `CET-1CEST`. Local time is then the same distance from UTC all year, mostly none, without a word.
 * Undefined where nothing is wrong.
 */
export function timeZoneProblem({ TZ: name }: NodeJS.ProcessEnv, now: number): string | undefined {
  // Empty is UTC, by an old custom.
  if (name === undefined || name === "" || isKnown(name)) return undefined;
  return `TZ is ${JSON.stringify(name)}, a time zone that is not known here: local time is ${distanceAt(now)}, all year`;
}

function isKnown(name: string): boolean {
  // None at all, in spite of its type, for most of what is not known.
  const zone: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone === "UTC") return isName(name.replace(/^:/, ""));
  return zone !== undefined && zone !== UNKNOWN;
}

function isName(name: string): boolean {
  try {
    Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The name of the host's zone: `Europe/Berlin`. */
export function zoneName(): string {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone === UNKNOWN ? "UTC" : zone;
}

/** How far local time is from UTC at a moment (epoch ms): `UTC`, `UTC+01:00`. */
export function distanceAt(now: number): string {
  const west = new Date(now).getTimezoneOffset();
  if (west === 0) return "UTC";
  const two = (value: number) => `${Math.floor(value)}`.padStart(2, "0");
  const minutes = Math.abs(west);
  return `UTC${west < 0 ? "+" : "-"}${two(minutes / 60)}:${two(minutes % 60)}`;
}
