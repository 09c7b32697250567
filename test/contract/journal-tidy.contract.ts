/** Retention: what every journal lets go of, and what never. Run against each implementation. */
import { describe, expect, test } from "vitest";
import type { Document } from "../../src/domain/document.ts";
import type { Change } from "../../src/journal/journal.ts";
import { rawOfText } from "../../src/std/raw-path.ts";
import type { JournalFixture } from "./journal.contract.ts";
import { atDesk, Desk, events, NOW } from "./journal-desk.ts";

const DAY = 86_400_000;

/** After everything that these tests let happen. */
const LATER = NOW + 1_000 * DAY;
const longAgo = { before: NOW + 500 * DAY, forgetBefore: NOW, at: LATER, receipts: false };

/** Goes through the whole journal; how many rows were dropped and trimmed. */
async function tidied(desk: Desk, set: Partial<typeof longAgo & { limit: number }> = {}) {
  const { journal, mirrorId } = desk;
  const sum = { dropped: 0, trimmed: 0 };
  let after: number | null = 0;
  let afterBatch = 0;
  while (after !== null) {
    const request = { ...longAgo, limit: 2, ...set, mirrorIds: [mirrorId], after, afterBatch };
    const { next, nextBatch, dropped, trimmed } = await journal.tidy(request);
    sum.dropped += dropped;
    sum.trimmed += trimmed;
    after = next;
    afterBatch = nextBatch;
  }
  return sum;
}

async function converted(
  desk: Desk,
  path: string,
  documentId: number,
  digest = digestOf(documentId),
) {
  const { id } = await desk.uploaded(path, documentId, digest);
  return desk.after(id, events.converted());
}

const digestOf = (n: number) => n.toString(16).padStart(64, "0");

const gone = (desk: Desk, { id }: Document, at = NOW + 100) =>
  desk.journal.apply([{ type: "note", id, at, why: "gone", set: { goneAt: at } }]);

/** What every journal promises about what it lets go of. */
export function journalTidyContract(name: string, open: () => Promise<JournalFixture>): void {
  const withDesk = (check: (desk: Desk) => Promise<void>) => async () => {
    await using fixture = await open();
    await atDesk(fixture.journal, check);
  };

  describe(`${name}: retention`, () => {
    test(
      "what is long converted and long gone is dropped, and remembered",
      withDesk(async (desk) => {
        const row = await converted(desk, "a/b.pdf", 17);
        await gone(desk, row);
        expect(await tidied(desk)).toEqual({ dropped: 1, trimmed: 0 });
        const { journal, mirrorId } = desk;
        expect(await journal.document(row.id)).toBeUndefined();
        expect(await journal.history(row.id)).toEqual([]);
        expect(await journal.attempts(row.id)).toEqual([]);
        const anywhere = rawOfText("other/name.pdf");
        const known = [{ documentId: 17, folderId: 7 }];
        expect(await journal.tombstones(mirrorId, digestOf(17), anywhere, NOW)).toEqual(known);
        expect(await journal.tombstones(mirrorId + 1, digestOf(17), anywhere, NOW)).toEqual([]);
        const contents = [digestOf(16), digestOf(17)].map((digest) => ({ digest, sizeBytes: 100 }));
        expect(await journal.knownContents(contents)).toEqual(new Set([digestOf(17)]));
        expect(await journal.of(99).knownContents(contents)).toEqual(new Set());
        expect([...(await journal.claimed([16, 17])).keys()]).toEqual([17]);
        expect([...(await journal.claimed([16, 17], [mirrorId])).keys()]).toEqual([17]);
        expect([...(await journal.claimed([16, 17], [mirrorId + 1])).keys()]).toEqual([]);
      }),
    );

    test.for<readonly [string, (desk: Desk) => Promise<Document>, string]>([
      ["there", (desk) => converted(desk, "a", 1), "it would be sent again"],
      [
        "gone a short while",
        async (desk) => {
          const row = await converted(desk, "a", 1);
          await gone(desk, row, NOW + 600 * DAY);
          return row;
        },
        "it may come back",
      ],
      [
        "uploaded",
        async (desk) => {
          const row = await desk.uploaded("a", 1);
          await gone(desk, row);
          return row;
        },
        "it is not CONVERTED",
      ],
      ["held", (desk) => desk.held("a", "FOLDER_MISSING"), "it waits"],
      [
        "to be moved or deleted",
        async (desk) => {
          const { id } = await desk.uploaded("a", 1);
          const row = await desk.after(id, events.converted("due"));
          await gone(desk, row);
          return row;
        },
        "something is still to be done",
      ],
    ])("a row whose file is %s stays: %#", async ([, made]) =>
      withDesk(async (desk) => {
        const { id } = await made(desk);
        expect((await tidied(desk)).dropped).toBe(0);
        expect(await desk.journal.document(id)).toBeDefined();
      })(),
    );

    test(
      "a row whose batch owes a receipt is kept, and so is the batch",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const batch = { id: "batch-1", mirrorId, openedAt: NOW, joinedAt: NOW, documents: 1 };
        await journal.apply([
          { type: "batch", batch },
          { type: "batch", batch: { ...batch, id: "batch-2" } },
        ]);
        const row = await converted(desk, "a", 1);
        await gone(desk, row);
        expect((await tidied(desk, { receipts: true })).dropped).toBe(0);
        expect((await journal.unreceipted(0, 9)).batches).toEqual([batch]);
        await journal.setReceipt("batch-1", 1, NOW);
        expect((await tidied(desk, { receipts: true })).dropped).toBe(1);
        expect(await journal.latestBatches(9)).toMatchObject([{ id: "batch-2" }]);
      }),
    );

    test(
      "a batch that owes its receipt for years keeps none behind it",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const batch = { mirrorId, openedAt: NOW, joinedAt: NOW, documents: 1 };
        for (const id of ["batch-1", "b2", "b3", "b4"])
          await journal.apply([{ type: "batch", batch: { ...batch, id } }]);
        await desk.held("a", "FOLDER_MISSING");
        for (const path of ["b", "c", "d"]) await desk.add(path);
        await tidied(desk, { receipts: true, limit: 1 });
        const left = await journal.latestBatches(9);
        expect(left.map(({ id }) => id)).toEqual(["b4", "batch-1"]);
      }),
    );

    test(
      "a row is dropped of mirrors only that are named",
      withDesk(async (desk) => {
        const row = await converted(desk, "a", 1);
        await gone(desk, row);
        const { dropped } = await desk.journal.tidy({
          ...longAgo,
          after: 0,
          afterBatch: 0,
          limit: 9,
          mirrorIds: [],
        });
        expect(dropped).toBe(0);
        expect(await desk.journal.document(row.id)).toBeDefined();
      }),
    );

    test(
      "revisions that were replaced long ago are dropped; their content is sent again if it comes back",
      withDesk(async (desk) => {
        const first = await converted(desk, "a", 1);
        const { id } = await desk.add("a", { supersedes: first.id });
        expect((await tidied(desk)).dropped).toBe(0);
        await desk.after(id, events.settled(digestOf(2)), events.claimed(), events.accepted(2));
        await desk.after(id, events.converted());
        expect((await tidied(desk)).dropped).toBe(1);
        expect(await desk.journal.document(id)).toMatchObject({ supersedes: null, current: true });
        const { modifiedAt } = first.seen;
        const known = (path: string, at: number) =>
          desk.journal.tombstones(desk.mirrorId, digestOf(1), rawOfText(path), at);
        expect(await known("a", modifiedAt), "the file itself is back").toHaveLength(1);
        expect(await known("a", modifiedAt + 1), "it was edited back").toEqual([]);
        expect(await known("b", modifiedAt), "a copy may be another document").toEqual([]);
        expect([...(await desk.journal.claimed([1])).keys()]).toEqual([1]);
      }),
    );

    test.for([
      [9, "in one step"],
      [1, "one by one"],
    ] as const)(
      "of a file's revisions, dropped %i rows at a time, the one that stays supersedes none: %s",
      async ([limit]) => {
        await withDesk(async (desk) => {
          let { id } = await converted(desk, "a", 1);
          for (const documentId of [2, 3, 4]) {
            ({ id } = await desk.add("a", { supersedes: id }));
            await desk.after(id, events.settled(digestOf(documentId)), events.claimed());
            await desk.after(id, events.accepted(documentId), events.converted());
          }
          expect((await desk.journal.document(id))?.supersedes).not.toBeNull();
          expect((await tidied(desk, { limit })).dropped).toBe(3);
          expect(await desk.journal.document(id)).toMatchObject({ supersedes: null });
          expect(await desk.journal.counts()).toMatchObject([{ documents: 1 }]);
        })();
      },
    );

    test.for([
      [9, "in one step"],
      [1, "in two"],
    ] as const)(
      "a duplicate and its original, dropped %i rows at a time, have one tombstone: %s",
      async ([limit]) => {
        await withDesk(async (desk) => {
          const { journal, mirrorId } = desk;
          const first = await converted(desk, "a", 17);
          const twin = await desk.add("b");
          const original = { ...first, documentId: 17, folderId: 7, sentName: "a.pdf" };
          await desk.after(twin.id, events.settled(digestOf(17)), {
            type: "duplicated",
            at: NOW + 45,
            original: { ...original, uploadedAt: NOW, pages: 3, archiveBytes: 9 },
            remark: "the same",
            after: null,
          });
          const set = { after: "done" } as const;
          for (const { id } of [first, twin])
            await journal.apply([{ type: "note", id, at: NOW + 90, why: "moved", set }]);
          await gone(desk, first);
          await gone(desk, twin);
          expect(await tidied(desk, { limit })).toMatchObject({ dropped: 2 });
          expect([...(await journal.claimed([17])).keys()]).toEqual([17]);
          for (const path of ["a", "b"])
            expect(await journal.tombstones(mirrorId, digestOf(17), rawOfText(path), NOW)).toEqual([
              { documentId: 17, folderId: 7 },
            ]);
        })();
      },
    );

    test(
      "what the daemon moved or deleted is remembered for its own path alone",
      withDesk(async (desk) => {
        const row = await converted(desk, "a/b.pdf", 17);
        await desk.journal.apply([
          { type: "note", id: row.id, at: NOW + 90, why: "moved", set: { after: "done" } },
        ]);
        await gone(desk, row);
        await tidied(desk);
        const at = (path: string) =>
          desk.journal.tombstones(desk.mirrorId, digestOf(17), rawOfText(path), NOW);
        expect(await at("a/b.pdf")).toHaveLength(1);
        expect(await at("a/c.pdf")).toHaveLength(0);
      }),
    );

    test(
      "what is remembered belongs to one row: adopted it is no tombstone any more",
      withDesk(async (desk) => {
        await gone(desk, await converted(desk, "a", 17));
        await tidied(desk);
        const { id } = await desk.add("b");
        const known = { status: null, sentBytes: null };
        const adopted = { type: "adopted", at: NOW, dueAt: NOW, ...known } as const;
        const change: Change = {
          type: "event",
          id,
          event: { ...adopted, documentId: 17, folderId: 7 },
        };
        await desk.after(id, events.settled(digestOf(17)));
        await desk.journal.apply([change]);
        expect(
          await desk.journal.tombstones(desk.mirrorId, digestOf(17), rawOfText("a"), NOW),
        ).toEqual([]);
        expect([...(await desk.journal.claimed([17])).keys()]).toEqual([17]);
      }),
    );

    test(
      "an archive that gives a remembered id to a new document is told so",
      withDesk(async (desk) => {
        await gone(desk, await converted(desk, "a", 17));
        await tidied(desk);
        await expect(desk.uploaded("b", 17)).rejects.toMatchObject({ code: "DOCUMENT_ID_TAKEN" });
        expect([...(await desk.journal.claimed([17])).keys()]).toEqual([17]);
      }),
    );

    test(
      "of a row that stays, attempts and older history go; its last line and what its own times tell do not",
      withDesk(async (desk) => {
        const row = await converted(desk, "a", 1);
        const { id } = await desk.add("b");
        await desk.after(id, events.settled(), events.claimed(), events.deferred("ARCHIVE_BUSY"));
        await desk.after(id, events.claimed(), events.accepted(2), events.converted());
        const before = await desk.journal.history(row.id);
        expect(before.length).toBeGreaterThan(3);
        const deferred = await desk.journal.history(id);
        const attempts = await desk.journal.attempts(row.id);
        expect(attempts).toHaveLength(1);
        expect(await tidied(desk)).toEqual({ dropped: 0, trimmed: 1 });
        expect(await desk.journal.history(row.id)).toEqual(before);
        expect(await desk.journal.history(id)).toEqual(deferred.slice(-1));
        expect(await desk.journal.attempts(row.id)).toEqual(attempts);
        expect(await desk.journal.attempts(id)).toEqual([]);
        expect(await desk.journal.document(row.id)).toEqual(row);
        expect(await tidied(desk)).toEqual({ dropped: 0, trimmed: 0 });
      }),
    );

    test.for<readonly [string, (desk: Desk) => Promise<Document>]>([
      ["waits", (desk) => desk.held("a", "MARKER_MISSING")],
      [
        "is in doubt",
        async (desk) => {
          const { id } = await desk.add("a");
          return desk.after(id, events.settled(), events.claimed(), events.inDoubt());
        },
      ],
    ])("of a row that %s for years, older history goes", async ([, made]) =>
      withDesk(async (desk) => {
        const { journal } = desk;
        const { id } = await made(desk);
        for (const at of [NOW + 100, NOW + 600 * DAY, NOW + 700 * DAY])
          await journal.apply([{ type: "note", id, at, why: `${at}`, set: {} }]);
        const row = await journal.document(id);
        const history = await journal.history(id);
        const attempts = await journal.attempts(id);
        expect(await tidied(desk)).toEqual({ dropped: 0, trimmed: 1 });
        expect(await journal.history(id)).toEqual(history.slice(-2));
        // What is not over is no detail.
        expect(await journal.attempts(id)).toEqual(attempts);
        expect(await journal.document(id)).toEqual(row);
        expect(await tidied(desk)).toEqual({ dropped: 0, trimmed: 0 });
      })(),
    );

    test(
      "forgotten rows, batches and tombstones go in their time; the latest batch stays",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const { id } = await desk.add("a");
        await desk.forget(id);
        const batch = { mirrorId, openedAt: NOW, joinedAt: NOW, documents: 1 };
        for (const each of ["b1", "b2"]) {
          await journal.apply([{ type: "batch", batch: { ...batch, id: each } }]);
        }
        await gone(desk, await converted(desk, "c", 17));
        await tidied(desk, { before: NOW - 1 });
        expect(await journal.forgotten(mirrorId, rawOfText("a"))).not.toEqual([]);
        await tidied(desk);
        expect(await journal.forgotten(mirrorId, rawOfText("a"))).toEqual([]);
        expect(await journal.lastBatch(mirrorId)).toMatchObject({ id: "b2" });
        expect([...(await journal.claimed([17])).keys()]).toEqual([17]);
        await tidied(desk, { forgetBefore: LATER });
        expect([...(await journal.claimed([17])).keys()]).toEqual([]);
      }),
    );
  });
}
