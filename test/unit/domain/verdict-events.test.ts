/** The events that a verdict makes, to the letter. */
import { describe, expect, test } from "vitest";
import type { Document } from "../../../src/domain/document.ts";
import type { Event } from "../../../src/domain/life.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { FOLDER_CODES, verdict } from "../../../src/domain/verdict.ts";
import { inState } from "../../fixtures/a-document.ts";

const AT = 100_000;
const policy = {
  retry: { initialMs: 1_000, maxMs: 60_000 },
  hold: { initialMs: 30_000, maxMs: 600_000 },
  poll: { initialMs: 2_000, maxMs: 60_000 },
  settleMs: 3_000,
  random: () => 1,
};

const of = (code: string) => ({ code, message: `because of ${code}` });
const SEEN = { sizeBytes: 5, modifiedAt: 6, stamp: "new" };
const before = { seen: { sizeBytes: 1, modifiedAt: 2, stamp: "old" } };
const again = (code: string, patience: number) => ({ trouble: of(code), patience });

const refused = (code: string, retryAfterMs: number | null = null): Outcome => {
  return { kind: "refused", trouble: of(code), retryAfterMs };
};
const notSent = (retryAfterMs: number | null = null): Outcome => {
  return { kind: "notSent", trouble: of("ARCHIVE_UNREACHABLE"), retryAfterMs };
};

type Line = [Partial<Document>, Outcome, Event, string];

const LINES: Line[] = [
  [
    {},
    { kind: "stored", documentId: 9, status: "UPLOADED" },
    { type: "accepted", at: AT, dueAt: AT + 2_000, documentId: 9, status: "UPLOADED" },
    "its conversion is asked for after the first interval",
  ],
  [{}, { kind: "notBegun" }, { type: "released", at: AT }, "it goes back as it came"],
  [
    {},
    { kind: "changed", seen: SEEN },
    { type: "changed", at: AT, dueAt: AT + 3_000, seen: SEEN },
    "it settles anew, as it was seen last",
  ],
  [
    before,
    { kind: "changed", seen: null },
    {
      type: "changed",
      at: AT,
      dueAt: AT + 3_000,
      seen: { sizeBytes: 1, modifiedAt: 2, stamp: "" },
    },
    "not seen since: no later look may take it for the same",
  ],
  [
    {},
    { kind: "lost", trouble: of("REPLY_LOST") },
    { type: "replyLost", at: AT, dueAt: AT, trouble: of("REPLY_LOST") },
    "it is looked for at once",
  ],
  [
    {},
    { kind: "unreadable", trouble: of("FILE_UNREADABLE") },
    { type: "heldBack", at: AT, dueAt: AT + 30_000, trouble: of("FILE_UNREADABLE") },
    "rights may come back",
  ],
  [
    again("FILE_UNREADABLE", 2),
    { kind: "unreadable", trouble: of("FILE_UNREADABLE") },
    { type: "heldBack", at: AT, dueAt: AT + 120_000, trouble: of("FILE_UNREADABLE") },
    "ever more rarely",
  ],
  [
    again("FILE_EMPTY", 2),
    { kind: "unreadable", trouble: of("FILE_UNREADABLE") },
    { type: "heldBack", at: AT, dueAt: AT + 30_000, trouble: of("FILE_UNREADABLE") },
    "another trouble starts over",
  ],
  [
    {},
    notSent(),
    { type: "deferred", at: AT, dueAt: AT + 1_000, trouble: of("ARCHIVE_UNREACHABLE") },
    "proven not to be there: soon again",
  ],
  [
    again("ARCHIVE_UNREACHABLE", 3),
    notSent(),
    { type: "deferred", at: AT, dueAt: AT + 8_000, trouble: of("ARCHIVE_UNREACHABLE") },
    "the fourth time in a row",
  ],
  [
    again("ARCHIVE_BUSY", 3),
    notSent(),
    { type: "deferred", at: AT, dueAt: AT + 1_000, trouble: of("ARCHIVE_UNREACHABLE") },
    "another trouble starts over",
  ],
  [
    again("ARCHIVE_BUSY", 3),
    notSent(9_000),
    { type: "deferred", at: AT, dueAt: AT + 9_000, trouble: of("ARCHIVE_UNREACHABLE") },
    "as long as the archive asked",
  ],
  [
    {},
    refused("ARCHIVE_BUSY", 7_000),
    { type: "deferred", at: AT, dueAt: AT + 7_000, trouble: of("ARCHIVE_BUSY") },
    "as long as the archive asked",
  ],
  [
    {},
    refused("FILE_SIZE_TOO_BIG"),
    { type: "refused", at: AT, trouble: of("FILE_SIZE_TOO_BIG") },
    "it never fits",
  ],
  [
    {},
    refused("QUOTA_LIMIT"),
    { type: "heldBack", at: AT, dueAt: null, trouble: of("QUOTA_LIMIT") },
    "the gate lets it go on, not time",
  ],
  [
    {},
    refused("PLUGIN_REMINDER_NOT_INSTALLED"),
    { type: "heldBack", at: AT, dueAt: AT + 30_000, trouble: of("PLUGIN_REMINDER_NOT_INSTALLED") },
    "nobody tells of a plugin: it is tried",
  ],
];

describe("the event of an attempt", () => {
  test.for(LINES)("%o, %o: exactly %o, because %s", ([set, outcome, event]) => {
    const judged = verdict(inState("uploading", set), outcome, AT, policy);
    expect(judged).toEqual({ kind: "event", event });
  });

  test.for([
    ["FOLDER_MISSING", "our look did not find it"],
    ["FOLDER_TWINS", "our look found two"],
    ["FOLDER_CASE", "our look found it spelt otherwise"],
    ["FOLDER_NOT_EXISTS", "the archive does not know it"],
    ["INVALID_FOLDER_ID", "the archive does not know the id"],
    ["INVALID_FOLDER_PATH", "the archive does not know the path"],
  ] as const)("%s waits for its folder and not for a time: %s", ([code]) => {
    expect(FOLDER_CODES).toContain(code);
    const judged = verdict(inState("uploading"), refused(code), AT, policy);
    expect(judged).toMatchObject({ event: { type: "heldBack", dueAt: null } });
  });
});
