import { describe, expect, test } from "vitest";
import { until } from "../fixtures/until.ts";
import type { JournalFixture } from "./journal.contract.ts";
import { atDesk, appearing, Desk, events, NOW } from "./journal-desk.ts";

const { settled, claimed, accepted, converted, heldBack, deferred, inDoubt, found } = events;

/** What every journal promises about what it keeps next to documents, and about its own life. */
export function journalRecordsContract(name: string, open: () => Promise<JournalFixture>): void {
  const withDesk = (check: (desk: Desk, fixture: JournalFixture) => Promise<void>) => async () => {
    await using fixture = await open();
    await atDesk(fixture.journal, (desk) => check(desk, fixture));
  };

  describe(`${name}: history and attempts`, () => {
    const intent = { digest: "d1", sentName: "a.pdf", folderId: 7, batch: "batch-1" };

    test(
      "the history tells every arrow; what repeats is counted",
      withDesk(async (desk) => {
        const { id } = await desk.uploaded("a.pdf", 501);
        await desk.after(id, ...[1, 2, 3].map((n) => events.polled("UPLOADED", NOW + n)));
        await desk.after(id, converted());
        const told = (await desk.journal.history(id)).map(({ event, from, to, at, ...rest }) => {
          return [event, from, to, at - NOW, rest.detail, rest.times];
        });
        expect(told).toEqual([
          ["add", null, "settling", 0, "100 bytes", undefined],
          ["settled", "settling", "pending", 10, "as a.pdf for /Scans", undefined],
          ["claimed", "pending", "uploading", 20, "folder 7, batch batch-1", undefined],
          ["accepted", "uploading", "uploaded", 30, "document 501", undefined],
          ["polled", "uploaded", "uploaded", 3, "UPLOADED", 3],
          ["converted", "uploaded", "converted", 40, "3 pages, 99 bytes", undefined],
        ]);
      }),
    );

    test(
      "what waits for years and is looked at again and again is told in two lines",
      withDesk(async (desk) => {
        const { journal } = desk;
        const { id } = await desk.add("a.pdf");
        const held = heldBack("MARKER_MISSING");
        const recheck = (at: number) => ({ type: "recheck", at: NOW + at }) as const;
        const told = async () =>
          (await journal.history(id)).map(({ event, at, times }) => [event, at - NOW, times]);
        await desk.after(id, held);
        const round = (at: number) => [recheck(at), { ...held, at: NOW + at + 1 }];
        for (const event of round(100)) await desk.after(id, event);
        // Also within one set of changes.
        const events = [...round(200), ...round(300)];
        await journal.apply(events.map((event) => ({ type: "event", id, event })));
        expect(await told()).toEqual([
          ["add", 0, undefined],
          ["recheck", 300, 3],
          ["heldBack", 301, 4],
        ]);
        // For another reason: that is another line.
        await desk.after(id, recheck(400), { ...heldBack("SIDECAR_MISSING"), at: NOW + 401 });
        await desk.after(id, recheck(500), settled());
        expect(await told()).toEqual([
          ["add", 0, undefined],
          ["heldBack", 301, 4],
          ["heldBack", 401, undefined],
          ["recheck", 500, 5],
          ["settled", 10, undefined],
        ]);
      }),
    );

    test(
      "an attempt is journaled with its intent and completed with its outcome",
      withDesk(async (desk) => {
        const { id } = await desk.add("a.pdf");
        await desk.after(id, settled(), claimed());
        const open = { endedAt: null, outcome: null, documentId: null };
        expect(await desk.journal.attempts(id)).toEqual([
          { startedAt: NOW + 20, ...intent, ...open },
        ]);
        await desk.after(id, deferred("ARCHIVE_BUSY"), claimed(8, NOW + 50), accepted(501));
        expect(await desk.journal.attempts(id)).toMatchObject([
          { endedAt: NOW + 26, outcome: "deferred: ARCHIVE_BUSY", documentId: null },
          { folderId: 8, startedAt: NOW + 50, outcome: "accepted", documentId: 501 },
        ]);
      }),
    );

    test(
      "an attempt that was given back leaves no trace",
      withDesk(async (desk) => {
        const { id } = await desk.add("a.pdf");
        const after = await desk.after(id, settled(), claimed(), { type: "released", at: NOW });
        expect(after).toMatchObject({ state: "pending", attempts: 0, sentAt: null });
        expect(await desk.journal.attempts(id)).toEqual([]);
      }),
    );

    test(
      "an attempt in doubt has an outcome and no end until it is settled",
      withDesk(async (desk) => {
        const { id } = await desk.add("a.pdf");
        await desk.after(id, settled(), claimed(), inDoubt());
        const [doubtful] = await desk.journal.attempts(id);
        expect(doubtful).toMatchObject({ outcome: "inDoubt: REPLY_LOST", endedAt: null });
        await desk.after(id, { type: "looked", at: NOW, dueAt: NOW + 1 }, found(501));
        const [certain] = await desk.journal.attempts(id);
        expect(certain).toMatchObject({ outcome: "found", endedAt: NOW + 70, documentId: 501 });
      }),
    );

    test(
      "the hook is told each call once, as the call resolved",
      withDesk(async (desk, { applied }) => {
        applied.length = 0;
        const [a, b] = await Promise.all([
          desk.journal.apply([{ type: "add", document: appearing(desk.mirrorId, "a") }]),
          desk.journal.apply([{ type: "add", document: appearing(desk.mirrorId, "b") }]),
        ]);
        await expect(desk.forget(99)).resolves.toMatchObject({ skipped: true });
        expect(applied).toHaveLength(3);
        expect(applied.slice(0, 2)).toEqual([a, b]);
      }),
    );
  });

  describe(`${name}: its life`, () => {
    test(
      "what one process writes, another reads and notices",
      withDesk(async (desk, { beside }) => {
        const other = await beside();
        const before = await desk.journal.outsideWrites();
        await desk.journal.setPaused(false);
        expect(await desk.journal.outsideWrites()).toBe(before);
        await other.setPaused(true);
        // Not all hear of it at once.
        await until("hearing of it", async () => (await desk.journal.outsideWrites()) !== before);
        expect(await desk.journal.paused()).toBe(true);
        await other.close();
      }),
    );

    test(
      "closing twice is closing once; then everything is refused",
      withDesk(async (desk) => {
        const late = desk.add("a.pdf");
        await Promise.all([desk.journal.close(), desk.journal.close()]);
        await expect(late).resolves.toMatchObject({ state: "settling" });
        await expect(desk.journal.paused()).rejects.toMatchObject({ code: "JOURNAL_CLOSED" });
        await expect(desk.journal.setPaused(true)).rejects.toMatchObject({
          code: "JOURNAL_CLOSED",
        });
      }),
    );
  });

  test(
    `${name}: held rows keep waiting where they were`,
    withDesk(async (desk) => {
      const { id } = await desk.add("a.pdf");
      const held = await desk.after(
        id,
        settled(),
        heldBack("QUOTA_LIMIT"),
        heldBack("QUOTA_LIMIT"),
      );
      expect(held).toMatchObject({
        state: "held",
        consecutiveFailures: 2,
        problem: { code: "QUOTA_LIMIT" },
      });
    }),
  );
}
