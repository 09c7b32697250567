/** What `counts` and `waitingPages` keep from one question to the next stays what a fresh count would be. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { Desk, events } from "../../contract/journal-desk.ts";
import { scratch } from "./scratch.ts";

/** What the journal's owner says, and what one says who counts for the first time. */
async function saidBy(journal: SqliteJournal, path: string) {
  await using reader = await SqliteJournal.open({ path, role: "reader" });
  const said = async (one: SqliteJournal) => [await one.counts(), await one.waitingPages()];
  // The reader sees what is committed.
  await journal.setPaused(false);
  const counted = await said(journal);
  expect(counted).toEqual(await said(reader));
  return counted[0];
}

test("what another process writes is counted", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  const desk = await Desk.at(journal);
  const held = await desk.add("a.pdf");
  const problem = { code: "FILE_UNREADABLE", message: "no" };
  await desk.after(held.id, { type: "heldBack", at: 1, dueAt: null, problem });
  expect(await saidBy(journal, path)).toMatchObject([{ state: "held", documents: 1 }]);
  {
    await using guest = await SqliteJournal.open({ path, role: "guest" });
    await guest.apply([{ type: "event", id: held.id, event: { type: "recheck", at: 2 } }]);
  }
  expect(await saidBy(journal, path)).toMatchObject([{ state: "settling", documents: 1 }]);
});

test("what is undone is not counted, and the oldest is found again when it leaves", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  const desk = await Desk.at(journal);
  const all = [];
  for (const name of ["a.pdf", "b.pdf", "c.pdf"]) all.push(await desk.add(name));
  await saidBy(journal, path);
  const event = events.settled("d1");
  await journal.apply([{ type: "event", id: all[0]?.id ?? 0, event }]);
  await saidBy(journal, path);
  const refused = journal.apply([
    { type: "event", id: all[1]?.id ?? 0, event },
    { type: "event", id: all[2]?.id ?? 0, event: { type: "goesOn", at: 1 } },
  ]);
  await expect(refused).rejects.toThrow("no arrow");
  expect(await saidBy(journal, path)).toMatchObject([
    { state: "pending", documents: 1 },
    { state: "settling", documents: 2 },
  ]);
});
