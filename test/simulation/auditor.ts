/** Compares trees, journal and archive, and says whether anything is left to come. */
import type { Document } from "../../src/domain/document.ts";
import { joinRaw, type RawPath } from "../../src/std/raw-path.ts";
import { POISON, type StoredDocument } from "./simulated-archive.ts";
import { appearance, digestOf } from "./simulated-tree.ts";
import type { Place, SimulatedWorld } from "./simulated-world.ts";

/** Every way in which the three do not fit together; empty when all is well. */
export function audit(world: SimulatedWorld): string[] {
  return [
    ...world.problems,
    ...unaccounted(world),
    ...twice(world),
    ...torn(world),
    ...unfinished(world),
    ...mismatched(world),
  ];
}

/** What still has to happen, as far as it can be seen; empty when all is quiet. */
export function unfinished(world: SimulatedWorld): string[] {
  const rows = world.rows.flatMap((row) => {
    const why = ofRow(world, row);
    return why === undefined ? [] : [`${row.id} ${pathOf(row)}: ${why}`];
  });
  return [...rows, ...world.places.flatMap((place) => unseen(world, place))];
}

function pathOf({ dir, name }: Document): RawPath {
  return joinRaw(dir, name);
}

function ofRow(world: SimulatedWorld, row: Document): string | undefined {
  switch (row.state) {
    case "converted":
      return row.after === "due" ? "its after-action is due" : undefined;
    case "held":
    case "failed":
      return isJustified(world, row)
        ? undefined
        : `${row.state} for ${row.trouble?.code} without reason`;
    default:
      return `left ${row.state}`;
  }
}

/** True when the reason that a row is held or failed for is really there. */
function isJustified(world: SimulatedWorld, row: Document): boolean {
  const file = world.placeOf(row.mirrorId)?.source.tree.at(pathOf(row));
  switch (row.trouble?.code) {
    case "FOLDER_MISSING":
      return world.archive.folderAt(row.targetPath ?? "") === undefined;
    case "FILE_UNREADABLE":
      return file?.unreadable === true;
    case "FILE_SIZE_TOO_BIG":
      return row.digest?.startsWith(digestOf(POISON)) === true;
    case "DOC_NOT_EXIST":
      return world.archive.stored.some(({ id, removed }) => id === row.documentId && removed);
    default:
      return false;
  }
}

function unseen(world: SimulatedWorld, { mirrorId, source }: Place): string[] {
  const rows = currentRows(world, mirrorId);
  return source.tree.paths.flatMap((path) => {
    const row = rows.get(path);
    if (!row) return [`${mirrorId}:${path}: not in the journal`];
    return row.seen.stamp === source.tree.at(path)?.seen.stamp
      ? []
      : [`${mirrorId}:${path}: journaled as it was earlier`];
  });
}

function currentRows(world: SimulatedWorld, mirrorId: number): Map<RawPath, Document> {
  const current = world.rows.filter((row) => row.current && row.mirrorId === mirrorId);
  return new Map(current.map((row) => [pathOf(row), row]));
}

/** Every file is in the archive, under its name in its folder, or visibly held or failed. */
function unaccounted(world: SimulatedWorld): string[] {
  return world.places.flatMap((place) => {
    const rows = currentRows(world, place.mirrorId);
    return place.source.tree.paths.flatMap((path) => {
      const row = rows.get(path);
      const why = row?.state === "converted" ? misplaced(world, place, path, row) : undefined;
      return why === undefined ? [] : [`${place.mirrorId}:${path}: ${why}`];
    });
  });
}

function misplaced(
  world: SimulatedWorld,
  place: Place,
  path: RawPath,
  row: Document,
): string | undefined {
  const content = place.source.tree.at(path)?.content ?? "";
  if (row.remark?.includes("changed: ignore")) return undefined;
  if (row.digest !== digestOf(content)) return `another content than ${content} is journaled`;
  const document = world.archive.stored.find(({ id }) => id === row.documentId);
  if (!document) return `the archive has no document ${row.documentId}`;
  if (document.content !== content) return `document ${document.id} is ${document.content}`;
  if (row.movedFrom !== null) return undefined;
  const folderId = world.archive.folderAt(world.targetOf(place, path));
  if (document.folderId !== folderId) return `document ${document.id} is in another folder`;
  return document.filename === row.name ? undefined : `document ${document.id} has another name`;
}

/** No content is in a folder under a name more often than it appeared there in the trees. */
function twice(world: SimulatedWorld): string[] {
  const places = Map.groupBy(
    world.archive.stored,
    ({ folderId, filename, content }) => `${folderId}/${filename}: ${content}`,
  );
  return [...places].flatMap(([place, documents]) => {
    const [first] = documents;
    // One that somebody removed in the archive may be sent again, when a person asks.
    const removed = documents.filter((document) => document.removed).length;
    const allowed = (first ? appearances(world, first) : 0) + removed;
    return documents.length <= allowed
      ? []
      : [`${place} is ${documents.length} times in the archive, ${allowed} allowed`];
  });
}

function appearances(world: SimulatedWorld, { folderId, filename, content }: StoredDocument) {
  let times = 0;
  for (const place of world.places) {
    for (const [key, number] of place.source.tree.appearances) {
      const path = key.slice(0, key.indexOf("\0")) as RawPath;
      const isThere =
        key === appearance(path, content) &&
        path.slice(path.lastIndexOf("/") + 1) === filename &&
        world.archive.folderAt(world.targetOf(place, path)) === folderId;
      if (isThere) times += number;
    }
  }
  return times;
}

/** Nothing that was never a whole file. */
function torn(world: SimulatedWorld): string[] {
  return world.archive.stored
    .filter(({ content }) => content.includes("~"))
    .map(({ id, filename, content }) => `document ${id} (${filename}) is torn: ${content}`);
}

/** Every document of the archive belongs to one row, with the same bytes. */
function mismatched(world: SimulatedWorld): string[] {
  const owners = Map.groupBy(world.rows, ({ documentId }) => documentId);
  return world.archive.stored.flatMap(({ id, filename, content, removed }) => {
    const rows = owners.get(id) ?? [];
    const [row] = rows;
    if (rows.length > 1) return [`document ${id} belongs to ${rows.length} rows`];
    if (!row) return removed ? [] : [`document ${id} (${filename}) belongs to no row`];
    return row.digest === digestOf(content) ? [] : [`document ${id} belongs to another content`];
  });
}
