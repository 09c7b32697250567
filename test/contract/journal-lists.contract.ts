import { describe, expect, test } from "vitest";
import type { Document } from "../../src/domain/document.ts";
import type { ListQuery, PageQuery } from "../../src/journal/journal.ts";
import { InvariantError } from "../../src/std/fault.ts";
import { ROOT, rawOfText } from "../../src/std/raw-path.ts";
import type { JournalFixture } from "./journal.contract.ts";
import { atDesk, Desk, events, NOW, seenOf } from "./journal-desk.ts";

const raw = rawOfText;
const ids = (documents: readonly { id: number }[]) => documents.map(({ id }) => id);
const { settled, heldBack } = events;

/** What every journal promises about what waits, about the account, and about its list. */
export function journalListsContract(name: string, open: () => Promise<JournalFixture>): void {
  const withDesk = (check: (desk: Desk, fixture: JournalFixture) => Promise<void>) => async () => {
    await using fixture = await open();
    await atDesk(fixture.journal, (desk) => check(desk, fixture));
  };

  describe(`${name}: parts of a mirror`, () => {
    test(
      "moved documents are counted, and named by their moves, the latest first",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const other = (await journal.mirror("other", "/srv/other")).id;
        const move = async (path: string, at: number, more: object = {}) => {
          const sent = await desk.uploaded(`a/${path}`, at, `d${at}`);
          const { id: successor } = await desk.add(`b/${path}`, more);
          await journal.apply([
            { type: "follow", id: sent.id, successor, at: NOW + at, ...more } as const,
          ]);
          return sent.id;
        };
        const late = await move("late.pdf", 9);
        const early = await move("early.pdf", 5);
        const middle = await move("middle.pdf", 7);
        const there = await move("there.pdf", 6, { mirrorId: other });
        const filed = await move("filed.pdf", 8, { isFiled: true });
        const gone = await move("gone.pdf", 4);
        await journal.apply([
          { type: "note", id: gone, at: NOW, why: "gone", set: { goneAt: NOW } },
        ]);
        const edited = await move("edited.pdf", 3);
        await desk.add("b/edited.pdf", { supersedes: edited });
        const ask = async (ids: number[], limit: number) => {
          const { documents, latest } = await journal.moved(ids, limit);
          return [documents, ...latest.map(({ id }) => id)];
        };
        expect(await ask([mirrorId], 9)).toEqual([3, late, middle, early]);
        expect(await ask([mirrorId, other], 2)).toEqual([4, late, middle]);
        expect(await ask([other], 9)).toEqual([1, there]);
        expect(await ask([], 9)).toEqual([0]);
        for (const [path, id] of [
          ["a/late.pdf", late],
          ["a/filed.pdf", filed],
          ["a/gone.pdf", gone],
          ["a/edited.pdf", edited],
          ["b/late.pdf", undefined],
        ] as const)
          expect((await journal.movedAway(mirrorId, path))?.id, path).toBe(id);
      }),
    );

    test(
      "a change holds for the place that it is about",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const sent = await desk.uploaded("a/one.pdf", 11);
        const place = (dir: string, below = false) => ({ mirrorId, dir: raw(dir), below });
        const note = async (at: ReturnType<typeof place>) => {
          const set = { goneAt: NOW };
          const [applied] = await journal.apply([
            { type: "note", id: sent.id, at: NOW, why: "gone", set, place: at },
          ]);
          return applied?.skipped;
        };
        expect(await note(place("b"))).toBe(true);
        expect(await note(place(""))).toBe(true);
        expect(await note({ ...place("a"), mirrorId: mirrorId + 1 })).toBe(true);
        expect(await note(place("a"))).toBe(false);
        const successor = await desk.add("b/c/one.pdf");
        const follow = { type: "follow", id: sent.id, successor: successor.id, at: NOW } as const;
        const [late] = await journal.apply([{ ...follow, place: place("x") }]);
        expect(late?.skipped).toBe(true);
        const [moved] = await journal.apply([{ ...follow, place: place("a") }]);
        expect(moved?.document?.dir).toBe("b/c");
        expect(await note(place("b", true))).toBe(false);
        expect(await note(place("b/c", true))).toBe(false);
        expect(await note(place("", true)), "everything is below the root").toBe(false);
        expect(await note(place("b"))).toBe(true);
      }),
    );

    test(
      "a document of the archive is not taken from the row that has it, where that is asked for",
      withDesk(async (desk) => {
        const { journal } = desk;
        await desk.uploaded("a.pdf", 11);
        const { id } = await desk.add("b.pdf");
        await desk.after(id, settled("d1", "/Scans", "b.pdf"));
        const adopted = (documentId: number) =>
          ({
            type: "adopted",
            at: NOW,
            dueAt: NOW,
            status: null,
            documentId,
            folderId: 7,
            sentBytes: null,
          }) as const;
        const from = ["pending"] as const;
        const [taken] = await journal.apply([
          { type: "event", id, event: adopted(11), from, unclaimed: true },
        ]);
        expect([taken?.skipped, taken?.document?.state]).toEqual([true, "pending"]);
        const [free] = await journal.apply([
          { type: "event", id, event: adopted(12), from, unclaimed: true },
        ]);
        expect([free?.skipped, free?.document?.state]).toEqual([false, "uploaded"]);
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
        const mirrorIds = [a.mirrorId];
        expect((await journal.smallestHeld(codes, mirrorIds))?.id).toBe(b.id);
        expect(await journal.smallestHeld(codes, [a.mirrorId + 99])).toBeUndefined();
        expect(await journal.heldWith([], 9)).toEqual([]);
        expect(await journal.smallestHeld(["NONE"], mirrorIds)).toBeUndefined();
      }),
    );

    test(
      "problems by code and state, with the one that is known longest",
      withDesk(async (desk) => {
        expect(await desk.journal.withProblem()).toEqual([]);
        await desk.add("well");
        const a = await desk.held("a", "FILE_EMPTY");
        const b = await desk.held("b", "QUOTA_LIMIT");
        await desk.held("c", "FILE_EMPTY");
        expect(await desk.journal.withProblem()).toEqual([
          { code: "FILE_EMPTY", state: "held", documents: 2, first: a.id },
          { code: "QUOTA_LIMIT", state: "held", documents: 1, first: b.id },
        ]);
        const other = await desk.journal.mirror("other", "/srv/other");
        expect(await desk.journal.withProblem([other.id])).toEqual([]);
        expect(await desk.journal.withProblem([other.id, desk.mirrorId])).toEqual(
          await desk.journal.withProblem(),
        );
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
        const open = { closedAt: null, problem: null, probes: 0, nextProbeAt: null };
        expect(await journal.gate()).toEqual(open);
        const problem = { code: "QUOTA_LIMIT", message: "used up" };
        const closed = { closedAt: NOW, problem, probes: 2, nextProbeAt: NOW + 5.5 };
        await journal.setGate(closed);
        expect(await journal.gate()).toEqual(closed);
        await journal.setGate(open);
        expect(await journal.gate()).toEqual(open);
        await journal.setPaused(true);
        expect(await journal.paused()).toBe(true);
      }),
    );

    test(
      "the pace is remembered",
      withDesk(async ({ journal }) => {
        const none = { limit: null, pausedAt: null, pausedUntil: null, problem: null };
        expect(await journal.pace()).toEqual(none);
        const problem = { code: "ARCHIVE_BUSY", message: "asked for a pause" };
        const slow = { limit: 2, pausedAt: NOW, pausedUntil: NOW + 60_000.5, problem };
        await journal.setPace(slow);
        expect(await journal.pace()).toEqual(slow);
        await journal.setPace(none);
        expect(await journal.pace()).toEqual(none);
      }),
    );

    test(
      "key-value entries are remembered by their names",
      withDesk(async ({ journal }) => {
        expect(await journal.keyValue("told")).toBeNull();
        await journal.setKeyValue("told", '{"a":1}');
        await journal.setKeyValue("other", "x");
        await journal.setKeyValue("told", "…");
        expect(await journal.keyValue("told")).toBe("…");
        expect(await journal.keyValue("other")).toBe("x");
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
          { mirrorId: desk.mirrorId, state: "settling", documents: 7, oldestAt: NOW },
          { mirrorId: desk.mirrorId, state: "uploaded", documents: 1, oldestAt: NOW },
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
      "page by page in either order, each document once, also when some leave meanwhile",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const other = new Desk(journal, (await journal.mirror("inbox", "/in")).id);
        const late = await desk.add("z");
        const inside = await desk.held("b/2", "QUOTA_LIMIT");
        const deep = await desk.held("b/sub/1", "QUOTA_LIMIT");
        const elsewhere = await other.held("a", "FILE_EMPTY");
        const early = await desk.held("a", "QUOTA_LIMIT");
        const paged = async (query: Omit<PageQuery, "after">) => {
          const found: number[] = [];
          for (let after: number | null | undefined; after !== null; ) {
            const { documents, last } = await journal.listPage({ ...query, after });
            found.push(...ids(documents));
            after = last;
          }
          return found;
        };
        const seen = [early, elsewhere, deep, inside, late];
        const named = [early, late, inside, deep, elsewhere];
        for (const rows of [1, 2, 5, 9]) {
          expect(await paged({ order: "latest", rows })).toEqual(ids(seen));
          expect(await paged({ order: "path", rows })).toEqual(ids(named));
          expect(await paged({ order: "path", rows, states: ["held"] })).toEqual(
            ids([early, inside, deep, elsewhere]),
          );
        }
        expect(await paged({ order: "latest", states: ["held", "settling"] })).toEqual(ids(seen));
        expect(await paged({ order: "latest", code: "QUOTA_LIMIT", rows: 1 })).toEqual(
          ids([early, deep, inside]),
        );
        expect(await paged({ order: "latest", mirrorId: other.mirrorId })).toEqual([elsewhere.id]);
        expect(await paged({ order: "path", mirrorId, code: "FILE_EMPTY" })).toEqual([]);
        const nothing = { documents: [], last: null };
        expect(await journal.listPage({ order: "path", after: 999 })).toEqual(nothing);
        // The place of a row that is not held any more is its place all the same.
        const held = { order: "path", states: ["held"], rows: 2 } as const;
        await desk.after(inside.id, { type: "recheck", at: NOW + 60 });
        const behind = await journal.listPage({ ...held, after: inside.id });
        expect(ids(behind.documents)).toEqual(ids([deep, elsewhere]));
      }),
    );

    test(
      "of a text that is looked for no path that holds it is left out",
      withDesk(async (desk) => {
        for (const path of ["Invoices/Scan 1.pdf", "post/letter.pdf", "scan 2.pdf", "scans/x.pdf"])
          await desk.add(path);
        const marked = await desk.add("M\u00fcll.pdf");
        const query = { order: "latest", text: "scan" } as const;
        const { documents, last } = await desk.journal.listPage(query);
        const found = documents.map(({ dir, name: file }) => `${dir}|${file}`);
        expect(last).toBeNull();
        expect(found).toEqual(
          expect.arrayContaining(["Invoices|Scan 1.pdf", "|scan 2.pdf", "scans|x.pdf"]),
        );
        // Only what is ASCII is compared there.
        expect(ids(documents)).toContain(marked.id);
        const first = await desk.journal.listPage({ ...query, rows: 2 });
        const second = await desk.journal.listPage({ ...query, after: first.last ?? 0 });
        expect(ids([...first.documents, ...second.documents])).toEqual(ids(documents));
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
