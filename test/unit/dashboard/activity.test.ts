import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dayStart, monthStart } from "../../../src/domain/calendar.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { Desk, events } from "../../contract/journal-desk.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { ask, openDashboard } from "./open-dashboard.ts";
import { RunningSums } from "../../../src/dashboard/metrics.ts";
import { sumOf, type UsageBucket, USAGE_BUCKET_MS } from "../../../src/journal/usage-bucket.ts";

describe("activity", () => {
  const DAY = 86_400_000;
  /** Noon of the 20th, wherever this runs. */
  const NOW = new Date(2026, 10, 20, 12).getTime();
  const clock = { ...systemClock, now: () => NOW };

  /** A journal in which a document was sent at each of `times`, three pages each. */
  async function sentAt(...times: number[]): Promise<Desk> {
    const desk = await Desk.at(new MemoryJournal());
    const batch = {
      id: "batch-1",
      mirrorId: desk.mirrorId,
      openedAt: 1,
      joinedAt: 2,
      documents: 9,
    };
    await desk.journal.apply([{ type: "batch", batch }]);
    for (const [index, at] of times.entries()) {
      const { id } = await desk.add(`${index}.pdf`, { at });
      const { settled, claimed, accepted, converted } = events;
      const steps = [settled(), claimed(7, at), accepted(500 + index), converted()];
      await desk.after(id, ...steps.map((event) => ({ ...event, at })));
    }
    return desk;
  }

  async function get(desk: Desk, path: string) {
    await using opened = await openDashboard({ journal: desk.journal, clock });
    const { status, headers, body } = await ask({ port: opened.port, path });
    return { status, headers, body };
  }

  describe("activity", () => {
    test.for([
      // sent at, today, this month, because
      [[], 0, 0, "nothing was sent"],
      [[NOW - 60_000], 1, 1, "a minute ago"],
      [[dayStart(NOW)], 1, 1, "the day begins at midnight"],
      [[dayStart(NOW) - 1], 0, 1, "and the one before ended then"],
      [[monthStart(NOW), monthStart(NOW) - 1], 0, 1, "so does the month"],
      [[NOW - 400 * DAY], 0, 0, "another year is another month"],
    ] as [number[], number, number, string][])(
      "%j: %i today, %i this month: %s",
      async ([times, today, month]) => {
        const { body } = await get(await sentAt(...times), "/api/activity");
        expect(JSON.parse(body)).toMatchObject({
          today: { uploaded: today, converted: today, pages: 3 * today },
          month: { uploaded: month, converted: month, pages: 3 * month },
        });
      },
    );

    test("is told hour by hour and day by day, without a gap", async () => {
      const { body } = await get(await sentAt(NOW - 60_000, NOW, NOW - 2 * DAY), "/api/activity");
      const { hours, days } = JSON.parse(body) as Record<
        string,
        { at: number; uploaded: number }[]
      >;
      expect(hours?.map(({ uploaded }) => uploaded)).toEqual([...Array(22).fill(0), 1, 1]);
      expect(days?.map(({ uploaded }) => uploaded)).toEqual([...Array(28).fill(0), 1, 0, 2]);
      expect(days?.at(-1)?.at).toBe(dayStart(NOW));
    });

    test("names the mirrors and the batches", async () => {
      const { body } = await get(await sentAt(NOW), "/api/activity");
      expect(JSON.parse(body)).toMatchObject({
        today: { mirrors: [{ mirror: "scans", uploaded: 1 }] },
        batches: [{ id: "batch-1", mirror: "scans", documents: 9, states: { converted: 1 } }],
      });
    });
  });

  describe("the receipt of a batch", () => {
    test("names each document, its id in the archive and its content", async () => {
      const desk = await sentAt(NOW);
      await desk.after((await desk.add("late\n.pdf")).id, events.settled("d2"));
      const { headers, body } = await get(desk, "/api/receipt?batch=batch-1");
      expect(headers["content-disposition"]).toBe('inline; filename="scanferry-batch-1.txt"');
      expect(body.split("\n")).toEqual([
        "# batch batch-1 of mirror scans",
        "# 1 of 2 documents converted, 3 pages",
        "document\tstate\tconverted\tpages\tsha256\tfile",
        `500\tconverted\t${new Date(NOW).toISOString()}\t3\td1\t0.pdf`,
        "none\tpending\tnone\tnone\td2\tlate\\x0a.pdf",
        "",
      ]);
    });

    test.for([
      ["?batch=batch-9", 404, "no such batch"],
      ["", 400, "none is named"],
      ["?batch=%0d%0aset-cookie", 400, "it stands in a header"],
      [`?batch=${"x".repeat(37)}`, 400, "longer than any"],
    ] as const)("%s is refused with %i: %s", async ([query, status]) => {
      expect((await get(await sentAt(NOW), `/api/receipt${query}`)).status).toBe(status);
    });
  });

  describe("the story of a document", () => {
    test("tells its history, its attempts, and what was at its path before", async () => {
      const desk = await sentAt();
      await desk.forget((await desk.add("a.pdf")).id);
      const first = await desk.uploaded("a.pdf", 501);
      const { id } = await desk.add("a.pdf", { supersedes: first.id });
      await desk.add("a.pdf.b");
      const { body } = await get(desk, `/api/document?id=${id}`);
      const story = JSON.parse(body);
      expect(story).toMatchObject({ document: { id, path: "a.pdf" }, attempts: [], contents: [] });
      expect(story.history.map(({ event }: { event: string }) => event)).toEqual(["add"]);
      expect(story.revisions).toMatchObject([{ id: first.id, documentId: 501 }]);
      expect(story.forgotten.map(({ event }: { event: string }) => event)).toEqual([
        "add",
        "forget",
      ]);
      const { body: older } = await get(desk, `/api/document?id=${first.id}`);
      expect(JSON.parse(older)).toMatchObject({ attempts: [{ outcome: "accepted" }] });
    });

    test.for([
      ["QUOTA_LIMIT", NOW + 3_600_000, "the gate asks for it then"],
      ["FOLDER_MISSING", null, "that has nothing to do with the gate"],
    ] as const)(
      "held for %s while the gate is closed: next attempt %s, as %s",
      async ([code, at]) => {
        const desk = await sentAt();
        const problem = { code: "QUOTA_LIMIT", message: "no pages" };
        const { id } = await desk.held("a.pdf", code);
        const gate = { closedAt: NOW, problem, probes: 1, nextProbeAt: NOW + 3_600_000 };
        await desk.journal.setGate(gate);
        const { body } = await get(desk, `/api/document?id=${id}`);
        expect(JSON.parse(body)).toMatchObject({ document: { nextAttemptAt: at } });
      },
    );

    test.for([
      ["?id=99", 404, "no such row"],
      ["?id=0", 400, "ids begin at one"],
      ["?id=1e3", 400, "not a plain number"],
      ["", 400, "none is named"],
    ] as const)("%s is refused with %i: %s", async ([query, status]) => {
      expect((await get(await sentAt(NOW), `/api/document${query}`)).status).toBe(status);
    });
  });
});

describe("running sums", () => {
  const DAY = 24 * 3_600_000;
  const NOW = 20_000 * DAY;

  function usageBucket(mirrorId: number, quartersAgo: number, uploaded: number): UsageBucket {
    const at = NOW - quartersAgo * USAGE_BUCKET_MS;
    return { ...sumOf([]), mirrorId, at, uploaded, pages: 2 * uploaded };
  }

  /** As the journal answers; `read` counts what it gave. */
  function journalOf(all: readonly UsageBucket[]) {
    const journal = {
      read: 0,
      usageBuckets: async (from: number, to: number) => {
        const found = all.filter(({ at }) => at >= from && at < to);
        journal.read += found.length;
        return found;
      },
    };
    return journal;
  }

  test("at every moment the sums are those of all usage buckets", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            mirror: fc.integer({ min: 1, max: 3 }),
            ago: fc.integer({ min: 0, max: 400 }),
          }),
        ),
        fc.array(fc.integer({ min: 0, max: 900 * USAGE_BUCKET_MS }), { minLength: 1 }),
        async (events, looks) => {
          const all = events.map(({ mirror, ago }, index) => usageBucket(mirror, ago, index + 1));
          const weekOf = (now: number) => Math.floor(now / (7 * DAY)) * 7 * DAY;
          for (const beginOf of [() => 0, weekOf]) {
            const running = new RunningSums(journalOf(all), beginOf);
            for (const ago of looks) {
              const now = NOW - ago;
              // Two at the same moment, as two scrapers ask.
              for (const sums of await Promise.all([running.sums(now), running.sums(now)])) {
                for (const mirrorId of [1, 2, 3]) {
                  const own = all.filter((one) => one.mirrorId === mirrorId);
                  const since = sumOf(own.filter(({ at }) => at >= beginOf(now)));
                  expect(sums.get(mirrorId) ?? sumOf([])).toEqual(since);
                }
              }
            }
          }
        },
      ),
    ));

  test("what is past is read once", async () => {
    const journal = journalOf(Array.from({ length: 5_000 }, (_, ago) => usageBucket(1, ago, 1)));
    const ever = new RunningSums(journal);
    await ever.sums(NOW);
    journal.read = 0;
    for (let scrape = 1; scrape <= 10; scrape++) {
      const sums = await ever.sums(NOW + scrape * 15_000);
      expect(sums.get(1)?.uploaded).toBe(5_000);
    }
    expect(journal.read).toBeLessThanOrEqual(10 * 100);
  });
});
