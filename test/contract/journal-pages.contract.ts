import { describe, expect, test } from "vitest";
import type { Event } from "../../src/domain/life.ts";
import type { Document } from "../../src/domain/document.ts";
import { sumOf, USAGE_BUCKET_MS } from "../../src/journal/usage-bucket.ts";
import type { JournalFixture } from "./journal.contract.ts";
import { atDesk, Desk, events, NOW, seenOf } from "./journal-desk.ts";

const { accepted, claimed, converted, found, heldBack, inDoubt, settled } = events;
const QUARTER = Math.floor(NOW / USAGE_BUCKET_MS) * USAGE_BUCKET_MS;
const LATER = QUARTER + 40 * USAGE_BUCKET_MS;
const ids = (documents: readonly { id: number }[]) => documents.map(({ id }) => id);

/** Settled as so many pages, null for not known, and due at `at`. */
const counted = (estimate: number | null, at = NOW + 10): Event => {
  return { ...settled(), at, estimate } as Event;
};
const charged = (charge: number): Event => ({ ...claimed(), charge }) as Event;
const convertedAt = (pages: number, at = NOW + 40): Event => {
  return { ...converted(), pages, at } as Event;
};

/** What every journal promises about pages, and about the order of what waits. */
export function journalPagesContract(name: string, open: () => Promise<JournalFixture>): void {
  const withDesk = (check: (desk: Desk, fixture: JournalFixture) => Promise<void>) => async () => {
    await using fixture = await open();
    await atDesk(fixture.journal, (desk) => check(desk, fixture));
  };
  const pagesUsed = async ({ journal, mirrorId }: Desk) =>
    (await journal.pagesUsed(QUARTER, LATER)).find((row) => row.mirrorId === mirrorId)?.pages ?? 0;
  const waits = async (desk: Desk, path: string, estimate: number | null, at?: number) => {
    const { id } = await desk.add(path);
    return desk.after(id, counted(estimate, at));
  };

  describe(`${name}: pages charged`, () => {
    test.for([
      // events, charging, charged, because
      [[counted(4)], 0, 0, "nothing has left"],
      [[counted(4), charged(4)], 4, 0, "it may be stored any moment"],
      [[counted(4), charged(4), inDoubt()], 4, 0, "in doubt, it counts as sent"],
      [[counted(4), charged(4), inDoubt(), heldBack("DOUBT_AMBIGUOUS")], 4, 0, "held in doubt"],
      [[counted(4), charged(4), heldBack("QUOTA_LIMIT")], 0, 0, "it was refused"],
      [[counted(4), charged(4), accepted(501)], 0, 4, "as it was counted here"],
      [[counted(4), charged(4), inDoubt(), found(501)], 0, 4, "it turned out to be there"],
      [[counted(4), charged(4), accepted(501), convertedAt(7)], 0, 7, "as the archive counts"],
      [[counted(9), charged(9), accepted(501), convertedAt(2)], 0, 2, "less than was feared"],
      [[counted(null), charged(1), accepted(501), convertedAt(30)], 0, 30, "an office file"],
    ] as [Event[], number, number, string][])("%#: %i, then %i: %s", async (line) => {
      const [steps, charging, sum] = line;
      await withDesk(async (desk) => {
        const { id } = await desk.add("a");
        await desk.after(id, ...steps);
        const { journal } = desk;
        expect(sumOf(await journal.usageBuckets(QUARTER, LATER)).charged).toBe(sum);
        expect(await pagesUsed(desk)).toBe(charging + sum);
      })();
    });

    test(
      "in the time in which it was uploaded, whenever it is converted",
      withDesk(async (desk) => {
        const { id } = await desk.add("a");
        await desk.after(id, counted(4), charged(4), accepted(501), convertedAt(7, LATER + 5));
        const { journal, mirrorId } = desk;
        expect(await journal.pagesUsed(QUARTER, LATER)).toEqual([{ mirrorId, pages: 7 }]);
        expect(await journal.usageBuckets(LATER, LATER + USAGE_BUCKET_MS)).toMatchObject([
          { converted: 1, pages: 7, charged: 0 },
        ]);
      }),
    );

    test(
      "nothing for what was there before, even where attempts had failed",
      withDesk(async (desk) => {
        const { id } = await desk.add("a");
        const place = { documentId: 501, folderId: 7, status: "CONVERTED", sentBytes: null };
        const adopted: Event = { type: "adopted", at: NOW + 60, dueAt: NOW + 60, ...place };
        await desk.after(id, counted(4), charged(4), events.deferred("X"), adopted, convertedAt(4));
        expect(await pagesUsed(desk)).toBe(0);
      }),
    );

    test(
      "what a duplicate would have cost is saved",
      withDesk(async (desk) => {
        const { id, ...original } = await desk.uploaded("a", 501);
        await desk.after(id, convertedAt(3));
        const twin = await desk.add("b");
        const duplicated: Event = {
          type: "duplicated",
          at: NOW + 90,
          original: { ...original, id, documentId: 501, pages: 3 },
          remark: "the same",
          after: null,
        };
        await desk.after(twin.id, settled(), duplicated);
        expect(await desk.journal.usageBuckets(QUARTER, LATER)).toMatchObject([
          { pages: 3, saved: 3 },
        ]);
      }),
    );
  });

  describe(`${name}: what waits`, () => {
    test(
      "is summed by mirror and state, and what is not known is told apart",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        await waits(desk, "a", 3);
        await waits(desk, "b", null);
        await waits(desk, "c", 40);
        await desk.add("settling");
        const held = await waits(desk, "d", 8);
        await desk.after(held.id, heldBack("QUOTA_LIMIT"));
        await desk.uploaded("sent", 501);
        expect(await journal.waitingPages()).toEqual([
          { mirrorId, state: "held", documents: 1, pages: 8, unknown: 0 },
          { mirrorId, state: "pending", documents: 3, pages: 43, unknown: 1 },
        ]);
        expect(await journal.pendingOver(mirrorId, 3)).toBe(1);
        expect(await journal.pendingOver(mirrorId + 1, 3)).toBe(0);
      }),
    );

    test(
      "passes over what has too many pages, and what is not due",
      withDesk(async (desk) => {
        const big = await waits(desk, "big", 40);
        const one = await waits(desk, "one", 1);
        const unknown = await waits(desk, "unknown", null);
        const few = await waits(desk, "few", 5);
        await waits(desk, "later", 1, NOW + 5_000);
        const { mirrorId } = desk;
        const query = { state: "pending", mirrorId, now: NOW + 20, limit: 9 } as const;
        const asked = async (set: { pagesMax?: number; limit?: number; mirrorId?: number }) =>
          ids(await desk.journal.take({ ...query, ...set }));
        expect(await asked({})).toEqual([big.id, one.id, unknown.id, few.id]);
        expect(await asked({ pagesMax: 40 })).toEqual([big.id, one.id, unknown.id, few.id]);
        expect(await asked({ pagesMax: 5 })).toEqual([one.id, unknown.id, few.id]);
        expect(await asked({ pagesMax: 4 })).toEqual([one.id, unknown.id]);
        expect(await asked({ pagesMax: 5, limit: 2 })).toEqual([one.id, unknown.id]);
        expect(await asked({ pagesMax: 5, mirrorId: mirrorId + 1 })).toEqual([]);
      }),
    );

    test(
      "comes oldest or newest first, in either lane",
      withDesk(async (desk) => {
        const rows: Document[] = [];
        for (const [n, bytes] of [70, 30, 99_000_000, 50, 60_000_000].entries()) {
          const { id } = await desk.add(`${n}`, { seen: seenOf(bytes) });
          rows.push(await desk.after(id, counted(1, NOW + n)));
        }
        const at = (...numbers: number[]) => numbers.map((n) => rows[n]?.id);
        const query = {
          state: "pending",
          now: NOW + 20,
          limit: 9,
          mirrorId: desk.mirrorId,
        } as const;
        const asked = async (set: object) => ids(await desk.journal.due({ ...query, ...set }));
        expect(await asked({})).toEqual(at(0, 1, 2, 3, 4));
        expect(await asked({ order: "oldest" })).toEqual(at(0, 1, 2, 3, 4));
        expect(await asked({ order: "newest" })).toEqual(at(4, 3, 2, 1, 0));
        const large = { sizeOverBytes: 16 << 20 };
        expect(await asked({ order: "newest", ...large })).toEqual(at(4, 2));
        expect(await asked({ order: "newest", now: NOW + 2, limit: 2 })).toEqual(at(2, 1));
        expect(await asked({ order: "newest", sizeMaxBytes: 60 })).toEqual(at(3, 1));
      }),
    );
  });

  test(
    `${name}: the last warning outlives the process`,
    withDesk(async (desk, { beside }) => {
      expect(await desk.journal.warned()).toEqual({ from: null, level: 0 });
      await desk.journal.setWarned({ from: NOW, level: 2 });
      await using other = await beside();
      expect(await other.warned()).toEqual({ from: NOW, level: 2 });
    }),
  );
}
