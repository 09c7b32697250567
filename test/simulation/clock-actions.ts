/** Someone sets the clock of the host. */
import type { SimulatedWorld } from "./simulated-world.ts";

/** How far the host's clock may be set from where it was; well within `upload.doubt.tolerance`. */
const JUMP_MS = 20_000;

/** How far where the archive tells its own time. */
const FAR_MS = 6 * 3_600_000;

export function setClock(world: SimulatedWorld): void {
  const { dice, clock } = world;
  const { worlds } = world.host;
  const isWell = worlds.every(({ sync, life }) => sync !== undefined && life?.isBroken === false);
  const tellTime = worlds.every(({ archive }) => archive.tellsTime);
  const mayBeFar = tellTime && (isWell || !someGrow(world));
  const far = mayBeFar && dice.chance(0.5) ? FAR_MS : JUMP_MS;
  const off = clock.now() - clock.monotonic() - world.startedAt;
  const aim = dice.int(-far, far) - off;
  const byMs = mayBeFar ? aim : Math.max(-JUMP_MS, Math.min(JUMP_MS, aim));
  clock.jump(byMs);
  // What was shaken stays so, however little the clock is set after that.
  const isShaken = (world.isShaken || Math.abs(byMs) > 2 * JUMP_MS) && someGrow(world);
  for (const each of worlds) {
    each.wasClockSet = true;
    each.isShaken = isShaken;
    if (isShaken) each.life?.spare();
  }
  world.wroteOutside();
}

/** True while a file is being written. */
export function someGrow({ host: { worlds } }: SimulatedWorld): boolean {
  const places = worlds.flatMap((world) => world.places);
  return places.some(({ source: { tree } }) =>
    tree.paths.some((path) => tree.at(path)?.whole === false),
  );
}
