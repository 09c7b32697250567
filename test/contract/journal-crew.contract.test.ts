import type { Journal } from "../../src/journal/journal.ts";
import { ManualClock } from "../fakes/manual-clock.ts";
import { MemoryCrew, TAKEN_MS } from "../fakes/memory-crew.ts";
import { MemoryJournal } from "../fakes/memory-journal.ts";
import { MemoryStore } from "../fakes/memory-store.ts";
import { type CrewFixture, journalCrewContract } from "./journal-crew.contract.ts";
import { NOW } from "./journal-desk.ts";

async function inMemory(): Promise<CrewFixture> {
  const store = new MemoryStore();
  const clock = new ManualClock(NOW);
  const crews = new Map<Journal, MemoryCrew>();
  const crewOf = (journal: Journal) => {
    const crew = crews.get(journal);
    if (!crew) throw new Error("no member");
    return crew;
  };
  return {
    async join(name) {
      const crew = MemoryCrew.join(store, { name, clock });
      crew.stayAlive();
      const journal = new MemoryJournal({ store, crew });
      crews.set(journal, crew);
      return journal;
    },
    async stall(journal) {
      crewOf(journal).goAway("stalled");
      await clock.advance(crewOf(journal).leaseMs);
    },
    async resume(journal) {
      crewOf(journal).comeBack();
    },
    look: () => clock.advance(15_000 / 3),
    untake: () => clock.advance(TAKEN_MS),
    async [Symbol.asyncDispose]() {
      for (const journal of crews.keys()) await journal.close();
    },
  };
}

journalCrewContract("MemoryJournal", inMemory);
