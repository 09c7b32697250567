import type { Document } from "../domain/document.ts";
import type { Change } from "../journal/journal.ts";

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
