import { setImmediate as turn } from "node:timers/promises";
import { act, addEarlier, addSentBefore } from "./actions.ts";
import { audit, unfinished } from "./auditor.ts";
import { dressAll } from "./companion-actions.ts";
import { type Sabotage, SimulatedWorld } from "./simulated-world.ts";
import { CALM, someWeather } from "./weather.ts";

/** What one history came to. */
export type Outcome = {
  readonly seed: number;
  /** Empty when all is well. */
  readonly problems: readonly string[];
  readonly trace: readonly string[];
  readonly traceHash: string;
  readonly documents: number;
  readonly simulatedMs: number;
};

/** Steps between two actions, milliseconds: many follow at once, some after a long while. */
export const STEPS_MS = [0, 1, 5, 20, 100, 1_000, 3_000, 10_000, 40_000, 200_000];

/** After the faults have ended all must come to rest within this long. */
export const REST_MS_MAX = 12 * 3_600_000;

/** Before a first run, the archive has come to rest. */
const LONG_AGO_MS = 120_000;

export const ACTIONS_MAX = 40;

/** Lives through one history: faults and actions, then calm, then the audit. */
export async function history(
  seed: number,
  sabotage: Sabotage = {},
  restMsMax = REST_MS_MAX,
): Promise<Outcome> {
  return lived(new SimulatedWorld(seed, sabotage), seed, restMsMax);
}

/** Lives through one history of this world. */
export async function lived(
  world: SimulatedWorld,
  seed: number,
  restMsMax = REST_MS_MAX,
): Promise<Outcome> {
  try {
    await live(world);
    await calm(world);
    await rest(world, restMsMax);
  } catch (error) {
    world.problems.push(`ended early: ${error instanceof Error ? error.stack : String(error)}`);
  }
  const problems = audit(world);
  world.end();
  // Simulated time takes no turn of the event loop; anyone who runs this has other work, too.
  await turn();
  world.store.release();
  return {
    seed,
    problems,
    trace: world.trace.lines,
    traceHash: world.trace.hash,
    documents: world.archive.stored.length,
    simulatedMs: world.clock.monotonic(),
  };
}

/** Folders that are there before anything happens, and the daemon's first start. */
export async function begin(world: SimulatedWorld): Promise<void> {
  const { dice } = world;
  for (const place of world.places) {
    if (dice.chance(0.8)) world.archive.tree.add("/Inbox");
    for (const dir of ["", "a/", "b/", "a/c/"]) {
      if (!dice.chance(0.75)) continue;
      const base = "path" in place.settings.target ? place.settings.target.path : "/";
      world.archive.tree.add(`${base}/${dir}`.replace(/\/$/, ""));
    }
  }
  if (world.isFirstRun) {
    addEarlier(world);
    addSentBefore(world);
    await world.clock.advance(LONG_AGO_MS);
  }
  if (dice.chance(0.8)) world.archive.weather = someWeather(dice);
  world.start();
}

async function live(world: SimulatedWorld): Promise<void> {
  const { dice } = world;
  await begin(world);
  const repertoire = world.repertoire();
  for (let left = dice.int(5, ACTIONS_MAX); left > 0; left--) {
    await act(world, repertoire);
    await world.clock.advance(dice.pick(STEPS_MS) ?? 0);
    await world.restartIfDead();
  }
}

/** All faults end; what waits for a person gets one, most of the time. */
export async function calm(world: SimulatedWorld): Promise<void> {
  const { dice } = world;
  world.spare();
  world.archive.weather = CALM;
  world.trace.add("world", "calm");
  await world.writeBeside((journal) => journal.setPaused(false));
  if (dice.chance(0.8)) world.archive.tree.tidy();
  world.archive.remove(({ foreign }) => foreign && dice.chance(0.6));
  if (world.places.some(({ isOut }) => isOut)) await world.configureAll();
  for (const place of world.places) {
    place.source.online = true;
    place.source.ambush = undefined;
    place.source.hook.failing = 0;
    for (const dir of place.source.tree.directories) {
      if (dice.chance(0.8)) place.source.tree.allow(dir);
    }
    world.tell(place);
    dressAll(world, place);
    for (const path of place.source.tree.paths) {
      if (dice.chance(0.85)) world.archive.tree.add(world.targetOf(place, path));
    }
  }
}

/** Lets time pass until nothing is left to come, in ever longer steps. */
export async function rest(world: SimulatedWorld, restMsMax = REST_MS_MAX): Promise<void> {
  const until = world.clock.monotonic() + restMsMax;
  let stepMs = 5_000;
  for (let quiet = 0; quiet < 2; ) {
    if (world.clock.monotonic() > until) throw new Error("it does not come to rest");
    world.rescan();
    await world.clock.advance(stepMs);
    await world.restartIfDead();
    quiet = unfinished(world).length === 0 ? quiet + 1 : 0;
    stepMs = Math.min(600_000, stepMs * 1.5);
  }
}
