import * as fc from "fast-check";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LEASE_MS } from "../../../src/network/journal-place.ts";
import type { Assignment } from "../../../src/journal/cluster.ts";
import { PgCluster } from "../../../src/journal/postgres/cluster.ts";
import {
  assignmentsToTake,
  takersOf,
  Wishes,
  type Wish,
} from "../../../src/journal/postgres/fair-share.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import {
  anInstance,
  aPlace,
  count,
  counted,
  ownershipOf,
  type Office,
  type Place,
} from "../../fixtures/pg-sessions.ts";
import { aPostgres, NO_POSTGRES, type Postgres } from "../../fixtures/postgres.ts";
import { until } from "../../fixtures/until.ts";
import { ACCOUNT, ofMirror } from "../../fixtures/assignments.ts";

/** A lease that ends for nobody, however slow the machine: the database's clock is not moved by hand. */
const LONG_MS = 600_000;

/** What nobody has for so long by the clock of an instance with such a lease, others left. */
const LEFT_MS = LONG_MS / 4;

/** Has an instance take a turn now, and not when it is due. */
function wake({ cluster }: Office): void {
  if (!(cluster instanceof PgCluster)) throw new Error("no instance");
  cluster.wake();
}

/** Resolves once an instance has looked, and done what comes of it. */
async function looked(instance: Office): Promise<void> {
  const { cluster } = instance;
  const renewedAt = async () =>
    (await cluster.instances()).find(({ id }) => id === cluster.instanceId)?.renewedAt ?? 0;
  // The second turn begins when all of the first is done.
  for (let turn = 0; turn < 2; turn++) {
    const before = await renewedAt();
    wake(instance);
    await until("a turn", async () => (await renewedAt()) > before);
  }
}

describe.skipIf(NO_POSTGRES !== undefined)("the cluster on PostgreSQL", () => {
  let postgres: Postgres;
  let place: Place;

  beforeAll(async () => {
    postgres = await aPostgres();
  });

  afterAll(() => postgres[Symbol.asyncDispose]());

  beforeEach(async () => {
    place = await aPlace(postgres);
  });

  /** The lease of an instance that does not renew it runs out. */
  const lapse = ({ cluster }: Office) =>
    postgres.ask(
      `UPDATE ${place.schema}.instances SET lease_until = clock_timestamp() WHERE id = ${cluster.instanceId}`,
    );

  test("everybody sees everybody, with what they do and where their page is", async () => {
    await using a = await anInstance(place, "a");
    await using b = await anInstance(place, "b");
    await a.cluster.seek(ownershipOf(1));
    await b.session.announce("http://b.example");
    const instances = await a.cluster.instances();
    expect(instances.map(({ name, web, assignments }) => [name, web, assignments])).toEqual([
      ["a", null, [ACCOUNT, ofMirror(1)]],
      ["b", "http://b.example", []],
    ]);
    expect(instances.map(({ id }) => id)).toEqual([a.cluster.instanceId, b.cluster.instanceId]);
    // It is one host's; an answer may be late by seconds.
    expect(Math.abs(a.cluster.clockOffsetMs)).toBeLessThan(30_000);
    expect(instances[0]?.leaseUntil).toBeGreaterThan(instances[0]?.renewedAt ?? Infinity);
  });

  test("one alone does everything at once; it is not told what it asked for", async () => {
    await using a = await anInstance(place, "a");
    await a.cluster.seek(ownershipOf(3));
    expect(ownershipOf(3).every((assignment) => a.cluster.owns(assignment))).toBe(true);
    expect(a.changes).toEqual([]);
  });

  test("one that leaves is followed at once", async () => {
    const a = await anInstance(place, "a");
    // By its clock it is never time to look: it hears of it.
    await using b = await anInstance(place, "b", {
      leaseMs: LONG_MS,
      clock: new ManualClock(Date.now()),
    });
    await a.cluster.seek(ownershipOf(0));
    await b.cluster.seek(ownershipOf(0));
    expect([a.cluster.owns(ACCOUNT), b.cluster.owns(ACCOUNT)]).toEqual([true, false]);
    await a.session.close();
    expect(await b.hears("gained")).toEqual({ type: "gained", assignments: [ACCOUNT] });
    expect(b.cluster.owns(ACCOUNT)).toBe(true);
    expect(await b.hears("others-lost")).toMatchObject({ instances: [{ name: "a" }] });
  });

  test("mirrors are shared, and what nobody takes is taken later on", async () => {
    const clock = new ManualClock(Date.now());
    await using a = await anInstance(place, "a", { leaseMs: LONG_MS, clock });
    await using b = await anInstance(place, "b");
    await a.cluster.seek(ownershipOf(4));
    const mirrors = ownershipOf(4).slice(1);
    expect(mirrors.filter((assignment) => a.cluster.owns(assignment))).toHaveLength(2);
    await b.cluster.seek([ofMirror(1)]);
    // B does not seek the two that A left.
    await clock.advance(LEFT_MS);
    wake(a);
    await until("a to take what is left", () =>
      mirrors.every((assignment) => a.cluster.owns(assignment)),
    );
    expect(b.cluster.owns(ofMirror(1))).toBe(false);
  });

  test("three share what one of them leaves behind", async () => {
    const all = ownershipOf(6);
    const a = await anInstance(place, "a");
    await a.cluster.seek(all);
    await using b = await anInstance(place, "b", { leaseMs: LONG_MS });
    await using c = await anInstance(place, "c", { leaseMs: LONG_MS });
    await Promise.all([b.cluster.seek(all), c.cluster.seek(all)]);
    expect(all.some((assignment) => b.cluster.owns(assignment) || c.cluster.owns(assignment))).toBe(
      false,
    );
    await a.session.close();
    await until("all to be led", () =>
      all.every((assignment) => b.cluster.owns(assignment) !== c.cluster.owns(assignment)),
    );
    const mirrorsOf = (cluster: typeof b.cluster) =>
      all.filter((each) => each.kind === "mirror" && cluster.owns(each)).length;
    expect([mirrorsOf(b.cluster), mirrorsOf(c.cluster)]).toEqual([3, 3]);
  });

  test("two who reach for the same assignments at the same moment have their shares", async () => {
    const all = ownershipOf(6);
    await using b = await anInstance(place, "b");
    await using c = await anInstance(place, "c");
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    // Both see what is free, and neither takes any of it before the other has looked.
    await client.query(`BEGIN; LOCK TABLE ${place.schema}.assignments IN SHARE MODE`);
    const seeking = Promise.all([b.cluster.seek(all), c.cluster.seek(all)]);
    await until("both to reach for them", async () => {
      const { rows } = await client.query("SELECT FROM pg_locks WHERE NOT granted");
      return rows.length === 2;
    });
    await client.query("COMMIT");
    await client.end();
    await seeking;
    const mirrorsOf = (cluster: typeof b.cluster) =>
      all.filter((each) => each.kind === "mirror" && cluster.owns(each)).length;
    await until("both to have some", () => mirrorsOf(b.cluster) > 0 && mirrorsOf(c.cluster) > 0);
    expect([mirrorsOf(b.cluster), mirrorsOf(c.cluster)]).toEqual([3, 3]);
  });

  test("a mirror goes to the host that has its file system, at once", async () => {
    const assignments = ownershipOf(3);
    const mirrors = assignments.slice(1);
    await using local = await anInstance(place, "local");
    await local.cluster.seek([], mirrors);
    await using far = await anInstance(place, "far");
    await far.cluster.seek(assignments);
    expect(assignments.filter((assignment) => far.cluster.owns(assignment))).toEqual([ACCOUNT]);
    await local.cluster.seek(assignments, mirrors);
    expect(mirrors.filter((assignment) => local.cluster.owns(assignment))).toEqual(mirrors);
    expect((await far.cluster.instances()).map((instance) => instance.local)).toEqual([
      mirrors,
      [],
    ]);
  });

  test("it is waited for while it starts again, and taken over from when it stays away", async () => {
    const assignments = ownershipOf(2);
    const mirrors = assignments.slice(1);
    const clock = new ManualClock(Date.now());
    await using far = await anInstance(place, "far", { leaseMs: LONG_MS, clock });
    const owns = () => mirrors.filter((assignment) => far.cluster.owns(assignment));
    {
      await using local = await anInstance(place, "local");
      await local.cluster.seek(assignments, mirrors);
      await far.cluster.seek(assignments);
    }
    const gained = await far.hears("gained");
    expect(gained.assignments, "the account is nobody's place").toEqual([ACCOUNT]);
    {
      await using again = await anInstance(place, "local");
      await again.cluster.seek(assignments, mirrors);
      expect(mirrors.filter((assignment) => again.cluster.owns(assignment))).toEqual(mirrors);
      expect(owns()).toEqual([]);
    }
    await looked(far);
    expect(owns()).toEqual([]);
    await clock.advance(LEFT_MS);
    wake(far);
    await until("the far one to take over", () => owns().length === mirrors.length);
  });

  test("one whose lease ran out is followed, writes nothing any more and may not send", async () => {
    const clock = new ManualClock(Date.now());
    // A's clock stands still, as its process would: it renews nothing.
    await using a = await anInstance(place, "a", { clock });
    await a.cluster.seek(ownershipOf(0));
    await using b = await anInstance(place, "b");
    await b.cluster.seek(ownershipOf(0));
    await count(a.session, "before");
    expect(a.cluster.sendLeftMs).toBe(LEASE_MS - 2_000);
    await lapse(a);
    wake(b);
    expect(await b.hears("gained")).toEqual({ type: "gained", assignments: [ACCOUNT] });
    expect(await b.hears("others-lost")).toMatchObject({
      instances: [{ id: a.cluster.instanceId, name: "a", assignments: [ACCOUNT] }],
    });
    const outcomes = await Promise.allSettled([count(a.session, "x"), count(a.session, "y")]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "LEASE_LOST" } });
    }
    await expect(count(a.session, "z")).rejects.toMatchObject({ code: "LEASE_LOST" });
    expect(a.changes.at(-1)).toEqual({ type: "lost" });
    expect([a.cluster.owns(ACCOUNT), a.cluster.sendLeftMs]).toEqual([false, 0]);
    expect([...(await counted(b.session)).keys()]).toEqual(["before"]);
  });

  test("sending ends by whichever clock went further", async () => {
    const clock = new ManualClock(Date.now());
    await using a = await anInstance(place, "a", { leaseMs: 10_000, clock });
    expect(a.cluster.sendLeftMs).toBe(8_000);
    clock.jump(3_000);
    expect(a.cluster.sendLeftMs).toBe(5_000);
    clock.jump(-60_000);
    expect(a.cluster.sendLeftMs).toBe(8_000);
    clock.jump(70_000);
    expect(a.cluster.sendLeftMs).toBeLessThan(0);
  });

  test("a lease that ran out unseen is renewed", async () => {
    const clock = new ManualClock(Date.now());
    await using a = await anInstance(place, "a", { clock });
    await lapse(a);
    const [lapsed] = await a.cluster.instances();
    await count(a.session, "x");
    await clock.advance(LEASE_MS / 3);
    await until("the lease to be renewed", async () => {
      const [instance] = await a.cluster.instances();
      return (instance?.renewedAt ?? 0) > (lapsed?.leaseUntil ?? Infinity);
    });
    expect(a.changes).toEqual([]);
  });

  test("one that died before the database's clock was set back by a day is followed after its lease", async () => {
    // Its clock stands still, as its process would: it renews nothing.
    await using a = await anInstance(place, "a", { clock: new ManualClock(Date.now()) });
    await a.cluster.seek(ownershipOf(0));
    await using b = await anInstance(place, "b");
    await b.cluster.seek(ownershipOf(0));
    await postgres.ask(
      `UPDATE ${place.schema}.instances SET renewed_at = t, lease_until = t + interval '3 s'
         FROM (SELECT clock_timestamp() + interval '1 day' AS t) AS later WHERE id = ${a.cluster.instanceId}`,
    );
    await until("a to be followed", () => {
      wake(b);
      return b.cluster.owns(ACCOUNT);
    });
  });

  test("one that stands still in the middle of a transaction does not keep others waiting", async () => {
    const clock = new ManualClock(Date.now());
    await using a = await anInstance(place, "a", { clock });
    await using b = await anInstance(place, "b");
    const { promise: still, resolve: goOn } = Promise.withResolvers<undefined>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<undefined>();
    const write = a.session.write(async (query) => {
      await query("INSERT INTO counted VALUES ('x', 1)", []);
      begin(undefined);
      await still;
      return query("SELECT 1", []);
    });
    const refusal = write.catch((error: unknown) => error);
    await begun;
    await lapse(a);
    wake(b);
    await b.hears("others-lost");
    goOn(undefined);
    expect(await refusal).toMatchObject({ code: "LEASE_LOST" });
    expect((await counted(b.session)).size).toBe(0);
  });

  test("a server that stands still is away, and then back; nobody is lost for it alone", async () => {
    await using own = await aPostgres();
    const there = await aPlace(own);
    await using a = await anInstance(there, "a", { leaseMs: 3_000 });
    own.pause();
    const away = await a.hears("away");
    expect(away.why).toMatch(/no answer|timeout/);
    own.resume();
    await a.hears("back");
    expect(await count(a.session, "x")).toBe(1);
    expect(a.changes.filter(({ type }) => type === "lost")).toEqual([]);
  });
});

describe("the share of an instance", () => {
  const wish = (
    assignment: Assignment,
    holder: Wish["holder"] = "nobody",
    { takers = 1 }: { takers?: number } = {},
  ) => ({ assignment, holder, takers });
  const two = { takers: 2 };

  test.for([
    ["alone: all", [wish(ofMirror(1)), wish(ofMirror(2))], [ofMirror(1), ofMirror(2)]],
    [
      "of two: half",
      [wish(ofMirror(1), "nobody", two), wish(ofMirror(2), "nobody", two)],
      [ofMirror(1)],
    ],
    ["has its share", [wish(ofMirror(1), "me", two), wish(ofMirror(2), "nobody", two)], []],
    [
      "what others left",
      [wish(ofMirror(1), "me", two), wish(ofMirror(2), "left", two)],
      [ofMirror(2)],
    ],
    ["an account at once", [wish(ofMirror(1), "me"), wish(ACCOUNT)], [ACCOUNT]],
    ["what is another's", [wish(ACCOUNT, "other"), wish(ofMirror(1), "other")], []],
    ["local others: not yet", [wish(ofMirror(1), "nobody", { takers: 0 })], []],
    ["local others: later", [wish(ofMirror(1), "left", { takers: 0 })], [ofMirror(1)]],
    [
      "its share is of what it takes at once",
      [wish(ofMirror(1), "nobody", { takers: 0 }), wish(ofMirror(2)), wish(ofMirror(3))],
      [ofMirror(2), ofMirror(3)],
    ],
  ] as const)("%s", ([, wishes, taken]) => {
    expect(assignmentsToTake(wishes)).toEqual(taken);
  });

  test("who takes a mirror at once: those that are local to it, or all where none is", () => {
    const living = [
      { id: 1, assignments: [], local: [ofMirror(1)] },
      { id: 2, assignments: [], local: [] },
      { id: 3, assignments: [], local: [ofMirror(1)] },
    ];
    const gone = [ofMirror(3)];
    const takers = (me: number, assignment: Assignment) =>
      takersOf(assignment, { me, living, gone });
    expect([takers(1, ofMirror(1)), takers(2, ofMirror(1)), takers(3, ofMirror(1))]).toEqual([
      2, 0, 2,
    ]);
    expect(takers(2, ofMirror(2))).toBe(3);
    expect(takers(2, ofMirror(3)), "it was here a moment ago").toBe(0);
  });

  test("at once only those take a mirror that are local to it; where nobody is local, all are taken", () => {
    const clusters = fc.record({
      mirrors: fc.integer({ min: 1, max: 40 }),
      local: fc.array(fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), {
        minLength: 1,
        maxLength: 6,
      }),
    });
    const law = fc.property(clusters, ({ mirrors, local }) => {
      const assignments = Array.from({ length: mirrors }, (_, at) => ofMirror(at + 1));
      const living = local.map((nears, id) => ({
        id,
        assignments: new Array<Assignment>(),
        local: assignments.filter((_, at) => nears[at]),
      }));
      for (const { id: me, assignments: taken } of living)
        taken.push(...new Wishes(assignments, 1).toTake({ me, living, gone: [] }, 0));
      for (const { assignments: taken, local: own } of living)
        for (const assignment of taken) {
          if (living.some((instance) => instance.local.includes(assignment)))
            expect(own, `${assignment.id} is led by one that is local`).toContain(assignment);
        }
      if (living.every((instance) => instance.local.length === 0))
        expect(living.flatMap(({ assignments: taken }) => taken)).toHaveLength(mirrors);
    });
    fc.assert(law);
  });
});
