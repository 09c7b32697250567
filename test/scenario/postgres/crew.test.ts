import * as fc from "fast-check";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LEASE_MS } from "../../../src/config/journal-place.ts";
import type { Duty } from "../../../src/journal/crew.ts";
import { PgCrew } from "../../../src/journal/postgres/crew.ts";
import { dutiesToTake, takersOf, type Wish } from "../../../src/journal/postgres/fair-share.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import {
  aMember,
  aPlace,
  count,
  counted,
  dutiesOf,
  type Office,
  type Place,
} from "../../fixtures/pg-sessions.ts";
import { aPostgres, NO_POSTGRES, type Postgres } from "../../fixtures/postgres.ts";
import { until } from "../../fixtures/until.ts";

/** A lease that ends for nobody, however slow the machine: the database's clock is not moved by hand. */
const LONG_MS = 600_000;

/** What nobody has for so long by the clock of a member with such a lease, others left. */
const LEFT_MS = LONG_MS / 4;

/** Has a member take a turn now, and not when it is due. */
function wake({ crew }: Office): void {
  if (!(crew instanceof PgCrew)) throw new Error("no member");
  crew.wake();
}

/** Resolves once a member has looked, and done what comes of it. */
async function looked(member: Office): Promise<void> {
  const { crew } = member;
  const renewedAt = async () =>
    (await crew.members()).find(({ id }) => id === crew.memberId)?.renewedAt ?? 0;
  // The second turn begins when all of the first is done.
  for (let turn = 0; turn < 2; turn++) {
    const before = await renewedAt();
    wake(member);
    await until("a turn", async () => (await renewedAt()) > before);
  }
}

describe.skipIf(NO_POSTGRES !== undefined)("the crew on PostgreSQL", () => {
  let postgres: Postgres;
  let place: Place;

  beforeAll(async () => {
    postgres = await aPostgres();
  });

  afterAll(() => postgres[Symbol.asyncDispose]());

  beforeEach(async () => {
    place = await aPlace(postgres);
  });

  /** The lease of a member that does not renew it runs out. */
  const lapse = ({ crew }: Office) =>
    postgres.ask(
      `UPDATE ${place.schema}.members SET lease_until = clock_timestamp() WHERE id = ${crew.memberId}`,
    );

  test("everybody sees everybody, with what they do and where their page is", async () => {
    await using a = await aMember(place, "a");
    await using b = await aMember(place, "b");
    await a.crew.seek(dutiesOf(1));
    await b.session.announce("http://b.example");
    const members = await a.crew.members();
    expect(members.map(({ name, web, duties }) => [name, web, duties])).toEqual([
      ["a", null, ["account:1", "mirror:1"]],
      ["b", "http://b.example", []],
    ]);
    expect(members.map(({ id }) => id)).toEqual([a.crew.memberId, b.crew.memberId]);
    // It is one host's; an answer may be late by seconds.
    expect(Math.abs(a.crew.clockOffsetMs)).toBeLessThan(30_000);
    expect(members[0]?.leaseUntil).toBeGreaterThan(members[0]?.renewedAt ?? Infinity);
  });

  test("one alone does everything at once; it is not told what it asked for", async () => {
    await using a = await aMember(place, "a");
    await a.crew.seek(dutiesOf(3));
    expect(dutiesOf(3).every((duty) => a.crew.leads(duty))).toBe(true);
    expect(a.changes).toEqual([]);
  });

  test("one that leaves is followed at once", async () => {
    const a = await aMember(place, "a");
    // By its clock it is never time to look: it hears of it.
    await using b = await aMember(place, "b", {
      leaseMs: LONG_MS,
      clock: new ManualClock(Date.now()),
    });
    await a.crew.seek(dutiesOf(0));
    await b.crew.seek(dutiesOf(0));
    expect([a.crew.leads("account:1"), b.crew.leads("account:1")]).toEqual([true, false]);
    await a.session.close();
    expect(await b.hears("gained")).toEqual({ type: "gained", duties: ["account:1"] });
    expect(b.crew.leads("account:1")).toBe(true);
    expect(await b.hears("others-lost")).toMatchObject({ members: [{ name: "a" }] });
  });

  test("mirrors are shared, and what nobody takes is taken later on", async () => {
    const clock = new ManualClock(Date.now());
    await using a = await aMember(place, "a", { leaseMs: LONG_MS, clock });
    await using b = await aMember(place, "b");
    await a.crew.seek(dutiesOf(4));
    const mirrors = dutiesOf(4).slice(1);
    expect(mirrors.filter((duty) => a.crew.leads(duty))).toHaveLength(2);
    await b.crew.seek(["mirror:1"]);
    // B does not seek the two that A left.
    await clock.advance(LEFT_MS);
    wake(a);
    await until("a to take what is left", () => mirrors.every((duty) => a.crew.leads(duty)));
    expect(b.crew.leads("mirror:1")).toBe(false);
  });

  test("three share what one of them leaves behind", async () => {
    const all = dutiesOf(6);
    const a = await aMember(place, "a");
    await a.crew.seek(all);
    await using b = await aMember(place, "b", { leaseMs: LONG_MS });
    await using c = await aMember(place, "c", { leaseMs: LONG_MS });
    await Promise.all([b.crew.seek(all), c.crew.seek(all)]);
    expect(all.some((duty) => b.crew.leads(duty) || c.crew.leads(duty))).toBe(false);
    await a.session.close();
    await until("all to be led", () =>
      all.every((duty) => b.crew.leads(duty) !== c.crew.leads(duty)),
    );
    const mirrorsOf = (crew: typeof b.crew) =>
      all.filter((duty) => duty !== "account:1" && crew.leads(duty)).length;
    expect([mirrorsOf(b.crew), mirrorsOf(c.crew)]).toEqual([3, 3]);
  });

  test("two who reach for the same duties at the same moment have their shares", async () => {
    const all = dutiesOf(6);
    await using b = await aMember(place, "b");
    await using c = await aMember(place, "c");
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    // Both see what is free, and neither takes any of it before the other has looked.
    await client.query(`BEGIN; LOCK TABLE ${place.schema}.duties IN SHARE MODE`);
    const seeking = Promise.all([b.crew.seek(all), c.crew.seek(all)]);
    await until("both to reach for them", async () => {
      const { rows } = await client.query("SELECT FROM pg_locks WHERE NOT granted");
      return rows.length === 2;
    });
    await client.query("COMMIT");
    await client.end();
    await seeking;
    const mirrorsOf = (crew: typeof b.crew) =>
      all.filter((duty) => duty !== "account:1" && crew.leads(duty)).length;
    await until("both to have some", () => mirrorsOf(b.crew) > 0 && mirrorsOf(c.crew) > 0);
    expect([mirrorsOf(b.crew), mirrorsOf(c.crew)]).toEqual([3, 3]);
  });

  test("a mirror goes to the host that has its file system, at once", async () => {
    const duties = dutiesOf(3);
    const mirrors = duties.slice(1);
    await using near = await aMember(place, "near");
    await near.crew.seek([], mirrors);
    await using far = await aMember(place, "far");
    await far.crew.seek(duties);
    expect(duties.filter((duty) => far.crew.leads(duty))).toEqual(["account:1"]);
    await near.crew.seek(duties, mirrors);
    expect(mirrors.filter((duty) => near.crew.leads(duty))).toEqual(mirrors);
    expect((await far.crew.members()).map((member) => member.near)).toEqual([mirrors, []]);
  });

  test("it is waited for while it starts again, and taken over from when it stays away", async () => {
    const duties = dutiesOf(2);
    const mirrors = duties.slice(1);
    const clock = new ManualClock(Date.now());
    await using far = await aMember(place, "far", { leaseMs: LONG_MS, clock });
    const leads = () => mirrors.filter((duty) => far.crew.leads(duty));
    {
      await using near = await aMember(place, "near");
      await near.crew.seek(duties, mirrors);
      await far.crew.seek(duties);
    }
    const gained = await far.hears("gained");
    expect(gained.duties, "the account is nobody's place").toEqual(["account:1"]);
    {
      await using again = await aMember(place, "near");
      await again.crew.seek(duties, mirrors);
      expect(mirrors.filter((duty) => again.crew.leads(duty))).toEqual(mirrors);
      expect(leads()).toEqual([]);
    }
    await looked(far);
    expect(leads()).toEqual([]);
    await clock.advance(LEFT_MS);
    wake(far);
    await until("the far one to take over", () => leads().length === mirrors.length);
  });

  test("one whose lease ran out is followed, writes nothing any more and may not send", async () => {
    const clock = new ManualClock(Date.now());
    // A's clock stands still, as its process would: it renews nothing.
    await using a = await aMember(place, "a", { clock });
    await a.crew.seek(dutiesOf(0));
    await using b = await aMember(place, "b");
    await b.crew.seek(dutiesOf(0));
    await count(a.session, "before");
    expect(a.crew.sendLeftMs).toBe(LEASE_MS - 2_000);
    await lapse(a);
    wake(b);
    expect(await b.hears("gained")).toEqual({ type: "gained", duties: ["account:1"] });
    expect(await b.hears("others-lost")).toMatchObject({
      members: [{ id: a.crew.memberId, name: "a", duties: ["account:1"] }],
    });
    const outcomes = await Promise.allSettled([count(a.session, "x"), count(a.session, "y")]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "LEASE_LOST" } });
    }
    await expect(count(a.session, "z")).rejects.toMatchObject({ code: "LEASE_LOST" });
    expect(a.changes.at(-1)).toEqual({ type: "lost" });
    expect([a.crew.leads("account:1"), a.crew.sendLeftMs]).toEqual([false, 0]);
    expect([...(await counted(b.session)).keys()]).toEqual(["before"]);
  });

  test("sending ends by whichever clock went further", async () => {
    const clock = new ManualClock(Date.now());
    await using a = await aMember(place, "a", { leaseMs: 10_000, clock });
    expect(a.crew.sendLeftMs).toBe(8_000);
    clock.jump(3_000);
    expect(a.crew.sendLeftMs).toBe(5_000);
    clock.jump(-60_000);
    expect(a.crew.sendLeftMs).toBe(8_000);
    clock.jump(70_000);
    expect(a.crew.sendLeftMs).toBeLessThan(0);
  });

  test("a lease that ran out unseen is renewed", async () => {
    const clock = new ManualClock(Date.now());
    await using a = await aMember(place, "a", { clock });
    await lapse(a);
    const [lapsed] = await a.crew.members();
    await count(a.session, "x");
    await clock.advance(LEASE_MS / 3);
    await until("the lease to be renewed", async () => {
      const [member] = await a.crew.members();
      return (member?.renewedAt ?? 0) > (lapsed?.leaseUntil ?? Infinity);
    });
    expect(a.changes).toEqual([]);
  });

  test("one that stands still in the middle of a transaction does not keep others waiting", async () => {
    const clock = new ManualClock(Date.now());
    await using a = await aMember(place, "a", { clock });
    await using b = await aMember(place, "b");
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
    await using a = await aMember(there, "a", { leaseMs: 3_000 });
    own.pause();
    const away = await a.hears("away");
    expect(away.why).toMatch(/no answer|timeout/);
    own.resume();
    await a.hears("back");
    expect(await count(a.session, "x")).toBe(1);
    expect(a.changes.filter(({ type }) => type === "lost")).toEqual([]);
  });
});

describe("the share of a member", () => {
  const wish = (
    duty: Duty,
    holder: Wish["holder"] = "nobody",
    { takers = 1 }: { takers?: number } = {},
  ) => ({ duty, holder, takers });
  const two = { takers: 2 };

  test.for([
    ["alone: all", [wish("mirror:1"), wish("mirror:2")], ["mirror:1", "mirror:2"]],
    [
      "of two: half",
      [wish("mirror:1", "nobody", two), wish("mirror:2", "nobody", two)],
      ["mirror:1"],
    ],
    ["has its share", [wish("mirror:1", "me", two), wish("mirror:2", "nobody", two)], []],
    [
      "what others left",
      [wish("mirror:1", "me", two), wish("mirror:2", "left", two)],
      ["mirror:2"],
    ],
    ["an account at once", [wish("mirror:1", "me"), wish("account:1")], ["account:1"]],
    ["what is another's", [wish("account:1", "other"), wish("mirror:1", "other")], []],
    ["near others: not yet", [wish("mirror:1", "nobody", { takers: 0 })], []],
    ["near others: later", [wish("mirror:1", "left", { takers: 0 })], ["mirror:1"]],
    [
      "its share is of what it takes at once",
      [wish("mirror:1", "nobody", { takers: 0 }), wish("mirror:2"), wish("mirror:3")],
      ["mirror:2", "mirror:3"],
    ],
  ] as const)("%s", ([, wishes, taken]) => {
    expect(dutiesToTake(wishes)).toEqual(taken);
  });

  test("who takes a mirror at once: those that are near to it, or all where none is", () => {
    const members = [
      { id: 1, near: ["mirror:1"] },
      { id: 2, near: [] },
      { id: 3, near: ["mirror:1"] },
    ] as const;
    const gone = new Set<Duty>(["mirror:3"]);
    const takers = (me: number, duty: Duty) => takersOf(duty, { me, members, gone });
    expect([takers(1, "mirror:1"), takers(2, "mirror:1"), takers(3, "mirror:1")]).toEqual([
      2, 0, 2,
    ]);
    expect(takers(2, "mirror:2")).toBe(3);
    expect(takers(2, "mirror:3"), "it was here a moment ago").toBe(0);
  });

  test("at once only those take a mirror that are near to it; where nobody is near, all are taken", () => {
    const crews = fc.record({
      mirrors: fc.integer({ min: 1, max: 40 }),
      near: fc.array(fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), {
        minLength: 1,
        maxLength: 6,
      }),
    });
    const law = fc.property(crews, ({ mirrors, near }) => {
      const duties = Array.from({ length: mirrors }, (_, at): Duty => `mirror:${at + 1}`);
      const members = near.map((nears, id) => ({ id, near: duties.filter((_, at) => nears[at]) }));
      const holders = new Map<Duty, number>();
      for (const { id: me } of members) {
        const crew = { me, members, gone: new Set<Duty>() };
        const wishes = duties.map((duty): Wish => {
          const holder = holders.get(duty);
          const takers = takersOf(duty, crew);
          return {
            duty,
            takers,
            holder: holder === undefined ? "nobody" : holder === me ? "me" : "other",
          };
        });
        for (const duty of dutiesToTake(wishes)) holders.set(duty, me);
      }
      for (const [duty, id] of holders) {
        if (members.some((member) => member.near.includes(duty)))
          expect(members[id]?.near, `${duty} is led by one that is near`).toContain(duty);
      }
      if (members.every((member) => member.near.length === 0)) expect(holders.size).toBe(mirrors);
    });
    fc.assert(law);
  });
});
