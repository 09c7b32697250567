/** When a first run is over; what it holds back is `send-guard.test.ts`'s. */
import { expect, test } from "vitest";
import type { Document } from "../../../src/domain/document.ts";
import { FirstRun } from "../../../src/sync/first-run.ts";
import { HOUR, SECOND, SyncDesk } from "./desk.ts";

/** A desk in its first run, with these rows. */
async function aFirstRun(rows: readonly Partial<Document>[]) {
  const desk = await SyncDesk.open({ mirrors: [{ firstRun: "hold" }] });
  for (const row of rows) desk.put(row);
  const scan = { isOver: true };
  const firstRun = await FirstRun.open(desk.context, async () => scan.isOver);
  await desk.run(firstRun);
  return { desk, firstRun, scan, isOpen: () => firstRun.isOpen(1) };
}

/** A row that is held. */
const held = (code: string, dueAt: number | null = null) =>
  ({ state: "held", problem: { code, message: "so" }, dueAt }) as const;

const ARCHIVED = { state: "uploaded", documentId: 7 } as const;

test.for([
  [[ARCHIVED], false, "something is archived, and nothing is left"],
  [[], true, "nothing was archived: the archive may still turn out to hold what is to come"],
  [[ARCHIVED, { state: "settling" }], true, "one is still to be sent"],
  [[ARCHIVED, { state: "pending" }], true, "one is about to be sent"],
  [[ARCHIVED, { state: "uploading" }], true, "one is being sent"],
  [[ARCHIVED, { state: "inDoubt" }], true, "one may be in the archive"],
  [[ARCHIVED, held("FIRST_RUN")], true, "a person is to tell them apart"],
  [
    [ARCHIVED, held("QUOTA_LIMIT")],
    true,
    "it is sent when there are pages, and nobody looked for it",
  ],
  [[ARCHIVED, held("FOLDER_MISSING")], true, "it is sent when there is a folder"],
  [[ARCHIVED, held("MARKER_MISSING", 9e15)], true, "it is sent when there is a marker"],
  [[ARCHIVED, held("FILE_UNREADABLE", 9e15)], true, "it is sent when it can be read"],
  [[ARCHIVED, held("FILE_TOO_LARGE")], false, "what is held as it is would be another content"],
] as const)("with %o it is open: %s, for %s", async ([rows, expected]) => {
  const { desk, firstRun, isOpen } = await aFirstRun(rows);
  firstRun.notify();
  await desk.advance(SECOND);
  expect(isOpen()).toBe(expected);
  expect(await desk.journal.firstRuns()).toEqual(expected ? [1] : []);
});

test("what is looked at again just now, and held a moment before and after, keeps it open", async () => {
  const { desk, firstRun, isOpen } = await aFirstRun([ARCHIVED, held("MARKER_MISSING", 9e15)]);
  desk.journal.list = async function* () {
    // It is `settling` while the held ones are listed.
  };
  firstRun.notify();
  await desk.advance(SECOND);
  expect(isOpen()).toBe(true);
});

test("before all was scanned it is open", async () => {
  const { desk, firstRun, scan, isOpen } = await aFirstRun([ARCHIVED]);
  scan.isOver = false;
  await desk.advance(HOUR);
  expect(isOpen()).toBe(true);
  scan.isOver = true;
  firstRun.notify();
  await desk.advance(SECOND);
  expect(isOpen()).toBe(false);
});

test("while nothing happens, the journal is hardly asked; while much does, once a second", async () => {
  const { desk, firstRun } = await aFirstRun([{ state: "settling" }]);
  const { journal } = desk;
  const due = journal.due.bind(journal);
  let asked = 0;
  journal.due = async (query) => {
    asked += 1;
    return due(query);
  };
  await desk.advance(HOUR);
  expect(asked).toBeLessThanOrEqual(120);
  asked = 0;
  for (let at = 0; at < 100; at++) {
    firstRun.notify();
    await desk.advance(100);
  }
  expect(asked).toBeGreaterThanOrEqual(9);
  expect(asked).toBeLessThanOrEqual(10);
});
