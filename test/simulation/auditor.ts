/** Compares trees, journal and archive, and says whether anything is left to come. */
import { isDeepStrictEqual } from "node:util";
import type { Mirror } from "../../src/config/config.ts";
import type { Document } from "../../src/domain/document.ts";
import { targetPathOf } from "../../src/domain/naming.ts";
import type { Content } from "../../src/journal/journal.ts";
import { QUERIES } from "../../src/journal/documents-table.ts";
import { dirOf, joinRaw, nameOf, type RawPath } from "../../src/std/raw-path.ts";
import { isBehindGate } from "../../src/sync/retry.ts";
import { POISON } from "./simulated-archive.ts";
import { contentsOf, isDigidoc, type StoredDocument } from "./stored-document.ts";
import { notesOf, sidecarOf } from "./companions.ts";
import { unheard, untold } from "./hook-audit.ts";
import { isNamed, unready } from "./readiness-audit.ts";
import { isVetoed, nameHere } from "./simulated-hook.ts";
import { digestOf, isLeft } from "./simulated-tree.ts";
import { overdrawn, waitsForPages } from "./page-audit.ts";
import type { Place } from "./live-mirror.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/** So long after it was cut a request may be stored. */
const CUT_MS = 5_000;

/** Every way in which the three do not fit together; empty when all is well. */
export function audit(world: SimulatedWorld): string[] {
  return [
    ...world.problems,
    ...unaccounted(world),
    ...twice(world),
    ...torn(world),
    ...unready(world),
    ...afterActionUnproven(world),
    ...unfinished(world),
    ...unheard(world),
    ...unlisted(world),
    ...mismatched(world),
    ...unasked(world),
    ...overdrawn(world),
  ];
}

/** What still has to happen, as far as it can be seen; empty when all is quiet. */
export function unfinished(world: SimulatedWorld): string[] {
  const rows = world.rows.flatMap((row) => {
    const why = ofRow(world, row);
    return why === undefined ? [] : [`${row.id} ${pathOf(row)}: ${why}`];
  });
  return [...rows, ...world.places.flatMap((place) => unseen(world, place)), ...untold(world)];
}

function pathOf({ dir, name }: Document): RawPath {
  return joinRaw(dir, name);
}

function ofRow(world: SimulatedWorld, row: Document): string | undefined {
  // Nobody works on what a mirror that is no longer configured has left, but for what it has sent.
  if (!world.placeOf(row.mirrorId) && row.state !== "inDoubt") return undefined;
  switch (row.state) {
    case "converted":
      return row.after !== "due" || isRefused(world, row) ? undefined : "its after-action is due";
    case "held":
    case "failed":
      return isJustified(world, row)
        ? undefined
        : `${row.state} for ${row.problem?.code} without reason`;
    case "pending":
      if (waitsForPages(world)) return undefined;
      return waitsForPerson(world, row) ? undefined : "left pending";
    default:
      return waitsForPerson(world, row) ? undefined : `left ${row.state}`;
  }
}

/** Behind a document of its name that only a person can tell, nothing may be sent; nor, of duplicates, of its content. */
function waitsForPerson(world: SimulatedWorld, row: Document): boolean {
  const { state, sentName, supersedes, digest, mirrorId } = row;
  const { duplicates } = world.placeOf(mirrorId)?.settings.rules ?? {};
  const isTwin = (other: Document) =>
    duplicates === "skip" && other.mirrorId === mirrorId && other.digest === digest;
  return world.rows.some(
    (other) =>
      other.state === "held" &&
      other.doubtAt !== null &&
      ((state === "pending" && (other.sentName === sentName || isTwin(other))) ||
        (state === "settling" && other.id === supersedes)),
  );
}

function isNobodys(world: SimulatedWorld, id: number): boolean {
  return world.rows.every(({ documentId }) => documentId !== id);
}

/** True when its file cannot be moved or deleted before a person gives the right to. */
function isRefused(world: SimulatedWorld, row: Document): boolean {
  const { tree } = world.placeOf(row.mirrorId)?.source ?? {};
  return (
    row.afterMessage?.startsWith("AFTER_REFUSED") === true &&
    (tree?.at(pathOf(row))?.unreadable === true || tree?.isOpen(row.dir) === false)
  );
}

/** True when the reason that a row is held or failed for is really there. */
function isJustified(world: SimulatedWorld, row: Document): boolean {
  const place = world.placeOf(row.mirrorId);
  const file = place?.source.tree.at(pathOf(row));
  const sidecar = place?.source.tree.at(sidecarOf(pathOf(row)));
  // Nothing is taken for gone that cannot be seen.
  const isOpen =
    place?.source.tree.isOpen(row.dir) === true && place.source.tree.directories.includes(row.dir);
  switch (row.problem?.code) {
    case "FOLDER_MISSING":
    case "FOLDER_TWINS":
    case "FOLDER_CASE":
      return place !== undefined && folderProblem(world, place, row) === row.problem.code;
    case "FIRST_RUN":
      return suspectOf(world, row) !== undefined;
    case "SOURCE_OFFLINE":
      return world.places.some(({ source: { tree } }) =>
        tree.directories.some((dir) => !tree.isOpen(dir)),
      );
    case "FILE_UNREADABLE":
      return file?.unreadable === true || sidecar?.unreadable === true || !isOpen;
    case "FILE_EMPTY":
      return file?.seen.sizeBytes === 0 || !isOpen;
    case "FILE_INCOMPLETE":
      return isUnfinished(place, pathOf(row)) || !isOpen;
    case "MARKER_MISSING":
    case "NOT_RENAMED":
    case "SIDECAR_MISSING":
    case "NOTES_BROKEN":
      return !place || !isOpen || isMissing(place, row);
    case "VETOED":
      return isVetoed(file?.content ?? "") || !isOpen;
    case "FILE_SIZE_TOO_BIG":
      return row.digest?.startsWith(digestOf(POISON)) === true;
    case "DOC_NOT_EXIST":
      return world.archive.stored.some(({ id, removed }) => id === row.documentId && removed);
    case "DOUBT_AMBIGUOUS":
      return candidatesOf(world, row).some(({ id }) => row.problem?.message.includes(`${id} (`));
    case "DOUBT_ELSEWHERE":
      return world.archive.stored.some(
        ({ id, filename, filed, folderId }) =>
          // Someone's, or another row's that is in doubt, too.
          (filed || world.lost.has(id) || (isNobodys(world, id) && folderId !== row.folderId)) &&
          filename === row.sentName &&
          row.problem?.message.includes(`${id} (`),
      );
    case "DOUBT_FOLDER_GONE":
    case "REPLIES_LOST":
    case "REPLY_MISMATCHED":
    case "DOCUMENT_ID_TAKEN":
      // Taken by the archive, and removed from it, or filed elsewhere and back again, before it was found; someone
      // else's of its name may have come afterwards, which says nothing of ours.
      return candidatesOf(world, row).every(({ foreign, filed }) => foreign || filed);
    default:
      return isBehindGate(row) && !someCanProbe(world);
  }
}

/** True when a file looks unfinished by its format, and is not to be sent then. */
function isUnfinished(place: Place | undefined, path: RawPath): boolean {
  const file = place?.source.tree.at(path);
  const isLeftSo = isLeft(path, file?.content ?? "") && place?.settings.stillIncomplete === "hold";
  return file?.whole === false || isLeftSo;
}

/** True when what is to stand next to it is not there as it is to be. */
function isMissing({ source: { tree }, settings }: Place, row: Document): boolean {
  const { problem } = row;
  const found = notesOf(tree, pathOf(row), settings, Number.MAX_SAFE_INTEGER);
  return found.kind === "waits" && found.problem.code === problem?.code;
}

/**
 * The document that it is held for, of its name. Be it another mirror's: its row may be a former mirror's, or was not
 * known to be its own when the archive was asked.
 */
function suspectOf(world: SimulatedWorld, { sentName, problem, mirrorId }: Document) {
  const number = Number(/\(document (\d+)[) ]/.exec(problem?.message ?? "")?.[1]);
  const isOwn = world.rows.some((row) => row.documentId === number && row.mirrorId === mirrorId);
  const isMoved = world.placeOf(mirrorId)?.isMoved === true;
  return world.archive.stored.find(
    ({ id, sent }) =>
      id === number && sent.filename === sentName && (isMoved || !isOwn || world.lost.has(id)),
  );
}

/** False when all that could show a closed gate to be open waits for a person itself. */
function someCanProbe(world: SimulatedWorld): boolean {
  return world.rows
    .filter(isBehindGate)
    .some((row) => !waitsForPerson(world, { ...row, state: "pending" }));
}

/** Documents that a person has to choose from. */
function candidatesOf(world: SimulatedWorld, { folderId, sentName }: Document): StoredDocument[] {
  const owned = new Set(world.rows.map(({ documentId }) => documentId));
  return world.archive.stored
    .filter((each) => each.folderId === folderId && each.filename === sentName)
    .filter(({ id, removed }) => !removed && !owned.has(id));
}

/** What a look at the folders says of a row's; undefined when it has one. */
function folderProblem(world: SimulatedWorld, { settings }: Place, row: Document) {
  const { tree } = world.archive;
  const { missingFolder } = settings;
  let whereto = tree.resolve(row.targetPath ?? "");
  if (whereto === "missing" && missingFolder.kind === "nearest") return undefined;
  if (whereto === "missing" && missingFolder.kind === "fallback") {
    whereto = tree.resolve(missingFolder.path);
  }
  return typeof whereto === "string" ? `FOLDER_${whereto.toUpperCase()}` : undefined;
}

/**
 * True when a document of this path may have been sent to the folder that it was, by the mirror's own rules; `since`:
 * as they were then or later, by the monotonic clock.
 */
function mayBeIn(
  place: Place,
  path: RawPath,
  { folderPaths }: StoredDocument,
  since = Number.NEGATIVE_INFINITY,
): boolean {
  const { settings, formerTargets } = place;
  const former = formerTargets.filter(({ until }) => until >= since);
  return [settings.target, ...former].some((target) =>
    mayBeBelow(target, settings.missingFolder, path, folderPaths),
  );
}

function mayBeBelow(
  base: Mirror["target"],
  missingFolder: Mirror["missingFolder"],
  path: RawPath,
  folderPaths: readonly string[],
): boolean {
  const had = (to: string) => folderPaths.includes(to === "/" ? "" : to.toLowerCase());
  let target = targetPathOf(base, dirOf(path));
  if (had(target)) return true;
  if (missingFolder.kind === "fallback") return had(missingFolder.path);
  if (missingFolder.kind === "hold") return false;
  while (target !== "" && !had(target)) target = target.slice(0, target.lastIndexOf("/"));
  return had(target);
}

/** What can be seen of a source. */
function visible({ source: { tree } }: Place): RawPath[] {
  return tree.paths.filter((path) => tree.isEligible(path) && tree.isOpen(dirOf(path)));
}

function unseen(world: SimulatedWorld, place: Place): string[] {
  const { mirrorId, source } = place;
  const rows = currentRows(world, mirrorId);
  return visible(place).flatMap((path) => {
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
    return visible(place).flatMap((path) => {
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
  // Of a journal that is lost, it was found wherever people have filed it, by name and size alone.
  if (world.lost.has(document.id)) return undefined;
  if (document.content !== content) return `document ${document.id} is ${document.content}`;
  if (row.movedFrom !== null || row.duplicateOf !== null) return undefined;
  // Of a file that was away for longer than its row was kept, only the content is known.
  if (row.attempts === 0) return undefined;
  // It is where, and named as, the mirror says that it came from.
  if (world.passes.some((each) => each.content === content)) return undefined;
  // What was in doubt goes where it was once decided to go; a request that is cut goes on for a moment.
  const since = row.attempts === 1 && row.looks === 0 ? document.storedAt - CUT_MS : undefined;
  // A mirror of the same target sent it, which may have had another one then.
  const isAlike = ({ settings: { target } }: Place) =>
    isDeepStrictEqual(target, place.settings.target);
  if (!world.places.filter(isAlike).some((each) => mayBeIn(each, path, document, since)))
    return `document ${document.id} was sent to another folder`;
  return isNamed(place, path, document) ? undefined : `document ${document.id} has another name`;
}

/**
 * No content is in a folder under a name more often than it appeared in the trees where it belongs
 * there; nor in all folders together more often than it appeared at all.
 */
function twice(world: SimulatedWorld): string[] {
  const own = world.archive.stored.filter(({ foreign, shortened }) => !foreign && !shortened);
  return [
    ...tooOften(
      world,
      Map.groupBy(
        own,
        ({ sent: { folderId, filename }, content }) =>
          `${folderId}/${nameHere(filename)}: ${content}`,
      ),
      (document) => appearances(world, document, true),
    ),
    ...tooOften(
      world,
      Map.groupBy(own, ({ sent: { filename }, content }) => `${nameHere(filename)}: ${content}`),
      (document) => appearances(world, document, false),
    ),
    // Renamed and moved, it is the same file.
    ...tooOften(
      world,
      Map.groupBy(own, ({ content }) => content),
      ({ content }) => births(world, content),
    ),
  ];
}

function tooOften(
  world: SimulatedWorld,
  places: ReadonlyMap<string, readonly StoredDocument[]>,
  times: (document: StoredDocument) => number,
): string[] {
  return [...places].flatMap(([place, documents]) => {
    const [first] = documents;
    // One that someone removed in the archive may be sent again, when a person asks.
    const removed = documents.filter((document) => document.removed).length;
    const taken = documents.filter((document) => takerOf(world, document)).length;
    const allowed = (first ? times(first) : 0) + removed + taken;
    return documents.length <= allowed
      ? []
      : [`${place} is ${documents.length} times in the archive, ${allowed} allowed`];
  });
}

/** Of files with this content, wherever they went. */
function births(world: SimulatedWorld, content: string): number {
  const written = world.places.map(({ source: { tree } }) => tree.births(content));
  // To another archive folder it goes as another document.
  const isMeant = ({ formerTargets, settings }: Place, other: Place | undefined) =>
    formerTargets.length > 0 || !isDeepStrictEqual(settings.target, other?.settings.target);
  const passed = world.passes.filter(
    (each) =>
      each.content === content && each.places.some((place) => isMeant(place, each.places.at(-1))),
  );
  // Renamed since, what a lost journal sent is not recognised.
  const owned = new Set(world.rows.map(({ documentId }) => documentId));
  const unknown = world.archive.stored.filter(
    (each) => each.content === content && world.lost.has(each.id) && !owned.has(each.id),
  );
  return written.reduce((sum, each) => sum + each, 0) + passed.length + unknown.length;
}

function appearances(world: SimulatedWorld, document: StoredDocument, there: boolean): number {
  const { content, sent } = document;
  let times = 0;
  for (const place of world.places) {
    for (const [key, number] of place.source.tree.appearances) {
      if (!key.endsWith(`\0${content}`)) continue;
      const path = key.slice(0, key.indexOf("\0")) as RawPath;
      if (nameOf(path) !== nameHere(sent.filename)) continue;
      if (!there || mayBeIn(place, path, document)) times += number;
    }
  }
  return times;
}

/** What the archive found in digidocs is journaled. */
function unlisted(world: SimulatedWorld): string[] {
  const digidocs = world.rows.filter(
    ({ state, sentName, duplicateOf, attempts }) =>
      state === "converted" && duplicateOf === null && attempts > 0 && isDigidoc(sentName ?? ""),
  );
  return digidocs.flatMap((row) => {
    const document = world.archive.stored.find(({ id }) => id === row.documentId);
    const there = document ? contentsOf(document).map(({ id }) => id) : [];
    const known = world.store.tables.statements
      .rows<Content>(QUERIES.contents, [row.id])
      .map(({ documentId }) => documentId);
    return row.digidoc && there.join() === known.join()
      ? []
      : [`row ${row.id}: contents ${known.join()} instead of ${there.join()}`];
  });
}

/** No file is moved or deleted of which the archive has not every byte. */
function afterActionUnproven(world: SimulatedWorld): string[] {
  return world.rows.flatMap(({ id, after, documentId }) => {
    const document = world.archive.stored.find((each) => each.id === documentId);
    return after === "done" && document?.shortened
      ? [`row ${id}: moved or deleted, and document ${document.id} is not all of it`]
      : [];
  });
}

/** Nothing that was never a whole file. */
function torn(world: SimulatedWorld): string[] {
  return world.archive.stored
    .filter(({ content }) => content.includes("~"))
    .map(({ id, filename, content }) => `document ${id} (${filename}) is torn: ${content}`);
}

/**
 * The row that took a document of another content for its own. It was being sent as the machine was taken back, and what was
 * sent since looks like it, by name and size: docs/reliability.md, "Tell equal documents apart".
 */
export function takerOf(
  { lost, rows }: SimulatedWorld,
  { id, content, sizeBytes }: StoredDocument,
): Document | undefined {
  if (!lost.has(id)) return undefined;
  const isTaker = (row: Document) =>
    row.documentId === id && row.doubtAt === null && row.seen.sizeBytes === sizeBytes;
  return rows.find((row) => isTaker(row) && row.digest !== digestOf(content));
}

/** Every document of the archive belongs to one row, with the same bytes. */
function mismatched(world: SimulatedWorld): string[] {
  const sent = world.rows.filter(({ duplicateOf }) => duplicateOf === null);
  const { tombstones } = world;
  const owners = Map.groupBy(sent, ({ documentId }) => documentId);
  return world.archive.stored.flatMap((document) => {
    const { id, filename, content, removed, foreign, shortened } = document;
    const rows = owners.get(id) ?? [];
    const [row] = rows;
    if (foreign) return row ? [`row ${row.id} took someone's document ${id}`] : [];
    if (!row && tombstones.has(id)) {
      const digest = tombstones.get(id) ?? null;
      return digest === null || digest === digestOf(content)
        ? []
        : [`document ${id} is remembered with another content`];
    }
    if (rows.length > 1) return [`document ${id} belongs to ${rows.length} rows`];
    if (!row && world.lost.has(id)) return [];
    // By its size it may be another content, which a person has to tell.
    // Filed by a person before it was found, or next to another of its size, a person has to tell.
    const isOf = ({ state, doubtAt, digest, problem }: Document) =>
      state === "held" &&
      doubtAt !== null &&
      digest === digestOf(content) &&
      (document.filed === true || problem?.message.includes(`${id} (`) === true);
    if (!row && world.rows.some(isOf)) return [];
    // Filed as well, and then another of its name and size, of the lost journal, was the only one that it could be.
    const isTaker = ({ documentId, digest }: Document) =>
      world.lost.has(documentId ?? 0) && digest === digestOf(content);
    if (!row && document.filed && world.rows.some(isTaker)) return [];
    // Looked for in vain, and met before it was sent again: a person has to tell, too.
    const isMet = ({ state, digest, problem }: Document) =>
      state === "held" && problem?.code === "FIRST_RUN" && digest === digestOf(content);
    if (!row && world.rows.some(isMet)) return [];
    if (!row) return removed || shortened ? [] : [`document ${id} (${filename}) belongs to no row`];
    if (takerOf(world, document)) return [];
    return row.digest === digestOf(content) ? [] : [`document ${id} belongs to another content`];
  });
}

/** In a first run, nothing was sent next to someone's document of its name, unless a user asked for this content. */
function unasked(world: SimulatedWorld): string[] {
  // Of a machine that was taken back, nobody knows when its first run was over.
  if (!world.isFirstRun || world.lost.size > 0) return [];
  const { stored } = world.archive;
  const { statements } = world.store.tables;
  const open = statements.rows<{ id: number }>(QUERIES.firstRuns, [world.archiveId, 0]);
  // A file may have moved since from a mirror whose first run was over.
  if (open.length < world.mirrorIds.size) return [];
  const sentIds = new Set(world.rows.map(({ documentId }) => documentId));
  return stored.flatMap(({ id, content, foreign, sent, storedAt }) => {
    if (foreign || !sentIds.has(id) || world.asNew.has(digestOf(content))) return [];
    const isThere = (one: StoredDocument) =>
      one.foreign &&
      one.committedAt < 0 &&
      !one.filed &&
      one.sent.folderId === sent.folderId &&
      one.filename === sent.filename &&
      (one.removedAt === null || one.removedAt > storedAt);
    const earlier = stored.find(isThere);
    return earlier ? [`document ${id} was sent next to ${earlier.id}, and nobody was asked`] : [];
  });
}
