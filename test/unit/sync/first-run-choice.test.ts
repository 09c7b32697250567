/** A document that the archive may have, of which a user says that it is new; what is in the archive already is `adopt`'s. */
import { expect, test } from "vitest";
import { AS_NEW } from "../../../src/domain/adopt.ts";
import type { Document } from "../../../src/domain/document.ts";
import { FirstRun } from "../../../src/sync/first-run.ts";
import { sendAsNew } from "../../../src/sync/first-run-choice.ts";
import { HOUR, never, SyncDesk } from "./desk.ts";

const DIGEST = "ab".repeat(32);
const OTHER = "cd".repeat(32);
const problem = { code: "FIRST_RUN", message: "the archive holds a.pdf in that folder already" };

/** A desk whose archive has a document of the name that a held row is sent under. */
async function aHeldRow(fields: Partial<Document> = {}) {
  const desk = await SyncDesk.open({ mirrors: [{ firstRun: "hold" }] });
  const folderId = desk.archive.addFolder("Scans");
  const uploadedDate = desk.clock.now() - HOUR;
  desk.archive.addDocument({ folderId, filename: "a.pdf", uploadedDate });
  const held = { state: "held", sentName: "a.pdf", digest: DIGEST, problem } as const;
  const row = desk.put({ ...held, targetPath: "/Scans", batch: "b", ...fields });
  const firstRun = await FirstRun.open(desk.context, async () => true);
  const now = async () => desk.journal.document(row.id);
  const objects = async () => {
    const document = await now();
    return document && (await firstRun.objection(document, folderId, never)) !== undefined;
  };
  const choose = (digest = DIGEST) =>
    sendAsNew(desk.journal, [{ id: row.id, digest }], desk.clock.now());
  return { desk, row, folderId, now, objects, choose };
}

test("nothing stands against it any more, in this journal and for another daemon", async () => {
  const { now, objects, choose, desk, folderId } = await aHeldRow();
  expect(await objects()).toBe(true);
  expect(await choose()).toEqual({ documents: 1, unclear: 0, changed: 0 });
  expect(await now()).toMatchObject({ state: "pending", remark: AS_NEW });
  expect(await objects()).toBe(false);
  const next = await FirstRun.open(desk.context, async () => true);
  const document = await now();
  expect(document && (await next.objection(document, folderId, never))).toBeUndefined();
  // It is of this row, not of its name.
  const other = desk.put({ state: "pending", sentName: "a.pdf", digest: OTHER });
  expect(await next.objection(other, folderId, never)).toMatchObject({ code: "FIRST_RUN" });
});

test.for([
  [0, 0, true, "of a journal that was taken back to before it was sent, it may be this very file"],
  [1, 0, false, "it has another size"],
  [0, HOUR, false, "it was there when the user decided"],
] as const)(
  "one of its name, its size + %i, uploaded %i ms before the choice: %s, as %s",
  async (line) => {
    const [more, agoMs, isObjected] = line;
    const { desk, row, folderId, now, choose } = await aHeldRow();
    await choose();
    const uploadedDate = desk.clock.now() - agoMs;
    const filesize = row.seen.sizeBytes + more;
    desk.archive.addDocument({ folderId, filename: "a.pdf", uploadedDate, filesize });
    // As after a start: a folder is listed once.
    const next = await FirstRun.open(desk.context, async () => true);
    const document = await now();
    const objection = document && (await next.objection(document, folderId, never));
    expect(objection !== undefined).toBe(isObjected);
  },
);

test.for([
  [{}, OTHER, "its content is another than was shown"],
  [{ problem: { code: "FOLDER_MISSING", message: "" } }, DIGEST, "it waits for something else"],
  [{ state: "pending", problem: null }, DIGEST, "it is not held any more"],
  [{ goneAt: 5 }, DIGEST, "its file is gone"],
  [{ current: false }, DIGEST, "another content is at its path by now"],
] as const)("%o is left alone with %s: %s", async ([fields, digest]) => {
  const { row, now, choose } = await aHeldRow(fields);
  expect(await choose(digest)).toEqual({ documents: 0, unclear: 0, changed: 1 });
  expect(await now()).toEqual(row);
});

test("a file that changes while it is decided is left alone", async () => {
  const { desk, row, now, choose } = await aHeldRow();
  const { journal } = desk;
  const apply = journal.apply.bind(journal);
  journal.apply = async (changes) => {
    journal.apply = apply;
    const seen = { ...row.seen, stamp: "written again" };
    const event = { type: "changed", at: 6, dueAt: 9, seen } as const;
    await apply([{ type: "event", id: row.id, event }]);
    return apply(changes);
  };
  expect(await choose()).toEqual({ documents: 0, unclear: 0, changed: 1 });
  expect(await now()).toMatchObject({ state: "settling", remark: null });
});

test("a new content, and a lost reply, take it back: what is there then may be this very document", async () => {
  const { desk, row, now, objects, choose } = await aHeldRow();
  const { journal } = desk;
  const happen = (...events: readonly object[]) =>
    journal.apply(events.map((event) => ({ type: "event", id: row.id, event }) as never));
  await choose();
  const claimed = { type: "claimed", at: 8, archiveAt: 8, folderId: 2, batch: "b" };
  await happen(claimed, { type: "deferred", at: 9, dueAt: 9, problem: { code: "X", message: "" } });
  expect(await objects()).toBe(false);
  const lost = { code: "REPLY_LOST", message: "cut" };
  await happen(claimed, { type: "inDoubt", at: 9, dueAt: 9, problem: lost });
  expect(await now()).toMatchObject({ state: "inDoubt", remark: null });
  await happen({ type: "absent", at: 10, problem: lost });
  expect(await objects()).toBe(true);
});
