import { describe, expect, test } from "vitest";
import type { Event } from "../../src/domain/life.ts";
import type { JournalFixture } from "./journal.contract.ts";
import { atDesk, Desk, events, NOW } from "./journal-desk.ts";

const { settled, claimed, accepted, converted } = events;
const problem = { code: "VETOED", message: "not this one" };
const vetoed: Event = { type: "vetoed", at: NOW + 9, digest: "d1", problem, after: "due" };
const refused: Event = { type: "refused", at: NOW + 31, problem };

/** What every journal promises about outcomes that a hook is to be told. */
export function journalOutboxEntriesContract(
  name: string,
  open: () => Promise<JournalFixture>,
): void {
  const withDesk = (check: (desk: Desk, fixture: JournalFixture) => Promise<void>) => async () => {
    await using fixture = await open();
    await atDesk(fixture.journal, (desk) => check(desk, fixture));
  };

  describe(`${name}: outcomes to tell`, () => {
    test.for([
      ["converted", [settled(), claimed(), accepted(501), converted()]],
      ["failed", [settled(), claimed(), refused]],
      ["vetoed", [vetoed]],
    ] as const)("%s is kept with the row as it left it", async ([outcome, way]) => {
      await withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        await journal.keepOutboxEntries([mirrorId]);
        const { id } = await desk.add("a.pdf");
        const document = await desk.after(id, ...way);
        const [outboxEntry, ...more] = await journal.outboxEntries(mirrorId, NOW + 99, 9);
        expect(outboxEntry).toMatchObject({ mirrorId, outcome, tries: 0, document });
        expect(more).toEqual([]);
        expect(await journal.undelivered()).toEqual([{ mirrorId, outboxEntries: 1 }]);
      })();
    });

    test(
      "of a mirror that nobody asked about: nothing, and nothing any more",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        await desk.after((await desk.add("a")).id, vetoed);
        expect(await journal.undelivered()).toEqual([]);
        await journal.keepOutboxEntries([mirrorId]);
        await desk.after((await desk.add("b")).id, vetoed);
        await journal.keepOutboxEntries([mirrorId + 1]);
        await desk.after((await desk.add("c")).id, vetoed);
        expect(await journal.undelivered()).toEqual([{ mirrorId, outboxEntries: 1 }]);
      }),
    );

    test(
      "the longest due first; put off, and told; numbers are not used again",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        await journal.keepOutboxEntries([mirrorId]);
        for (const path of ["a", "b"]) await desk.after((await desk.add(path)).id, vetoed);
        const now = NOW + 9;
        expect(await journal.outboxEntries(mirrorId, now - 1, 9)).toEqual([]);
        const [a, b] = await journal.outboxEntries(mirrorId, now, 9);
        await journal.putOffOutboxEntry(a?.number ?? 0, 1, now + 5);
        expect(await journal.outboxEntries(mirrorId, now, 9)).toEqual([b]);
        expect(await journal.outboxEntries(mirrorId, now + 5, 9)).toEqual([
          b,
          { ...a, tries: 1, dueAt: now + 5 },
        ]);
        await journal.endOutboxEntry(b?.number ?? 0);
        await desk.after((await desk.add("c")).id, vetoed);
        const numbers = (await journal.outboxEntries(mirrorId, now + 5, 9)).map(
          ({ number }) => number,
        );
        expect(numbers).not.toContain(b?.number);
        expect(await journal.outboxEntries(mirrorId + 1, now + 5, 9)).toEqual([]);
      }),
    );

    test(
      "pulled in: those of one mirror that are due too late, however often they were tried",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        await journal.keepOutboxEntries([mirrorId]);
        for (const path of ["a", "b"]) await desk.after((await desk.add(path)).id, vetoed);
        const now = NOW + 9;
        const [a, b] = await journal.outboxEntries(mirrorId, now, 9);
        await journal.putOffOutboxEntry(a?.number ?? 0, 3, now + 10);
        await journal.pullInOutboxEntries(mirrorId + 1, now, now + 1);
        await journal.pullInOutboxEntries(mirrorId, now + 10, now + 1);
        expect(await journal.outboxEntries(mirrorId, now + 9, 9), "not later than that").toEqual([
          b,
        ]);
        await journal.pullInOutboxEntries(mirrorId, now + 9, now + 1);
        const all = [b, { ...a, tries: 3, dueAt: now + 1 }];
        expect(await journal.outboxEntries(mirrorId, now + 1, 9)).toEqual(all);
      }),
    );

    test(
      "outlives its row",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        await journal.keepOutboxEntries([mirrorId]);
        const { id } = await desk.add("a");
        await desk.after(id, vetoed);
        await journal.apply([{ type: "forget", id, at: NOW + 20, why: "moved or deleted" }]);
        expect(await journal.undelivered()).toEqual([{ mirrorId, outboxEntries: 1 }]);
      }),
    );

    test(
      "what was vetoed is moved or deleted, too",
      withDesk(async (desk) => {
        const row = await desk.after((await desk.add("a")).id, vetoed);
        expect(row).toMatchObject({ state: "held", after: "due", digest: "d1", dueAt: null });
        expect((await desk.journal.afterDue(NOW, 9)).map(({ id }) => id)).toEqual([row.id]);
      }),
    );
  });
}
