import type { Document } from "../domain/document.ts";
import type { Change } from "../journal/journal.ts";
import type { RawPath } from "../std/raw-path.ts";

/**
 * What a close look at a file changes, all of it or nothing: a look takes its time, and in the moment
 * in which it is journaled the file may have been seen to be another.
 */
export function asSeen({ id, seen }: Document, changes: readonly Change[]): Change[] {
  const given = { id, stamp: seen.stamp };
  return changes.map((change) => {
    const isAbout = change.type !== "add" && change.type !== "batch" && change.type !== "directory";
    return isAbout ? { ...change, given } : change;
  });
}

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
