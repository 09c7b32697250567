import type { Change } from "../journal/journal.ts";
import type { RawPath } from "../std/raw-path.ts";

/**
 * A directory is to be listed by the next scan: its fingerprint speaks of what was there before, and it may come
 * to look like that once more. With the rows or before them, never after: whatever comes between would
 * leave it true.
 */
export function invalidateDirectory(
  mirrorId: number,
  dir: RawPath,
): Extract<Change, { type: "directory" }> {
  return { type: "directory", mirrorId, dir, fingerprint: null };
}
