import { FOLDER_CODES } from "../../../src/domain/code-sets.ts";
import { describe, expect, test } from "vitest";
import { FAILURES } from "../../../src/domain/failure.ts";
import { type Outcome } from "../../../src/domain/outcome.ts";
import { type Attributes } from "../../../src/domain/attributes.ts";
import { eventFor } from "../../../src/domain/event-for.ts";
import { CODES } from "../../../src/wire/codes.ts";
import { inState } from "../../fixtures/a-document.ts";
import { mayHappen } from "../../fixtures/events.ts";
import { type Document } from "../../../src/domain/document.ts";
import { type Event } from "../../../src/domain/life.ts";

describe("verdict", () => {
  const policy = {
    retry: { initialMs: 1_000, maxMs: 60_000 },
    hold: { initialMs: 30_000, maxMs: 600_000 },
    poll: { initialMs: 2_000, maxMs: 60_000 },
    settleMs: 3_000,
    random: () => 1,
  };
  const AT = 100_000;

  const refused = (code: string): Outcome => ({
    kind: "refused",
    problem: { code, message: code },
    retryAfterMs: null,
  });
  const problem = { code: "REPLY_LOST", message: "reset" };

  function eventOf(outcome: Outcome) {
    return eventFor(inState("uploading"), outcome, AT, policy);
  }

  describe("what an attempt means", () => {
    const TABLE: [string, Outcome, string, string][] = [
      [
        "stored",
        { kind: "accepted", documentId: 9, status: "UPLOADED" },
        "accepted",
        "it has an id",
      ],
      ["not begun", { kind: "released" }, "released", "nothing happened, so it costs nothing"],
      ["lost", { kind: "inDoubt", problem }, "inDoubt", "the archive may have it"],
      ["not sent", { kind: "notSent", problem, retryAfterMs: null }, "deferred", "proven"],
      ["changed", { kind: "changed" }, "changed", "it was torn down; it settles again"],
      ["unreadable", { kind: "unreadable", problem }, "heldBack", "rights may come back"],
      ["QUOTA_LIMIT", refused("QUOTA_LIMIT"), "heldBack", "waits behind the gate"],
      ["FOLDER_NOT_EXISTS", refused("FOLDER_NOT_EXISTS"), "heldBack", "waits for the folder"],
      ["PLUGIN", refused("PLUGIN_REMINDER_NOT_INSTALLED"), "heldBack", "waits for the plugin"],
      ["FILE_SIZE_TOO_BIG", refused("FILE_SIZE_TOO_BIG"), "refused", "never fits"],
      ["INVALID_FILENAME", refused("INVALID_FILENAME"), "refused", "a person renames it"],
      ["ARCHIVE_BUSY", refused("ARCHIVE_BUSY"), "deferred", "passing"],
      ["an unknown code", refused("WEIRD"), "heldBack", "nobody knows; time may tell"],
    ];
    test("the date of the reply is kept, by which the document is known again", () => {
      const stored = { kind: "accepted", documentId: 9, status: "UPLOADED" } as const;
      expect(eventOf({ ...stored, uploadedDate: 5 })).toMatchObject({ uploadedDate: 5 });
      expect(eventOf(stored)).not.toHaveProperty("uploadedDate");
    });

    test.for(TABLE)("%s: %o is %s, because %s", ([, outcome, type]) => {
      const event = eventOf(outcome);
      expect(event.type).toBe(type);
      expect(mayHappen("uploading", event.type)).toBe(true);
    });

    test("what speaks of one request is held, and says how large the file is", () => {
      const document = inState("uploading", {
        seen: { sizeBytes: 12_345_678, modifiedAt: 0, stamp: "" },
      });
      const judged = eventFor(document, refused("HTTP_413"), AT, policy);
      expect(judged).toMatchObject({
        type: "heldBack",
        problem: { message: expect.stringMatching(/12\.3 MB \(12345678 bytes\)$/) },
      });
    });

    test("every code of the upload has a fate of its own", () => {
      for (const code of CODES.upload) expect(Object.keys(FAILURES)).toContain(code);
    });

    test("every code of the interface has a row", () => {
      for (const code of Object.values(CODES).flat()) expect(Object.keys(FAILURES)).toContain(code);
    });

    test("a document behind the gate, or waiting for a folder, waits for no time", () => {
      expect(eventOf(refused("QUOTA_LIMIT"))).toMatchObject({ dueAt: null });
      expect(eventOf(refused("FOLDER_NOT_EXISTS"))).toMatchObject({ dueAt: null });
    });

    test("an unknown code is waited out ever longer", () => {
      const known = { code: "WEIRD", message: "" };
      const waits = [0, 1, 2, 3].map((consecutiveFailures) => {
        const document = inState("uploading", { problem: known, consecutiveFailures });
        const event = eventFor(document, refused("WEIRD"), AT, policy);
        return event.type === "heldBack" ? event.dueAt : 0;
      });
      expect(waits).toEqual([AT + 30_000, AT + 60_000, AT + 120_000, AT + 240_000]);
    });

    test("what the archive asks to wait is waited, and never less than the backoff", () => {
      const busy = { code: "ARCHIVE_BUSY", message: "" };
      const wait = (retryAfterMs: number) =>
        eventOf({ kind: "refused", problem: busy, retryAfterMs });
      expect(wait(90_000)).toMatchObject({ dueAt: AT + 90_000 });
      expect(wait(10)).toMatchObject({ dueAt: AT + 1_000 });
    });

    test("a vanished file is looked at again at once", () => {
      const document = inState("uploading");
      const event = { type: "changed", at: AT, dueAt: AT, seen: document.seen };
      expect(eventFor(document, { kind: "gone" }, AT, policy)).toEqual(event);
    });
  });

  test("without the reminder plugin it goes on without its expiry date, where that is wanted", () => {
    const expiry = { at: 9, sent: 9, from: "7y", withoutPlugin: "upload-without" } as const;
    const metadata = { title: { value: "Lease", from: "static" } } as never;
    const outcome = refused("PLUGIN_REMINDER_NOT_INSTALLED");
    const of = (attributes: Attributes) =>
      eventFor(inState("uploading", { attributes }), outcome, AT, policy);
    expect(of({ metadata, expiry })).toMatchObject({
      type: "deferred",
      dueAt: AT,
      attributes: { metadata, withoutExpiry: true },
    });
    const holding = { ...expiry, withoutPlugin: "hold" } as const;
    expect(of({ metadata, expiry: holding })).toMatchObject({ type: "heldBack" });
  });
});

/** The events that a verdict makes, to the letter. */
describe("verdict events", () => {
  const AT = 100_000;
  const policy = {
    retry: { initialMs: 1_000, maxMs: 60_000 },
    hold: { initialMs: 30_000, maxMs: 600_000 },
    poll: { initialMs: 2_000, maxMs: 60_000 },
    settleMs: 3_000,
    random: () => 1,
  };

  const of = (code: string) => ({ code, message: `because of ${code}` });
  const before = { seen: { sizeBytes: 1, modifiedAt: 2, stamp: "old" } };
  const again = (code: string, consecutiveFailures: number) => ({
    problem: of(code),
    consecutiveFailures,
  });

  const refused = (code: string, retryAfterMs: number | null = null): Outcome => {
    return { kind: "refused", problem: of(code), retryAfterMs };
  };
  const notSent = (retryAfterMs: number | null = null): Outcome => {
    return { kind: "notSent", problem: of("ARCHIVE_UNREACHABLE"), retryAfterMs };
  };

  type Line = [Partial<Document>, Outcome, Event, string];

  const LINES: Line[] = [
    [
      {},
      { kind: "accepted", documentId: 9, status: "UPLOADED" },
      { type: "accepted", at: AT, dueAt: AT + 2_000, documentId: 9, status: "UPLOADED" },
      "its conversion is asked for after the first interval",
    ],
    [{}, { kind: "released" }, { type: "released", at: AT }, "it goes back as it came"],
    [
      before,
      { kind: "changed" },
      {
        type: "changed",
        at: AT,
        settleMs: 3_000,
        dueAt: AT + 3_000,
        seen: { sizeBytes: 1, modifiedAt: 2, stamp: "" },
      },
      "not seen since: no later look may take it for the same",
    ],
    [
      {},
      { kind: "inDoubt", problem: of("REPLY_LOST") },
      { type: "inDoubt", at: AT, dueAt: AT, problem: of("REPLY_LOST") },
      "it is looked for at once",
    ],
    [
      {},
      { kind: "unreadable", problem: of("FILE_UNREADABLE") },
      { type: "heldBack", at: AT, dueAt: AT + 30_000, problem: of("FILE_UNREADABLE") },
      "rights may come back",
    ],
    [
      again("FILE_UNREADABLE", 2),
      { kind: "unreadable", problem: of("FILE_UNREADABLE") },
      { type: "heldBack", at: AT, dueAt: AT + 120_000, problem: of("FILE_UNREADABLE") },
      "ever more rarely",
    ],
    [
      again("FILE_EMPTY", 2),
      { kind: "unreadable", problem: of("FILE_UNREADABLE") },
      { type: "heldBack", at: AT, dueAt: AT + 30_000, problem: of("FILE_UNREADABLE") },
      "another problem starts over",
    ],
    [
      {},
      notSent(),
      { type: "deferred", at: AT, dueAt: AT + 1_000, problem: of("ARCHIVE_UNREACHABLE") },
      "proven not to be there: soon again",
    ],
    [
      again("ARCHIVE_UNREACHABLE", 3),
      notSent(),
      { type: "deferred", at: AT, dueAt: AT + 8_000, problem: of("ARCHIVE_UNREACHABLE") },
      "the fourth time in a row",
    ],
    [
      again("ARCHIVE_BUSY", 3),
      notSent(),
      { type: "deferred", at: AT, dueAt: AT + 1_000, problem: of("ARCHIVE_UNREACHABLE") },
      "another problem starts over",
    ],
    [
      again("ARCHIVE_BUSY", 3),
      notSent(9_000),
      { type: "deferred", at: AT, dueAt: AT + 9_000, problem: of("ARCHIVE_UNREACHABLE") },
      "as long as the archive asked",
    ],
    [
      {},
      refused("ARCHIVE_BUSY", 7_000),
      { type: "deferred", at: AT, dueAt: AT + 7_000, problem: of("ARCHIVE_BUSY") },
      "as long as the archive asked",
    ],
    [
      {},
      refused("FILE_SIZE_TOO_BIG"),
      { type: "refused", at: AT, problem: of("FILE_SIZE_TOO_BIG") },
      "it never fits",
    ],
    [
      {},
      refused("QUOTA_LIMIT"),
      { type: "heldBack", at: AT, dueAt: null, problem: of("QUOTA_LIMIT") },
      "the gate lets it go on, not time",
    ],
    [
      {},
      refused("PLUGIN_REMINDER_NOT_INSTALLED"),
      {
        type: "heldBack",
        at: AT,
        dueAt: AT + 30_000,
        problem: of("PLUGIN_REMINDER_NOT_INSTALLED"),
      },
      "nobody tells of a plugin: it is tried",
    ],
  ];

  describe("the event of an attempt", () => {
    test.for(LINES)("%o, %o: exactly %o, because %s", ([set, outcome, event]) => {
      const judged = eventFor(inState("uploading", set), outcome, AT, policy);
      expect(judged).toEqual(event);
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
      const judged = eventFor(inState("uploading"), refused(code), AT, policy);
      expect(judged).toMatchObject({ type: "heldBack", dueAt: null });
    });
  });
});
