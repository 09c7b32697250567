import { describe, expect, test } from "vitest";
import type { Document } from "../../../src/domain/document.ts";
import { joinRaw, rawOfText } from "../../../src/std/raw-path.ts";
import type { Acted } from "../../../src/source/source.ts";
import { Aftercare, GONE_ALREADY } from "../../../src/sync/aftercare.ts";
import { aSettler, onDisk, sent, settling } from "./a-settler.ts";
import { SECOND } from "./desk.ts";

describe("bytes that are in the archive already", () => {
  test("touched, not changed: nothing is sent, and the row is as it was", async () => {
    const { desk, settler } = await aSettler();
    const before = sent(desk, "scan.pdf", "d1", { current: false, goneAt: 5 });
    const seen = { sizeBytes: 1_000, modifiedAt: 9, stamp: "touched" };
    const successor = settling(desk, "scan.pdf", "d1", {
      supersedes: before.id,
      file: { seen },
    });
    await desk.run(settler);
    expect(await desk.row(before)).toEqual({ ...before, current: true, seen, goneAt: null });
    expect(await desk.journal.document(successor.id)).toBeUndefined();
  });

  test("touched after its after-action: it is put away once more", async () => {
    const { desk, settler } = await aSettler({ mirrors: [{ after: { kind: "delete" } }] });
    const before = sent(desk, "scan.pdf", "d1", { current: false, after: "done", goneAt: 5 });
    settling(desk, "scan.pdf", "d1", { supersedes: before.id });
    await desk.run(settler);
    expect(await desk.row(before)).toMatchObject({ after: "due", goneAt: null });
  });

  test.for([
    ["/srv/scans/done/scan.pdf", false, "it is that file, and the folder is not left out any more"],
    ["/srv/scans/done/scan.pdf; scan.pdf.yaml stayed: it is shut", false, "so here"],
    ["/srv/scans/done/other.pdf", true, "it is another file of the same content"],
    ["/srv/done/scan.pdf", true, "the same"],
    [null, true, "what was deleted is gone for good"],
  ] as const)(
    "put away at %s and found in a folder of the source: sent %s, since %s",
    async (row) => {
      const [afterMessage, isSent] = row;
      const { desk, settler } = await aSettler();
      const before = sent(desk, "scan.pdf", "d1", { after: "done", afterMessage, goneAt: 5 });
      const { id } = settling(desk, "done/scan.pdf", "d1");
      await desk.run(settler);
      expect((await desk.journal.document(id))?.state).toBe(isSent ? "pending" : undefined);
      const moved = { dir: "done", after: "done", goneAt: null };
      expect(await desk.row(before)).toMatchObject(isSent ? before : moved);
    },
  );

  test("edited: sent as a document of its own, the one before stays", async () => {
    const { desk, settler } = await aSettler();
    const before = sent(desk, "scan.pdf", "d1", { current: false });
    const { id } = settling(desk, "scan.pdf", "d2", { supersedes: before.id });
    await desk.run(settler);
    expect(await desk.row(id)).toMatchObject({ state: "pending", digest: "d2" });
    expect(await desk.row(before)).toEqual(before);
  });

  test("edited under `changed: ignore`: not sent, with a remark; not looked at again", async () => {
    const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
    const before = sent(desk, "scan.pdf", "d1", { current: false });
    const successor = settling(desk, "scan.pdf", "d2", { supersedes: before.id });
    await desk.run(settler);
    expect(await desk.journal.document(successor.id)).toBeUndefined();
    const row = await desk.row(before);
    expect(row).toMatchObject({ current: true, seen: { stamp: "d2" }, digest: "d1" });
    expect(row.remark).toContain("changed: ignore");
  });

  test.for([
    ["uploading", {}, "its size will tell it from others, should the reply be lost"],
    ["inDoubt", { doubtAt: 1 }, "its size tells it from others"],
    ["held", { doubtAt: 1 }, "it is in doubt all the same"],
  ] as const)("edited under `changed: ignore` while %s: waits, since %3$s", async (row) => {
    const [state, set] = row;
    const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
    const before = sent(desk, "scan.pdf", "d1", {
      state,
      current: false,
      documentId: null,
      ...set,
    });
    const { id } = settling(desk, "scan.pdf", "d2", { supersedes: before.id });
    await desk.run(settler);
    expect(await desk.row(before)).toEqual(before);
    expect((await desk.row(id)).state).toBe("settling");
    desk.journal.store.put({ ...before, state: "uploaded", doubtAt: null });
    await desk.advance(10_000);
    expect(await desk.journal.document(id)).toBeUndefined();
    expect((await desk.row(before)).remark).toContain("changed: ignore");
  });

  test.for([
    ["settling", { digest: null, dueAt: 9e15 }, "its upload was torn down as the file changed"],
    ["pending", { digest: "d1", dueAt: 9e15 }, "it was given back"],
    ["held", { digest: "d1", dueAt: null }, "it was refused"],
  ] as const)("a successor of what was never sent, %s, is sent: %3$s", async ([state, set]) => {
    const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
    const never = { state, current: false, documentId: null, ...set };
    const before = sent(desk, "scan.pdf", "d1", never);
    const { id } = settling(desk, "scan.pdf", "d2", { supersedes: before.id });
    await desk.run(settler);
    expect((await desk.row(id)).state).toBe("pending");
  });

  test("a name that was free again and is used anew is no edit: it is sent", async () => {
    const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
    const before = sent(desk, "scan.pdf", "d1", { current: false, goneAt: 5 });
    const { id } = settling(desk, "scan.pdf", "d2", { supersedes: before.id });
    await desk.run(settler);
    expect((await desk.row(id)).state).toBe("pending");
  });

  test.for([
    ["2026/other.pdf", "renamed"],
    ["2027/scan.pdf", "moved"],
    ["2027/other.pdf", "both"],
  ] as const)("%s: %s, so the row follows and nothing is sent", async ([path]) => {
    const { desk, settler } = await aSettler();
    const original = sent(desk, "2026/scan.pdf", "d1");
    const successor = settling(desk, path, "d1");
    await desk.run(settler);
    expect(await desk.journal.document(successor.id)).toBeUndefined();
    expect(await desk.journal.currentAt(1, successorPath(successor))).toMatchObject({
      id: original.id,
      state: "converted",
      movedFrom: "2026/scan.pdf",
      seen: successor.seen,
    });
  });

  test("what it left is listed again: a file that comes back there just as it was is another one", async () => {
    const { desk, settler } = await aSettler();
    sent(desk, "2026/scan.pdf", "d1");
    settling(desk, "2027/scan.pdf", "d1");
    const dir = rawOfText("2026");
    await desk.journal.apply([{ type: "directory", mirrorId: 1, dir, fingerprint: "print" }]);
    await desk.run(settler);
    expect(await desk.journal.directories(1)).not.toContainEqual([dir, "print"]);
    expect(desk.reader.unlearned).toEqual([dir]);
  });

  test("a copy: the original is where it was, so it is sent too", async () => {
    const { desk, settler } = await aSettler();
    sent(desk, "scan.pdf", "d1");
    onDisk(desk, "scan.pdf", "d1");
    const copy = settling(desk, "copy.pdf", "d1");
    await desk.run(settler);
    expect((await desk.row(copy)).state).toBe("pending");
  });

  test("renamed, and copied besides: one is the original, the other is sent", async () => {
    const { desk, settler } = await aSettler();
    const original = sent(desk, "scan.pdf", "d1");
    settling(desk, "one.pdf", "d1");
    settling(desk, "two.pdf", "d1");
    await desk.run(settler);
    const rows = [...desk.journal.store.documents.values()];
    expect(rows.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
      "one.pdf converted",
      "two.pdf pending",
    ]);
    expect((await desk.row(original)).name).toBe("one.pdf");
  });

  test("two that were sent are renamed at once: each is followed", async () => {
    const { desk, settler } = await aSettler();
    sent(desk, "a.pdf", "d1");
    sent(desk, "b.pdf", "d1");
    settling(desk, "c.pdf", "d1");
    settling(desk, "d.pdf", "d1");
    await desk.run(settler);
    const rows = [...desk.journal.store.documents.values()];
    expect(rows.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
      "c.pdf converted",
      "d.pdf converted",
    ]);
  });

  test.for([
    ["uploading", "its upload goes on under the old name"],
    ["inDoubt", "it is looked for under the name it was sent with"],
    ["uploaded", "its conversion is followed by its id"],
  ] as const)("the one that was renamed is %s: followed, because %s", async ([state]) => {
    const { desk, settler } = await aSettler();
    const documentId = state === "uploaded" ? 9 : null;
    const original = sent(desk, "scan.pdf", "d1", { state, documentId });
    settling(desk, "other.pdf", "d1");
    await desk.run(settler);
    expect(await desk.row(original)).toMatchObject({ state, name: "other.pdf", current: true });
    expect(desk.states()).toEqual([state]);
  });

  test("renamed while its upload was torn down, it is sent under the new name, and was never moved", async () => {
    const { desk, settler } = await aSettler();
    const { id } = settling(desk, "other.pdf", "d1", { movedFrom: "scan.pdf" });
    await desk.run(settler);
    expect(await desk.row(id)).toMatchObject({ sentName: "other.pdf", movedFrom: null });
  });

  test("put away by its after-action, it is no original: the same bytes again are sent", async () => {
    const { desk, settler } = await aSettler({ mirrors: [{ after: { kind: "delete" } }] });
    sent(desk, "scan.pdf", "d1", { after: "done", goneAt: 5 });
    const { id } = settling(desk, "again.pdf", "d1");
    await desk.run(settler);
    expect((await desk.row(id)).state).toBe("pending");
  });

  test.for([
    ["Scans/scan.pdf", "Scans/SCAN.pdf", "another name in letter case alone"],
    ["Scans/scan.pdf", "scans/scan.pdf", "its folder's name"],
    ["e\u0301.pdf", "\u00e9.pdf", "another composition"],
  ] as const)("%s that became %s is followed, where it is still found by %s", async ([was, is]) => {
    const { desk, settler } = await aSettler();
    const original = sent(desk, was, "d1");
    settling(desk, is, "d1");
    desk.reader.otherwiseSpelt.set(rawOfText(was), rawOfText(is));
    await desk.run(settler);
    const { dir, name } = await desk.row(original);
    expect(joinRaw(dir, name)).toBe(rawOfText(is));
    expect(desk.states()).toEqual(["converted"]);
  });

  test("two files whose names differ in letter case alone are two documents", async () => {
    const { desk, settler } = await aSettler();
    sent(desk, "scan.pdf", "d1");
    onDisk(desk, "scan.pdf", "d1");
    const { id } = settling(desk, "SCAN.pdf", "d1");
    await desk.run(settler);
    expect((await desk.row(id)).state).toBe("pending");
  });

  test("gone before it could be put away, it was moved: followed, and put away where it is", async () => {
    const { desk, settler } = await aSettler({ mirrors: [{ after: { kind: "delete" } }] });
    const original = sent(desk, "scan.pdf", "d1", { after: null, afterMessage: GONE_ALREADY });
    settling(desk, "moved.pdf", "d1");
    await desk.run(settler);
    expect(await desk.row(original)).toMatchObject({ name: "moved.pdf", after: "due" });
    expect(desk.states()).toEqual(["converted"]);
  });

  test.for([
    ["put away for good", { kind: "done" }, null, "the copy is sent as a document of its own"],
    ["of other content", CHANGED, onDisk, "it is back, and so the other is a copy: it is sent"],
    ["moved", { kind: "gone" }, null, "it is the same file: nothing is sent"],
  ] as const)("the original is in hand and %s", async ([, acted, back]) => {
    const { desk, aftercare, settler } = await inHand();
    const original = sent(desk, "scan.pdf", "d1", { state: "uploaded" });
    const ended = Promise.withResolvers<Acted>();
    desk.reader.onAct = () => ended.promise;
    await desk.run(aftercare);
    expect(desk.reader.acted).toEqual(["scan.pdf"]);
    const { id } = settling(desk, "other.pdf", "d1");
    await desk.run(settler);
    await desk.advance(10 * SECOND);
    expect(await desk.row(id)).toMatchObject({ state: "settling" });
    back?.(desk, "scan.pdf", "d1");
    if (acted.kind === "done") desk.journal.store.put({ ...original, after: "done" });
    ended.resolve(acted);
    await desk.advance(2 * SECOND);
    const states =
      acted.kind === "gone" ? ["converted", "uploaded"] : ["converted", "uploaded", "pending"];
    expect(desk.states()).toEqual(states);
  });

  test("another mirror's document is another document", async () => {
    const mirrors = [{}, { source: "/srv/other" }];
    const { desk, settler } = await aSettler({ mirrors });
    sent(desk, "scan.pdf", "d1", { mirrorId: 2 });
    const { id } = settling(desk, "other.pdf", "d1");
    await desk.run(settler);
    expect((await desk.row(id)).state).toBe("pending");
  });
});

const CHANGED = { kind: "refused", trouble: { code: "FILE_CHANGED", message: "so" } } as const;

/** `scan.pdf` was sent, edited, and sent again; the after-action of the first content is due. */
async function inHand() {
  const { desk, settler, puttingAway } = await aSettler({
    mirrors: [{ after: { kind: "delete" } }],
  });
  const folderId = desk.archive.addFolder("Scans");
  const documentId = desk.archive.addDocument({
    folderId,
    filename: "scan.pdf",
    status: "CONVERTED",
  });
  const earlier = { current: false, documentId, folderId, after: "due", dueAt: null } as const;
  sent(desk, "scan.pdf", "d0", earlier);
  return { desk, settler, aftercare: new Aftercare(desk.context, puttingAway) };
}

function successorPath({ dir, name }: Document) {
  return (dir === "" ? name : `${dir}/${name}`) as Document["name"];
}
