import { describe, expect, test } from "vitest";
import type { Document } from "../../src/domain/document.ts";
import type { ListQuery } from "../../src/journal/journal.ts";
import { InvariantError } from "../../src/std/invariant.ts";
import { ROOT, rawOfText } from "../../src/std/raw-path.ts";
import type { JournalFixture } from "./journal.contract.ts";
import { Desk, events, NOW, seenOf } from "./journal-desk.ts";

const raw = rawOfText;
const ids = (documents: readonly { id: number }[]) => documents.map(({ id }) => id);
const { settled, claimed, accepted, converted, heldBack, replyLost } = events;
const at = (name: string, dueAt: number, sizeBytes = 100) =>
  [name, { dueAt, seen: seenOf(sizeBytes) }] as const;

/** What every journal promises about what it is asked. */
export function journalReadsContract(name: string, open: () => Promise<JournalFixture>): void {
  const withDesk = (check: (desk: Desk, fixture: JournalFixture) => Promise<void>) => async () => {
    await using fixture = await open();
    await check(await Desk.at(fixture.journal), fixture);
  };

  describe(`${name}: mirrors and directories`, () => {
    test(
      "a mirror is known by its name; a new source makes its device unknown",
      withDesk(async ({ journal, mirrorId }) => {
        await journal.setDevice(mirrorId, "ext4:7");
        expect(await journal.mirror("scans", "/srv/scans")).toMatchObject({ device: "ext4:7" });
        const moved = await journal.mirror("scans", "/mnt/scans");
        expect(moved).toEqual({ id: mirrorId, name: "scans", source: "/mnt/scans", device: null });
        const other = await journal.mirror("inbox", "/in");
        expect(await journal.mirrors()).toEqual([moved, other]);
      }),
    );

    test(
      "directories are those whose listing was journaled",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const remember = (dir: string, fingerprint: string | null) =>
          journal.apply([{ type: "directory", mirrorId, dir: raw(dir), fingerprint }]);
        await desk.add("unlisted/a.pdf");
        await remember("b", "1");
        await remember("", "2");
        await remember("b", "3");
        expect(await journal.directories(mirrorId)).toEqual([
          ["", "2"],
          ["b", "3"],
        ]);
        await remember("b", null);
        await remember("never", null);
        expect(await journal.directories(mirrorId)).toEqual([["", "2"]]);
      }),
    );

    test(
      "rows of a directory are its own and current; those below it are all",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const sent = await desk.uploaded("a/x", 501);
        const x = await desk.add("a/x", { supersedes: sent.id });
        const [top, deep, beside] = [
          await desk.add("top"),
          await desk.add("a/b/y"),
          await desk.add("a-b/z"),
        ];
        await journal.apply([
          { type: "note", id: deep.id, at: NOW, why: "gone", set: { goneAt: NOW } },
        ]);
        expect(await journal.rowsIn(mirrorId, raw("a"))).toEqual([
          {
            id: x.id,
            name: "x",
            state: "settling",
            stamp: "100",
            goneAt: null,
            documentId: null,
          },
        ]);
        expect(await journal.rowsBelow(mirrorId, raw("a"))).toMatchObject([
          { id: x.id },
          { id: deep.id, goneAt: NOW },
        ]);
        expect(ids(await journal.rowsBelow(mirrorId, ROOT))).toEqual(
          ids([top, x, beside, deep].sort((a, b) => (a.dir < b.dir ? -1 : 1))),
        );
        expect(await journal.rowsIn(99, raw("a"))).toEqual([]);
      }),
    );
  });

  describe(`${name}: what is due`, () => {
    test(
      "the longest due first, across mirrors, within the limits on size",
      withDesk(async (desk) => {
        const { journal } = desk;
        const second = new Desk(journal, (await journal.mirror("inbox", "/in")).id);
        const c = await desk.add(...at("c", NOW + 3, 30));
        const a = await second.add(...at("a", NOW + 1, 10));
        const b = await desk.add(...at("b", NOW + 2, 20));
        const tie = await second.add(...at("tie", NOW + 2, 20));
        await desk.add(...at("later", NOW + 99));
        const query = { state: "settling", now: NOW + 3, limit: 9 } as const;
        expect(ids(await journal.due(query))).toEqual(ids([a, b, tie, c]));
        expect(ids(await journal.due({ ...query, limit: 2 }))).toEqual(ids([a, b]));
        expect(ids(await journal.due({ ...query, mirrorId: desk.mirrorId }))).toEqual(ids([b, c]));
        expect(ids(await journal.due({ ...query, sizeMaxBytes: 20 }))).toEqual(ids([a, b, tie]));
        expect(ids(await journal.due({ ...query, sizeOverBytes: 10 }))).toEqual(ids([b, tie, c]));
        const between = { sizeOverBytes: 10, sizeMaxBytes: 20, limit: 1 };
        expect(ids(await journal.due({ ...query, ...between }))).toEqual([b.id]);
        expect(await journal.due({ ...query, state: "held" })).toEqual([]);
        expect(await journal.nextDueAt("settling")).toBe(NOW + 1);
        expect(await journal.nextDueAt("pending")).toBeNull();
      }),
    );

    test(
      "rows that wait for something outside are never due",
      withDesk(async (desk) => {
        await desk.held("a", "QUOTA_LIMIT");
        const query = { state: "held", now: Number.MAX_SAFE_INTEGER, limit: 9 } as const;
        expect(await desk.journal.due(query)).toEqual([]);
        expect(await desk.journal.nextDueAt("held")).toBeNull();
      }),
    );

    test(
      "after-actions are due at once, or when a note says so",
      withDesk(async (desk) => {
        const done = async (path: string, documentId: number, after: "due" | null) =>
          desk.after((await desk.uploaded(path, documentId)).id, converted(after));
        const [now, later] = [await done("a", 1, "due"), await done("b", 2, "due")];
        await done("c", 3, null);
        const set = { dueAt: NOW + 9 };
        await desk.journal.apply([{ type: "note", id: later.id, at: NOW, why: "refused", set }]);
        expect(ids(await desk.journal.afterDue(NOW, 9))).toEqual([now.id]);
        expect(ids(await desk.journal.afterDue(NOW + 9, 9))).toEqual([now.id, later.id]);
        expect(ids(await desk.journal.afterDue(NOW + 9, 1))).toEqual([now.id]);
      }),
    );
  });

  describe(`${name}: what was sent`, () => {
    test(
      "sent rows are found by digest, in their mirror",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const uploading = await desk.after((await desk.add("u")).id, settled("same"), claimed());
        await desk.after((await desk.add("p")).id, settled("same"));
        const sent = await desk.uploaded("s", 501, "same");
        expect(ids(await journal.sentWith(mirrorId, "same"))).toEqual(ids([uploading, sent]));
        expect(await journal.sentWith(mirrorId, "other")).toEqual([]);
        expect(await journal.sentWith(99, "same")).toEqual([]);
      }),
    );

    test(
      "rivals are on their way with this name in this folder",
      withDesk(async (desk) => {
        const send = async (path: string, folderId: number) =>
          desk.after((await desk.add(path)).id, settled("d", "/S", "n.pdf"), claimed(folderId));
        const [a, b, elsewhere] = [await send("a", 7), await send("b", 7), await send("c", 8)];
        await desk.after(b.id, replyLost());
        expect(ids(await desk.journal.underWay(9))).toEqual(ids([a, elsewhere]));
        expect(ids(await desk.journal.underWay(1))).toEqual([a.id]);
        await desk.uploaded("d", 501);
        expect(ids(await desk.journal.rivals(7, "n.pdf"))).toEqual(ids([a, b]));
        expect(await desk.journal.rivals(7, "N.pdf")).toEqual([]);
      }),
    );

    test(
      "archive ids that belong to a row are claimed",
      withDesk(async (desk) => {
        const { id } = await desk.uploaded("a", 501);
        const trouble = { code: "DOC_NOT_EXIST", message: "gone" };
        await desk.after(id, { type: "vanished", at: NOW, trouble });
        await desk.uploaded("b", 502);
        expect(await desk.journal.claimed([500, 501, 502, 503])).toEqual(new Set([501, 502]));
        expect(await desk.journal.claimed([])).toEqual(new Set());
      }),
    );

    test(
      "outstanding documents are told by folder, the longest due first",
      withDesk(async (desk) => {
        const send = async (path: string, folderId: number, documentId: number, dueAt: number) =>
          desk.after(
            (await desk.add(path)).id,
            settled(),
            claimed(folderId),
            accepted(documentId, dueAt),
          );
        const b = await send("b", 7, 501, NOW + 2);
        const a = await send("a", 7, 502, NOW + 1);
        const whenever = await send("w", 7, 503, NOW);
        await send("c", 9, 504, NOW + 9);
        const set = { dueAt: null };
        await desk.journal.apply([{ type: "note", id: whenever.id, at: NOW, why: "x", set }]);
        expect(await desk.journal.outstanding(NOW + 1)).toEqual([
          { folderId: 7, documents: 3, due: 1 },
          { folderId: 9, documents: 1, due: 0 },
        ]);
        expect(ids(await desk.journal.outstandingIn(7, 9))).toEqual(ids([a, b, whenever]));
        expect(ids(await desk.journal.outstandingIn(7, 1))).toEqual([a.id]);
      }),
    );
  });

  describe(`${name}: what is held`, () => {
    test(
      "by code, oldest first, and the smallest to probe with",
      withDesk(async (desk) => {
        const { journal } = desk;
        const a = await desk.held("a", "QUOTA_LIMIT", { seen: seenOf(30) });
        const b = await desk.held("b", "CREDENTIALS_REFUSED", { seen: seenOf(20) });
        const c = await desk.held("c", "QUOTA_LIMIT", { seen: seenOf(20) });
        await desk.held("d", "FILE_EMPTY", { seen: seenOf(0) });
        const codes = ["QUOTA_LIMIT", "CREDENTIALS_REFUSED", "QUOTA_LIMIT"];
        expect(ids(await journal.heldWith(codes, 9))).toEqual(ids([a, b, c]));
        expect(ids(await journal.heldWith(codes, 2))).toEqual(ids([a, b]));
        expect((await journal.smallestHeld(codes))?.id).toBe(b.id);
        expect(await journal.heldWith([], 9)).toEqual([]);
        expect(await journal.smallestHeld(["NONE"])).toBeUndefined();
      }),
    );

    test(
      "folders that documents wait for, with how many",
      withDesk(async (desk) => {
        const wait = async (path: string, target: string, code: string) =>
          desk.after((await desk.add(path)).id, settled("d", target), heldBack(code));
        const a = await wait("a", "/B", "FOLDER_MISSING");
        await wait("b", "/A", "FOLDER_TWINS");
        const c = await wait("c", "/B", "FOLDER_MISSING");
        await wait("d", "/B", "QUOTA_LIMIT");
        const { mirrorId } = desk;
        expect(await desk.journal.waitingFolders()).toEqual([
          { mirrorId, targetPath: "/A", code: "FOLDER_TWINS", documents: 1 },
          { mirrorId, targetPath: "/B", code: "FOLDER_MISSING", documents: 2 },
        ]);
        const place = { mirrorId, targetPath: "/B" };
        const codes = ["FOLDER_MISSING", "FOLDER_TWINS"];
        expect(ids(await desk.journal.heldWith(codes, 9, place))).toEqual(ids([a, c]));
        expect(ids(await desk.journal.heldWith(codes, 1, place))).toEqual([a.id]);
      }),
    );
  });

  describe(`${name}: the account`, () => {
    test(
      "the gate and the pause are remembered",
      withDesk(async ({ journal }) => {
        const open = { closedAt: null, trouble: null, probes: 0, nextProbeAt: null };
        expect(await journal.gate()).toEqual(open);
        const trouble = { code: "QUOTA_LIMIT", message: "used up" };
        const closed = { closedAt: NOW, trouble, probes: 2, nextProbeAt: NOW + 5.5 };
        await journal.setGate(closed);
        expect(await journal.gate()).toEqual(closed);
        await journal.setGate(open);
        expect(await journal.gate()).toEqual(open);
        await journal.setPaused(true);
        expect(await journal.paused()).toBe(true);
      }),
    );

    test(
      "a batch grows; the latest is the one that was opened last",
      withDesk(async ({ journal, mirrorId }) => {
        const batch = (id: string, documents: number) =>
          ({ id, mirrorId, openedAt: NOW, joinedAt: NOW + documents, documents }) as const;
        expect(await journal.lastBatch(mirrorId)).toBeUndefined();
        const grow = async (id: string, documents: number) =>
          journal.apply([{ type: "batch", batch: batch(id, documents) }]);
        await grow("a", 1);
        await grow("b", 1);
        await grow("a", 2);
        await grow("b", 3);
        expect(await journal.lastBatch(mirrorId)).toEqual(batch("b", 3));
        await expect(grow("x".repeat(37), 1)).rejects.toBeInstanceOf(InvariantError);
      }),
    );

    test(
      "contents replace what was there",
      withDesk(async (desk) => {
        const { id } = await desk.uploaded("a.bdoc", 501);
        const item = { documentId: 9, filename: "käsi.pdf", sizeBytes: 5, pages: 1 };
        await desk.journal.setContents(id, [item, item]);
        await desk.journal.setContents(id, [{ ...item, pages: 2 }]);
        expect(await desk.journal.contents(id)).toEqual([{ ...item, pages: 2 }]);
        await expect(desk.journal.setContents(99, [item])).rejects.toBeInstanceOf(InvariantError);
      }),
    );
  });

  describe(`${name}: the list`, () => {
    const listed = async (desk: Desk, query: ListQuery): Promise<Document[]> =>
      Array.fromAsync(desk.journal.list(query));

    test(
      "directory by directory, names in byte order, revisions oldest first",
      withDesk(async (desk) => {
        for (const path of ["b/2", "z", "b/10", "a b/c", "a/z", "a"]) await desk.add(path);
        const sent = await desk.uploaded("b/1", 501);
        const next = await desk.add("b/1", { supersedes: sent.id });
        expect(await desk.paths()).toEqual([
          "|a",
          "|z",
          "a|z",
          "a b|c",
          "b|1",
          "b|1",
          "b|10",
          "b|2",
        ]);
        const revisions = await listed(desk, {
          path: { mirrorId: desk.mirrorId, path: raw("b/1") },
        });
        expect(ids(revisions)).toEqual([sent.id, next.id]);
        expect(await desk.journal.counts()).toEqual([
          { mirrorId: desk.mirrorId, state: "settling", documents: 7 },
          { mirrorId: desk.mirrorId, state: "uploaded", documents: 1 },
        ]);
      }),
    );

    test(
      "every filter, alone and together",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const other = new Desk(journal, (await journal.mirror("inbox", "/in")).id);
        const file = await desk.add("a");
        const inside = await desk.held("a-dir/x", "QUOTA_LIMIT");
        const deep = await desk.held("a-dir/sub/y", "FILE_EMPTY");
        const beside = await desk.add("a-dir-2/z");
        const elsewhere = await other.held("a-dir/x", "QUOTA_LIMIT");
        const sent = await desk.uploaded("a-dir/sent", 501);
        const next = await desk.add("a-dir/sent", { supersedes: sent.id });
        const below = { path: { mirrorId, path: raw("a-dir") } };
        const of = async (query: ListQuery) => ids(await listed(desk, query));
        expect(await of({ mirrorId: other.mirrorId })).toEqual(ids([elsewhere]));
        expect(await of({ state: "held" })).toEqual(ids([inside, deep, elsewhere]));
        expect(await of({ code: "QUOTA_LIMIT" })).toEqual(ids([inside, elsewhere]));
        expect(await of({ code: "QUOTA_LIMIT", mirrorId })).toEqual([inside.id]);
        expect(await of({ state: "held", code: "NONE" })).toEqual([]);
        expect(await of(below)).toEqual(ids([sent, next, inside, deep]));
        expect(await of({ ...below, currentOnly: true })).toEqual(ids([next, inside, deep]));
        expect(await of({ ...below, state: "held" })).toEqual(ids([inside, deep]));
        expect(await of({ path: { mirrorId, path: raw("a") } })).toEqual([file.id]);
        expect(await of({ path: { mirrorId, path: raw("a-di") } })).toEqual([]);
        expect(await of({ path: { mirrorId, path: ROOT }, state: "settling" })).toEqual(
          ids([file, next, beside]),
        );
      }),
    );

    test(
      "a list that is read slowly sees what was written meanwhile",
      withDesk(async (desk) => {
        await desk.add("a");
        const { id } = await desk.add("dir/b");
        const seen: string[] = [];
        for await (const document of desk.journal.list({})) {
          seen.push(document.state);
          if (document.id !== id) await desk.after(id, settled());
        }
        expect(seen).toHaveLength(2);
      }),
    );
  });
}
