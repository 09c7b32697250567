import { describe } from "vitest";
import type { Journal } from "../../../src/journal/journal.ts";
import { PgCluster } from "../../../src/journal/postgres/cluster.ts";
import { type Clock, sleepOn, systemClock } from "../../../src/std/clock.ts";
import { aPostgresJournal } from "../../fixtures/a-postgres-journal.ts";
import { NO_POSTGRES, type PostgresServer } from "../../fixtures/postgres.ts";
import { thePostgres } from "../../fixtures/the-postgres.ts";
import { until } from "../../fixtures/until.ts";
import { type ClusterFixture, journalClusterContract } from "../journal-cluster.contract.ts";

/**
 * The host's own clock, whose alarms can be kept from ringing, as those of a stopped process are. What it
 * stands still for is over at once.
 */
class StallingClock implements Clock {
  #isStalled = false;
  #stalledMs = 0;
  readonly #missed = new Set<() => void>();

  now = () => systemClock.now() + this.#stalledMs;
  monotonic = () => systemClock.monotonic() + this.#stalledMs;
  sleep = (ms: number, signal: AbortSignal) => sleepOn(this, ms, signal);

  alarm(ms: number, notify: () => void): () => void {
    const late = () => {
      if (this.#isStalled) this.#missed.add(notify);
      else notify();
    };
    const cancel = systemClock.alarm(ms, late);
    return () => {
      cancel();
      this.#missed.delete(notify);
    };
  }

  get isStalled(): boolean {
    return this.#isStalled;
  }

  stall(ms: number): void {
    this.#isStalled = true;
    this.#stalledMs += ms;
  }

  goOn(): void {
    this.#isStalled = false;
    const missed = [...this.#missed];
    this.#missed.clear();
    for (const notify of missed) notify();
  }
}

/** An instance, and the clock that it goes by. */
type Joined = {
  readonly cluster: PgCluster;
  readonly clock: StallingClock;
  isOpen: boolean;
  knowsItIsLost: boolean;
};

function inPostgres(postgres: PostgresServer): ClusterFixture {
  const place = aPostgresJournal(postgres);
  const { schema } = place;
  const joined = new Map<Journal, Joined>();
  const joinedAs = (journal: Journal) => {
    const found = joined.get(journal);
    if (!found) throw new Error("no instance");
    return found;
  };
  const isThere = async (condition: string) => {
    const rows = await postgres.ask(`SELECT 1 FROM ${schema}.instances WHERE ${condition}`);
    return rows.length > 0;
  };
  /** Has everyone who can take a turn, and resolves once all have renewed their lease in it. */
  const turn = async () => {
    const [row] = await postgres.ask("SELECT clock_timestamp()::text AS at");
    const there = [...joined.values()].filter(({ isOpen, clock }) => isOpen && !clock.isStalled);
    for (const { cluster } of there) cluster.wake();
    const ids = there.map(({ cluster }) => cluster.instanceId).join();
    if (ids === "") return;
    const late = `id IN (${ids}) AND NOT lost AND renewed_at <= '${String(row?.["at"])}'`;
    await until("a turn of each", async () => !(await isThere(late)));
    const unaware = () => there.filter(({ knowsItIsLost }) => !knowsItIsLost);
    const isLost = async ({ cluster: { instanceId: id } }: Joined) =>
      !(await isThere(`id = ${id} AND NOT lost`));
    await until("those that are lost know it", async () => {
      const lost = await Promise.all(unaware().map(isLost));
      return !lost.includes(true);
    });
  };
  return {
    async join(name) {
      const clock = new StallingClock();
      const instance = { name, pid: process.pid, version: "0.0.0", web: null };
      const journal = await place.open("owner", { clock, instance });
      const { cluster } = journal;
      if (!(cluster instanceof PgCluster)) throw new Error("an owner is an instance");
      const wake = cluster.wake.bind(cluster);
      // One that is stopped hears nothing.
      cluster.wake = () => (clock.isStalled ? undefined : wake());
      const one = { cluster, clock, isOpen: true, knowsItIsLost: false };
      cluster.listen(({ type }) => {
        if (type === "lost") one.knowsItIsLost = true;
      });
      joined.set(journal, one);
      const close = journal.close.bind(journal);
      journal.close = () => {
        one.isOpen = false;
        return close();
      };
      return journal;
    },
    async stall(journal) {
      const { cluster, clock } = joinedAs(journal);
      clock.stall(cluster.leaseMs);
      // It asks for nothing more; once this is answered, whatever it asked for before is.
      await cluster.announce(null);
      await postgres.ask(
        `UPDATE ${schema}.instances SET lease_until = clock_timestamp() WHERE id = ${cluster.instanceId}`,
      );
    },
    async resume(journal) {
      joinedAs(journal).clock.goOn();
    },
    async look() {
      // The second turn begins when all of the first is done.
      await turn();
      await turn();
    },
    async untake() {
      await postgres.ask(`UPDATE ${schema}.documents SET taken_until = clock_timestamp()`);
    },
    async [Symbol.asyncDispose]() {
      for (const [journal, { clock, isOpen }] of joined) {
        clock.goOn();
        if (isOpen) await journal.close();
      }
    },
  };
}

describe.skipIf(NO_POSTGRES)("on a real server", () => {
  const postgres = thePostgres();

  journalClusterContract("PostgresJournal", async () => inPostgres(postgres));
});
