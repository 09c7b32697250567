/**
 * Files that one mirror sent and another one has: moved between two of an archive, or of a mirror that was given
 * another name and source, was merged with another, or split. The same bytes are proof that it is that document.
 */
import type { Document, Problem } from "../domain/document.ts";
import { isSameFile } from "../domain/stamp.ts";
import type { FileIndex, Registry } from "../journal/journal.ts";
import { joinRaw, type RawPath, shown } from "../std/raw-path.ts";
import { isDeepStrictEqual } from "node:util";
import { isReachable, type LiveMirror, type DecisionContext } from "./context.ts";
import { decisionOn, type Whole } from "./prepare.ts";
import {
  type Here,
  isHere,
  isItsFile,
  isMovedBack,
  lookAtPlaces,
  type Followed,
} from "./former-places.ts";

/** A file of a mirror that was found whole at `at` (epoch ms). */
type WholeFile = {
  readonly mirror: LiveMirror;
  readonly here: Here;
  readonly whole: Whole;
  readonly at: number;
};

/**
 * Rows of the archive's other mirrors that were sent with these bytes, to where this file would go. Where the two
 * mirrors' archive folders differ, another one is wanted there by right.
 */
async function sentByOthers(context: DecisionContext, found: WholeFile): Promise<Document[]> {
  const { journal } = context;
  const { mirror, here, whole } = found;
  const rows: Document[] = [];
  for (const { id, archiveId } of await journal.mirrors()) {
    if (id === mirror.row.id || archiveId !== journal.archiveId) continue;
    for (const row of await journal.sentWith(id, whole.digest, whole.seen.sizeBytes)) {
      if (row.duplicateOf !== null) continue;
      const isIt =
        row.after === "done"
          ? isMovedBack(row, here)
          : row.current || isItsFile(row, here) || (await isTouched(journal, row));
      if (isIt) rows.push(row);
    }
  }
  const isOwn = (row: Document) => pathOf(row) === here.path || isItsFile(row, here);
  // Of several rows with these bytes the one that stood here, or is known by its file, is this one.
  return rows
    .filter((row) => goesAlike(row, context, found))
    .sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)));
}

/**
 * `there`: the file of a row of a mirror that was given another source is in its own place below that, and this one is a
 * copy: in this mirror a file of that size is there, or in another one that very file, and this one is not known to be the
 * row's. A mirror: nobody can look whether it is in its place there. Undefined: this one may be it.
 */
async function placeOfFormer(
  row: Document,
  { configured }: DecisionContext,
  { mirror, here }: WholeFile,
): Promise<"there" | LiveMirror | undefined> {
  if (isItsFile(row, here)) return undefined;
  const path = pathOf(row);
  let away: LiveMirror | undefined;
  for (const each of configured.values()) {
    const isOwn = each.row.id === mirror.row.id;
    if (isOwn && path === here.path) continue;
    const [place] = isReachable(each) ? await lookAtPlaces(each, [path], here.path) : [];
    if (place === undefined) away ??= each;
    else if (
      place &&
      (isOwn ? row.seen.sizeBytes === place.sizeBytes : isSameFile(row.seen.stamp, place.stamp))
    )
      return "there";
  }
  return path === here.path ? undefined : away;
}

/** Its file was seen to change, and its mirror does not know yet, or ended before it did, whether the content did. */
async function isTouched(journal: FileIndex, { id, mirrorId, dir, name }: Document) {
  const current = await journal.currentAt(mirrorId, joinRaw(dir, name));
  return current?.supersedes === id && current.digest === null;
}

/**
 * The row of another mirror whose file this is. A mirror that is not configured any more has none; of another, its
 * own scan or events must have found that the file is gone, and until then it is `in hand`. Where that one's source
 * is away, nobody knows how long that is: the problem to hold the file with.
 */
export async function movedFromOther(
  context: DecisionContext,
  found: WholeFile,
  { rows: followed, afterActions }: Followed,
): Promise<Document | Problem | "in hand" | undefined> {
  const { journal, configured, ownership } = context;
  const { here } = found;
  for (const row of await sentByOthers(context, found)) {
    if (followed.has(row.id)) continue;
    const other = configured.get(row.mirrorId);
    const path = pathOf(row);
    const isThere = row.current || (await isTouched(journal, row));
    if (!other) {
      const place = await placeOfFormer(row, context, found);
      if (place === "there") continue;
      if (isThere && row.goneAt === null) {
        // Another daemon's configuration still has the mirror, and its scans say that the file is there.
        const isElsewhere = await ownership.isElsewhere(row.mirrorId);
        if (isElsewhere === undefined || (isElsewhere && (await isSeenTwice(journal, row, found))))
          return "in hand";
        if (isElsewhere) continue;
      }
      return place ? awayOf(place, path) : row;
    }
    if (!isReachable(other)) return awayOf(other, path);
    const look = () => lookAtPlaces(other, [path], here.path);
    const [[place], wasInHand] = await afterActions.during(look);
    if (isThere && place === undefined) return awayOf(other, path);
    const isNews = isThere && place === null && row.goneAt === null;
    if (isNews || wasInHand(row.mirrorId, path)) return "in hand";
    if (isHere(row, place, here) === true) return row;
  }
  return undefined;
}

/** It is the very file, or of the same place: the source has another name in another daemon's configuration. */
async function isSeenTwice(journal: Registry, row: Document, { mirror, here }: WholeFile) {
  if (isItsFile(row, here)) return true;
  const { source } = (await journal.mirrors()).find(({ id }) => id === row.mirrorId) ?? {};
  return source === mirror.row.source && pathOf(row) === here.path;
}

function pathOf({ dir, name }: Document): RawPath {
  return joinRaw(dir, name);
}

/** Why a file is held that may be the one of a place that cannot be looked at. */
export function awayOf({ row: { name } }: Pick<LiveMirror, "row">, path: RawPath): Problem {
  const message = `it may be ${shown(path)} of mirror ${name}, which cannot be looked at`;
  return { code: "SOURCE_OFFLINE", message };
}

function goesAlike(
  { mirrorId, targetPath }: Document,
  { configured }: DecisionContext,
  { mirror: { settings }, here, whole, at }: WholeFile,
): boolean {
  const { target } = settings;
  const other = configured.get(mirrorId)?.settings;
  if (other && isDeepStrictEqual(other.target, target)) return true;
  if (!other && "path" in target && isBelow(targetPath ?? "", target.path)) return true;
  const decision = decisionOn(settings, here.path, whole, at);
  return "decided" in decision && decision.decided.folder === targetPath;
}

function isBelow(path: string, base: string): boolean {
  return path === base || path.startsWith(base.endsWith("/") ? base : `${base}/`);
}
