/** Someone sets the clock of the host. */
import type { SimulatedWorld } from "./simulated-world.ts";

/** How far the host's clock may be set from where it was; well within `upload.doubt.tolerance`. */
const JUMP_MS = 20_000;

/** How far where the archive tells its own time. */
const FAR_MS = 6 * 3_600_000;

export function setClock(world: SimulatedWorld): void {
  const { dice, clock, archive, life } = world;
  const isWell = world.sync !== undefined && life?.isBroken === false;
  const mayBeFar = archive.tellsTime && (isWell || !someGrow(world));
  const far = mayBeFar && dice.chance(0.5) ? FAR_MS : JUMP_MS;
  const off = clock.now() - clock.monotonic() - world.startedAt;
  const aim = dice.int(-far, far) - off;
  const byMs = mayBeFar ? aim : Math.max(-JUMP_MS, Math.min(JUMP_MS, aim));
  clock.jump(byMs);
  world.wasClockSet = true;
  // What was shaken stays so, however little the clock is set after that.
  world.isShaken = (world.isShaken || Math.abs(byMs) > 2 * JUMP_MS) && someGrow(world);
  if (world.isShaken) world.life?.spare();
  world.life?.wroteOutside();
}

/** True while a file is being written. */
export function someGrow(world: SimulatedWorld): boolean {
  return world.places.some(({ source: { tree } }) =>
    tree.paths.some((path) => tree.at(path)?.whole === false),
  );
}
