import { expect, test, vi } from "vitest";
import type { StoredSize } from "../../../src/domain/stored-size.ts";
import type { DocumentDetail } from "../../../src/wire/shapes.ts";
import { Desk, events, NOW } from "../../contract/journal-desk.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { ScriptedArchive } from "../../fakes/scripted-archive.ts";
import { audit, type AuditLine } from "../../../src/report/audit.ts";

const AS_SENT = { folderId: 7, filename: "a.pdf", filesize: 100, status: "CONVERTED" } as const;

/** What the audit says of one converted (or just uploaded) document that the archive has like this. */
async function auditOf(
  found: Partial<DocumentDetail> | null,
  {
    isConverted = true,
    convertedBefore = 0,
    storedSize = "same",
  }: { isConverted?: boolean; convertedBefore?: number; storedSize?: StoredSize } = {},
): Promise<AuditLine[]> {
  const desk = await Desk.at(new MemoryJournal());
  const { id } = await desk.uploaded("a.pdf", 501);
  if (isConverted) await desk.after(id, events.converted());
  const archive = new ScriptedArchive();
  if (found) archive.addDocument({ ...AS_SENT, id: 501, ...found });
  const parts = { journal: desk.journal, archive, archiveId: 1, folderIds: [] };
  const options = { ...parts, convertedBefore, storedSize };
  return Array.fromAsync(audit(options, new AbortController().signal));
}

test.for([
  [{}, "same", [], "nothing happened to it"],
  [null, "missing", [], "nobody has it"],
  [{ folderId: 9 }, "changed", ["moved"], "someone moved it"],
  [{ filename: "b.pdf" }, "changed", ["renamed"], "someone renamed it"],
  [{ folderId: 9, filename: "b.pdf" }, "changed", ["moved", "renamed"], "both"],
  [{ filesize: 7 }, "changed", ["resized"], "that is another content"],
  [{ filesize: 0 }, "changed", ["resized"], "CONVERTED, it has nothing of what was sent"],
  [{ filesize: 0, status: "UPLOADED" }, "unconverted", [], "until then 0 is not a size"],
  [{ status: "UPLOADED" }, "unconverted", [], "it was CONVERTED once, and is not any more"],
] as const)("%j is %s %j: %s", async ([found, kind, changes]) => {
  expect(await auditOf(found)).toMatchObject([{ kind, changes, documentId: 501, path: "a.pdf" }]);
});

test.for([
  ["any", 99, "same", "as it was counted when it was converted"],
  ["any", 100, "changed", "it is not what the archive made of it"],
  ["same", 99, "changed", "as it was counted, and not as it was sent"],
] as const)("`storedSize: %s`, %i bytes: %s, %s", async ([storedSize, filesize, kind]) => {
  expect(await auditOf({ filesize }, { storedSize })).toMatchObject([{ kind }]);
});

test.for([
  [NOW + 30, "same", "it was uploaded just now"],
  [NOW + 31, "unconverted", "it should be by now"],
] as const)("uploaded and not CONVERTED, due by %i: %s, as %s", async ([convertedBefore, kind]) => {
  const lines = await auditOf({ status: "UPLOADED" }, { isConverted: false, convertedBefore });
  expect(lines).toMatchObject([{ kind }]);
});

test("what vanished before it was converted is missing, though its row has failed", async () => {
  const desk = await Desk.at(new MemoryJournal());
  const { id } = await desk.uploaded("a.pdf", 501);
  const problem = { code: "DOC_NOT_EXIST", message: "gone" };
  await desk.after(id, { type: "vanished", at: NOW + 60, problem });
  const options = {
    journal: desk.journal,
    archive: new ScriptedArchive(),
    archiveId: 1,
    folderIds: [],
    convertedBefore: 0,
  };
  const lines = await Array.fromAsync(audit(options, new AbortController().signal));
  expect(lines).toMatchObject([{ kind: "missing", documentId: 501 }]);
});

test("a folder of ours is looked through though nothing was sent there", async () => {
  const desk = await Desk.at(new MemoryJournal());
  const archive = new ScriptedArchive();
  const folderId = archive.addFolder("Scans");
  archive.addDocument({ folderId, filename: "theirs.pdf" });
  const options = {
    journal: desk.journal,
    archive,
    archiveId: 1,
    folderIds: [folderId],
    convertedBefore: 0,
  };
  const lines = await Array.fromAsync(audit(options, new AbortController().signal));
  expect(lines).toMatchObject([{ kind: "unknown", path: "theirs.pdf", folderId }]);
});

test("folders are audited side by side, and told in their order", async () => {
  const desk = await Desk.at(new MemoryJournal());
  const archive = new ScriptedArchive();
  const folderIds = Array.from({ length: 6 }, (_, n) => archive.addFolder(`F${n}`));
  for (const folderId of folderIds) archive.addDocument({ folderId, filename: `${folderId}.pdf` });
  const answer = archive.stall("documents");
  const { journal } = desk;
  const options = { journal, archive, archiveId: 1, folderIds, convertedBefore: 0 };
  const lines = Array.fromAsync(audit(options, new AbortController().signal));
  // The first does not answer: those next to it are asked all the same, and no more.
  await vi.waitFor(() => expect(archive.count("documents")).toBe(4));
  answer();
  expect((await lines).map(({ folderId }) => folderId)).toEqual(folderIds);
});
