/** What each arrow writes, to the letter: a column too many or too few is a document lost or sent twice. */
import { describe, expect, test } from "vitest";
import type { Document, State } from "../../../src/domain/document.ts";
import { type Event, type Patch, transition } from "../../../src/domain/life.ts";
import { ANYWAY } from "../../../src/domain/settle.ts";
import { InvariantError } from "../../../src/std/fault.ts";
import { inState } from "../../fixtures/a-document.ts";
import { everyEvent, mayHappen } from "../../fixtures/events.ts";

const AT = 20_000;
const DUE = 30_000;
const problem = { code: "X", message: "x" };
const PLUGIN = { code: "PLUGIN_REMINDER_NOT_INSTALLED", message: "no plugin" };
const EXPIRES = { expiry: { at: 1, sent: 1, from: "7y", withoutPlugin: "hold" } } as const;
const seen = { sizeBytes: 2, modifiedAt: AT, stamp: "b" };

const changed: Event = { type: "changed", at: AT, dueAt: DUE, seen };
const decided = {
  digest: "e",
  sentName: "n.pdf",
  targetPath: "/T",
  remark: "r",
  batch: "b",
  estimate: 12,
} as const;
const settled = { type: "settled", at: AT, ...decided } as const;
const ready = {
  state: "pending",
  ...decided,
  movedFrom: null,
  movedAt: null,
  settledAt: AT,
  dueAt: AT,
} as const;
const startedOver: Patch = {
  state: "settling",
  seen,
  changedAt: AT,
  dueAt: DUE,
  digest: null,
  sentName: null,
  targetPath: null,
  attributes: null,
  remark: null,
  batch: null,
  folderId: null,
  estimate: null,
  charge: null,
  sentBytes: null,
  ignoredDigest: null,
  problem: null,
  consecutiveFailures: 0,
  goneAt: null,
  doubtAt: null,
  documentId: null,
  archiveStatus: null,
  archiveUploadedAt: null,
  after: null,
  afterMessage: null,
};

const heldBack: Event = { type: "heldBack", at: AT, dueAt: DUE, problem };
const held: Patch = { state: "held", dueAt: DUE, problem, consecutiveFailures: 1 };

const goesOn: Event = { type: "goesOn", at: AT };
const INCOMPLETE = { code: "FILE_INCOMPLETE", message: "looks unfinished by its format" };
const wentOn: Patch = {
  state: "pending",
  dueAt: AT,
  documentId: null,
  archiveStatus: null,
  archiveUploadedAt: null,
};

const lookedAtAgain: Patch = {
  state: "settling",
  dueAt: AT,
  digest: null,
  attributes: null,
  after: null,
  afterMessage: null,
};

const original = {
  id: 5,
  documentId: 9,
  folderId: 7,
  sentName: "scan.pdf",
  uploadedAt: 15_000,
  archiveUploadedAt: 14_000,
  pages: 3,
  archiveBytes: 1,
  sentBytes: 70,
  digidoc: false,
};

type Line = [State, Partial<Document>, Event, Patch, string];

const LINES: Line[] = [
  ["settling", {}, changed, startedOver, "what was known is of another content"],
  [
    "settling",
    {},
    { type: "unfinished", at: AT, dueAt: DUE, problem },
    { state: "settling", dueAt: DUE, problem },
    "it is looked at again, and says why",
  ],
  [
    "settling",
    { problem, consecutiveFailures: 3 },
    settled,
    { ...ready, attributes: null, problem: null, consecutiveFailures: 0 },
    "everything that an attempt needs, and no problem of before",
  ],
  [
    "settling",
    { problem: PLUGIN, consecutiveFailures: 3 },
    { ...settled, attributes: EXPIRES },
    { ...ready, attributes: EXPIRES },
    "it was refused for its expiry date, and has one again: its patience grows",
  ],
  ["settling", {}, heldBack, held, "it cannot be read"],
  [
    "settling",
    { consecutiveFailures: 3 },
    {
      type: "vetoed",
      at: AT,
      digest: "e".repeat(64),
      attributes: { rule: "r" },
      problem,
      after: "due",
    },
    {
      state: "held",
      digest: "e".repeat(64),
      attributes: { rule: "r" },
      dueAt: null,
      problem,
      consecutiveFailures: 1,
      after: "due",
      afterMessage: null,
    },
    "only another content, or a person, has the hook asked again",
  ],
  ["pending", {}, changed, startedOver, "the digest is no longer true"],
  ["pending", {}, { type: "recheck", at: AT }, lookedAtAgain, "it is decided by other settings"],
  [
    "pending",
    { attempts: 2 },
    { type: "claimed", at: AT, archiveAt: 19_000, folderId: 8, batch: "c", charge: 12 },
    {
      state: "uploading",
      folderId: 8,
      batch: "c",
      charge: 12,
      sentBytes: 1_000,
      attempts: 3,
      sentAt: AT,
      sentArchiveAt: 19_000,
      archiveUploadedAt: null,
      dueAt: null,
    },
    "the intent, with the archive's time for a doubt to go by",
  ],
  [
    "pending",
    { polls: 4, consecutiveFailures: 2, problem },
    {
      type: "adopted",
      at: AT,
      dueAt: DUE,
      documentId: 9,
      folderId: 8,
      status: "CONVERTED",
      sentBytes: null,
      uploadedDate: 13_000,
    },
    {
      state: "uploaded",
      documentId: 9,
      folderId: 8,
      archiveUploadedAt: 13_000,
      charge: null,
      sentBytes: null,
      archiveStatus: "CONVERTED",
      uploadedAt: AT,
      dueAt: DUE,
      polls: 0,
      problem: null,
      consecutiveFailures: 0,
      remark: "was in the archive already",
    },
    "it was not sent by us, and says so",
  ],
  ["pending", {}, heldBack, held, "its folder is missing"],
  [
    "uploading",
    { polls: 4, consecutiveFailures: 2, problem },
    { type: "accepted", at: AT, dueAt: DUE, documentId: 9, status: "UPLOADED", uploadedDate: 7 },
    {
      state: "uploaded",
      archiveUploadedAt: 7,
      documentId: 9,
      archiveStatus: "UPLOADED",
      uploadedAt: AT,
      dueAt: DUE,
      polls: 0,
      problem: null,
      consecutiveFailures: 0,
    },
    "the archive has it",
  ],
  [
    "uploading",
    { attempts: 3 },
    { type: "released", at: AT },
    { state: "pending", attempts: 2, sentAt: null, sentArchiveAt: null, dueAt: AT },
    "it is as if it had not been claimed",
  ],
  [
    "uploading",
    { problem, consecutiveFailures: 2 },
    { type: "deferred", at: AT, dueAt: DUE, problem },
    { state: "pending", dueAt: DUE, problem, consecutiveFailures: 3 },
    "the same problem again",
  ],
  [
    "uploading",
    {},
    { type: "deferred", at: AT, dueAt: DUE, problem, attributes: { withoutExpiry: true } },
    {
      state: "pending",
      dueAt: DUE,
      problem,
      consecutiveFailures: 1,
      attributes: { withoutExpiry: true },
    },
    "what goes with it from now on is another",
  ],
  [
    "uploading",
    { problem: { code: "Y", message: "y" }, consecutiveFailures: 2 },
    { type: "deferred", at: AT, dueAt: DUE, problem },
    { state: "pending", dueAt: DUE, problem, consecutiveFailures: 1 },
    "another problem",
  ],
  ["uploading", {}, changed, startedOver, "the request was torn down"],
  ["uploading", {}, heldBack, held, "refused for a reason outside of it"],
  [
    "uploading",
    {},
    { type: "refused", at: AT, problem },
    { state: "failed", dueAt: null, problem },
    "nothing but a person helps",
  ],
  [
    "uploading",
    { looks: 7 },
    { type: "inDoubt", at: AT, dueAt: DUE, problem },
    { state: "inDoubt", doubtAt: AT, looks: 0, dueAt: DUE, problem, consecutiveFailures: 0 },
    "every doubt takes all its looks",
  ],
  [
    "uploading",
    { problem: { code: "REPLY_LOST", message: "before" }, consecutiveFailures: 3 },
    { type: "inDoubt", at: AT, dueAt: DUE, problem },
    { state: "inDoubt", doubtAt: AT, looks: 0, dueAt: DUE, problem, consecutiveFailures: 3 },
    "three before it were lost too",
  ],
  [
    "inDoubt",
    { looks: 2 },
    { type: "looked", at: AT, dueAt: DUE },
    { state: "inDoubt", looks: 3, dueAt: DUE },
    "one look more",
  ],
  [
    "inDoubt",
    { polls: 4, doubtAt: 1, consecutiveFailures: 2, problem },
    { type: "found", at: AT, dueAt: DUE, documentId: 9, status: "UPLOADED", uploadedDate: 0 },
    {
      state: "uploaded",
      archiveUploadedAt: null, // not said
      documentId: 9,
      archiveStatus: "UPLOADED",
      uploadedAt: AT,
      dueAt: DUE,
      polls: 0,
      doubtAt: null,
      problem: null,
      consecutiveFailures: 0,
    },
    "the doubt is over",
  ],
  [
    "inDoubt",
    { doubtAt: 1, problem },
    { type: "absent", at: AT },
    { state: "pending", dueAt: AT, doubtAt: null, problem: null, consecutiveFailures: 0 },
    "it may be sent again",
  ],
  [
    "inDoubt",
    { doubtAt: 1, problem, consecutiveFailures: 3 },
    { type: "absent", at: AT, problem: { code: "REPLY_LOST", message: "x" } },
    {
      state: "pending",
      dueAt: AT,
      doubtAt: null,
      problem: { code: "REPLY_LOST", message: "x" },
      consecutiveFailures: 4,
    },
    "so often it was lost in a row",
  ],
  ["inDoubt", {}, heldBack, held, "a person can tell"],
  [
    "uploaded",
    { polls: 2 },
    { type: "polled", at: AT, dueAt: DUE, status: "CONVERTING", problem },
    { state: "uploaded", archiveStatus: "CONVERTING", polls: 3, dueAt: DUE, problem },
    "it is asked for ever more rarely",
  ],
  [
    "uploaded",
    { problem },
    { type: "converted", at: AT, pages: 3, archiveBytes: 44, digidoc: true, after: "due" },
    {
      state: "converted",
      archiveStatus: "CONVERTED",
      convertedAt: AT,
      pages: 3,
      archiveBytes: 44,
      digidoc: true,
      after: "due",
      dueAt: null,
      problem: null,
    },
    "what the archive counted, and what is to be done with the file",
  ],
  [
    "uploaded",
    { problem },
    {
      type: "converted",
      at: AT,
      pages: 3,
      archiveBytes: 17,
      digidoc: true,
      after: null,
      remark: "17 bytes are there, 44 were sent",
    },
    {
      state: "converted",
      archiveStatus: "CONVERTED",
      convertedAt: AT,
      pages: 3,
      archiveBytes: 17,
      digidoc: true,
      after: null,
      dueAt: null,
      problem: null,
      remark: "17 bytes are there, 44 were sent",
    },
    "the archive does not have all of it",
  ],
  [
    "uploaded",
    {},
    { type: "vanished", at: AT, problem },
    { state: "failed", dueAt: null, problem },
    "someone removed it there",
  ],
  ...(["uploaded", "converted"] as const).map(
    (state): Line => [
      state,
      { documentId: 9, archiveUploadedAt: 14_000, charge: 2, after: "due" },
      { type: "mistaken", at: AT, problem },
      {
        state: "inDoubt",
        doubtAt: AT,
        looks: 0,
        dueAt: AT,
        documentId: null,
        archiveStatus: null,
        charge: null,
        problem,
        consecutiveFailures: 0,
        after: null,
        afterMessage: null,
      },
      "the archive was taken back; ours is known by its date",
    ],
  ),
  ["held", {}, goesOn, wentOn, "it will get another id"],
  [
    "held",
    {},
    { type: "recheck", at: AT },
    lookedAtAgain,
    "it is looked at now, and all of it is decided again",
  ],
  ["held", {}, changed, startedOver, "another content, another chance"],
  [
    "held",
    { doubtAt: 1 },
    { type: "lookAgain", at: AT },
    { state: "inDoubt", dueAt: AT },
    "the doubt goes on, with the looks it had",
  ],
  ["held", {}, heldBack, held, "the reason changed"],
  [
    "settling",
    { remark: ANYWAY },
    { type: "heldBack", at: AT, dueAt: null, problem: INCOMPLETE },
    { state: "held", dueAt: AT, problem: INCOMPLETE, consecutiveFailures: 1 },
    "a person asked for it meanwhile: it is looked at again at once",
  ],
  [
    "settling",
    {},
    { type: "heldBack", at: AT, dueAt: null, problem: INCOMPLETE },
    { state: "held", dueAt: null, problem: INCOMPLETE, consecutiveFailures: 1 },
    "nobody has asked for it",
  ],
  ["failed", {}, goesOn, wentOn, "a person asked"],
  ["failed", {}, changed, startedOver, "a person fixed it"],
  ["failed", {}, { type: "recheck", at: AT }, lookedAtAgain, "what goes with it is decided again"],
  [
    "failed",
    {},
    { type: "mistaken", at: AT, problem },
    { state: "failed", documentId: null, archiveStatus: null },
    "the id is another document's by now",
  ],
  [
    "pending",
    { problem, consecutiveFailures: 2 },
    { type: "duplicated", at: AT, original, remark: "r", after: "due" },
    {
      state: "converted",
      duplicateOf: 5,
      documentId: 9,
      folderId: 7,
      sentName: "scan.pdf",
      archiveStatus: "CONVERTED",
      uploadedAt: 15_000,
      archiveUploadedAt: 14_000,
      convertedAt: AT,
      pages: 3,
      archiveBytes: 1,
      sentBytes: 70,
      digidoc: false,
      remark: "r",
      after: "due",
      dueAt: null,
      problem: null,
    },
    "it stands for the document of another row",
  ],
];

describe("what an arrow writes", () => {
  test.for(LINES)("%s, %o, %o: exactly %o, because %s", ([state, set, event, patch]) => {
    expect(transition(inState(state, set), event)).toEqual(patch);
  });

  test("every arrow stands here", () => {
    const states = [...new Set(LINES.map(([state]) => state))];
    const drawn = [...states, "converted" as const].flatMap((state) =>
      everyEvent()
        .filter(({ type }) => mayHappen(state, type))
        .map(({ type }) => `${state} ${type}`),
    );
    expect(new Set(LINES.map(([state, , { type }]) => `${state} ${type}`))).toEqual(new Set(drawn));
  });
});

describe("what cannot be", () => {
  const claimed: Event = { type: "claimed", at: 1, archiveAt: null, folderId: 1, batch: "b" };

  test.for<[Partial<Document>, string]>([
    [{ digest: null }, "nothing proves what would be sent"],
    [{ sentName: null }, "nobody could look for it in the archive"],
    [{ digest: null, sentName: null }, "neither"],
  ])("a row with %o is not claimed: %s", ([set]) => {
    const document = inState("pending", { id: 42, ...set });
    expect(() => transition(document, claimed)).toThrow(
      "document 42: claimed before it was settled",
    );
  });

  test("what was never in doubt is not looked for again, and says which it is", () => {
    const document = inState("held", { id: 42, doubtAt: null });
    const again: Event = { type: "lookAgain", at: 1 };
    expect(() => transition(document, again)).toThrow("document 42: was never in doubt");
  });

  test("an arrow that is not drawn is a bug that says where it would have led from", () => {
    const impossible = () => transition(inState("converted", { id: 42 }), claimed);
    expect(impossible).toThrow("document 42: converted has no arrow for claimed");
    expect(impossible).toThrow(InvariantError);
  });
});
