/** Whether a file is one that was sent from another place: moved, renamed, or put there by `after`. */
import { areAlike } from "../domain/alike.ts";
import type { Document, Seen } from "../domain/document.ts";
import { isSameFile } from "../domain/stamp.ts";
import type { Look } from "../reader/protocol.ts";
import { type RawPath, shown } from "../std/raw-path.ts";
import type { LiveMirror } from "./context.ts";

/** A file as it was found: where, and what a look at it showed. */
export type Here = { readonly path: RawPath; readonly seen: Seen };

/**
 * Of the rows that were sent with the bytes of a file, those whose file this may be. Where the name of one
 * was used anew, other files have its bytes by right; only what is known to be its file may be.
 */
export function mayBeHere(
  sent: readonly Document[],
  { settings }: LiveMirror,
  { path, seen }: Here,
): Document[] {
  const all = sent.filter((row) =>
    row.after === "done"
      ? isWherePut(row, settings.source, path)
      : row.current || isSameFile(row.seen.stamp, seen.stamp),
  );
  // What is known comes before what is concluded.
  return all.sort((a, b) => Number(a.current) - Number(b.current));
}

/** What is at these places now, from where the file at `here` may have come; null: nothing. */
export function lookAtPlaces(
  { reader, row }: LiveMirror,
  places: readonly RawPath[],
  here: RawPath,
): Promise<Look[]> {
  // Under its old name a share may still find what was given another in letter case alone.
  const spelt = places.some((place) => areAlike(place, here));
  return reader.look(row.id, places, spelt);
}

/** Whether a row that may be here is: its place is empty, or has another file, which was given its name. */
export function isHere({ current, after, seen }: Document, place: Look, here: Here): boolean {
  if (place === null || after === "done") return true;
  if (!isSameFile(seen.stamp, here.seen.stamp)) return false;
  return place === undefined ? !current : !isSameFile(seen.stamp, place.stamp);
}

/**
 * What was put away lies where nobody looks; where it was moved to within the source, somebody does
 * from the day on which files are put elsewhere.
 */
function isWherePut({ afterMessage }: Document, source: string, here: RawPath): boolean {
  const place = `${source}/${shown(here)}`;
  return afterMessage === place || afterMessage?.startsWith(`${place}; `) === true;
}
