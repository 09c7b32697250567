/** Histories of two archives over one journal: each has loops, mirrors and ids of documents of its own. */
import { setImmediate as turn } from "node:timers/promises";
import { MemoryJournal } from "../fakes/memory-journal.ts";
import { act, isWritten } from "./actions.ts";
import { audit, unfinished } from "./auditor.ts";
import { ACTIONS_MAX, begin, calm, type Outcome, REST_MS_MAX, STEPS_MS } from "./history.ts";
import { ARCHIVES, type Sabotage, SimulatedWorld } from "./simulated-world.ts";

/** One history of so many begins with a first run of the second archive; of the first one, as where it is alone. */
const FIRST_RUN_EVERY = 3;

/** Lives through one history: each archive's is as it would be alone, and files come from one to the other. */
export async function historyOfTwo(
  seed: number,
  sabotage: Sabotage = {},
  restMsMax = REST_MS_MAX,
): Promise<Outcome> {
  const first = new SimulatedWorld(seed, sabotage);
  const journal = new MemoryJournal({ store: first.store });
  for (const { name, url } of Object.values(ARCHIVES)) await journal.archive(name, url);
  const { firstRun = seed % FIRST_RUN_EVERY === 0 && !sabotage.unguarded } = sabotage;
  const second = new SimulatedWorld(seed, { ...sabotage, firstRun }, first);
  const worlds = [first, second];
  try {
    await live(first, second);
    for (const world of worlds) await calm(world);
    await rest(worlds, restMsMax);
  } catch (error) {
    first.problems.push(`ended early: ${error instanceof Error ? error.stack : String(error)}`);
  }
  const problems = worlds.flatMap((world) =>
    audit(world).map((problem) => `${ARCHIVES[world.archiveId].name}: ${problem}`),
  );
  for (const world of worlds) world.end();
  await turn();
  first.store.release();
  const documents = worlds.flatMap(({ archive }) => archive.stored).length;
  const { clock, trace } = first;
  const { lines, hash: traceHash } = trace;
  return { seed, problems, trace: lines, traceHash, documents, simulatedMs: clock.monotonic() };
}

async function live(first: SimulatedWorld, second: SimulatedWorld): Promise<void> {
  const { dice, clock } = first;
  const worlds = [first, second];
  for (const world of worlds) await begin(world);
  const repertoires = worlds.map((world) => world.repertoire());
  for (let left = dice.int(10, 2 * ACTIONS_MAX); left > 0; left--) {
    const which = dice.int(0, 1);
    const [world, repertoire] = [worlds[which], repertoires[which]];
    if (!world || !repertoire) continue;
    first.trace.add("world", ARCHIVES[world.archiveId].name);
    if (dice.chance(0.1)) carryOver(world, world === first ? second : first);
    else await act(world, repertoire);
    world.wroteOutside();
    await clock.advance(dice.pick(STEPS_MS) ?? 0);
    await world.restartIfDead();
  }
}

/** A file of one archive's mirror comes to the other's, alone or too. */
function carryOver({ dice, places, trace }: SimulatedWorld, other: SimulatedWorld): void {
  const { tree } = dice.pick(places)?.source ?? {};
  const to = dice.pick(other.places)?.source.tree;
  const path = dice.pick(tree?.paths.filter((each) => tree.at(each)?.whole) ?? []);
  const file = path === undefined ? undefined : tree?.at(path);
  if (path === undefined || !file || (to && !isWritten(to, path))) return;
  const isMoved = dice.chance(0.5);
  trace.add("world", `${path} ${isMoved ? "goes" : "comes"} to the other archive's mirror`);
  if (to && isMoved) tree?.moveOut(path, to, path, true);
  else to?.write(path, { content: file.content, sizeBytes: file.seen.sizeBytes });
}

async function rest(worlds: readonly SimulatedWorld[], restMsMax: number): Promise<void> {
  const [first] = worlds;
  if (!first) return;
  const until = first.clock.monotonic() + restMsMax;
  let stepMs = 5_000;
  for (let quiet = 0; quiet < 2; ) {
    if (first.clock.monotonic() > until) throw new Error("it does not come to rest");
    for (const world of worlds) world.rescan();
    await first.clock.advance(stepMs);
    await first.restartIfDead();
    quiet = worlds.every((world) => unfinished(world).length === 0) ? quiet + 1 : 0;
    stepMs = Math.min(600_000, stepMs * 1.5);
  }
}
