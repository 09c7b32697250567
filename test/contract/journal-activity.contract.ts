import { describe, expect, test } from "vitest";
import type { Event } from "../../src/domain/life.ts";
import { USAGE_BUCKET_MS } from "../../src/journal/usage-bucket.ts";
import { InvariantError } from "../../src/std/fault.ts";
import type { JournalFixture } from "./journal.contract.ts";
import { atDesk, Desk, events, NOW, seenOf } from "./journal-desk.ts";

const ids = (documents: readonly { id: number }[]) => documents.map(({ id }) => id);
const { settled, claimed, accepted, converted, found, inDoubt } = events;
const QUARTER = Math.floor(NOW / USAGE_BUCKET_MS) * USAGE_BUCKET_MS;

/** What every journal promises about what happened lately. */
export function journalActivityContract(name: string, open: () => Promise<JournalFixture>): void {
  const withDesk = (check: (desk: Desk) => Promise<void>) => async () => {
    await using fixture = await open();
    await atDesk(fixture.journal, check);
  };
  const everything = (desk: Desk) => desk.journal.usageBuckets(0, Number.MAX_SAFE_INTEGER);

  describe(`${name}: usage buckets`, () => {
    const adopted: Event = {
      type: "adopted",
      at: NOW + 30,
      dueAt: NOW + 30,
      documentId: 501,
      folderId: 7,
      status: "CONVERTED",
      sentBytes: null,
    };

    const problem = { code: "X", message: "x" };
    const refused: Event = { type: "refused", at: NOW + 30, problem };
    const vanished: Event = { type: "vanished", at: NOW + 40, problem };

    test(
      "of sets of changes that are written together, one that is refused leaves nothing",
      withDesk(async (desk) => {
        const rows = [await desk.add("a"), await desk.add("b"), await desk.add("c")];
        for (const { id } of rows) await desk.after(id, settled(`d${id}`));
        const [first = 0, second = 0, third = 0] = rows.map(({ id }) => id);
        const batch = {
          id: "of the refused",
          mirrorId: desk.mirrorId,
          openedAt: NOW,
          joinedAt: NOW,
        };
        const events = [claimed(), accepted(502), accepted(503)];
        const refused = desk.journal.apply([
          { type: "batch", batch: { ...batch, documents: 1 } },
          ...events.map((event) => ({ type: "event", id: second, event }) as const),
        ]);
        const written = [first, third].map((id) => desk.after(id, claimed(), accepted(600 + id)));
        await expect(refused).rejects.toThrow(InvariantError);
        await Promise.all(written);
        expect(await everything(desk)).toMatchObject([{ uploaded: 2, uploadedBytes: 200 }]);
        expect(await desk.journal.latestBatches(9)).toEqual([]);
        expect(await desk.journal.document(second)).toMatchObject({ state: "pending" });
      }),
    );

    test(
      "a write that breaks a rule does not undo the sums of the changes before it",
      withDesk(async (desk) => {
        const { id } = await desk.add("a");
        await desk.after(id, settled(), claimed());
        const item = { documentId: 9, filename: "a.pdf", sizeBytes: 5, pages: 1 };
        const written = desk.after(id, accepted(501));
        const refused = desk.journal.setContents(99, [item]);
        await expect(refused).rejects.toThrow(InvariantError);
        await written;
        expect(await everything(desk)).toMatchObject([{ uploaded: 1 }]);
        expect(await desk.journal.counts()).toMatchObject([{ state: "uploaded", documents: 1 }]);
      }),
    );

    test.for([
      // events, uploaded, converted, pages, failed, because
      [[settled()], 0, 0, 0, 0, "nothing has left"],
      [[settled(), claimed()], 0, 0, 0, 0, "a reply may never come"],
      [[settled(), claimed(), refused], 0, 0, 0, 1, "the archive rejected it"],
      [[settled(), claimed(), accepted(501)], 1, 0, 0, 0, "the archive has it"],
      [[settled(), claimed(), inDoubt(), found(501)], 1, 0, 0, 0, "it turned out to have it"],
      [
        [settled(), claimed(), accepted(501), converted()],
        1,
        1,
        3,
        0,
        "pages count once converted",
      ],
      [[settled(), claimed(), accepted(501), vanished], 1, 0, 0, 1, "it is there no longer"],
      [[settled(), adopted, converted()], 0, 0, 0, 0, "what was there before cost nothing now"],
    ] as [Event[], number, number, number, number, string][])(
      "%j: %i uploaded, %i converted, %i pages, %i failed: %s",
      async ([steps, uploadedCount, convertedCount, pages, failed]) => {
        await withDesk(async (desk) => {
          const { id } = await desk.add("a.pdf", { seen: seenOf(70) });
          await desk.after(id, ...steps);
          const counted = {
            mirrorId: desk.mirrorId,
            at: QUARTER,
            uploaded: uploadedCount,
            uploadedBytes: uploadedCount * 70,
            converted: convertedCount,
            pages,
            charged: pages,
            saved: 0,
            failed,
          };
          expect(await everything(desk)).toEqual(uploadedCount + failed > 0 ? [counted] : []);
        })();
      },
    );

    test(
      "are kept by quarter of an hour and mirror, and outlive the rows' next life",
      withDesk(async (desk) => {
        const other = new Desk(desk.journal, (await desk.journal.mirror("inbox", "/in")).id);
        await desk.uploaded("a", 501);
        await other.uploaded("a", 502);
        const b = await desk.uploaded("b", 503);
        const later: Event = { ...converted(), at: QUARTER + USAGE_BUCKET_MS };
        await desk.after(b.id, later);
        const { mirrorId } = desk;
        expect(await everything(desk)).toMatchObject([
          { mirrorId, at: QUARTER, uploaded: 2, uploadedBytes: 200, pages: 0 },
          { mirrorId: other.mirrorId, at: QUARTER, uploaded: 1, uploadedBytes: 100 },
          { mirrorId, at: QUARTER + USAGE_BUCKET_MS, uploaded: 0, converted: 1, pages: 3 },
        ]);
        expect(await desk.journal.usageBuckets(QUARTER, QUARTER + USAGE_BUCKET_MS)).toHaveLength(2);
        expect(await desk.journal.usageBuckets(QUARTER + 1, QUARTER + USAGE_BUCKET_MS)).toEqual([]);
      }),
    );

    test(
      "a change that is refused is in no usage bucket",
      withDesk(async (desk) => {
        const { id } = await desk.add("a");
        const steps = [settled(), claimed(), accepted(501), accepted(502)];
        const changes = steps.map((event) => ({ type: "event", id, event }) as const);
        await expect(desk.journal.apply(changes)).rejects.toThrow();
        expect(await everything(desk)).toEqual([]);
      }),
    );
  });

  test(
    `${name}: what was uploaded comes by when that was, the latest first`,
    withDesk(async (desk) => {
      const uploaded = async (rows?: number) => {
        const query = { order: "uploaded", rows } as const;
        const { documents, last } = await desk.journal.listPage(query);
        expect(last).toBeNull();
        return ids(documents);
      };
      const a = await desk.add("a");
      const b = await desk.add("b");
      await desk.add("c");
      const sent = (document: number, at: number) => ({ ...accepted(document), at });
      await desk.after(b.id, settled(), claimed(), sent(502, NOW + 50));
      expect(await uploaded()).toEqual(ids([b]));
      await desk.after(a.id, settled(), claimed(), sent(501, NOW + 60));
      expect(await uploaded()).toEqual(ids([a, b]));
      expect(await uploaded(1)).toEqual(ids([a]));
    }),
  );

  test(
    `${name}: batches tell how far they are, the latest first`,
    withDesk(async (desk) => {
      const batch = (id: string) =>
        ({ id, mirrorId: desk.mirrorId, openedAt: NOW, joinedAt: NOW + 9, documents: 3 }) as const;
      await desk.journal.apply([
        { type: "batch", batch: batch("batch-0") },
        { type: "batch", batch: batch("batch-1") },
        // The same beginning, and another batch all the same.
        { type: "batch", batch: batch("batch-1-other") },
      ]);
      const a = await desk.uploaded("a", 501);
      const b = await desk.uploaded("b", 502);
      const c = await desk.held("c", "FOLDER_MISSING");
      await desk.after(a.id, converted());
      expect(await desk.journal.latestBatches(2)).toEqual([
        { ...batch("batch-1-other"), states: {}, pages: 0 },
        { ...batch("batch-1"), states: { converted: 1, uploaded: 1, held: 1 }, pages: 3 },
      ]);
      expect(ids(await desk.journal.inBatch("batch-1", 9))).toEqual(ids([a, b, c]));
      expect(ids(await desk.journal.inBatch("batch-1", 2))).toEqual(ids([a, b]));
      expect(await desk.journal.inBatch("batch-", 9)).toEqual([]);
    }),
  );

  describe(`${name}: receipts`, () => {
    const batch = (id: string, mirrorId: number) =>
      ({ id, mirrorId, openedAt: NOW, joinedAt: NOW + 9, documents: 2 }) as const;

    test(
      "a batch is without one from when its last document is converted until it is written",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const own = batch("batch-1", mirrorId);
        await journal.apply([
          { type: "batch", batch: batch("batch-0", mirrorId) },
          { type: "batch", batch: own },
        ]);
        const a = await desk.uploaded("a", 501);
        const b = await desk.uploaded("b", 502);
        await desk.after(a.id, converted());
        expect(await journal.unreceipted(0, 9)).toEqual({ batches: [], next: null });
        expect(await journal.setReceipt("batch-1", 1, NOW)).toBe(false);
        await desk.after(b.id, converted());
        expect(await journal.unreceipted(0, 9)).toEqual({ batches: [own], next: null });
        expect(await journal.unreceipted(0, 1)).toEqual({ batches: [], next: 1 });
        expect(await journal.unreceipted(1, 1)).toEqual({ batches: [own], next: 2 });
        expect(await journal.setReceipt("batch-1", 1, NOW)).toBe(false);
        expect(await journal.setReceipt("batch-1", 2, NOW)).toBe(true);
        expect(await journal.unreceipted(0, 9)).toEqual({ batches: [], next: null });
        expect(await journal.setReceipt("batch-9", 0, NOW)).toBe(false);
      }),
    );

    test(
      "what has its receipt is joined by nobody; who joins all the same takes it back",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const own = batch("batch-1", mirrorId);
        await journal.apply([{ type: "batch", batch: own }]);
        const a = await desk.uploaded("a", 501);
        await desk.after(a.id, converted());
        expect(await journal.lastBatch(mirrorId)).toEqual(own);
        await journal.setReceipt("batch-1", 1, NOW);
        expect(await journal.lastBatch(mirrorId)).toBeUndefined();
        await journal.apply([{ type: "batch", batch: { ...own, documents: 3 } }]);
        expect(await journal.lastBatch(mirrorId)).toEqual({ ...own, documents: 3 });
        expect((await journal.unreceipted(0, 9)).batches).toHaveLength(1);
      }),
    );
  });

  test(
    `${name}: each count tells since when its oldest document is known`,
    withDesk(async (desk) => {
      const { mirrorId } = desk;
      const oldest = await desk.add("a", { at: NOW - 50 });
      await desk.add("b", { at: NOW - 40 });
      await desk.after(oldest.id, settled());
      expect(await desk.journal.counts()).toEqual([
        { mirrorId, state: "pending", documents: 1, oldestAt: NOW - 50 },
        { mirrorId, state: "settling", documents: 1, oldestAt: NOW - 40 },
      ]);
    }),
  );
}
