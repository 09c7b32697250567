/** The levels that the log's lines have as numbers. */
const LEVELS: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

/** Its word; empty for what is none. */
export function levelOf(level: unknown): string {
  return LEVELS[Number(level)] ?? "";
}
