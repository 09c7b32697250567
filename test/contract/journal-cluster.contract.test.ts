import type { Journal } from "../../src/journal/journal.ts";
import { ManualClock } from "../fakes/manual-clock.ts";
import { MemoryCluster, TAKEN_MS } from "../fakes/memory-cluster.ts";
import { MemoryJournal } from "../fakes/memory-journal.ts";
import { MemoryStore } from "../fakes/memory-store.ts";
import { type ClusterFixture, journalClusterContract } from "./journal-cluster.contract.ts";
import { NOW } from "./journal-desk.ts";

async function inMemory(): Promise<ClusterFixture> {
  const store = new MemoryStore();
  const clock = new ManualClock(NOW);
  const clusters = new Map<Journal, MemoryCluster>();
  const clusterOf = (journal: Journal) => {
    const cluster = clusters.get(journal);
    if (!cluster) throw new Error("no instance");
    return cluster;
  };
  return {
    async join(name) {
      const cluster = MemoryCluster.join(store, { name, clock });
      cluster.stayAlive();
      const journal = new MemoryJournal({ store, cluster });
      clusters.set(journal, cluster);
      return journal;
    },
    async stall(journal) {
      clusterOf(journal).goAway("stalled");
      await clock.advance(clusterOf(journal).leaseMs);
    },
    async resume(journal) {
      clusterOf(journal).comeBack();
    },
    look: () => clock.advance(15_000 / 3),
    untake: () => clock.advance(TAKEN_MS),
    async [Symbol.asyncDispose]() {
      for (const journal of clusters.keys()) await journal.close();
    },
  };
}

journalClusterContract("MemoryJournal", inMemory);
