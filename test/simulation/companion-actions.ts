/** People and programs put markers and sidecars next to documents: early, late, again, in part, or not at all. */
import { markerOf } from "../../src/source/companions.ts";
import type { RawPath } from "../../src/std/raw-path.ts";
import { companionUseOf, sidecarOf } from "./companions.ts";
import type { Place } from "./live-mirror.ts";
import { POISON } from "./simulated-archive.ts";
import { isMarked } from "./simulated-tree.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/** Writers of sidecars never rest as long as `settle`. */
const REST_MS = 2_500;

/** What the writer of a document puts next to it, most of the time. */
export function dress(world: SimulatedWorld, place: Place, path: RawPath): void {
  const { dice } = world;
  const use = companionUseOf(place.settings);
  if (place.settings.rules.ready.by === "rename" && dice.chance(0.8))
    world.later(dice.int(0, 10_000), () => renameInto(place, path));
  if (use.sidecars && dice.chance(0.7))
    world.later(dice.int(0, 20_000), () => writeSidecar(world, place, path));
  if (use.markers && dice.chance(0.8))
    world.later(dice.int(0, 10_000), () => writeMarker(place, path));
}

/** Something happens to what stands next to a document. */
export function changeCompanion(world: SimulatedWorld, place: Place): void {
  const { dice } = world;
  const { tree } = place.source;
  const use = companionUseOf(place.settings);
  const path = dice.pick(tree.paths.filter((each) => tree.isEligible(each)));
  if (path === undefined) return;
  if (use.sidecars) {
    const change = dice.weighted([
      [3, () => writeSidecar(world, place, path)],
      [1, () => tree.write(sidecarOf(path), { content: `${POISON}-sidecar`, sizeBytes: 9 })],
      [1, () => tree.remove(sidecarOf(path))],
    ]);
    change();
  }
  if (use.markers && dice.chance(0.7)) writeMarker(place, path);
  else if (use.markers) tree.remove(markerOf(path));
}

/** What is missing comes in the end, for most. */
export function dressAll(world: SimulatedWorld, place: Place): void {
  const { tree } = place.source;
  const use = companionUseOf(place.settings);
  for (const path of tree.paths.filter((each) => tree.isEligible(each))) {
    if (!world.dice.chance(0.85)) continue;
    if (place.settings.rules.ready.by === "rename") renameInto(place, path);
    if (use.markers && !isMarked(tree, path)) writeMarker(place, path);
    if (use.sidecars && tree.at(sidecarOf(path))?.content.startsWith(POISON) !== false)
      writeSidecar(world, place, path);
  }
}

/** Aside, and back into its place. */
function renameInto({ source: { tree } }: Place, path: RawPath): void {
  const file = tree.at(path);
  if (file?.whole && !file.renamed) tree.setUnreadable(path, file.unreadable);
}

function writeMarker({ source: { tree } }: Place, path: RawPath): void {
  if (tree.at(path)?.whole) tree.write(markerOf(path), { content: "done", sizeBytes: 0 });
}

function writeSidecar(world: SimulatedWorld, { source: { tree } }: Place, path: RawPath): void {
  const { dice } = world;
  const sidecar = sidecarOf(path);
  if (tree.at(sidecar)?.whole === false) return;
  const content = `title-${dice.int(0, 1_000_000_000)}`;
  const sizeBytes = dice.int(1, 3) * 10;
  if (dice.chance(0.6)) {
    tree.write(sidecar, { content, sizeBytes });
    return;
  }
  tree.write(sidecar, { content: `${content}~1`, sizeBytes: 5 }, false);
  world.later(dice.int(1, REST_MS), () => {
    if (tree.at(sidecar)) tree.write(sidecar, { content, sizeBytes });
  });
}
