import { describe } from "vitest";
import type { Journal } from "../../../src/journal/journal.ts";
import { PgCrew } from "../../../src/journal/postgres/crew.ts";
import { type Clock, sleepOn, systemClock } from "../../../src/std/clock.ts";
import { aPostgresJournal } from "../../fixtures/a-postgres-journal.ts";
import { NO_POSTGRES, type PostgresServer } from "../../fixtures/postgres.ts";
import { thePostgres } from "../../fixtures/the-postgres.ts";
import { until } from "../../fixtures/until.ts";
import { type CrewFixture, journalCrewContract } from "../journal-crew.contract.ts";

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

  alarm(ms: number, ring: () => void): () => void {
    const late = () => {
      if (this.#isStalled) this.#missed.add(ring);
      else ring();
    };
    const cancel = systemClock.alarm(ms, late);
    return () => {
      cancel();
      this.#missed.delete(ring);
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
    for (const ring of missed) ring();
  }
}

/** A member, and the clock that it goes by. */
type Joined = {
  readonly crew: PgCrew;
  readonly clock: StallingClock;
  isOpen: boolean;
  knowsItIsLost: boolean;
};

function inPostgres(postgres: PostgresServer): CrewFixture {
  const place = aPostgresJournal(postgres);
  const { schema } = place;
  const joined = new Map<Journal, Joined>();
  const joinedAs = (journal: Journal) => {
    const found = joined.get(journal);
    if (!found) throw new Error("no member");
    return found;
  };
  const isThere = async (condition: string) => {
    const rows = await postgres.ask(`SELECT 1 FROM ${schema}.members WHERE ${condition}`);
    return rows.length > 0;
  };
  /** Has everyone who can take a turn, and resolves once all have renewed their lease in it. */
  const turn = async () => {
    const [row] = await postgres.ask("SELECT clock_timestamp()::text AS at");
    const there = [...joined.values()].filter(({ isOpen, clock }) => isOpen && !clock.isStalled);
    for (const { crew } of there) crew.wake();
    const ids = there.map(({ crew }) => crew.memberId).join();
    if (ids === "") return;
    const late = `id IN (${ids}) AND NOT lost AND renewed_at <= '${String(row?.["at"])}'`;
    await until("a turn of each", async () => !(await isThere(late)));
    const unaware = () => there.filter(({ knowsItIsLost }) => !knowsItIsLost);
    const isLost = async ({ crew: { memberId: id } }: Joined) =>
      !(await isThere(`id = ${id} AND NOT lost`));
    await until("those that are lost know it", async () => {
      const lost = await Promise.all(unaware().map(isLost));
      return !lost.includes(true);
    });
  };
  return {
    async join(name) {
      const clock = new StallingClock();
      const member = { name, pid: process.pid, version: "0.0.0", web: null };
      const journal = await place.open("owner", { clock, member });
      const { crew } = journal;
      if (!(crew instanceof PgCrew)) throw new Error("an owner is a member");
      const wake = crew.wake.bind(crew);
      // One that is stopped hears nothing.
      crew.wake = () => (clock.isStalled ? undefined : wake());
      const one = { crew, clock, isOpen: true, knowsItIsLost: false };
      crew.listen(({ type }) => {
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
      const { crew, clock } = joinedAs(journal);
      clock.stall(crew.leaseMs);
      // It asks for nothing more; once this is answered, whatever it asked for before is.
      await crew.announce(null);
      await postgres.ask(
        `UPDATE ${schema}.members SET lease_until = clock_timestamp() WHERE id = ${crew.memberId}`,
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

  journalCrewContract("PostgresJournal", async () => inPostgres(postgres));
});
