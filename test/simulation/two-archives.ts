/** Histories of two archives over one journal: each has loops, mirrors and ids of documents of its own. */
import { setImmediate as turn } from "node:timers/promises";
import { MemoryJournal } from "../fakes/memory-journal.ts";
import { act } from "./actions.ts";
import { audit, unfinished } from "./auditor.ts";
import { ACTIONS_MAX, begin, calm, type Outcome, REST_MS_MAX, STEPS_MS } from "./history.ts";
import { ARCHIVES, type Sabotage, SimulatedWorld } from "./simulated-world.ts";

/** What is done to the whole host, or to the whole journal. */
const NOT_HERE = ["clock set", "snapshot", "taken back to the snapshot"];

/** Lives through one history: each archive's is as it would be alone, and files are copied between them. */
export async function historyOfTwo(
  seed: number,
  sabotage: Sabotage = {},
  restMsMax = REST_MS_MAX,
): Promise<Outcome> {
  const first = new SimulatedWorld(seed, { ...sabotage, firstRun: false });
  const journal = new MemoryJournal({ store: first.store });
  for (const { name, url } of Object.values(ARCHIVES)) await journal.archive(name, url);
  const second = new SimulatedWorld(seed, { ...sabotage, firstRun: false }, first);
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
  const repertoires = worlds.map((world) =>
    world.repertoire().filter(([, name]) => !NOT_HERE.includes(name)),
  );
  for (let left = dice.int(10, 2 * ACTIONS_MAX); left > 0; left--) {
    const which = dice.int(0, 1);
    const [world, repertoire] = [worlds[which], repertoires[which]];
    if (!world || !repertoire) continue;
    first.trace.add("world", ARCHIVES[world.archiveId].name);
    if (dice.chance(0.1)) carryOver(world, world === first ? second : first);
    else await act(world, repertoire);
    for (const each of worlds) each.wroteOutside();
    await clock.advance(dice.pick(STEPS_MS) ?? 0);
    for (const each of worlds) await each.restartIfDead();
  }
}

/** A file of one archive's mirror comes to the other's, too. */
function carryOver({ dice, places, trace }: SimulatedWorld, other: SimulatedWorld): void {
  const { tree } = dice.pick(places)?.source ?? {};
  const to = dice.pick(other.places)?.source.tree;
  const path = dice.pick(tree?.paths.filter((each) => tree.at(each)?.whole) ?? []);
  const file = path === undefined ? undefined : tree?.at(path);
  if (path === undefined || !file || to?.at(path)?.whole === false) return;
  trace.add("world", `${path} comes to the other archive's mirror`);
  to?.write(path, { content: file.content, sizeBytes: file.seen.sizeBytes });
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
    for (const world of worlds) await world.restartIfDead();
    quiet = worlds.every((world) => unfinished(world).length === 0) ? quiet + 1 : 0;
    stepMs = Math.min(600_000, stepMs * 1.5);
  }
}
