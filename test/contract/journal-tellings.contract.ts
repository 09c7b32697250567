import { describe, expect, test } from "vitest";
import type { Event } from "../../src/domain/life.ts";
import type { JournalFixture } from "./journal.contract.ts";
import { Desk, events, NOW } from "./journal-desk.ts";

const { settled, claimed, accepted, converted } = events;
const trouble = { code: "VETOED", message: "not this one" };
const vetoed: Event = { type: "vetoed", at: NOW + 9, digest: "d1", trouble, after: "due" };
const refused: Event = { type: "refused", at: NOW + 31, trouble };

/** What every journal promises about outcomes that a hook is to be told. */
export function journalTellingsContract(name: string, open: () => Promise<JournalFixture>): void {
  const withDesk = (check: (desk: Desk, fixture: JournalFixture) => Promise<void>) => async () => {
    await using fixture = await open();
    await check(await Desk.at(fixture.journal), fixture);
  };

  describe(`${name}: outcomes to tell`, () => {
    test.for([
      ["converted", [settled(), claimed(), accepted(501), converted()]],
      ["failed", [settled(), claimed(), refused]],
      ["vetoed", [vetoed]],
    ] as const)("%s is kept with the row as it left it", async ([outcome, way]) => {
      await withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        await journal.keepTellings([mirrorId]);
        const { id } = await desk.add("a.pdf");
        const document = await desk.after(id, ...way);
        const [telling, ...more] = await journal.tellings(mirrorId, NOW + 99, 9);
        expect(telling).toMatchObject({ mirrorId, outcome, tries: 0, document });
        expect(more).toEqual([]);
        expect(await journal.untold()).toEqual([{ mirrorId, tellings: 1 }]);
      })();
    });

    test(
      "of a mirror that nobody asked about: nothing, and nothing any more",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        await desk.after((await desk.add("a")).id, vetoed);
        expect(await journal.untold()).toEqual([]);
        await journal.keepTellings([mirrorId]);
        await desk.after((await desk.add("b")).id, vetoed);
        await journal.keepTellings([mirrorId + 1]);
        await desk.after((await desk.add("c")).id, vetoed);
        expect(await journal.untold()).toEqual([{ mirrorId, tellings: 1 }]);
      }),
    );

    test(
      "the longest due first; put off, and told; numbers are not used again",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        await journal.keepTellings([mirrorId]);
        for (const path of ["a", "b"]) await desk.after((await desk.add(path)).id, vetoed);
        const now = NOW + 9;
        expect(await journal.tellings(mirrorId, now - 1, 9)).toEqual([]);
        const [a, b] = await journal.tellings(mirrorId, now, 9);
        await journal.putOffTelling(a?.number ?? 0, 1, now + 5);
        expect(await journal.tellings(mirrorId, now, 9)).toEqual([b]);
        expect(await journal.tellings(mirrorId, now + 5, 9)).toEqual([
          b,
          { ...a, tries: 1, dueAt: now + 5 },
        ]);
        await journal.endTelling(b?.number ?? 0);
        await desk.after((await desk.add("c")).id, vetoed);
        const numbers = (await journal.tellings(mirrorId, now + 5, 9)).map(({ number }) => number);
        expect(numbers).not.toContain(b?.number);
        expect(await journal.tellings(mirrorId + 1, now + 5, 9)).toEqual([]);
      }),
    );

    test(
      "pulled in: those of one mirror that are due too late, however often they were tried",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        await journal.keepTellings([mirrorId]);
        for (const path of ["a", "b"]) await desk.after((await desk.add(path)).id, vetoed);
        const now = NOW + 9;
        const [a, b] = await journal.tellings(mirrorId, now, 9);
        await journal.putOffTelling(a?.number ?? 0, 3, now + 10);
        await journal.pullInTellings(mirrorId + 1, now, now + 1);
        await journal.pullInTellings(mirrorId, now + 10, now + 1);
        expect(await journal.tellings(mirrorId, now + 9, 9), "not later than that").toEqual([b]);
        await journal.pullInTellings(mirrorId, now + 9, now + 1);
        const all = [b, { ...a, tries: 3, dueAt: now + 1 }];
        expect(await journal.tellings(mirrorId, now + 1, 9)).toEqual(all);
      }),
    );

    test(
      "outlives its row",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        await journal.keepTellings([mirrorId]);
        const { id } = await desk.add("a");
        await desk.after(id, vetoed);
        await journal.apply([{ type: "forget", id, at: NOW + 20, why: "put away" }]);
        expect(await journal.untold()).toEqual([{ mirrorId, tellings: 1 }]);
      }),
    );

    test(
      "what was vetoed is put away, too",
      withDesk(async (desk) => {
        const row = await desk.after((await desk.add("a")).id, vetoed);
        expect(row).toMatchObject({ state: "held", after: "due", digest: "d1", dueAt: null });
        expect((await desk.journal.afterDue(NOW, 9)).map(({ id }) => id)).toEqual([row.id]);
      }),
    );
  });
}
