/** A user stops the daemon, runs `scanferry adopt`, and starts it again. */
import { ArchiveError } from "../../src/archive/archive-error.ts";
import {
  adopting,
  type AdoptionMatch,
  endFirstRuns,
  findArchived,
  toBeSent,
} from "../../src/sync/adopter.ts";
import { Fault } from "../../src/std/fault.ts";
import { isReadWhole } from "../../src/sync/scan-scheduler.ts";
import { WholeArchive } from "../../src/sync/whole-archive.ts";
import { MemoryJournal } from "../fakes/memory-journal.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/** How long a user waits for the pass, and longer than any look through the archive takes; seconds. */
const PASS_STEPS_MAX = 300;
const LOOK_STEPS_MAX = 600;

/** As the command does: a pass in which nothing is sent, a look through the archive, and what comes of it. */
export function adopt(world: SimulatedWorld): Promise<void> {
  if (!world.rows.some(({ problem }) => problem?.code === "FIRST_RUN")) return Promise.resolve();
  return world.reconfigure(async () => {
    world.trace.add("user", "adopts");
    world.start(false);
    const isThrough = await waited(world, PASS_STEPS_MAX, (signal) => world.idle(signal));
    const read = [...(world.sync?.scanSchedulers ?? [])].flatMap(([id, { state }]) =>
      isReadWhole(state) ? [id] : [],
    );
    await world.stop();
    world.life?.crash();
    const look = (signal: AbortSignal) => claim(world, new Set(read), signal);
    if (isThrough) await waited(world, LOOK_STEPS_MAX, look);
  });
}

/** Whether it ended well in so many seconds; what failed is run again another day. */
async function waited(
  world: SimulatedWorld,
  steps: number,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<boolean> {
  const ending = new AbortController();
  const what = { isOver: false, isDone: false };
  world.later(0, async () => {
    try {
      await work(ending.signal);
      what.isDone = !ending.signal.aborted;
    } catch (error) {
      const isItsEnd = ending.signal.aborted || error instanceof ArchiveError;
      if (!isItsEnd && !(error instanceof Fault)) throw error;
    } finally {
      what.isOver = true;
    }
  });
  for (let step = 0; !what.isOver && step < steps; step++) await world.clock.advance(1_000);
  ending.abort(new Error("the user waits no longer"));
  await world.clock.settle();
  return what.isDone;
}

async function claim(
  world: SimulatedWorld,
  readWhole: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<void> {
  const { archiveId, clock, places, store, trace } = world;
  const journal = new MemoryJournal({ store }).of(archiveId);
  const mirrorIds = new Set(places.flatMap(({ isOut, mirrorId }) => (isOut ? [] : [mirrorId])));
  const waiting = await Array.fromAsync(toBeSent(journal, mirrorIds));
  const archive = world.adoptedFrom;
  const looking = { journal, archive, mirrorIds, whole: new WholeArchive(archive) };
  const found: AdoptionMatch[] = await Array.fromAsync(findArchived(looking, waiting, signal));
  for (const { document, taken } of found)
    trace.add("user", `${document.id} is adopted as ${taken?.id ?? "unclear"}`);
  for (const match of found) await journal.apply(adopting(match, clock.now()));
  const unclear = found.flatMap(({ taken, document }) => (taken ? [] : [document.id]));
  // With nothing unclear, it is a user's word for all that nothing was found for.
  for (const { mirrorId, problem, digest } of unclear.length > 0 ? [] : world.rows)
    if (mirrorIds.has(mirrorId) && problem?.code === "FIRST_RUN" && digest !== null)
      world.asNew.add(digest);
  await endFirstRuns({ journal, clock }, mirrorIds, new Set(unclear), readWhole);
}
