import { describe, expect, test } from "vitest";
import { FAILURES } from "../../../src/domain/failure.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import type { Slip } from "../../../src/domain/slip.ts";
import { verdict } from "../../../src/domain/verdict.ts";
import { CODES } from "../../../src/wire/codes.ts";
import { inState } from "../../fixtures/a-document.ts";
import { mayHappen } from "../../fixtures/events.ts";

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
  trouble: { code, message: code },
  retryAfterMs: null,
});
const trouble = { code: "REPLY_LOST", message: "reset" };

function eventOf(outcome: Outcome) {
  const judged = verdict(inState("uploading"), outcome, AT, policy);
  if (judged.kind === "gone") throw new Error("no event");
  return judged.event;
}

describe("what an attempt means", () => {
  const TABLE: [string, Outcome, string, string][] = [
    ["stored", { kind: "stored", documentId: 9, status: "UPLOADED" }, "accepted", "it has an id"],
    ["not begun", { kind: "notBegun" }, "released", "nothing happened, so it costs nothing"],
    ["lost", { kind: "lost", trouble }, "replyLost", "the archive may have it"],
    ["not sent", { kind: "notSent", trouble, retryAfterMs: null }, "deferred", "proven"],
    ["changed", { kind: "changed", seen: null }, "changed", "it was torn down; it settles anew"],
    ["unreadable", { kind: "unreadable", trouble }, "heldBack", "rights may come back"],
    ["QUOTA_LIMIT", refused("QUOTA_LIMIT"), "heldBack", "waits behind the gate"],
    ["FOLDER_NOT_EXISTS", refused("FOLDER_NOT_EXISTS"), "heldBack", "waits for the folder"],
    ["PLUGIN", refused("PLUGIN_REMINDER_NOT_INSTALLED"), "heldBack", "waits for the plugin"],
    ["FILE_SIZE_TOO_BIG", refused("FILE_SIZE_TOO_BIG"), "refused", "never fits"],
    ["INVALID_FILENAME", refused("INVALID_FILENAME"), "refused", "a person renames it"],
    ["ARCHIVE_BUSY", refused("ARCHIVE_BUSY"), "deferred", "passing"],
    ["an unknown code", refused("WEIRD"), "heldBack", "nobody knows; time may tell"],
  ];
  test.for(TABLE)("%s: %o is %s, because %s", ([, outcome, type]) => {
    const event = eventOf(outcome);
    expect(event.type).toBe(type);
    expect(mayHappen("uploading", event.type)).toBe(true);
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
    const waits = [0, 1, 2, 3].map((patience) => {
      const document = inState("uploading", { trouble: known, patience });
      const judged = verdict(document, refused("WEIRD"), AT, policy);
      return judged.kind === "event" && judged.event.type === "heldBack" ? judged.event.dueAt : 0;
    });
    expect(waits).toEqual([AT + 30_000, AT + 60_000, AT + 120_000, AT + 240_000]);
  });

  test("what the archive asks to wait is waited, and never less than the backoff", () => {
    const busy = { code: "ARCHIVE_BUSY", message: "" };
    const wait = (retryAfterMs: number) =>
      eventOf({ kind: "refused", trouble: busy, retryAfterMs });
    expect(wait(90_000)).toMatchObject({ dueAt: AT + 90_000 });
    expect(wait(10)).toMatchObject({ dueAt: AT + 1_000 });
  });

  test("a vanished file is no event: the row is looked at again", () => {
    expect(verdict(inState("uploading"), { kind: "gone" }, AT, policy)).toEqual({ kind: "gone" });
  });
});

test("without the reminder plugin it goes on without its expiry date, where that is wanted", () => {
  const expiry = { at: 9, sent: 9, from: "7y", withoutPlugin: "upload-without" } as const;
  const metadata = { title: { value: "Lease", from: "static" } } as never;
  const outcome = refused("PLUGIN_REMINDER_NOT_INSTALLED");
  const of = (slip: Slip) => verdict(inState("uploading", { slip }), outcome, AT, policy);
  expect(of({ metadata, expiry })).toMatchObject({
    event: { type: "deferred", dueAt: AT, slip: { metadata, withoutExpiry: true } },
  });
  const holding = { ...expiry, withoutPlugin: "hold" } as const;
  expect(of({ metadata, expiry: holding })).toMatchObject({ event: { type: "heldBack" } });
});
