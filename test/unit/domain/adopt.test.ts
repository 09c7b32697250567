/** What is taken for what when documents are claimed that this journal never sent. */
import { expect, test } from "vitest";
import { adoptions, adoptionsElsewhere } from "../../../src/domain/adopt.ts";
import type { Candidate } from "../../../src/domain/reconcile.ts";

const WRITTEN = 1_000;
const file = { id: 1, sentName: "Scan0001.tif", sizeBytes: 70, writtenAt: WRITTEN };

function archived(id: number, set: Partial<Candidate> = {}): Candidate {
  const fits = { folderId: 3, filename: "Scan0001.tif", filesize: 70, status: "CONVERTED" };
  return { id, ...fits, uploadedDate: WRITTEN + 10, ...set };
}

const older = { uploadedDate: WRITTEN - 1 };

test.for([
  [[archived(5)], 5, [], "name, size and time fit"],
  [[archived(5, older)], null, [5], "yesterday's scan of the same name and size is another one"],
  [[archived(5, older), archived(6)], 6, [], "the older one cannot be it"],
  [[archived(5), archived(6)], 5, [], "any is as good as another"],
  [[archived(5), archived(6, { filesize: 0 })], null, [5, 6], "either may be it"],
  [[archived(5, { filesize: 0, ...older })], null, [5], "nothing is known of it"],
  [[archived(5, { filesize: 71 })], null, [], "that is another content"],
] as const)("of %j, %j is taken and %j are unclear: %s", ([documents, taken, unclear]) => {
  const found = adoptions([file], documents);
  expect(found.get(1)?.taken?.id ?? null).toBe(taken);
  const ids = [...found.values()].flatMap((each) => each.unclear.map(({ id }) => id));
  expect(ids).toEqual(unclear);
});

test("of an archive that changes documents, every one of that name may be it", () => {
  const documents = [archived(5, { filesize: 12 })];
  const found = adoptions([file], documents, "any");
  expect(found.get(1)).toMatchObject({ taken: null, unclear: [{ id: 5 }] });
});

test.for([
  [[file], [archived(5)], [5], [], "one file, one document, and all fits"],
  [[file], [archived(5, older)], [], [5], "it may be yesterday's scan"],
  [[file], [archived(5), archived(6)], [], [5, 6], "either may be it"],
  [[file, { ...file, id: 2 }], [archived(5)], [], [5, 5], "it may be either's"],
  [[file, { ...file, id: 2, sizeBytes: 71 }], [archived(5)], [5], [], "the other has another size"],
  [[file], [archived(5, { filesize: 0 })], [], [5], "its size is not known"],
  [[file], [archived(5, { filesize: 71 })], [], [], "that is another content"],
] as const)("in any folder, of %j and %j, %j are taken and %j unclear: %s", (row) => {
  const [files, documents, taken, unclear] = row;
  const found = adoptionsElsewhere(files, documents);
  const all = [...found.values()];
  expect(all.flatMap((each) => each.taken?.id ?? [])).toEqual(taken);
  const ids = all.flatMap((each) => each.unclear.map(({ id }) => id));
  expect(ids).toEqual(unclear);
});
