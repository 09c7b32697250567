/** Names that are used anew: what had one before is known elsewhere by its file, and is not sent again. */
import { describe, expect, test } from "vitest";
import type { Document, Seen } from "../../../src/domain/document.ts";
import { DOUBT_CODES } from "../../../src/domain/verdict.ts";
import type { Acted } from "../../../src/source/source.ts";
import { Aftercare } from "../../../src/sync/aftercare.ts";
import { aSettler, onDisk, sent, settling } from "./a-settler.ts";
import { SECOND, type SyncDesk } from "./desk.ts";

/** A local stamp: size, mtime, ctime and inode. */
const seenAs = (inode: string, ctime = "1", mtime = "5"): Seen => {
  return { sizeBytes: 1_000, modifiedAt: 5, stamp: `1000.${mtime}.${ctime}.${inode}` };
};
const network: Seen = { ...seenAs("i"), stamp: "1000.5" };

/** `scan.pdf` was sent, and has been another file since, which is settling too. */
function usedAnew(desk: SyncDesk, set: Partial<Document> = {}) {
  const before = sent(desk, "scan.pdf", "d1", { seen: seenAs("i"), current: false, ...set });
  const file = { seen: { ...seenAs("new"), modifiedAt: 6 } };
  const anew = settling(desk, "scan.pdf", "d2", { supersedes: before.id, file });
  return { before, anew };
}

describe("a name that is used anew", () => {
  test("its file before was renamed: that row follows it, and the new content is no edit of it", async () => {
    const { desk, settler } = await aSettler();
    const { before, anew } = usedAnew(desk);
    const { id } = settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2") } });
    await desk.run(settler);
    expect(await desk.journal.document(id)).toBeUndefined();
    const followed = { name: "kept.pdf", current: true, movedFrom: "scan.pdf", state: "converted" };
    expect(await desk.row(before)).toMatchObject(followed);
    expect(await desk.row(anew)).toMatchObject({ state: "pending", supersedes: null });
  });

  test.for([
    [seenAs("i", "2"), false, "a rename changes the ctime alone"],
    [network, false, "a network stamp knows no more"],
    [seenAs("copy", "2"), true, "a copy that was given its time has another inode"],
    [seenAs("i", "2", "6"), true, "its inode was given to another file"],
    [{ ...network, stamp: "1000.6" }, true, "a copy has another time"],
  ] as const)("the same bytes elsewhere: sent $1, since $2", async ([seen, isSent]) => {
    const { desk, settler } = await aSettler();
    const { before } = usedAnew(desk);
    const { id } = settling(desk, "kept.pdf", "d1", { file: { seen } });
    await desk.run(settler);
    expect((await desk.journal.document(id))?.state).toBe(isSent ? "pending" : undefined);
    expect((await desk.row(before)).current).toBe(!isSent);
  });

  test("two sent files have changed places: each row follows, and nothing is sent", async () => {
    const { desk, settler } = await aSettler();
    const a = sent(desk, "a.pdf", "d1", { current: false, seen: seenAs("i") });
    const b = sent(desk, "b.pdf", "d2", { current: false, seen: seenAs("j") });
    settling(desk, "a.pdf", "d2", { supersedes: a.id, file: { seen: seenAs("j", "2") } });
    settling(desk, "b.pdf", "d1", { supersedes: b.id, file: { seen: seenAs("i", "2") } });
    await desk.run(settler);
    expect(desk.states()).toEqual(["converted", "converted"]);
    expect(await desk.row(a)).toMatchObject({ name: "b.pdf", current: true });
    expect(await desk.row(b)).toMatchObject({ name: "a.pdf", current: true });
  });

  test.for([
    [seenAs("new"), false, "another file has its name, which is not journaled yet"],
    [seenAs("i", "2"), true, "it is there: the other is a link to it"],
  ] as const)(
    "its name is not known to be used anew: sent $1, since $2",
    async ([seen, isSent]) => {
      const { desk, settler } = await aSettler();
      const before = sent(desk, "scan.pdf", "d1", { seen: seenAs("i") });
      onDisk(desk, "scan.pdf", "d2", { seen });
      settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2") } });
      await desk.run(settler);
      expect(desk.states()).toEqual(isSent ? ["converted", "pending"] : ["converted"]);
      expect((await desk.row(before)).name).toBe(isSent ? "scan.pdf" : "kept.pdf");
    },
  );

  test("renamed, and copied to where it was: it is followed, and the copy is sent", async () => {
    const { desk, settler } = await aSettler();
    const before = sent(desk, "scan.pdf", "d1", { seen: seenAs("i"), current: false });
    settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2") } });
    const set = { supersedes: before.id, file: { seen: seenAs("copy") } };
    const copy = settling(desk, "scan.pdf", "d1", set);
    await desk.run(settler);
    expect(await desk.row(before)).toMatchObject({ name: "kept.pdf", seen: seenAs("i", "2") });
    expect(await desk.row(copy)).toMatchObject({ state: "pending", supersedes: null });
  });

  test("touched, and copied before with its time: it stays where it is, and the copy is sent", async () => {
    const { desk, settler } = await aSettler();
    const before = sent(desk, "scan.pdf", "d1", { seen: network, current: false });
    const touched = { ...network, stamp: "1000.6" };
    settling(desk, "scan.pdf", "d1", { supersedes: before.id, file: { seen: touched } });
    const copy = settling(desk, "copy.pdf", "d1", { file: { seen: network } });
    await desk.run(settler);
    expect(await desk.row(before)).toMatchObject({
      name: "scan.pdf",
      current: true,
      seen: touched,
    });
    expect((await desk.row(copy)).state).toBe("pending");
  });

  test("what could not be put away, as another file had its name, is put away where it is", async () => {
    const { desk, settler } = await aSettler({ mirrors: [{ after: { kind: "delete" } }] });
    const { before } = usedAnew(desk, { after: "refused", afterMessage: "FILE_CHANGED: other" });
    settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2") } });
    await desk.run(settler);
    expect(await desk.row(before)).toMatchObject({ name: "kept.pdf", after: "due" });
  });

  test("put away within the source, it is that file once that folder is seen", async () => {
    const { desk, settler } = await aSettler();
    const afterMessage = "/srv/scans/done/scan.pdf";
    const { before } = usedAnew(desk, { after: "done", afterMessage, goneAt: 5 });
    const { id } = settling(desk, "done/scan.pdf", "d1");
    await desk.run(settler);
    expect(await desk.journal.document(id)).toBeUndefined();
    expect(await desk.row(before)).toMatchObject({ dir: "done", current: true, goneAt: null });
  });

  test("while an after-action has that name in hand, it is waited for", async () => {
    const { desk, settler, puttingAway } = await aSettler({
      mirrors: [{ after: { kind: "delete" } }],
    });
    const folderId = desk.archive.addFolder("Scans");
    const filename = "scan.pdf";
    const documentId = desk.archive.addDocument({ folderId, filename, status: "CONVERTED" });
    const due = { after: "due", documentId, folderId, sentName: filename } as const;
    const { before } = usedAnew(desk, due);
    const ended = Promise.withResolvers<Acted>();
    desk.reader.onAct = (path) => (path === filename ? ended.promise : { kind: "done" });
    await desk.run(new Aftercare(desk.context, puttingAway));
    const { id } = settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2") } });
    await desk.run(settler);
    expect((await desk.row(id)).state).toBe("settling");
    ended.resolve({ kind: "refused", trouble: { code: "FILE_CHANGED", message: "so" } });
    await desk.advance(2 * SECOND);
    expect(await desk.journal.document(id)).toBeUndefined();
    expect(await desk.row(before)).toMatchObject({ name: "kept.pdf", after: "done" });
    expect(desk.reader.acted).toEqual(["scan.pdf", "kept.pdf"]);
  });
});

describe("held in doubt", () => {
  const doubted = (code: string, current: boolean) => {
    const trouble = { code, message: "so" };
    const at = { seen: seenAs("i"), current, doubtAt: 1, trouble };
    return { ...at, state: "held", documentId: null } as const;
  };

  test.for(DOUBT_CODES.flatMap((code) => [[code, true] as const, [code, false] as const]))(
    "for %s and renamed (its name free: %s): it is followed, and looked for under the name it was sent with",
    async ([code, isFree]) => {
      const { desk, settler } = await aSettler();
      const before = sent(desk, "scan.pdf", "d1", doubted(code, isFree));
      if (!isFree) settling(desk, "scan.pdf", "d2", { supersedes: before.id });
      const { id } = settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2") } });
      await desk.run(settler);
      expect(await desk.journal.document(id)).toBeUndefined();
      const held = { state: "held", doubtAt: 1, name: "kept.pdf", sentName: "scan.pdf" };
      expect(await desk.row(before)).toMatchObject(held);
    },
  );

  test("a copy of it is another document, where duplicates are sent", async () => {
    const { desk, settler } = await aSettler();
    sent(desk, "scan.pdf", "d1", doubted("DOUBT_AMBIGUOUS", true));
    onDisk(desk, "scan.pdf", "d1", { seen: seenAs("i") });
    const { id } = settling(desk, "copy.pdf", "d1", { file: { seen: seenAs("copy") } });
    await desk.run(settler);
    expect((await desk.row(id)).state).toBe("pending");
  });
});
