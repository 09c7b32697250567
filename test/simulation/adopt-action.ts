/** A user stops the daemon, runs `scanferry adopt`, and starts it again. */
import { ArchiveError } from "../../src/archive/archive-error.ts";
import type { Document } from "../../src/domain/document.ts";
import {
  adopting,
  type AdoptionMatch,
  endFirstRuns,
  findArchived,
  toBeSent,
} from "../../src/sync/adopter.ts";
import { WholeArchive } from "../../src/sync/whole-archive.ts";
import { MemoryJournal } from "../fakes/memory-journal.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/** Longer than any look through the archive takes. */
const LOOK_STEPS_MAX = 600;

export function adopt(world: SimulatedWorld): Promise<void> {
  const mayBeClaimed = world.rows.some(({ problem }) => problem?.code === "FIRST_RUN");
  // It ends the first run: a user waits until everything can be looked for.
  if (!mayBeClaimed || world.rows.some(waitsElsewhere)) return Promise.resolve();
  return world.reconfigure(async () => {
    world.trace.add("user", "adopts");
    const look = { isDone: false };
    world.later(0, async () => {
      try {
        await claim(world);
      } catch (error) {
        // It is run again another day.
        if (!(error instanceof ArchiveError)) throw error;
      } finally {
        look.isDone = true;
      }
    });
    for (let step = 0; !look.isDone && step < LOOK_STEPS_MAX; step++)
      await world.clock.advance(1_000);
  });
}

function waitsElsewhere({ state, digest, current }: Document): boolean {
  return current && (state === "settling" || (state === "held" && digest === null));
}

async function claim({ adoptedFrom, clock, places, store, trace }: SimulatedWorld): Promise<void> {
  const journal = new MemoryJournal({ store });
  const signal = new AbortController().signal;
  const mirrorIds = new Set(places.flatMap(({ isOut, mirrorId }) => (isOut ? [] : [mirrorId])));
  const waiting = await Array.fromAsync(toBeSent(journal, mirrorIds));
  const archive = adoptedFrom;
  const looking = { journal, archive, mirrorIds, whole: new WholeArchive(archive) };
  const found: AdoptionMatch[] = await Array.fromAsync(findArchived(looking, waiting, signal));
  for (const { document, taken } of found)
    trace.add("user", `${document.id} is adopted as ${taken?.id ?? "unclear"}`);
  for (const match of found) await journal.apply(adopting(match, clock.now()));
  const unclear = found.flatMap(({ taken, document }) => (taken ? [] : [document.id]));
  await endFirstRuns({ journal, clock }, mirrorIds, new Set(unclear));
}
