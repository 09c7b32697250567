/** The edges of small decisions, where one more or one less is another answer. */
import { describe, expect, test } from "vitest";
import { joinBatch } from "../../../src/domain/batching.ts";
import * as gates from "../../../src/domain/gate.ts";
import { type Candidate, earliestUpload, reconcile } from "../../../src/domain/reconcile.ts";
import { ANYWAY, isAskedFor, ripeness } from "../../../src/domain/settle.ts";
import { inState } from "../../fixtures/a-document.ts";

describe("ripeness", () => {
  const quiet = {
    now: 1_000_000,
    changedAt: 990_000,
    settleMs: 3_000,
    incompleteMs: 600_000,
    stillIncomplete: "hold" as const,
  };
  const seen = { sizeBytes: 10, modifiedAt: 990_000, stamp: "" };
  const unfinished = (file: object, when: object = {}) =>
    ripeness({ ...seen, ...file }, "unfinished", { ...quiet, ...when });

  test("a whole file goes without a remark; an old broken one is held, or goes with one", () => {
    expect(ripeness(seen, "complete", quiet)).toEqual({ kind: "ripe", remark: null });
    expect(unfinished({ modifiedAt: 1 })).toEqual({
      kind: "held",
      problem: {
        code: "FILE_INCOMPLETE",
        message: "looks unfinished by its format, and has not changed for longer than `incomplete`",
      },
    });
    expect(unfinished({ modifiedAt: 1 }, { stillIncomplete: "upload" })).toEqual({
      kind: "ripe",
      remark: "looks unfinished by its format, but has been quiet for long",
    });
  });

  test("where it is known what is missing, that is told", () => {
    const why = "its end mark is missing";
    const message = `looks unfinished: ${why}`;
    expect(ripeness(seen, "unfinished", quiet, why)).toMatchObject({ problem: { message } });
  });

  test("what a person asked for goes at once, whatever it looks like, unless it has no content", () => {
    const anyway = { anyway: true };
    expect(unfinished({}, anyway)).toEqual({ kind: "ripe", remark: ANYWAY });
    expect(unfinished({ modifiedAt: 1 }, anyway)).toEqual({ kind: "ripe", remark: ANYWAY });
    expect(unfinished({ sizeBytes: 0 }, anyway).kind).toBe("wait");
    expect(unfinished({ modifiedAt: 1, sizeBytes: 0 }, anyway).kind).toBe("held");
    expect(unfinished({}, { ...anyway, minAgeMs: 60_000 }).kind).toBe("wait");
    expect(ripeness(seen, "complete", { ...quiet, ...anyway })).toMatchObject({ remark: null });
    // The remark is the permission.
    expect(isAskedFor({ remark: ANYWAY })).toBe(true);
    expect(isAskedFor({ remark: "renamed" })).toBe(false);
    expect(isAskedFor({ remark: null })).toBe(false);
  });

  test.for<[object, object, number, string]>([
    [{}, {}, 60_000, "twenty times `settle`"],
    [{}, { settleMs: 200 }, 20_000, "twenty seconds at least"],
    [{ modifiedAt: 410_000 }, {}, 10_000, "what is left of `incomplete`"],
    [{ modifiedAt: 400_001 }, {}, 1, "a millisecond is left"],
    [{ modifiedAt: 1_000_000 }, { changedAt: 420_000 }, 20_000, "seen quiet longer than it says"],
    [{ modifiedAt: 1_000_001 }, { changedAt: 420_000 }, 20_000, "the future says nothing"],
  ])("an unfinished one (%o, %o) is looked at in %i ms: %s", ([file, when, ms]) => {
    expect(unfinished(file, when)).toEqual({
      kind: "wait",
      dueAt: 1_000_000 + ms,
      problem: { code: "FILE_UNFINISHED", message: "looks unfinished by its format" },
    });
  });

  test.each([
    ["1979-12-29T23:59:59.999Z", "held"],
    ["1979-12-30T00:00:00.000Z", "wait"],
    ["1980-01-02T00:00:00.000Z", "wait"],
    ["1980-01-03T23:59:59.999Z", "wait"],
    ["1980-01-04T00:00:00.000Z", "held"],
  ])("a time that robocopy puts in says nothing: %s is %s", (time, kind) => {
    const now = Date.UTC(2026, 0, 1);
    const file = { ...seen, modifiedAt: Date.parse(time) };
    expect(ripeness(file, "unfinished", { ...quiet, now, changedAt: now }).kind).toBe(kind);
  });

  test("exactly `incomplete` is long enough, also for one without content", () => {
    expect(unfinished({ modifiedAt: 400_000 })).toMatchObject({
      kind: "held",
      problem: { code: "FILE_INCOMPLETE" },
    });
    expect(unfinished({ modifiedAt: 400_000, sizeBytes: 0 })).toEqual({
      kind: "held",
      problem: { code: "FILE_EMPTY", message: "the file has no content" },
    });
  });
});

describe("batches", () => {
  const policy = { quietMs: 5_000, documentsMax: 3 };
  const open = { id: "a", mirrorId: 1, openedAt: 0, joinedAt: 10_000, documents: 2 };
  const join = (at: number, set: object = {}) =>
    joinBatch({ ...open, ...set }, { mirrorId: 1, at }, policy, () => "b");

  test.for<[number, object, string, number, string]>([
    [15_000, {}, "a", 15_000, "the last moment of the quiet time"],
    [15_001, {}, "b", 15_001, "a moment late"],
    [5_000, {}, "a", 10_000, "a clock set back a little; the later time counts on"],
    [4_999, {}, "b", 4_999, "a clock set back a little more"],
    [11_000, { documents: 3 }, "b", 11_000, "it is full"],
  ])("at %i with %o it is %s, joined at %i: %s", ([at, set, id, joinedAt]) => {
    const batch = join(at, set);
    expect(batch).toMatchObject({ id, joinedAt });
    expect(batch).toEqual(
      id === "a"
        ? { ...open, joinedAt, documents: 3 }
        : { id: "b", mirrorId: 1, openedAt: at, joinedAt: at, documents: 1 },
    );
  });
});

describe("the gate", () => {
  const policy: gates.ProbePolicy = {
    retry: { initialMs: 300_000, maxMs: 21_600_000 },
    random: () => 1,
    scheduledAfter: () => null,
  };
  const closed = gates.close(gates.OPEN_GATE, { code: "A", message: "a" }, 0, policy);

  test("an open gate is open, and has never had problem", () => {
    expect(gates.OPEN_GATE).toEqual({
      closedAt: null,
      problem: null,
      probes: 0,
      nextProbeAt: null,
    });
    expect(gates.isClosed(gates.OPEN_GATE)).toBe(false);
  });

  test("one that is closed without a time for its probe wants it now", () => {
    expect(gates.mayProbe({ ...closed, nextProbeAt: null }, 0)).toBe(true);
  });

  test("an open one wants none, whatever time it remembers", () => {
    expect(gates.mayProbe({ ...gates.OPEN_GATE, nextProbeAt: 5 }, 10)).toBe(false);
    expect(gates.mayProbe(gates.OPEN_GATE, 10)).toBe(false);
  });

  test("a refused probe tells the newest problem, and the gate stays closed since when it was", () => {
    const problem = { code: "B", message: "b" };
    expect(gates.probeRefused(closed, problem, 1_000, policy)).toEqual({
      closedAt: 0,
      problem,
      probes: 1,
      nextProbeAt: 601_000,
    });
  });

  test("the schedule is asked for the moment after now", () => {
    const asked: number[] = [];
    const scheduledAfter = (at: number) => (asked.push(at), null);
    gates.close(gates.OPEN_GATE, { code: "A", message: "a" }, 77, { ...policy, scheduledAfter });
    expect(asked).toEqual([77]);
  });
});

describe("looks", () => {
  const policy = {
    windowMs: 60_000,
    firstLookMs: 1_000,
    toleranceMs: 5_000,
    unsureMs: 0,
    marginMs: 0,
    keepsDates: true,
  };
  const SENT_AT = 1_000_000;
  const candidate = (id: number, set: Partial<Candidate> = {}): Candidate => {
    return {
      id,
      folderId: 7,
      filename: "scan.pdf",
      uploadedDate: SENT_AT,
      filesize: 7,
      status: "UPLOADED",
      ...set,
    };
  };
  const decide = (looks: number, afterMs: number, listed: Candidate[] = [], set: object = {}) => {
    const document = inState("inDoubt", { doubtAt: SENT_AT, looks });
    const context = { earliest: SENT_AT, claimed: new Set<number>(), lastedMs: afterMs };
    return reconcile(document, listed, { ...context, policy: { ...policy, ...set } });
  };

  test("wait twice as long each time, but for no more than half the window", () => {
    const waits = [0, 1, 2, 3, 4, 5, 30].map((looks) => decide(looks, 0));
    expect(waits).toEqual(
      [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].map((waitMs) => {
        return { kind: "lookAgain", waitMs };
      }),
    );
  });

  test("in a window longer than any, the wait still ends", () => {
    const [finding] = [decide(40, 0, [], { windowMs: 2 ** 60 })];
    expect(finding).toEqual({ kind: "lookAgain", waitMs: 1_000 * 2 ** 20 });
  });

  test("of a window of nothing, the wait is not nothing", () => {
    expect(decide(0, 0, [], { windowMs: 1 })).toEqual({ kind: "lookAgain", waitMs: 1 });
  });

  test.for<[number, number, object, string, string]>([
    [5, 60_000, {}, "absent", "the whole window and all its looks"],
    [5, 59_999, {}, "lookAgain", "a moment of the window is left"],
    [4, 60_000, {}, "lookAgain", "a look of the window is left"],
    [0, 60_000, { windowMs: 500 }, "lookAgain", "one look at least, however short the window"],
    [1, 60_000, { windowMs: 500 }, "absent", "one look is enough for a window that short"],
  ])("after %i looks and %i ms (%o): %s, because %s", ([looks, ms, set, kind]) => {
    expect(decide(looks, ms, [], set).kind).toBe(kind);
  });

  test("a candidate of the first possible moment is one, and the person learns about all", () => {
    const two = [candidate(5), candidate(6)];
    expect(decide(5, 60_000, two)).toEqual({ kind: "ambiguous", candidates: two });
    expect(decide(5, 60_000, [candidate(5, { uploadedDate: SENT_AT - 1 })]).kind).toBe("absent");
  });

  test.for<[number[], string, string]>([
    [[1_000], "found", "one of our size"],
    [[0], "lookAgain", "one whose size is not known yet may be anybody's"],
    [[7], "lookAgain", "one of another size"],
    [[1_000, 7], "found", "one of our size, another's next to it"],
    [[1_000, 0], "lookAgain", "the other may turn out to be of our size"],
    [[0, 7], "lookAgain", "one alone could be ours, but it is not certain"],
    [[0, 0], "lookAgain", "either"],
    [[1_000, 1_000], "lookAgain", "either"],
  ])("candidates of %j bytes: %s, because %s", ([sizes, kind]) => {
    const listed = sizes.map((filesize, index) => candidate(index + 1, { filesize }));
    const finding = decide(0, 0, listed);
    expect(finding.kind).toBe(kind);
    if (finding.kind === "found") expect(finding.candidate).toBe(listed[0]);
  });

  test("a document without a name fits nothing", () => {
    const document = inState("inDoubt", { sentName: null, doubtAt: SENT_AT, looks: 0 });
    const context = { earliest: 0, claimed: new Set<number>(), lastedMs: 0, policy };
    expect(reconcile(document, [candidate(5)], context).kind).toBe("lookAgain");
  });

  test("a row that does not know when it was sent could be any", () => {
    expect(
      earliestUpload({ sentAt: null, sentArchiveAt: null }, { now: 0, offsetMs: 100 }, policy),
    ).toBe(-4_900);
  });
});
