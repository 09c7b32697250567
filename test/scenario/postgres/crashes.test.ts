import { describe, expect, test } from "vitest";
import type { Fault } from "../../../src/std/fault.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { anInstance, aPlace, count, counted, type Office } from "../../fixtures/pg-sessions.ts";
import { aPostgres, NO_POSTGRES } from "../../fixtures/postgres.ts";

/** Longer than a crash takes to recover from: what ends here is not a lease. */
const LEASE_MS = 60_000;

describe.skipIf(NO_POSTGRES !== undefined)("a server that is killed under load", () => {
  test.for(["crash", "stop"] as const)(
    "by a %s: every write is done once, and none is lost",
    async (how) => {
      await using postgres = await aPostgres();
      const place = await aPlace(postgres);
      await using a = await anInstance(place, "a", { leaseMs: LEASE_MS });
      await using b = await anInstance(place, "b", { leaseMs: LEASE_MS });
      const instances = [a, b];
      const over = new AbortController();
      const done = new Map<string, number>();
      // Twenty at once for each, so that groups are large and there is always one under way.
      const writers = instances.flatMap((instance, at) =>
        Array.from({ length: 20 }, async (_, writer) => {
          for (let n = 0; !over.signal.aborted; n++) {
            const what = `${at} ${writer} ${n}`;
            done.set(what, await count(instance.session, what));
          }
        }),
      );
      let rounds = 0;
      const more = async (writes: number) => {
        const goal = done.size + writes;
        while (done.size < goal) await count(a.session, `round ${rounds++}`);
      };
      for (let kill = 0; kill < 6; kill++) {
        await more(200);
        await postgres[how]();
        await postgres.start();
      }
      await more(200);
      over.abort();
      await Promise.all(writers);
      const kept = await counted(a.session);
      expect([...done.values()].filter((times) => times !== 1)).toEqual([]);
      expect([...kept.values()].filter((times) => times !== 1)).toEqual([]);
      expect([...kept.keys()].filter((what) => !what.startsWith("round")).sort()).toEqual(
        [...done.keys()].sort(),
      );
      const told = (instance: Office) => instance.changes.map(({ type }) => type);
      for (const instance of instances) {
        expect(told(instance).filter((type) => type !== "away" && type !== "back")).toEqual([]);
        // Away and back take turns.
        expect(told(instance).filter((type, at, all) => type === all[at - 1])).toEqual([]);
      }
    },
  );

  test("one that closes meanwhile does not wait for ever, and says what is not certain", async () => {
    await using postgres = await aPostgres();
    const place = await aPlace(postgres);
    const a = await anInstance(place, "a", { leaseMs: LEASE_MS });
    await count(a.session, "x");
    await postgres.stop();
    const write = count(a.session, "y").catch((error: unknown) => error as Fault);
    await a.hears("away");
    await a.session.close();
    expect(await write).toMatchObject({ code: "JOURNAL_UNREACHABLE" });
    await expect(count(a.session, "z")).rejects.toMatchObject({ code: "JOURNAL_CLOSED" });
    expect(a.changes.map(({ type }) => type)).toEqual(["away"]);
  });

  test("one that stands still is not waited for either", async () => {
    await using postgres = await aPostgres();
    const place = await aPlace(postgres);
    const clock = new ManualClock(Date.now());
    const a = await anInstance(place, "a", { leaseMs: LEASE_MS, clock });
    await count(a.session, "x");
    postgres.pause();
    const write = count(a.session, "y").catch((error: unknown) => error as Fault);
    const read = counted(a.session).catch((error: unknown) => error as Fault);
    const closing = a.session.close();
    await clock.advance(10_000);
    await closing;
    for (const each of [write, read]) {
      expect(await each).toMatchObject({ code: "JOURNAL_UNREACHABLE" });
    }
    postgres.resume();
  });

  test("one that is asked to end goes on for a while, and waits for nothing then", async () => {
    await using postgres = await aPostgres();
    const place = await aPlace(postgres);
    const asked = new AbortController();
    const patience = { signal: asked.signal, onAway: () => undefined, lastMs: 100 };
    await using a = await anInstance(place, "a", { leaseMs: LEASE_MS, patience });
    asked.abort();
    await postgres.stop();
    const write = count(a.session, "x").catch((error: unknown) => error as Fault);
    const read = counted(a.session).catch((error: unknown) => error as Fault);
    for (const each of [write, read]) {
      expect(await each).toMatchObject({ code: "JOURNAL_UNREACHABLE" });
    }
  });
});
