import { describe, expect, test } from "vitest";
import type { Document } from "../../src/domain/document.ts";
import type { Applied, Change, Journal } from "../../src/journal/journal.ts";
import { InvariantError } from "../../src/std/fault.ts";
import { bytesOf, ROOT, rawOf, rawOfText } from "../../src/std/raw-path.ts";
import { atDesk, appearing, Desk, events, NOW, seenOf } from "./journal-desk.ts";

/** One store of a journal, and ways into it. */
export type JournalFixture = AsyncDisposable & {
  readonly journal: Journal;
  readonly applied: Applied[][];
  /** Another process's journal over the same store. */
  readonly beside: () => Promise<Journal>;
};

const raw = rawOfText;
const ids = (documents: readonly { id: number }[]) => documents.map(({ id }) => id);
const { settled, claimed, accepted, converted, inDoubt, heldBack } = events;

/** What every journal promises about writing. Run against SQLite's and PostgreSQL's. */
export function journalWritesContract(name: string, open: () => Promise<JournalFixture>): void {
  const withDesk = (check: (desk: Desk, fixture: JournalFixture) => Promise<void>) => async () => {
    await using fixture = await open();
    await atDesk(fixture.journal, (desk) => check(desk, fixture));
  };

  describe(`${name}: documents`, () => {
    test(
      "a file that appears is settling, whole and current",
      withDesk(async (desk, { applied }) => {
        const document = await desk.add("in/a.pdf");
        expect(document).toMatchObject({
          state: "settling",
          dir: "in",
          name: "a.pdf",
          seen: seenOf(100),
          firstSeenAt: NOW,
          changedAt: NOW,
          dueAt: NOW + 3000,
          current: true,
          attempts: 0,
          digest: null,
          after: null,
        });
        expect(await desk.journal.document(document.id)).toEqual(document);
        expect(applied.at(-1)).toMatchObject([{ from: undefined, skipped: false }]);
      }),
    );

    test(
      "a change is made to the row as another process left it",
      withDesk(async (desk, { beside }) => {
        const { id } = await desk.add("a.pdf");
        await desk.after(id, settled());
        await using other = await beside();
        await other.apply([{ type: "note", id, at: NOW, why: "asked", set: { remark: "theirs" } }]);
        expect(await desk.after(id, claimed())).toMatchObject({ remark: "theirs" });
        await other.apply([{ type: "event", id, event: accepted(7) }]);
        await expect(desk.after(id, accepted(8))).rejects.toThrow(InvariantError);
        expect(await desk.after(id, converted())).toMatchObject({ documentId: 7 });
      }),
    );

    test(
      "a change is made to the row as it was before a set that was refused",
      withDesk(async (desk) => {
        const { id } = await desk.add("a.pdf");
        await desk.after(id, settled());
        const refused = desk.after(id, claimed(), accepted(7), accepted(8));
        const next = desk.after(id, claimed(9));
        await expect(refused).rejects.toThrow(InvariantError);
        expect(await next).toMatchObject({ state: "uploading", folderId: 9, documentId: null });
        expect(await desk.journal.document(id)).toEqual(await next);
      }),
    );

    test(
      "names that are no UTF-8 come back byte for byte",
      withDesk(async (desk) => {
        const dir = rawOf(Buffer.from([0xff, 0x00, 0x2f, 0xc3]));
        const name = rawOf(Buffer.from([0xfe, 0x20, 0xe4]));
        const document = { ...appearing(desk.mirrorId, "x"), dir, name };
        await desk.journal.apply([{ type: "add", document }]);
        const [known] = await desk.journal.rowsIn(desk.mirrorId, dir);
        expect(bytesOf(known?.name ?? ROOT)).toEqual(Buffer.from([0xfe, 0x20, 0xe4]));
      }),
    );

    test(
      "a path has one current row: a second `add` is skipped and shows the first",
      withDesk(async (desk) => {
        const { id } = await desk.add("a.pdf");
        const document = appearing(desk.mirrorId, "a.pdf");
        const [again] = await desk.journal.apply([{ type: "add", document }]);
        expect(again).toMatchObject({ skipped: true, from: undefined, document: { id } });
      }),
    );

    test(
      "a new revision supersedes the sent one, which stops being current",
      withDesk(async (desk) => {
        const sent = await desk.uploaded("a.pdf", 501);
        const next = await desk.add("a.pdf", { supersedes: sent.id, seen: seenOf(7) });
        expect(await desk.journal.document(sent.id)).toEqual({ ...sent, current: false });
        expect((await desk.journal.currentAt(desk.mirrorId, raw("a.pdf")))?.id).toBe(next.id);
        const document = appearing(desk.mirrorId, "a.pdf", { supersedes: sent.id });
        const [late] = await desk.journal.apply([{ type: "add", document }]);
        expect(late).toMatchObject({ skipped: true, document: { id: next.id } });
      }),
    );

    test(
      "an event moves a row; `from` skips it once the row has left those states",
      withDesk(async (desk) => {
        const { id } = await desk.add("a.pdf");
        const change = { type: "event", id, event: settled(), from: ["settling"] } as const;
        const [first, second] = await desk.journal.apply([change, change]);
        expect(first).toMatchObject({ from: "settling", skipped: false });
        expect(second).toMatchObject({ from: "pending", skipped: true });
        expect(second?.document).toEqual(first?.document);
      }),
    );

    test(
      "changes of a row that is gone are skipped",
      withDesk(async (desk) => {
        const applied = await desk.journal.apply([
          { type: "event", id: 99, event: settled() },
          { type: "note", id: 99, at: NOW, why: "x", set: { goneAt: NOW } },
          { type: "forget", id: 99, at: NOW, why: "x" },
          { type: "follow", id: 99, successor: 98, at: NOW },
        ]);
        expect(applied.map(({ skipped, document }) => [skipped, document])).toEqual(
          applied.map(() => [true, undefined]),
        );
      }),
    );

    test(
      "an impossible event rejects, and nothing of its call is kept",
      withDesk(async (desk) => {
        const { id } = await desk.add("a.pdf");
        const call = desk.journal.apply([
          { type: "event", id, event: settled() },
          { type: "add", document: appearing(desk.mirrorId, "b.pdf") },
          { type: "event", id, event: converted() },
        ]);
        const other = desk.add("c.pdf");
        await expect(call).rejects.toBeInstanceOf(InvariantError);
        expect((await other).state).toBe("settling");
        expect((await desk.journal.document(id))?.state).toBe("settling");
        expect(await desk.paths()).toEqual(["|a.pdf", "|c.pdf"]);
        expect(await desk.journal.history(id)).toHaveLength(1);
      }),
    );

    test(
      "what was found out about one content changes nothing once another was seen, all of it or nothing",
      withDesk(async (desk) => {
        const { id } = await desk.add("a.pdf", { seen: seenOf(100, "old") });
        const other = await desk.uploaded("sent.pdf", 501);
        const given = { id, stamp: "old" };
        const findings = (): Change[] => [
          { type: "note", id: other.id, at: NOW, why: "moved", set: { remark: "moved" }, given },
          { type: "forget", id, at: NOW, why: "it is a.pdf", given },
          { type: "event", id, event: settled(), given },
          { type: "follow", id: other.id, successor: id, at: NOW, given },
        ];
        const changed = { at: NOW + 1, dueAt: NOW + 2, seen: seenOf(7, "new") };
        await desk.after(id, { type: "changed", ...changed });
        const late = await desk.journal.apply(findings());
        expect(late.map(({ skipped }) => skipped)).toEqual([true, true, true, true]);
        expect(late[0]?.document?.id).toBe(other.id);
        expect(await desk.journal.document(id)).toMatchObject({ state: "settling", name: "a.pdf" });
        expect(await desk.journal.document(other.id)).toEqual(other);
        await desk.after(id, { type: "changed", ...changed, seen: seenOf(100, "old") });
        // The row's own end does not undo what is found out with it.
        const [note, forget, ...rest] = await desk.journal.apply([
          ...findings().slice(1, 2),
          ...findings().slice(0, 1),
          ...findings().slice(2),
        ]);
        expect([note?.skipped, forget?.skipped]).toEqual([false, false]);
        expect(rest.map(({ skipped }) => skipped)).toEqual([true, true]);
      }),
    );

    test(
      "a note of one state is skipped once the row has left it",
      withDesk(async (desk) => {
        const { id, dueAt } = await desk.add("a.pdf");
        const note = { type: "note", id, at: NOW, why: "later", set: { dueAt: NOW + 1 } } as const;
        const [late] = await desk.journal.apply([{ ...note, from: ["pending"] }]);
        expect(late).toMatchObject({ skipped: true, document: { id, dueAt } });
        expect(await desk.journal.history(id)).toHaveLength(1);
        const [meant] = await desk.journal.apply([{ ...note, from: ["settling", "pending"] }]);
        expect(meant).toMatchObject({ skipped: false, document: { dueAt: NOW + 1 } });
      }),
    );

    test(
      "a time that is not a number is refused",
      withDesk(async (desk) => {
        await expect(desk.add("a.pdf", { dueAt: Number.NaN })).rejects.toBeInstanceOf(
          InvariantError,
        );
      }),
    );

    test(
      "an archive that gives one id twice is told apart from a bug",
      withDesk(async (desk) => {
        await desk.uploaded("a.pdf", 501);
        const { id } = await desk.add("b.pdf");
        await desk.after(id, settled("d2"), claimed());
        await expect(desk.after(id, accepted(501))).rejects.toMatchObject({
          code: "DOCUMENT_ID_TAKEN",
        });
        expect((await desk.journal.document(id))?.state).toBe("uploading");
      }),
    );

    test.for([
      // alone, sentName, digest, folder, state of the other, claimed, because
      [undefined, "n", "d", 7, "uploading", true, "nobody asked"],
      ["name", "n", "x", 7, "uploading", false, "their replies could not be told apart"],
      ["name", "n", "x", 7, "inDoubt", false, "the other may be found by this name"],
      ["name", "n", "x", 8, "uploading", true, "it goes into another folder"],
      ["name", "m", "d", 7, "uploading", true, "its content is nobody's business"],
      ["nameAndContent", "m", "d", 8, "uploading", false, "it would be sent twice"],
      ["nameAndContent", "m", "d", 8, "inDoubt", false, "it may be there"],
      ["nameAndContent", "m", "x", 7, "inDoubt", true, "it is another content"],
      ["nameAndContent", "m", "d", 8, "uploaded", true, "that is for the claimer to see"],
    ] as const)(
      "a claim that must be alone by %s, of name %s and content %s into %i next to one that is %s: %s, as %s",
      async ([alone, sentName, digest, folderId, state, isClaimed]) => {
        await withDesk(async (desk) => {
          const other = await desk.add("other");
          await desk.after(other.id, settled("d", "/S", "n"), claimed(7));
          if (state === "inDoubt") await desk.after(other.id, inDoubt());
          if (state === "uploaded") await desk.after(other.id, accepted(501));
          const { id } = await desk.add("a");
          await desk.after(id, settled(digest, "/S", sentName));
          const claim = { type: "event", id, event: claimed(folderId) } as const;
          const [applied] = await desk.journal.apply([alone ? { ...claim, alone } : claim]);
          expect(applied).toMatchObject({ skipped: !isClaimed, from: "pending" });
          expect((await desk.journal.document(id))?.state).toBe(
            isClaimed ? "uploading" : "pending",
          );
        })();
      },
    );

    test(
      "of two claims in one call that must be alone, the first is",
      withDesk(async (desk) => {
        const [a, b] = [await desk.add("a"), await desk.add("b")];
        for (const { id } of [a, b]) await desk.after(id, settled("d", "/S", "n"));
        const claims = [a, b].map(
          ({ id }) => ({ type: "event", id, event: claimed(7), alone: "name" }) as const,
        );
        const applied = await desk.journal.apply(claims);
        expect(applied.map(({ skipped }) => skipped)).toEqual([false, true]);
      }),
    );

    test(
      "text that no database has a place for is kept as far as possible",
      withDesk(async (desk) => {
        const { id } = await desk.add("a.pdf");
        const problem = { code: "X", message: "before\0after \ud800 \\u0000" };
        await desk.after(id, settled(), { type: "heldBack", at: NOW, dueAt: null, problem });
        const message = (await desk.journal.document(id))?.problem?.message ?? "";
        expect(message.startsWith("before")).toBe(true);
        expect(message.endsWith(" \\u0000")).toBe(true);
        await desk.journal.setKeyValue("m", "a\0b");
        expect(await desk.journal.keyValue("m")).toMatch(/^a.b$/su);
      }),
    );

    test(
      "a note sets its columns and never the state",
      withDesk(async (desk) => {
        const { id } = await desk.uploaded("a.pdf", 501);
        const action = { after: "done", afterMessage: "moved" } as const;
        const set = { ...action, goneAt: NOW, changedAt: NOW - 5, dueAt: null } as const;
        const smuggled = { ...set, state: "failed" };
        await desk.journal.apply([{ type: "note", id, at: NOW, why: "gone", set: smuggled }]);
        expect(await desk.journal.document(id)).toMatchObject({ ...set, state: "uploaded" });
      }),
    );
  });

  describe(`${name}: forgetting and following`, () => {
    test(
      "a row that was never sent is forgotten, and its history keeps why",
      withDesk(async (desk) => {
        const { id } = await desk.add("in/a.pdf");
        expect(await desk.forget(id)).toMatchObject({ from: "settling", document: undefined });
        expect(await desk.journal.document(id)).toBeUndefined();
        const lines = await desk.journal.forgotten(desk.mirrorId, raw("in/a.pdf"));
        expect(lines.map(({ event, to, detail }) => [event, to, detail])).toEqual([
          ["add", "settling", "100 bytes"],
          ["forget", null, "removed"],
        ]);
        expect(await desk.journal.history(id)).toEqual(lines);
        expect((await desk.add("in/a.pdf")).id).toBeGreaterThan(id);
      }),
    );

    test.for<[string, (desk: Desk) => Promise<Document>]>([
      ["uploading", async (desk) => desk.after((await desk.add("a")).id, settled(), claimed())],
      [
        "inDoubt",
        async (desk) => desk.after((await desk.add("a")).id, settled(), claimed(), inDoubt()),
      ],
      ["uploaded", (desk) => desk.uploaded("a", 501)],
      ["converted", async (desk) => desk.after((await desk.uploaded("a", 501)).id, converted())],
      [
        "failed with a document id",
        async (desk) => {
          const problem = { code: "DOC_NOT_EXIST", message: "gone" };
          const { id } = await desk.uploaded("a", 501);
          return desk.after(id, { type: "vanished", at: NOW, problem });
        },
      ],
    ])("%s is never forgotten", async ([, prepare]) => {
      await using fixture = await open();
      const desk = await Desk.at(fixture.journal);
      const document = await prepare(desk);
      await expect(desk.forget(document.id)).rejects.toBeInstanceOf(InvariantError);
      expect(await desk.journal.document(document.id)).toEqual(document);
    });

    test(
      "`from` makes a forget that comes too late a no-op",
      withDesk(async (desk) => {
        const { id } = await desk.add("a.pdf");
        await desk.after(id, settled(), claimed());
        const forget = { type: "forget", id, at: NOW, why: "removed", from: ["pending"] } as const;
        expect(await desk.journal.apply([forget])).toMatchObject([
          { skipped: true, from: "uploading" },
        ]);
      }),
    );

    test(
      "a forget that learns about another row leaves no history, in as many changes as there are",
      withDesk(async (desk) => {
        const sent = await desk.uploaded("a.pdf", 501);
        const next = await desk.add("a.pdf", { supersedes: sent.id });
        await desk.journal.apply([
          { type: "note", id: next.id, at: NOW, why: "looked at", set: { dueAt: NOW } },
          { type: "forget", id: next.id, at: NOW, why: "told", restore: true, traceless: true },
        ]);
        expect(await desk.journal.history(next.id)).toEqual([]);
        expect(await desk.journal.forgotten(desk.mirrorId, raw("a.pdf"))).toEqual([]);
        const current = await desk.journal.currentAt(desk.mirrorId, raw("a.pdf"));
        expect(current?.id).toBe(sent.id);
        expect(await desk.journal.history(sent.id)).not.toEqual([]);
      }),
    );

    test.for([
      [true, "touched, not changed: the sent row is the file again"],
      [false, "the file is gone, both of its revisions"],
    ] as const)("restore %s: %s", async ([restore]) => {
      await using fixture = await open();
      const desk = await Desk.at(fixture.journal);
      const sent = await desk.uploaded("a.pdf", 501);
      const next = await desk.add("a.pdf", { supersedes: sent.id });
      await desk.forget(next.id, restore);
      const current = await desk.journal.currentAt(desk.mirrorId, raw("a.pdf"));
      expect(current?.id).toBe(restore ? sent.id : undefined);
    });

    test(
      "restore with goneAt: the sent row is the path's again, and its file is gone",
      withDesk(async (desk) => {
        const sent = await desk.uploaded("a.pdf", 501);
        const next = await desk.add("a.pdf", { supersedes: sent.id });
        const rest = { at: NOW, why: "removed", restore: true, goneAt: NOW + 7 } as const;
        await desk.journal.apply([{ type: "forget", id: next.id, ...rest }]);
        const current = await desk.journal.currentAt(desk.mirrorId, raw("a.pdf"));
        expect(current).toMatchObject({ id: sent.id, goneAt: NOW + 7 });
      }),
    );

    test(
      "a forgotten row in between leaves the chain whole",
      withDesk(async (desk) => {
        const first = await desk.uploaded("a.pdf", 501);
        const second = await desk.add("a.pdf", { supersedes: first.id });
        const third = await desk.add("a.pdf", { supersedes: second.id });
        await desk.forget(second.id, true);
        expect(await desk.journal.document(third.id)).toMatchObject({ supersedes: first.id });
        expect(await desk.journal.document(first.id)).toMatchObject({ current: false });
      }),
    );

    test(
      "a row that is superseded and forgotten by the same changes leaves the chain whole",
      withDesk(async (desk) => {
        const first = await desk.uploaded("a.pdf", 501);
        const second = await desk.add("a.pdf", { supersedes: first.id });
        const { dir, name, mirrorId } = second;
        const document = { mirrorId, dir, name, seen: seenOf(7), at: NOW, dueAt: NOW };
        const [added] = await desk.journal.apply([
          { type: "add", document: { ...document, supersedes: second.id } },
          { type: "forget", id: second.id, at: NOW, why: "removed", restore: true },
        ]);
        const current = await desk.journal.currentAt(mirrorId, raw("a.pdf"));
        expect(current).toMatchObject({ id: added?.document?.id, supersedes: first.id });
      }),
    );

    test(
      "a sent row follows its file, and tells where it was sent from until it is back",
      withDesk(async (desk) => {
        const sent = await desk.uploaded("old/a.pdf", 501);
        const gone = { type: "note", id: sent.id, at: NOW, why: "gone", set: { goneAt: NOW } };
        await desk.journal.apply([gone as never]);
        const there = await desk.add("new/b.pdf", { seen: seenOf(100, "moved") });
        expect((await desk.follow(sent.id, there.id))?.document).toEqual({
          ...sent,
          dir: "new",
          name: "b.pdf",
          seen: seenOf(100, "moved"),
          movedFrom: "old/a.pdf",
          movedAt: NOW + 50,
          ordinary: false,
        });
        expect(await desk.journal.document(there.id)).toBeUndefined();
        expect(
          (await desk.journal.forgotten(desk.mirrorId, raw("new/b.pdf"))).at(-1),
        ).toMatchObject({
          event: "follow",
          to: null,
          detail: `is journal row ${sent.id}, moved here`,
        });
        const back = await desk.add("old/a.pdf");
        expect((await desk.follow(sent.id, back.id))?.document).toMatchObject({
          movedFrom: null,
          movedAt: null,
        });
        expect(ids(await desk.journal.rowsIn(desk.mirrorId, raw("old")))).toEqual([sent.id]);
      }),
    );

    test(
      "a sent row follows its file away from a name that was used again, which is no edit of it then",
      withDesk(async (desk) => {
        const sent = await desk.uploaded("a.pdf", 501);
        const again = await desk.add("a.pdf", { supersedes: sent.id });
        const later = await desk.add("a.pdf", { supersedes: again.id });
        const there = await desk.add("b.pdf");
        await desk.follow(sent.id, there.id);
        const row = (id: number) => desk.journal.document(id);
        expect(await row(sent.id)).toMatchObject({ name: "b.pdf", current: true });
        expect(await row(again.id)).toEqual({ ...again, current: false, supersedes: null });
        expect(await row(later.id)).toEqual(later);
      }),
    );

    test(
      "a sent row follows its file into another mirror",
      withDesk(async (desk) => {
        const sent = await desk.uploaded("old/a.pdf", 501);
        const { id: mirrorId } = await desk.journal.mirror("other", "/srv/other");
        const there = await desk.add("new/a.pdf", { mirrorId });
        expect((await desk.follow(sent.id, there.id))?.document).toMatchObject({ mirrorId });
        const moved = { movedFrom: "old/a.pdf", movedAt: NOW + 50, ordinary: false };
        const place = { dir: "new", name: "a.pdf", ...moved };
        expect(await desk.journal.currentAt(mirrorId, raw("new/a.pdf"))).toEqual({
          ...sent,
          ...place,
          mirrorId,
          seen: there.seen,
        });
        expect(await desk.journal.rowsIn(desk.mirrorId, raw("old"))).toEqual([]);
        expect(ids(await desk.journal.rowsIn(mirrorId, raw("new")))).toEqual([sent.id]);
        const sentThere = await desk.journal.sentWith(mirrorId, "d1", there.seen.sizeBytes);
        expect(ids(sentThere)).toEqual([sent.id]);
      }),
    );

    test(
      "two sent rows whose files have changed places follow them at once",
      withDesk(async (desk) => {
        const [a, b] = [await desk.uploaded("a.pdf", 501), await desk.uploaded("b.pdf", 502)];
        const nextA = await desk.add("a.pdf", { supersedes: a.id });
        const nextB = await desk.add("b.pdf", { supersedes: b.id });
        await desk.journal.apply([
          { type: "follow", id: a.id, successor: nextB.id, at: NOW },
          { type: "follow", id: b.id, successor: nextA.id, at: NOW },
        ]);
        const at = async (path: string) => desk.journal.currentAt(desk.mirrorId, raw(path));
        expect(await at("a.pdf")).toMatchObject({ id: b.id, movedFrom: "b.pdf" });
        expect(await at("b.pdf")).toMatchObject({ id: a.id, movedFrom: "a.pdf" });
        expect(await desk.journal.document(nextA.id)).toBeUndefined();
      }),
    );

    test(
      "a row that is held in doubt follows its file; one that is held before it was sent does not",
      withDesk(async (desk) => {
        const hold = [settled("d"), claimed(), inDoubt(), heldBack("DOUBT_AMBIGUOUS")];
        const doubted = await desk.after((await desk.add("a.pdf")).id, ...hold);
        const held = await desk.after((await desk.add("b.pdf")).id, heldBack("FILE_EMPTY"));
        const there = await desk.add("c.pdf");
        expect(await desk.follow(held.id, there.id)).toMatchObject({ skipped: true });
        const { document } = (await desk.follow(doubted.id, there.id)) ?? {};
        expect(document).toMatchObject({ state: "held", name: "c.pdf", doubtAt: doubted.doubtAt });
      }),
    );

    test(
      "a file that moved on since is not followed",
      withDesk(async (desk) => {
        const sent = await desk.uploaded("a.pdf", 501);
        const there = await desk.add("b.pdf");
        await desk.after(there.id, settled("d2"));
        expect(await desk.follow(sent.id, there.id)).toMatchObject({ skipped: true });
        expect(await desk.follow(there.id, (await desk.add("c.pdf")).id)).toMatchObject({
          skipped: true,
        });
        expect(await desk.paths()).toEqual(["|a.pdf", "|b.pdf", "|c.pdf"]);
      }),
    );
  });
}
