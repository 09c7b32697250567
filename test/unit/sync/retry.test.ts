/** What `explain` offers and what `retry` does are one. */
import { expect, test } from "vitest";
import { failureOf } from "../../../src/domain/failure.ts";
import { recordOf } from "../../../src/sync/record.ts";
import { afterActionNow, retryAll } from "../../../src/sync/retry.ts";
import { SyncDesk } from "./desk.ts";

const problem = (code: string) => ({ code, message: `${code} it was` });
const doubt = { doubtAt: 5, documentId: null };
const unsent = { documentId: null, sentBytes: null };

const TABLE = [
  ["settling", {}, null, "it is looked at on its own"],
  ["settling", { problem: problem("FILE_UNFINISHED") }, "anyway", "as it is, if a person says so"],
  ["pending", {}, null, "it is sent on its own"],
  ["pending", { problem: problem("INVALID_FILENAME") }, null, "that was its last attempt"],
  ["uploading", {}, null, "it is being sent"],
  ["inDoubt", { ...doubt, problem: problem("REPLIES_LOST") }, null, "it is still looked for"],
  ["inDoubt", { ...doubt, problem: problem("REPLY_MISMATCHED") }, null, "the same"],
  ["uploaded", { problem: problem("CONVERSION_STUCK") }, null, "the archive converts it or not"],
  ["converted", {}, null, "all is done"],
  ["converted", { after: "due" }, null, "its turn comes"],
  ["converted", { after: "due", afterMessage: "AFTER_REFUSED: full" }, "afterAction", "at once"],
  [
    "converted",
    { after: "refused", afterMessage: "renamed" },
    null,
    "it is never moved or deleted",
  ],
  ["converted", { after: "done", goneAt: 5 }, null, "it was moved or deleted"],
  [
    "held",
    { ...unsent, problem: problem("FOLDER_MISSING") },
    "queue",
    "its place may be corrected",
  ],
  ["held", { ...unsent, problem: problem("QUOTA_LIMIT") }, "queue", "or the gate is probed for it"],
  ["held", { ...unsent, problem: problem("FILE_INCOMPLETE") }, "queue", "it is looked at again"],
  ["held", { ...doubt, problem: problem("REPLIES_LOST") }, "queue", "that takes a person"],
  ["held", { ...doubt, goneAt: 5, problem: problem("DOUBT_AMBIGUOUS") }, "queue", "to be found"],
  ["failed", { ...unsent, problem: problem("FILE_SIZE_TOO_BIG") }, "queue", "limits change"],
  ["failed", { problem: problem("DOC_NOT_EXIST") }, "queue", "it is sent again"],
  ["failed", { goneAt: 5, problem: problem("DOC_NOT_EXIST") }, null, "there is nothing to send"],
] as const;

test.for(TABLE)("%s, %o: retry is offered as %s, since %s", async ([state, set, offered]) => {
  const desk = await SyncDesk.open();
  const row = desk.put({ state, dueAt: desk.clock.now() + 60_000, ...set });
  const record = recordOf(row, "scans");
  expect(record.retry).toBe(offered);
  if (offered === null) expect(record.error?.hint ?? "").not.toContain("scanferry retry");
  else if (record.error) expect(record.error.hint).toBe(failureOf(record.error.code).hint);
  const at = desk.clock.now();
  const did: [name: string, act: () => Promise<unknown>][] = [
    ["queue", () => retryAll(desk.journal, [row.id], at)],
    ["afterAction", () => afterActionNow(desk.journal, () => true, at)],
    ["anyway", () => retryAll(desk.journal, [row.id], at, true)],
  ];
  for (const [name, act] of did) {
    const before = JSON.stringify([await desk.row(row), await desk.journal.history(row.id)]);
    await act();
    const after = JSON.stringify([await desk.row(row), await desk.journal.history(row.id)]);
    if (after !== before) {
      expect(name).toBe(offered);
      return;
    }
  }
  expect(offered, "and nothing was done").toBeNull();
});

test.for([
  ["held", "FOLDER_MISSING", true],
  ["pending", "FOLDER_MISSING", false],
  ["uploading", "FOLDER_MISSING", false],
  ["failed", "INVALID_FILENAME", true],
  ["pending", "INVALID_FILENAME", false],
  ["pending", "ARCHIVE_TIMEOUT", true],
  ["settling", "FILE_UNFINISHED", true],
  ["inDoubt", "REPLIES_LOST", true],
] as const)("of a document that is %s, %s is still there: %s", async ([state, code, isThere]) => {
  const desk = await SyncDesk.open();
  const row = desk.put({ state, problem: problem(code) });
  expect(recordOf(row, "scans").error !== null).toBe(isThere);
});
