import { GapFinder, type ZeroRuns } from "../../../src/formats/gaps.ts";

export const NO_ZEROS: ZeroRuns = { gaps: [], loose: [] };

/** The zeros of bytes in memory. */
export function zerosOf(bytes: Buffer): ZeroRuns {
  const finder = new GapFinder();
  finder.add(bytes);
  return finder.end();
}
