/** Whether each document of the archive may have been sent at all: marked, with its sidecar, finished, not vetoed. */
import { nameOf, type RawPath } from "../../src/std/raw-path.ts";
import { sidecarOf } from "./companions.ts";
import type { Place } from "./live-mirror.ts";
import { isVetoed, namesBy } from "./simulated-hook.ts";
import type { SimulatedWorld } from "./simulated-world.ts";
import { isLeft, digestOf } from "./simulated-tree.ts";
import type { StoredDocument } from "./stored-document.ts";

/** So long after it was cut a request may be stored. */
const CUT_MS = 5_000;

/** True when a file of this path of a mirror would have this document's name in the archive. */
export function isNamed(
  { settings, rulesChanged }: Place,
  path: RawPath,
  document: StoredDocument,
): boolean {
  const { filename } = document.sent;
  const mayBeNamed = settings.hooks?.before !== undefined || rulesChanged.length > 0;
  const names = mayBeNamed ? namesBy(path, document.content) : [nameOf(path)];
  return names.includes(filename);
}

/** Documents that no file was ready to be sent as. */
export function unready(world: SimulatedWorld): string[] {
  return world.archive.stored.flatMap((document) => {
    if (document.foreign || world.lost.has(document.id)) return [];
    const reasons = world.places.flatMap((place) =>
      pathsOf(place, document).map((path) => whyNot(world, place, path, document)),
    );
    if (reasons.length === 0 || reasons.includes(undefined)) return [];
    const { id, filename, content } = document;
    return [`document ${id} (${filename}, ${content}) was sent, though it ${reasons.join(", ")}`];
  });
}

function pathsOf(place: Place, document: StoredDocument): RawPath[] {
  return [...place.source.tree.appearances.keys()]
    .filter((key) => key.endsWith(`\0${document.content}`))
    .map((key) => key.slice(0, key.indexOf("\0")) as RawPath)
    .filter((path) => isNamed(place, path, document));
}

/** Undefined: it may have been sent from there. */
function whyNot(
  world: SimulatedWorld,
  place: Place,
  path: RawPath,
  { id, content, title, storedAt }: StoredDocument,
): string | undefined {
  const { rules } = place.settings;
  const { tree } = place.source;
  if (rules.ready.by === "marker" && !tree.wasMarked(path, content)) return "was not marked";
  if (rules.ready.by === "rename" && !tree.wasRenamed(path, content)) return "was not renamed";
  const ageMs = storedAt - tree.writtenAt(path, content);
  if (ageMs < rules.ready.minAgeMs && !world.wasClockSet) return "was too young";
  if (title === undefined && rules.sidecar === "required") return "had no sidecar";
  const isTorn = title?.includes("~") === true && world.wasClockSet;
  if (title !== undefined && !isTorn && !tree.contentsAt(sidecarOf(path)).has(title))
    return `never had ${title} next to it`;
  // What was in doubt once is sent as it was decided then; a request that is cut goes on for a moment.
  const row = world.rows.find(({ documentId }) => documentId === id);
  const isDecidedNow = row?.attempts === 1 && row.looks === 0;
  const since = isDecidedNow ? storedAt - CUT_MS : Number.NEGATIVE_INFINITY;
  if (place.rulesChanged.some((at) => at >= since)) return undefined;
  return whyNotBy(world, place, path, content);
}

/** The same, by rules that were not changed since. */
function whyNotBy(
  world: SimulatedWorld,
  { source: { hook }, settings }: Place,
  path: RawPath,
  content: string,
): string | undefined {
  const digest = digestOf(content);
  const { before } = settings.hooks ?? {};
  const mayBeLeft = settings.stillIncomplete === "upload" || world.anyway.has(digest);
  if (isLeft(path, content) && !mayBeLeft) return "was not finished";
  if (!before || (before.onFailure === "send" && hook.failed.has(digest))) return undefined;
  if (isVetoed(content)) return "was vetoed";
  return hook.asked.has(digest) ? undefined : "was not asked about";
}
