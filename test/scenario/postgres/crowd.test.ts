/** Several daemons on one journal in PostgreSQL: what they are shown, take and claim. */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Document } from "../../../src/domain/document.ts";
import type { Alone, Applied, Change, Journal } from "../../../src/journal/journal.ts";
import { appearing, Desk, events, NOW } from "../../contract/journal-desk.ts";
import { aPostgresJournal } from "../../fixtures/a-postgres-journal.ts";
import { aPostgres, NO_POSTGRES, type Postgres } from "../../fixtures/postgres.ts";
import { until } from "../../fixtures/until.ts";

const { settled, claimed } = events;
const LATER = NOW + 1_000_000;
const idsOf = (rows: readonly { id: number }[]) =>
  rows.map(({ id }) => id).toSorted((a, b) => a - b);

describe.skipIf(NO_POSTGRES)("several daemons on one journal", () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await aPostgres();
  });
  afterAll(() => postgres[Symbol.asyncDispose]());

  /** So many daemons' journals; those that are not closed by the test are in the end. */
  async function crowd(size: number) {
    const place = aPostgresJournal(postgres);
    const journals: Journal[] = [];
    for (let n = 0; n < size; n++) journals.push(await place.open("owner"));
    const desks: Desk[] = [];
    for (const journal of journals) desks.push(await Desk.at(journal));
    return {
      place,
      desks,
      async [Symbol.asyncDispose]() {
        for (const journal of journals) await journal.close();
      },
    };
  }

  async function pending(desk: Desk, count: number): Promise<Document[]> {
    const { mirrorId, journal } = desk;
    const adds = Array.from({ length: count }, (_, n): Change => {
      return { type: "add", document: appearing(mirrorId, `in/${n}`) };
    });
    const rows = (await journal.apply(adds)).flatMap(({ document }) => document ?? []);
    const settling = rows.map(({ id }, n): Change => {
      return { type: "event", id, event: settled(`d${n}`, "/S", `n${n}`) };
    });
    return (await journal.apply(settling)).flatMap(({ document }) => document ?? []);
  }

  const due = (limit: number) => ({ state: "pending", now: LATER, limit }) as const;

  test("what one takes nobody else is shown, until it is gone", async () => {
    await using many = await crowd(2);
    const [one, two] = many.desks as [Desk, Desk];
    const rows = await pending(one, 10);
    const first = await one.journal.take(due(6));
    expect(idsOf(first)).toEqual(idsOf(rows.slice(0, 6)));
    expect(idsOf(await two.journal.take(due(10)))).toEqual(idsOf(rows.slice(6)));
    expect(idsOf(await one.journal.take(due(10)))).toEqual(idsOf(first));
    expect(await two.journal.due(due(10)), "anyone who only looks sees all").toHaveLength(10);
    await using guest = await many.place.open("guest");
    expect(await guest.take(due(10)), "a command takes nothing").toHaveLength(10);
    await one.journal.close();
    expect(idsOf(await two.journal.take(due(10)))).toEqual(idsOf(rows));
  });

  test("many at once share what is due without overlapping", async () => {
    await using many = await crowd(4);
    const rows = await pending(many.desks[0] as Desk, 200);
    const taken = await Promise.all(many.desks.map(({ journal }) => journal.take(due(50))));
    const ids = taken.flatMap(idsOf);
    expect(new Set(ids).size).toBe(ids.length);
    expect(taken.map((some) => some.length).every((length) => length > 0)).toBe(true);
    expect(ids.every((id) => rows.some((row) => row.id === id))).toBe(true);
  });

  test("who is overtaken by others takes what comes next, as many as it asked for", async () => {
    await using many = await crowd(4);
    const rows = await pending(many.desks[0] as Desk, 40);
    for (let round = 0; round < 2; round++) {
      const taken = await Promise.all(many.desks.map(({ journal }) => journal.take(due(5))));
      expect(taken.map((some) => some.length)).toEqual([5, 5, 5, 5]);
      const ids = taken.flatMap(idsOf).toSorted((a, b) => a - b);
      expect(ids, "the first ones, each once").toEqual(
        idsOf(rows).slice(round * 20, 20 * (round + 1)),
      );
      const claim = ({ id }: Document): Change => ({ type: "event", id, event: claimed() });
      await Promise.all(
        many.desks.map(({ journal }, n) => journal.apply((taken[n] ?? []).map(claim))),
      );
    }
  });

  test("what another has taken is not claimed; what was done to a row ends its being taken", async () => {
    await using many = await crowd(2);
    const [one, two] = many.desks as [Desk, Desk];
    const [row] = await pending(one, 1);
    const id = row?.id ?? 0;
    await one.journal.take(due(1));
    const claim: Change = { type: "event", id, event: claimed(), from: ["pending"] };
    expect(await two.journal.apply([claim])).toMatchObject([{ skipped: true, from: "pending" }]);
    await one.journal.apply([{ type: "note", id, at: NOW, why: "later", set: { dueAt: NOW } }]);
    expect(await two.journal.apply([claim])).toMatchObject([{ skipped: false }]);
    expect(await one.journal.apply([claim])).toMatchObject([{ skipped: true, from: "uploading" }]);
  });

  test("what a living daemon sends is under way to nobody; what a lost one did, is to all", async () => {
    await using many = await crowd(2);
    const [one, two] = many.desks as [Desk, Desk];
    const [a, b] = await pending(one, 2);
    await one.after(a?.id ?? 0, claimed());
    await two.after(b?.id ?? 0, claimed());
    // A note of another's is no claim.
    await two.journal.apply([
      { type: "note", id: a?.id ?? 0, at: NOW, why: "seen", set: { goneAt: NOW } },
    ]);
    expect(await one.journal.underWay(9)).toEqual([]);
    expect(await two.journal.underWay(9)).toEqual([]);
    await using guest = await many.place.open("guest");
    expect(await guest.underWay(9)).toEqual([]);
    await one.journal.close();
    expect(idsOf(await two.journal.underWay(9))).toEqual([a?.id]);
  });

  test("of conflicts that are claimed at the same moment by different daemons, one is", async () => {
    await using many = await crowd(4);
    const [one] = many.desks as [Desk];
    for (let round = 0; round < 5; round++) {
      const rows: Document[] = [];
      for (let n = 0; n < 4; n++) {
        const { id } = await one.add(`${round}/${n}`);
        rows.push(await one.after(id, settled(`d${round}`, "/S", `n${round}`)));
      }
      const claims = await Promise.all(
        many.desks.map(({ journal }, n) =>
          journal.apply([
            {
              type: "event",
              id: rows[n]?.id ?? 0,
              event: claimed(),
              alone: n % 2 ? "name" : "nameAndContent",
            },
          ]),
        ),
      );
      expect(claims.flat().filter(({ skipped }) => !skipped)).toHaveLength(1);
    }
  });

  /** Keeps a claim of the row, its next line of history, from being committed until it is disposed. */
  async function holdUp(schema: string, id: number): Promise<AsyncDisposable> {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(
      `BEGIN; INSERT INTO ${schema}.history (document, number, at, event)
        SELECT ${id}, max(number) + 1, 0, 'x' FROM ${schema}.history WHERE document = ${id}`,
    );
    return { [Symbol.asyncDispose]: () => client.end() };
  }

  const waiting = async (what: "transactionid" | "advisory") => {
    const asked = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = '${what}'`;
    await until(`a wait for a lock (${what})`, async () => (await postgres.ask(asked)).length > 0);
  };

  test.for<
    readonly [
      both: string,
      digests: [string, string],
      names: [string, string],
      alone: Alone,
      waits: boolean,
    ]
  >([
    ["different names and contents", ["d1", "d2"], ["1", "2"], "nameAndContent", false],
    ["one content, where that may be sent twice", ["d", "d"], ["1", "2"], "name", false],
    ["one content, where it may not", ["d", "d"], ["1", "2"], "nameAndContent", true],
    ["one name", ["d1", "d2"], ["n", "n"], "name", true],
  ])("of claims by two daemons of %s", async ([, digests, names, alone, waits]) => {
    await using many = await crowd(2);
    const [one, two] = many.desks as [Desk, Desk];
    const rows: Document[] = [];
    for (const n of [0, 1] as const) {
      const { id } = await one.add(`in/${n}`);
      await one.after(id, settled(digests[n], "/S", names[n]));
      // Of a life that is out of the ordinary each step is a line of history.
      const problem = { code: "PAUSED", message: "a pause" };
      await one.after(id, { type: "heldBack", at: NOW, dueAt: null, problem });
      rows.push(await one.after(id, { type: "goesOn", at: NOW }));
    }
    const claim = async ({ journal }: Desk, row: Document | undefined) => {
      const id = row?.id ?? 0;
      return journal.apply([{ type: "event", id, event: claimed(), from: ["pending"], alone }]);
    };
    const held = await holdUp(many.place.schema, rows[0]?.id ?? 0);
    const first = claim(one, rows[0]);
    await waiting("transactionid");
    const second = claim(two, rows[1]);
    if (waits) await waiting("advisory");
    else expect(await second, "while the first one is held up").toMatchObject([{ skipped: false }]);
    await held[Symbol.asyncDispose]();
    expect(await first).toMatchObject([{ skipped: false }]);
    expect(await second).toMatchObject([{ skipped: waits }]);
  });

  test("of daemons that see the same file at the same moment, one adds it and all are shown it", async () => {
    await using many = await crowd(4);
    for (let round = 0; round < 10; round++) {
      const adds = await Promise.all(
        many.desks.map(({ journal, mirrorId }) =>
          journal.apply([{ type: "add", document: appearing(mirrorId, `d/${round}`) }]),
        ),
      );
      const applied = adds.flat();
      expect(applied.filter(({ skipped }) => !skipped)).toHaveLength(1);
      expect(new Set(applied.map(({ document }) => document?.id)).size).toBe(1);
    }
  });

  test("a directory that one tidies away is there for the file that another adds", async () => {
    await using many = await crowd(2);
    const [one, two] = many.desks as [Desk, Desk];
    for (let round = 0; round < 25; round++) {
      const { id } = await one.add(`dir/old${round}`);
      const [, added] = await Promise.all([one.forget(id), two.add(`dir/new${round}`)]);
      expect(await one.journal.document(added.id)).toMatchObject({ name: `new${round}` });
      await one.forget(added.id);
    }
  });

  test("each state's documents are counted by all daemons, who do not wait for one another", async () => {
    await using many = await crowd(3);
    const [one] = many.desks as [Desk];
    await pending(one, 5);
    const counts = `${many.place.schema}.document_counts`;
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    // As a transaction of the first one that lasts: whoever waited for it, would wait for ever.
    await client.query(`BEGIN; UPDATE ${counts} SET documents = documents`);
    const work = many.desks.slice(1).map(async (desk, n) => {
      for (let round = 0; round < 5; round++) {
        const added = await desk.add(`${n}/${round}`);
        await desk.after(added.id, settled(`d${n}-${round}`, "/S", `n${n}-${round}`));
        if (round % 2) await desk.forget(added.id);
        else await desk.after(added.id, claimed());
      }
    });
    await Promise.all(work);
    await client.query("COMMIT");
    await client.end();
    const counted = (await one.journal.counts()).map(({ state, documents }) => [state, documents]);
    expect(counted).toEqual([
      ["pending", 5],
      ["uploading", 6],
    ]);
    const rows = await postgres.ask(
      `SELECT state, count(*)::int AS rows FROM ${counts} GROUP BY state`,
    );
    for (const { rows: each } of rows) expect(each).toBeLessThanOrEqual(many.desks.length + 1);
  });

  test("of a crowd of calls in one group, those that are refused are alone in it", async () => {
    await using many = await crowd(2);
    const [one, two] = many.desks as [Desk, Desk];
    const [row] = await pending(one, 1);
    await one.after(row?.id ?? 0, claimed());
    const second = await one.add("second");
    await one.after(second.id, settled("x"), claimed());
    await one.after(row?.id ?? 0, events.accepted(501));
    const { journal, mirrorId } = one;
    const adding = (path: string) =>
      journal.apply([{ type: "add", document: appearing(mirrorId, path) }]);
    const results = await Promise.allSettled([
      adding("a"),
      journal.apply([{ type: "event", id: second.id, event: events.accepted(501) }]),
      adding("same"),
      adding("same"),
      journal.apply([{ type: "event", id: second.id, event: events.converted() }]),
      two.add("same").catch((error: unknown) => error),
      adding("b"),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    const applied = results.flatMap((result) =>
      result.status === "fulfilled" && Array.isArray(result.value)
        ? (result.value as Applied[])
        : [],
    );
    const same = applied.filter(({ document }) => document?.name === "same");
    expect(new Set(same.map(({ document }) => document?.id)).size).toBe(1);
    expect((await journal.document(second.id))?.state).toBe("uploading");
    expect((await one.paths()).filter((path) => path === "|same")).toHaveLength(1);
  });
});
