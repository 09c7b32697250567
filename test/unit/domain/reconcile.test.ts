import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Candidate,
  doubtSpan,
  earliestUpload,
  reconcile,
} from "../../../src/domain/reconcile.ts";
import { inState } from "../../fixtures/a-document.ts";

const POLICY = {
  windowMs: 60_000,
  firstLookMs: 1_000,
  toleranceMs: 5_000,
  unsureMs: 0,
  marginMs: 0,
  keepsDates: false,
};
const policy = POLICY;
const SENT_AT = 1_000_000;
const SIZE = 1_000;

const candidate = (id: number, set: Partial<Candidate> = {}): Candidate => ({
  id,
  folderId: 7,
  filename: "scan.pdf",
  uploadedDate: SENT_AT + 500,
  filesize: 0,
  status: "UPLOADED",
  ...set,
});

const sized = (id: number, set: Partial<Candidate> = {}) =>
  candidate(id, { filesize: SIZE, ...set });

const doubt = (set: Parameters<typeof inState>[1] = {}) =>
  inState("inDoubt", { sentAt: SENT_AT, doubtAt: SENT_AT + 1_000, looks: 0, ...set });

function decide(
  listed: Candidate[],
  { late = false, claimed = [] as number[], looks = 0, policy = POLICY } = {},
) {
  const document = doubt({ looks: late ? 5 : looks });
  return reconcile(document, listed, {
    earliest: earliestUpload(document, { now: SENT_AT, offsetMs: 0 }, policy),
    claimed: new Set(claimed),
    lastedMs: late ? 119_000 : 1_000,
    policy,
  });
}

describe("a lost reply", () => {
  const TABLE: [string, Candidate[], boolean, string, string][] = [
    ["nothing, early", [], false, "lookAgain", "it may be committed late"],
    ["nothing, late", [], true, "absent", "it was looked for long enough"],
    ["one, size unknown, early", [candidate(5)], false, "lookAgain", "it may be anybody's"],
    ["one, size unknown, late", [candidate(5)], true, "ambiguous", "its size may yet come"],
    ["one, our size", [candidate(5, { filesize: SIZE })], false, "found", "all fits"],
    ["one, another size, early", [candidate(5, { filesize: 7 })], false, "lookAgain", "not ours?"],
    ["one, another size, late", [candidate(5, { filesize: 7 })], true, "ambiguous", "never guess"],
    [
      "our size, in another case, late",
      [sized(5, { filename: "SCAN.PDF" })],
      true,
      "ambiguous",
      "renamed?",
    ],
    [
      "our size, without the dot, late",
      [sized(5, { filename: "scan pdf" })],
      true,
      "ambiguous",
      "renamed?",
    ],
    [
      "another size and case, late",
      [candidate(5, { filename: "Scan.pdf", filesize: 7 })],
      true,
      "absent",
      "not ours",
    ],
    [
      "our size, another name, late",
      [sized(5, { filename: "scan2.pdf" })],
      true,
      "absent",
      "not ours",
    ],
    [
      "ours, and one in another case",
      [sized(5), sized(6, { filename: "SCAN.pdf" })],
      false,
      "found",
      "its name fits",
    ],
    [
      "our size, in other letters, late",
      [sized(5, { filename: "\uff53can.pdf" })],
      true,
      "ambiguous",
      "renamed?",
    ],
    [
      "our size, another case, older, late",
      [sized(5, { filename: "SCAN.pdf", uploadedDate: 1 })],
      true,
      "absent",
      "not ours",
    ],
    ["two, sizes unknown, early", [candidate(5), candidate(6)], false, "lookAgain", "sizes come"],
    ["two, sizes unknown, late", [candidate(5), candidate(6)], true, "ambiguous", "a person"],
    [
      "two, one of our size",
      [candidate(5, { filesize: SIZE }), candidate(6, { filesize: 7 })],
      false,
      "found",
      "the other is someone else's",
    ],
    [
      "two of our size, late",
      [candidate(5, { filesize: SIZE }), candidate(6, { filesize: SIZE })],
      true,
      "ambiguous",
      "either could be ours",
    ],
    ["the same one twice", [sized(5), sized(5)], false, "found", "lists shift"],
    ["another name", [candidate(5, { filename: "b.pdf" })], true, "absent", "names differ"],
    ["from before", [candidate(5, { uploadedDate: SENT_AT - 6_000 })], true, "absent", "older"],
    [
      "a little before",
      [sized(5, { uploadedDate: SENT_AT - 4_000 })],
      false,
      "found",
      "clocks differ",
    ],
  ];
  test.for(TABLE)("%s: %o (late: %s) is %s, because %s", ([, listed, late, kind]) => {
    expect(decide(listed, { late }).kind).toBe(kind);
  });

  test.for<[Candidate[], boolean, string, string]>([
    [[sized(5, { uploadedDate: SENT_AT - 9_000 })], false, "lookAgain", "not certain to be ours"],
    [[sized(5, { uploadedDate: SENT_AT - 9_000 })], true, "ambiguous", "nor not to be"],
    [[candidate(5, { uploadedDate: SENT_AT - 9_000 })], true, "ambiguous", "its size may be ours"],
    [[sized(5, { uploadedDate: SENT_AT - 15_000 })], true, "ambiguous", "just within the margin"],
    [[sized(5, { uploadedDate: SENT_AT - 15_001 })], true, "absent", "no clock is so wrong"],
    [[sized(5, { uploadedDate: SENT_AT - 9_000, filesize: 7 })], true, "absent", "another size"],
    [[sized(5, { uploadedDate: SENT_AT - 9_000 }), sized(6)], false, "found", "one fits better"],
  ])("older than its send, %j (late: %s): %s, because %s", ([listed, late, kind]) => {
    const lenient = { ...policy, marginMs: 10_000 };
    expect(decide(listed, { late, policy: lenient }).kind).toBe(kind);
    const claimed = listed.map(({ id }) => id);
    expect(decide(listed, { late: true, claimed, policy: lenient }).kind).toBe("absent");
  });

  test.for<[Candidate[], string, string]>([
    [[sized(5, { uploadedDate: SENT_AT - 9_000 })], "ambiguous", "it may have been there before"],
    [[sized(5, { uploadedDate: SENT_AT - 9_000 }), sized(6)], "found", "one fits better"],
    [[sized(5, { uploadedDate: SENT_AT - 9_000, filesize: 7 })], "ambiguous", "by its date it is"],
  ])("of a clock that nobody knows, %j: %s, because %s", ([listed, kind]) => {
    const unsure = { ...policy, toleranceMs: policy.toleranceMs + 10_000, unsureMs: 10_000 };
    expect(decide(listed, { late: true, policy: unsure }).kind).toBe(kind);
  });

  test("a document that another row owns is never taken", () => {
    expect(decide([candidate(5)], { late: true, claimed: [5] }).kind).toBe("absent");
  });

  test.for([
    ["its own date", 0, SIZE, true, "found", "the archive took it under another id"],
    ["a day later, its size", 86_400_000, SIZE, true, "ambiguous", "like the next day's scan"],
    ["a day later, no size yet", 86_400_000, 0, true, "ambiguous", "its size may yet come"],
    ["a day later, another size", 86_400_000, 7, true, "absent", "two things tell it from ours"],
    [
      "the same, of odd dates",
      86_400_000,
      7,
      false,
      "ambiguous",
      "dates and sizes may both be odd",
    ],
  ] as const)(
    "once dated by the archive, and listed with %s: %s",
    ([, later, filesize, keepsDates, kind]) => {
      const archiveUploadedAt = SENT_AT + 500;
      const document = doubt({ looks: 5, archiveUploadedAt });
      const listed = [candidate(5, { filesize, uploadedDate: archiveUploadedAt + later })];
      const policy = { ...POLICY, keepsDates };
      const context = { earliest: SENT_AT, claimed: new Set<number>(), lastedMs: 119_000, policy };
      expect(reconcile(document, listed, context).kind).toBe(kind);
    },
  );

  test("a decomposed name is the same name", () => {
    const document = doubt({ sentName: "Mu\u0308ller.pdf" });
    const listed = [sized(5, { filename: "M\u00fcller.pdf" })];
    const context = { earliest: 0, claimed: new Set<number>(), lastedMs: 0, policy };
    expect(reconcile(document, listed, context).kind).toBe("found");
  });

  test("a few looks are not enough to send again, however far the clock has jumped", () => {
    const context = { earliest: 0, claimed: new Set<number>(), lastedMs: 1e9, policy };
    const after = (looks: number) => reconcile(doubt({ looks }), [], context).kind;
    expect([0, 1, 4, 5].map(after)).toEqual(["lookAgain", "lookAgain", "lookAgain", "absent"]);
  });

  test("nothing is ever called absent while a candidate fits", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ id: fc.nat(9), filesize: fc.constantFrom(0, SIZE, 7) }), {
          minLength: 1,
        }),
        fc.boolean(),
        (some, late) => {
          const listed = some.map(({ id, filesize }) => candidate(id, { filesize }));
          expect(decide(listed, { late }).kind).not.toBe("absent");
        },
      ),
    );
  });

  test("the archive's clock is estimated with", () => {
    const sent = { sentAt: SENT_AT, sentArchiveAt: null };
    expect(earliestUpload(sent, { now: SENT_AT, offsetMs: -3_600_000 }, policy)).toBe(
      SENT_AT - 3_605_000,
    );
  });

  test("its time as it was noted with the intent holds, however our clock was fixed since", () => {
    const sent = { sentAt: 9e12, sentArchiveAt: SENT_AT };
    expect(earliestUpload(sent, { now: 0, offsetMs: 0 }, policy)).toBe(SENT_AT - 5_000);
  });

  test("sent by a clock that was set back since: it may have been at any time", () => {
    const sent = { sentAt: SENT_AT, sentArchiveAt: null };
    expect(earliestUpload(sent, { now: SENT_AT - 1, offsetMs: 77 }, policy)).toBe(0);
  });
});

describe("how long it has been in doubt", () => {
  const YEAR = 365 * 24 * 3_600_000;
  type Look = readonly [passedMs: number, jumpedMs: number];

  /** Looked at again and again, after so much time and a setting of the clock each. */
  function lasted(doubtAgoMs: number, looks: readonly Look[]): number {
    let [now, monotonic] = [1_000_000, 0];
    const doubtAt = now - doubtAgoMs;
    let span = doubtSpan(doubtAt, { now, monotonic });
    for (const [passedMs, jumpedMs] of looks) {
      now += passedMs + jumpedMs;
      monotonic += passedMs;
      span = doubtSpan(doubtAt, { now, monotonic }, span);
    }
    return monotonic - span.since;
  }

  test.for<[number, Look[], number, string]>([
    [5_000, [], 5_000, "what the clock says when it is met"],
    [5_000, [[60_000, 0]], 65_000, "and what has passed since"],
    [5_000, [[60_000, YEAR]], 65_000, "a clock set forward makes it no older"],
    [-YEAR, [[60_000, 0]], 60_000, "begun in times to come: since it was met"],
    [5_000, [[60_000, -YEAR]], 60_000, "set back meanwhile: the same"],
    [YEAR, [[60_000, 5_000 - YEAR]], 65_000, "met while the clock ran ahead: it was put right"],
    [
      YEAR,
      [
        [1_000, 5_000 - YEAR],
        [1_000, YEAR],
      ],
      7_000,
      "and it is not taken for right again",
    ],
  ])("%i ms old as it is met, then %j: %i ms, %s", ([agoMs, looks, ms]) => {
    expect(lasted(agoMs, looks)).toBe(ms);
  });

  test("without a time of its doubt, it begins as it is met", () => {
    const span = doubtSpan(null, { now: 9e12, monotonic: 50 });
    expect(doubtSpan(null, { now: 0, monotonic: 80 }, span)).toEqual({ metAt: 50, since: 50 });
  });
});
