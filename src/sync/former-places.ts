/** Whether a file is one that was sent from another place: moved, renamed, or put there by `after`. */
import { areAlike } from "../domain/alike.ts";
import type { Document } from "../domain/document.ts";
import type { Look } from "../reader/protocol.ts";
import { type RawPath, shown } from "../std/raw-path.ts";
import type { LiveMirror } from "./context.ts";

/** Of the rows that were sent with the bytes of the file at `here`, those whose file this may be. */
export function mayBeHere(
  sent: readonly Document[],
  { settings }: LiveMirror,
  here: RawPath,
): Document[] {
  return sent.filter(
    (row) => row.current && (row.after !== "done" || isWherePut(row, settings.source, here)),
  );
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

/**
 * What was put away lies where nobody looks; where it was moved to within the source, somebody does
 * from the day on which files are put elsewhere.
 */
function isWherePut({ afterMessage }: Document, source: string, here: RawPath): boolean {
  const place = `${source}/${shown(here)}`;
  return afterMessage === place || afterMessage?.startsWith(`${place}; `) === true;
}
