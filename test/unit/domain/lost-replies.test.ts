import { describe, expect, test } from "vitest";
import { absence, doubtWindowMs, lostBefore, LOST_MAX } from "../../../src/domain/lost-replies.ts";
import { inState } from "../../fixtures/a-document.ts";

const of = (code: string) => ({ code, message: `it was ${code}` });
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("how many attempts in a row were lost before this one", () => {
  test.for([
    [null, 0, "HTTP_504", 0, "it is the first"],
    ["REPLY_LOST", 3, "HTTP_504", 3, "three were, whatever this reply was"],
    ["REPLY_LOST", 3, "REPLY_LOST", 3, "three were"],
    ["ARCHIVE_UNREACHABLE", 3, "HTTP_504", 0, "the last one never got there"],
    ["REPLY_LOST", 3, "REPLY_MISMATCHED", 0, "this one was taken: another question"],
    ["REPLY_LOST", 3, "DOCUMENT_ID_TAKEN", 0, "this one was taken: another question"],
  ] as const)("after %s, %i times, %s: %i, for %s", ([before, consecutiveFailures, code, lost]) => {
    const document = inState("uploading", { problem: before && of(before), consecutiveFailures });
    expect(lostBefore(document, of(code))).toBe(lost);
  });
});

describe("the window of a doubt", () => {
  test.for([
    ["HTTP_504", 0, MINUTE, MINUTE, "the first is looked for as configured"],
    ["HTTP_504", 1, MINUTE, 2 * MINUTE, "the second twice as long"],
    ["HTTP_504", 7, MINUTE, 128 * MINUTE, "the last for two hours"],
    ["HTTP_504", 7, 10 * MINUTE, 6 * HOUR, "no more than six hours"],
    ["HTTP_504", 7, 12 * HOUR, 12 * HOUR, "unless it is configured so"],
    ["HTTP_504", 99, 1, 256, "nobody counts that far"],
    ["DOUBT_AMBIGUOUS", 7, MINUTE, MINUTE, "it was held: patience counts something else"],
    ["REPLIES_LOST", 8, MINUTE, MINUTE, "a person asked"],
    ["REPLY_MISMATCHED", 1, MINUTE, MINUTE, "a person asked"],
  ] as const)(
    "%s after %i of %i ms: %i ms, for %s",
    ([code, consecutiveFailures, base, windowMs]) => {
      expect(doubtWindowMs({ problem: of(code), consecutiveFailures }, base)).toBe(windowMs);
    },
  );
});

describe("what the archive does not have", () => {
  const lost = { type: "absent", at: 5, problem: { code: "REPLY_LOST", message: "it was X" } };
  const again = { type: "absent", at: 5 };
  const held = (code: string) => ({ type: "heldBack", at: 5, dueAt: null, problem: { code } });

  test.for([
    ["X", 0, true, lost, "it is sent again, and that is remembered"],
    ["X", LOST_MAX - 2, true, lost, "one more time"],
    ["X", LOST_MAX - 1, true, held("REPLIES_LOST"), "it was tried often enough"],
    ["X", 0, false, held("DOUBT_FOLDER_GONE"), "it may have been moved before its folder went"],
    ["X", LOST_MAX - 1, false, held("DOUBT_FOLDER_GONE"), "however often it was tried"],
    ["DOUBT_AMBIGUOUS", 9, false, held("DOUBT_FOLDER_GONE"), "one of those may be ours, elsewhere"],
    ["DOUBT_FOLDER_GONE", 1, false, again, "a person asked for it"],
    ["DOUBT_ELSEWHERE", 1, false, again, "a person asked for it"],
    ["REPLIES_LOST", LOST_MAX, false, again, "a person asked for it"],
    ["REPLIES_LOST", LOST_MAX, true, again, "a person asked for it"],
    ["REPLY_MISMATCHED", 0, true, held("REPLY_MISMATCHED"), "the archive took it"],
    ["DOCUMENT_ID_TAKEN", 0, true, held("DOCUMENT_ID_TAKEN"), "the archive took it"],
    ["REPLY_MISMATCHED", 0, false, held("REPLY_MISMATCHED"), "the archive took it"],
    ["REPLY_MISMATCHED", 1, false, again, "a person asked for it"],
    ["REPLY_MISMATCHED", 1, true, again, "a person asked for it"],
    ["DOUBT_AMBIGUOUS", 9, true, again, "what it could have been is gone"],
  ] as const)(
    "%s after %i, its folder there: %s; %o, for %s",
    ([code, consecutiveFailures, isThere, event]) => {
      expect(absence({ problem: of(code), consecutiveFailures }, 5, isThere)).toMatchObject(event);
    },
  );

  test("a document without problem is sent again, unless its folder is gone", () => {
    const document = { problem: null, consecutiveFailures: 0 };
    expect(absence(document, 5, true)).toEqual({ type: "absent", at: 5 });
    expect(absence(document, 5, false)).toMatchObject(held("DOUBT_FOLDER_GONE"));
  });
});
