import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Change, Note } from "../../src/journal/journal.ts";
import { ROOT, rawOfText } from "../../src/std/raw-path.ts";
import type { JournalFixture } from "./journal.contract.ts";
import { atDesk, Desk, events, NOW, seenOf } from "./journal-desk.ts";

const raw = rawOfText;
const contentOf = (digest: string) => ({ digest, sizeBytes: 100 });
const ids = (documents: readonly { id: number }[]) => documents.map(({ id }) => id);
const { settled, claimed, accepted, converted, inDoubt, heldBack } = events;
/** The problem of what is held while in doubt. */
const DOUBT = "DOUBT_AMBIGUOUS";
const at = (name: string, dueAt: number, sizeBytes = 100) =>
  [name, { dueAt, seen: seenOf(sizeBytes) }] as const;

/** So many bytes that cannot be packed, in names as a file system takes them. */
function deep(bytes: number, seed: string): string {
  const names: string[] = [];
  for (let left = bytes, at = 0; left > 0; left -= 121, at++) {
    const name = [0, 1].map((half) => createHash("sha512").update(`${seed} ${at} ${half}`));
    names.push(
      name
        .map((hash) => hash.digest("base64url"))
        .join("")
        .slice(0, Math.min(120, left)),
    );
  }
  return names.join("/");
}

/** What every journal promises about what it is asked. */
export function journalReadsContract(name: string, open: () => Promise<JournalFixture>): void {
  const withDesk = (check: (desk: Desk, fixture: JournalFixture) => Promise<void>) => async () => {
    await using fixture = await open();
    await atDesk(fixture.journal, (desk) => check(desk, fixture));
  };

  describe(`${name}: mirrors and directories`, () => {
    test(
      "a mirror is known by its name; a new source makes its device unknown",
      withDesk(async ({ journal, mirrorId }) => {
        await journal.setDevice(mirrorId, "ext4:7");
        expect(await journal.mirror("scans", "/srv/scans")).toMatchObject({ device: "ext4:7" });
        const moved = await journal.mirror("scans", "/mnt/scans");
        expect(moved).toEqual({
          id: mirrorId,
          name: "scans",
          source: "/mnt/scans",
          device: null,
          archiveId: 1,
        });
        const other = await journal.mirror("inbox", "/in");
        expect(await journal.mirrors()).toEqual([moved, other]);
      }),
    );

    test(
      "a mirror is in its first run until that is ended, whatever becomes of its source",
      withDesk(async ({ journal, mirrorId }, { beside }) => {
        const { id } = await journal.mirror("inbox", "/in");
        expect(await journal.firstRuns()).toEqual([mirrorId, id]);
        await journal.endFirstRun(mirrorId, NOW);
        await journal.mirror("scans", "/mnt/scans");
        expect(await journal.firstRuns()).toEqual([id]);
        expect(await (await beside()).firstRuns()).toEqual([id]);
      }),
    );

    test(
      "documents are claimed by rows, or by those of some mirrors alone",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const { sentArchiveAt, sentAt } = await desk.uploaded("a.pdf", 501);
        expect((await journal.claimed([501])).get(501)).toBe(sentArchiveAt ?? sentAt);
        expect([...(await journal.claimed([500, 501])).keys()]).toEqual([501]);
        expect([...(await journal.claimed([500, 501], [mirrorId + 1, mirrorId])).keys()]).toEqual([
          501,
        ]);
        expect([...(await journal.claimed([500, 501], [mirrorId + 1])).keys()]).toEqual([]);
        expect([...(await journal.claimed([500, 501], [])).keys()]).toEqual([]);
      }),
    );

    test(
      "a path is as long as it wants to be, also in the archive",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const start = deep(3_900, "start");
        const [one, two, below] = [`${start}/1`, `${start}/2`, `${start}/1/below`];
        const target = `/Scans/${one}`;
        const add = async (dir: string) => {
          const { id } = await desk.add(`${dir}/a.pdf`);
          const none = settled("d1", `/Scans/${dir}`);
          return desk.after(id, none, events.heldBack("FOLDER_MISSING"));
        };
        const [there, beside, deeper] = [await add(one), await add(two), await add(below)];
        expect(await journal.currentAt(mirrorId, raw(`${one}/a.pdf`))).toEqual(there);
        expect(ids(await journal.rowsIn(mirrorId, raw(two)))).toEqual([beside.id]);
        expect(ids(await journal.rowsBelow(mirrorId, raw(one)))).toEqual([there.id, deeper.id]);
        expect(ids(await journal.rowsBelow(mirrorId, ROOT))).toEqual([
          there.id,
          deeper.id,
          beside.id,
        ]);
        expect(await desk.paths()).toEqual([one, below, two].map((dir) => `${dir}|a.pdf`));
        const place = { mirrorId, targetPath: target };
        expect(ids(await journal.heldWith(["FOLDER_MISSING"], 9, place))).toEqual([there.id]);
        const waiting = { mirrorId, code: "FOLDER_MISSING", documents: 1 };
        expect(await journal.waitingFolders()).toEqual(
          [one, below, two].map((dir) => ({ ...waiting, targetPath: `/Scans/${dir}` })),
        );
        for (const fingerprint of ["f1", "f2", null] as const) {
          const change = { type: "directory", mirrorId, dir: raw(two), fingerprint } as const;
          await journal.apply([change]);
          const known = new Map(await journal.directories(mirrorId));
          expect(known.get(raw(two))).toBe(fingerprint ?? "");
        }
        await desk.forget(beside.id);
        expect(await journal.forgotten(mirrorId, raw(`${two}/a.pdf`))).toHaveLength(4);
        expect(await journal.forgotten(mirrorId, raw(`${one}/a.pdf`))).toEqual([]);
      }),
    );

    test(
      "a mirror takes another name, and stays what it is",
      withDesk(async ({ journal, mirrorId }, { beside }) => {
        const [before] = await journal.mirrors();
        await journal.endFirstRun(mirrorId, NOW);
        await journal.renameMirror(mirrorId, "office");
        const renamed = [{ ...before, name: "office" }];
        expect(await journal.mirrors()).toEqual(renamed);
        expect(await (await beside()).mirrors()).toEqual(renamed);
        expect(await journal.mirror("office", before?.source ?? "")).toEqual(renamed[0]);
        expect(await journal.firstRuns()).toEqual([]);
        expect((await journal.mirror("scans", "/in")).id).not.toBe(mirrorId);
      }),
    );

    test(
      "an archive that was replaced stays as history, and its names are free",
      withDesk(async ({ journal, mirrorId }, { beside }) => {
        const { id } = await journal.archive("main", "https://archive");
        const [mirror] = await journal.mirrors();
        await journal.retireArchive(id, " until today");
        const old = { id, name: "main until today", url: null };
        expect(await journal.archives()).toContainEqual(old);
        expect(await (await beside()).archives()).toContainEqual(old);
        expect(await journal.mirrors()).toEqual([
          { ...mirror, name: `${mirror?.name} until today` },
        ]);
        const again = await journal.archive("main", "https://archive");
        expect(again.id).not.toBe(id);
        const own = await journal.of(again.id).mirror(mirror?.name ?? "", mirror?.source ?? "");
        expect(own.id).not.toBe(mirrorId);
        expect(own.archiveId).toBe(again.id);
      }),
    );

    test(
      "directories are those whose listing was journaled, and those that hold a file all the same",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        const remember = (dir: string, fingerprint: string | null) =>
          journal.apply([{ type: "directory", mirrorId, dir: raw(dir), fingerprint }]);
        const file = await desk.add("unlisted/a.pdf");
        const sent = await desk.uploaded("sent/a.pdf", 7);
        await remember("sent", "1");
        await remember("b", "1");
        await remember("", "2");
        await remember("b", "3");
        expect(await journal.directories(mirrorId)).toEqual([
          ["", "2"],
          ["b", "3"],
          ["sent", "1"],
          ["unlisted", ""],
        ]);
        await remember("b", null);
        await remember("never", null);
        await remember("sent", null);
        expect(await journal.directories(mirrorId)).toEqual([
          ["", "2"],
          ["sent", ""],
          ["unlisted", ""],
        ]);
        await desk.forget(file.id);
        const gone = {
          type: "note",
          id: sent.id,
          at: NOW,
          why: "gone",
          set: { goneAt: NOW },
        } as const;
        await journal.apply([gone]);
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
      }),
    );

    test(
      "rows that wait for something outside are never due",
      withDesk(async (desk) => {
        await desk.held("a", "QUOTA_LIMIT");
        const query = { state: "held", now: Number.MAX_SAFE_INTEGER, limit: 9 } as const;
        expect(await desk.journal.due(query)).toEqual([]);
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

  describe(`${name}: what cannot be moved or deleted`, () => {
    test(
      "are those that were refused and are due again, the soonest first",
      withDesk(async (desk) => {
        const done = async (path: string, documentId: number) =>
          (await desk.after((await desk.uploaded(path, documentId)).id, converted("due"))).id;
        const [a, b, c, d] = [
          await done("a", 1),
          await done("b", 2),
          await done("c", 3),
          await done("d", 4),
        ];
        await done("e", 5);
        const note = (id: number, set: Note): Change => ({
          type: "note",
          id,
          at: NOW,
          why: "so",
          set,
        });
        await desk.journal.apply([
          note(a, { dueAt: NOW + 9, afterMessage: "no room" }),
          note(b, { dueAt: NOW + 5, afterMessage: "no right" }),
          note(c, { after: "refused", afterMessage: "changed", dueAt: null }),
          note(d, { dueAt: NOW + 1 }),
        ]);
        expect(ids(await desk.journal.afterPending(9))).toEqual([b, a]);
        const [first] = await desk.journal.afterPending(1);
        expect(first?.id).toBe(b);
        expect(ids(await desk.journal.afterPending(9, first))).toEqual([a]);
      }),
    );

    test(
      "are counted by mirror where that is for good, as long as the file is there",
      withDesk(async (desk) => {
        const { journal, mirrorId } = desk;
        expect(await journal.afterFailed()).toEqual([]);
        const refused = async (path: string, documentId: number) => {
          const { id } = await desk.after(
            (await desk.uploaded(path, documentId)).id,
            converted("due"),
          );
          const set = { after: "refused", afterMessage: "changed", dueAt: null } as const;
          await journal.apply([{ type: "note", id, at: NOW, why: "so", set }]);
          return id;
        };
        const first = await refused("a", 1);
        const second = await refused("b", 2);
        expect(await journal.afterFailed()).toEqual([{ mirrorId, documents: 2, first }]);
        const gone = { goneAt: NOW };
        await journal.apply([{ type: "note", id: first, at: NOW, why: "gone", set: gone }]);
        expect(await journal.afterFailed()).toEqual([{ mirrorId, documents: 1, first: second }]);
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
        const lost = [settled("same"), claimed(), inDoubt()];
        const doubted = await desk.after((await desk.add("d")).id, ...lost, heldBack(DOUBT));
        const sent = await desk.uploaded("s", 501, "same");
        await desk.after((await desk.add("h")).id, settled("same"), heldBack(DOUBT));
        await desk.after(
          (await desk.add("o")).id,
          settled("other"),
          ...lost.slice(1),
          heldBack(DOUBT),
        );
        const all = await journal.sentWith(mirrorId, "same", 100);
        expect(ids(all)).toEqual(ids([uploading, doubted, sent]));
        expect(await journal.sentWith(mirrorId, "none", 100)).toEqual([]);
        expect(await journal.sentWith(99, "same", 100)).toEqual([]);
        const set = { ignoredDigest: "edited" };
        await journal.apply([{ type: "note", id: sent.id, at: NOW, why: "left alone", set }]);
        expect(ids(await journal.ignoredWith(mirrorId, "edited"))).toEqual([sent.id]);
        expect(await journal.ignoredWith(99, "edited")).toEqual([]);
        expect(await journal.ignoredWith(mirrorId, "same")).toEqual([]);
        await desk.after((await desk.add("n")).id, settled("not yet"));
        const contents = ["same", "other", "edited", "not yet", "none"].map(contentOf);
        const known = new Set(["same", "other", "edited"]);
        expect(await journal.knownContents(contents)).toEqual(known);
        expect(await journal.knownContents([contentOf("none")])).toEqual(new Set());
        expect(await journal.knownContents([])).toEqual(new Set());
      }),
    );

    test(
      "conflicts are on their way with this name in this folder, or in any",
      withDesk(async (desk, { beside }) => {
        const send = async (path: string, folderId: number) =>
          desk.after((await desk.add(path)).id, settled("d", "/S", "n.pdf"), claimed(folderId));
        const [a, b, elsewhere] = [await send("a", 7), await send("b", 7), await send("c", 8)];
        await desk.after(b.id, inDoubt());
        await desk.uploaded("d", 501);
        expect(ids(await desk.journal.conflicts(7, "n.pdf"))).toEqual(ids([a, b]));
        expect(await desk.journal.conflicts(7, "N.pdf")).toEqual([]);
        expect(ids(await desk.journal.conflicts(null, "n.pdf"))).toEqual(ids([a, b, elsewhere]));
        // Anyone who claimed them is gone: nobody is sending them.
        await desk.journal.close();
        await using other = await beside();
        expect(ids(await other.underWay(9))).toEqual(ids([a, elsewhere]));
        expect(ids(await other.underWay(1))).toEqual([a.id]);
      }),
    );

    test(
      "archive ids that belong to a row are claimed",
      withDesk(async (desk) => {
        const { id } = await desk.uploaded("a", 501);
        const problem = { code: "DOC_NOT_EXIST", message: "gone" };
        await desk.after(id, { type: "vanished", at: NOW, problem });
        await desk.uploaded("b", 502);
        const claimed = await desk.journal.claimed([500, 501, 502, 503]);
        expect(new Set(claimed.keys())).toEqual(new Set([501, 502]));
        expect([...(await desk.journal.claimed([])).keys()]).toEqual([]);
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
}
