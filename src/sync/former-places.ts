/** Whether a file is one that was sent from another place: moved, renamed, or put there by `after`. */
import { areAlike } from "../domain/alike.ts";
import type { Document } from "../domain/document.ts";
import { isOfNetwork, isSameFile, isSameInode, isSameWriting } from "../domain/stamp.ts";
import type { Look } from "../reader/protocol.ts";
import { joinRaw, type RawPath, shown } from "../std/raw-path.ts";
import type { ContentIndex } from "../journal/journal.ts";
import type { DroppedDocument } from "../journal/tidiness.ts";
import type { LiveMirror } from "./context.ts";
import type { AfterActions } from "./after-actions.ts";
import type { Whole } from "./prepare.ts";

/** A file as it was found: where, and what a look at it showed. */
export type Here = { readonly mirrorId: number; readonly path: RawPath } & Pick<
  Whole,
  "seen" | "bornAt"
>;

/** Whether this is the file that a row was sent from, given that it has its bytes: it may have been renamed and touched. */
export function isItsFile({ seen: { stamp } }: Pick<Document, "seen">, here: Here): boolean {
  return isSameFile(stamp, here.seen.stamp) || isSameInode(stamp, here.seen.stamp, here.bornAt);
}

/**
 * Of the rows that were sent with the bytes of a file, those whose file this may be. Where the name of one
 * was used again, or its file was moved or deleted, other files have its bytes by right; only what is known to be its file
 * may be: under its own name by its time of writing, elsewhere by its inode too.
 */
export function mayBeHere(
  sent: readonly Document[],
  { settings }: LiveMirror,
  here: Here,
): Document[] {
  const { stamp } = here.seen;
  const all = sent.filter((row) => {
    if (isItsPlace(row, here)) return row.current || isSameWriting(row.seen.stamp, stamp);
    if (row.after !== "done") return row.current || isItsFile(row, here);
    return isWherePut(row, settings.source, here) || isMovedBack(row, here);
  });
  // What is known comes before what is concluded.
  return all.sort((a, b) => Number(a.current) - Number(b.current));
}

/** What is at these places now, from where the file at `here` may have come; null: nothing. */
export function lookAtPlaces(
  {
    reader,
    row,
  }: {
    readonly reader: Pick<LiveMirror["reader"], "look">;
    readonly row: Pick<LiveMirror["row"], "id">;
  },
  places: readonly RawPath[],
  here: RawPath,
): Promise<Look[]> {
  // Under its old name a share may still find what was given another in letter case alone.
  const spelt = places.some((place) => areAlike(place, here));
  return reader.look(row.id, places, spelt);
}

/** The remark of a file in whose place another one is, which is taken for an edit of it, and left alone. */
export const REPLACED = "another file is in its place since; by `changed: ignore` that is not sent";

/** The remark of a file with an edit that is left alone. */
export const EDITED = "its content has changed since; by `changed: ignore` that is not sent";

/** Another file is in its place, which is left alone; where stamps know no inode, it may be. */
export function mayBeReplaced({ remark, seen: { stamp } }: Document): boolean {
  return remark === REPLACED || (remark === EDITED && isOfNetwork(stamp));
}

/**
 * Whether a row that may be here is: its place is empty, or was when it could last be looked at; or is this one, or has
 * another file, which was given its name. `unknown`: it is the same file, which may be linked there.
 */
export function isHere(row: Document, place: Look, here: Here): boolean | "unknown" {
  const { current, after, seen, goneAt } = row;
  if (place === null || after === "done" || isItsPlace(row, here)) return true;
  // It may have been moved away before; written since it was sent, it is a copy.
  if (mayBeReplaced(row) && here.seen.modifiedAt <= (row.sentAt ?? 0)) return true;
  if (place === undefined && current && goneAt !== null) return true;
  if (!isItsFile(row, here)) return false;
  if (place === undefined) return current ? "unknown" : true;
  const known = isSameFile(seen.stamp, here.seen.stamp) ? seen : here.seen;
  return !isSameFile(known.stamp, place.stamp);
}

/**
 * Whether the file of a row was moved from where `after` had put it. What was deleted cannot come back but by a copy,
 * and a copy in another place is another document.
 */
export function isMovedBack(row: Document, here: Here): boolean {
  const { after, afterMessage } = row;
  return after === "done" && afterMessage?.startsWith("/") === true && isItsFile(row, here);
}

/**
 * What was moved or deleted lies where no scan looks; where it was moved to within the source, a scan looks
 * from the day on which files are put elsewhere.
 */
export function isWherePut({ afterMessage }: Document, source: string, { path }: Here): boolean {
  const place = `${source}/${shown(path)}`;
  return afterMessage === place || afterMessage?.startsWith(`${place}; `) === true;
}

/** Whether a row's file was in this very place when it was last seen. */
function isItsPlace({ mirrorId, dir, name }: Document, here: Here): boolean {
  return mirrorId === here.mirrorId && joinRaw(dir, name) === here.path;
}

/** Sent rows, and dropped ones, whose file was found already; none can be in two places. */
export type Followed = {
  readonly rows: Set<number>;
  readonly tombstones: Set<number>;
  readonly afterActions: AfterActions;
};

/** What is remembered of a file with these bytes that was sent long ago; taken for this one then. */
export async function recall(
  journal: ContentIndex,
  { mirrorId, dir, name }: Pick<Document, "mirrorId" | "dir" | "name">,
  { digest, seen }: Pick<Whole, "digest" | "seen">,
  { tombstones }: Pick<Followed, "tombstones">,
): Promise<DroppedDocument | undefined> {
  const all = await journal.tombstones(mirrorId, digest, joinRaw(dir, name), seen.modifiedAt);
  const known = all.find(({ documentId }) => !tombstones.has(documentId));
  if (known) tombstones.add(known.documentId);
  return known;
}
