import { describe, expect, test } from "vitest";
import { FULL_OWNERSHIP } from "../../../src/sync/ownership.ts";
import type { Document } from "../../../src/domain/document.ts";
import { FAILURES } from "../../../src/domain/failure.ts";
import { AccountGate } from "../../../src/sync/account-gate.ts";
import { Probes } from "../../../src/sync/probes.ts";
import { refused, unauthorized, unreachable } from "../../fakes/scripted-archive.ts";
import { HOUR, MINUTE, never, SyncDesk } from "./desk.ts";

const quota = { code: "QUOTA_LIMIT", message: "used up" };
const credentials = { code: "CREDENTIALS_REFUSED", message: "refused: BAD_KEY" };
const odd = (code: string) => ({ code, message: `refused: ${code}` });

/** A row that is held behind the gate. */
function behind(desk: SyncDesk, set: Partial<Document> = {}): Document {
  return desk.pending({ state: "held", dueAt: null, problem: quota, ...set });
}

const size = (sizeBytes: number) => ({ seen: { sizeBytes, modifiedAt: 0, stamp: "a" } });

describe("closing", () => {
  test.for([
    [quota, true, "the allowance has to come back, and only an upload shows it"],
    [credentials, false, "any question shows whether the key is good"],
  ] as const)("by %o; probes by upload: %s, because %s", async ([problem, probesByUpload]) => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(problem, false);
    expect(keeper.gate).toMatchObject({ closedAt: desk.clock.now(), problem, probes: 0 });
    expect(keeper.waitMs(desk.clock.now())).toBe(5 * MINUTE);
    expect(keeper.probesByUpload).toBe(probesByUpload);
    expect(desk.warnings).toHaveLength(1);
  });

  test("survives a restart, wait and all", async () => {
    const desk = await SyncDesk.open();
    await (await desk.keeper()).refused(quota, false);
    await desk.clock.advance(2 * MINUTE);
    const again = await AccountGate.open(desk.context, () => null);
    expect(again.gate.problem).toEqual(quota);
    expect(again.waitMs(desk.clock.now())).toBe(3 * MINUTE);
  });

  test("by credentials, a start asks at once: they may be others by now", async () => {
    const desk = await SyncDesk.open();
    await (await desk.keeper()).refused(credentials, false);
    const again = await AccountGate.open(desk.context, () => null);
    expect(again.gate).toMatchObject({ closedAt: desk.clock.now(), problem: credentials });
    expect(again.waitMs(desk.clock.now())).toBe(0);
  });

  test("by credentials, of several daemons only the one that asks for the account does", async () => {
    const desk = await SyncDesk.open();
    await (await desk.keeper()).refused(credentials, false);
    const ownership = { ...FULL_OWNERSHIP, account: false };
    const again = await AccountGate.open({ ...desk.context, ownership }, () => null);
    expect(again.waitMs(desk.clock.now())).toBe(5 * MINUTE);
  });

  test("the refusal of a request that was under way does not lengthen the wait", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(quota, false);
    await desk.clock.advance(4 * MINUTE);
    await keeper.refused(quota, false);
    expect(keeper.waitMs(desk.clock.now())).toBe(MINUTE);
    expect(desk.warnings).toHaveLength(1);
  });

  test("a probe that is refused lengthens it, one without an answer does not", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(quota, false);
    await keeper.refused(quota, true);
    expect(keeper.waitMs(desk.clock.now())).toBe(10 * MINUTE);
    await desk.clock.advance(10 * MINUTE);
    await keeper.unanswered();
    expect(keeper.waitMs(desk.clock.now())).toBe(5 * MINUTE);
    expect(keeper.gate.probes).toBe(1);
  });

  test("a probe without an answer moves no wait that is not over", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(quota, true);
    await desk.clock.advance(MINUTE);
    await keeper.unanswered();
    expect(keeper.waitMs(desk.clock.now())).toBe(4 * MINUTE);
  });

  test("the schedule may bring a probe sooner", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper((at) => at + MINUTE);
    await keeper.refused(quota, false);
    expect(keeper.waitMs(desk.clock.now())).toBe(MINUTE);
  });

  test("a probe that another process asked for is taken up", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(quota, false);
    const gate = await desk.journal.gate();
    await desk.journal.setGate({ ...gate, nextProbeAt: desk.clock.now() });
    await keeper.reread();
    expect(keeper.waitMs(desk.clock.now())).toBe(0);
  });
});

describe("an upload that seems to say that the account is refused", () => {
  const no = { code: "HTTP_403", message: "refused: 403" };
  const suspicious = { problem: no, retryAfterMs: null, credentials: true } as const;

  test.for([
    [undefined, "refused", "HTTP_403", false, "the look-up is answered: it was this document"],
    [unreachable(), "refused", "HTTP_403", false, "no answer is no refusal"],
    [unauthorized(), "refused", "CREDENTIALS_REFUSED", false, "the sender closes the gate by it"],
    [
      unauthorized(),
      "inDoubt",
      "HTTP_403",
      true,
      "what is in doubt stays so, behind a closed gate",
    ],
  ] as const)("look-up %s, %s: %s, gate closed %s: %s", async ([error, kind, code, isClosed]) => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    if (error) desk.archive.fail("folder", error);
    const outcome = await keeper.confirmed({ kind, ...suspicious }, never);
    expect(outcome).toMatchObject({ kind, problem: { code } });
    expect(keeper.gate.closedAt !== null).toBe(isClosed);
    expect(desk.archive.asked.map(({ operation }) => operation)).toEqual(["folder"]);
  });

  test("any other outcome asks nothing", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    const plain = { kind: "refused", problem: no, retryAfterMs: null } as const;
    for (const outcome of [plain, { ...plain, credentials: false }, { kind: "gone" } as const])
      expect(await keeper.confirmed(outcome, never)).toBe(outcome);
    expect(desk.archive.asked).toEqual([]);
  });
});

describe("what the operator is told", () => {
  test("why sending stops and what to do; each refused probe, and not what it knew already", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(quota, false);
    await keeper.refused(quota, false);
    await keeper.refused(quota, true);
    expect(desk.warnings).toEqual([
      `sending stops: used up. ${FAILURES.QUOTA_LIMIT.hint}`,
      "the archive still refuses the account",
    ]);
  });

  test("a document that repeats an odd code is told with the code and the archive's words", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    for (let n = 0; n < 3; n++) await keeper.met(desk.pending(), odd("ODD"), false);
    expect(keeper.gate.problem?.message).toBe(
      "document after document is refused with ODD: refused: ODD",
    );
  });
});

describe("a gate as the journal has it", () => {
  const closed = { closedAt: 1, problem: null, probes: 0, nextProbeAt: null };

  test("closed without a reason or a time: it is probed now, and what waits says so", async () => {
    const desk = await SyncDesk.open();
    await desk.journal.setGate(closed);
    const keeper = await desk.keeper();
    expect(keeper.waitMs(desk.clock.now())).toBe(0);
    const row = desk.pending();
    await keeper.sweep();
    expect(await desk.row(row)).toMatchObject({
      state: "held",
      dueAt: null,
      problem: { code: "QUOTA_LIMIT", message: "the gate is closed" },
    });
  });

  test.for([
    [-1, 0, "its moment is past"],
    [0, 0, "its moment is now"],
    [1, 1, "a millisecond is left"],
  ] as const)("a probe in %i ms is %i ms away: %s", async ([inMs, waitMs]) => {
    const desk = await SyncDesk.open();
    const now = desk.clock.now();
    await desk.journal.setGate({ ...closed, nextProbeAt: now + inMs });
    expect((await desk.keeper()).waitMs(now)).toBe(waitMs);
  });

  test("an open one waits for nothing, and wants its probe by upload", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    expect(keeper.waitMs(0)).toBe(0);
    expect(keeper.probesByUpload).toBe(true);
  });

  test("passing an open gate writes nothing, passing a closed one rings for the sender", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.passed();
    expect(keeper.gate.problem).toBeNull();
    await keeper.refused(quota, false);
    await keeper.passed();
    expect(await desk.journal.gate()).toMatchObject({ closedAt: null, problem: quota });
    // Kept for anyone who waits next: it wakes at once.
    let woken = false;
    void desk.context.wakeups.sending.wait(HOUR, desk.clock, never).then(() => (woken = true));
    await desk.clock.settle();
    expect(woken).toBe(true);
  });
});

describe("codes that the interface does not name", () => {
  test.for([
    [["ODD", "ODD"], false, "two may be chance"],
    [["ODD", "ODD", "ODD"], true, "three documents in a row met the same"],
    [["ODD", "EVEN", "ODD", "EVEN"], false, "different codes are different reasons"],
    [["ODD", "ODD", "EVEN", "ODD", "ODD"], false, "the row was broken"],
    [["ODD", "ODD", "EVEN", "EVEN", "EVEN"], true, "it starts again with another code"],
    [["FILE_SIZE_TOO_BIG", "FILE_SIZE_TOO_BIG", "FILE_SIZE_TOO_BIG"], false, "a document's own"],
    [["ODD", "ODD", "FILE_SIZE_TOO_BIG", "ODD"], false, "the archive judged one on its own"],
    [["HTTP_413", "HTTP_413", "HTTP_413"], false, "each speaks of one request"],
  ] as const)("%j closes the gate: %s, because %s", async ([codes, closes]) => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    for (const code of codes) await keeper.met(desk.pending(), odd(code), false);
    expect(keeper.gate.closedAt !== null).toBe(closes);
    if (closes) expect(keeper.gate.problem?.code).toBe("SAME_CODE_REPEATS");
  });

  test("one document that meets it again and again is one document", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    const document = desk.pending();
    for (let n = 0; n < 10; n++) await keeper.met(document, odd("ODD"), false);
    expect(keeper.gate.closedAt).toBeNull();
  });

  test("a probe that meets one has met its own; a second document shows it to be the account's", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(quota, false);
    const document = desk.pending();
    for (let n = 0; n < 5; n++) await keeper.met(document, odd("ODD"), true);
    expect(keeper.gate).toMatchObject({ problem: quota, probes: 0 });
    await keeper.met(desk.pending(), odd("ODD"), true);
    expect(keeper.gate.problem?.code).toBe("SAME_CODE_REPEATS");
    expect(keeper.waitMs(desk.clock.now())).toBe(10 * MINUTE);
  });

  test.for([
    ["SAME_CODE_REPEATS", "FILE_SIZE_TOO_BIG", true, true, "documents are judged on their own"],
    ["SAME_CODE_REPEATS", "FILE_SIZE_TOO_BIG", false, false, "it was under way before it closed"],
    ["SAME_CODE_REPEATS", "FOLDER_NOT_EXISTS", true, false, "its place was judged, not itself"],
    ["SAME_CODE_REPEATS", "ARCHIVE_BUSY", true, false, "nothing was judged"],
    ["SAME_CODE_REPEATS", "EVEN", true, false, "that may be the account's, too"],
    ["QUOTA_LIMIT", "FILE_SIZE_TOO_BIG", true, false, "it may be looked at before the allowance"],
  ] as const)("closed by %s, %s (a probe: %s) opens it: %s, as %s", async (line) => {
    const [closedBy, code, probe, opens] = line;
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(odd(closedBy), false);
    await keeper.met(desk.pending(), odd(code), probe);
    expect(keeper.gate.closedAt === null).toBe(opens);
  });

  test("something accepted in between breaks the row", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.met(desk.pending(), odd("ODD"), false);
    await keeper.met(desk.pending(), odd("ODD"), false);
    await keeper.passed();
    await keeper.met(desk.pending(), odd("ODD"), false);
    expect(keeper.gate.closedAt).toBeNull();
  });
});

describe("sweeping", () => {
  test("a closed gate holds everything that waits, in chunks, whenever it is due", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    for (let n = 0; n < 1_200; n++) desk.pending({ dueAt: desk.clock.now() + n * HOUR });
    await keeper.refused(quota, false);
    const more = [await keeper.sweep(), await keeper.sweep(), await keeper.sweep()];
    expect(more).toEqual([true, true, false]);
    expect(await desk.journal.counts()).toMatchObject([{ state: "held", documents: 1_200 }]);
    expect((await desk.row(1)).problem).toEqual(quota);
  });

  test.for([
    ["HTTP_415", { attempts: 1 }, true, "the archive would not have it"],
    ["FILE_UNREADABLE", { attempts: 4 }, true, "it could not be read"],
    ["HTTP_415", { attempts: 0 }, false, "it was never tried"],
    ["ARCHIVE_UNREACHABLE", { attempts: 1 }, false, "that was nobody's own"],
    ["FOLDER_NOT_EXISTS", { attempts: 1 }, false, "it would not be pending without a folder"],
    ["SEND_ABORTED", { attempts: 1 }, false, "the daemon was stopped"],
    ["LEASE_OVER", { attempts: 1 }, false, "the daemon's time was over"],
    ["ARCHIVE_TIMEOUT", { attempts: 1 }, false, "that was the archive's own"],
    ["SIGNING_FAILED", { attempts: 1 }, false, "nothing can be signed"],
    ["SOURCE_OFFLINE", { attempts: 1 }, false, "it goes on because its source is back"],
    ["FIRST_RUN", { attempts: 1 }, false, "it goes on because someone asked for it"],
    ["FILE_STALLED", { attempts: 1 }, true, "its disk may not give it again"],
    ["INVALID_PARAMETER", { attempts: 1 }, true, "it could not even be asked for"],
    ["QUOTA_LIMIT", { attempts: 1 }, false, "that is the gate's"],
  ] as const)("%s of %o is kept behind a closed gate: %s, as %s", async (line) => {
    const [code, set, isKept] = line;
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    const row = desk.pending({ ...set, problem: odd(code), consecutiveFailures: 2 });
    await keeper.refused(credentials, false);
    await keeper.sweep();
    const kept = {
      problem: odd(code),
      consecutiveFailures: 3,
      dueAt: desk.clock.now() + 2 * MINUTE,
    };
    const behindIt = { problem: credentials, consecutiveFailures: 1, dueAt: null };
    expect(await desk.row(row)).toMatchObject({ state: "held", ...(isKept ? kept : behindIt) });
  });

  test("an open gate lets go what it held, in chunks, and nothing else", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    const folder = behind(desk, { problem: odd("FOLDER_MISSING") });
    for (let n = 0; n < 700; n++) behind(desk);
    const login = behind(desk, { problem: credentials });
    const repeats = behind(desk, { problem: odd("SAME_CODE_REPEATS") });
    expect([await keeper.sweep(), await keeper.sweep()]).toEqual([true, false]);
    expect((await desk.row(folder)).state).toBe("held");
    expect((await desk.row(login)).state).toBe("pending");
    expect((await desk.row(repeats)).state).toBe("pending");
    expect(desk.states().filter((state) => state === "pending")).toHaveLength(702);
  });

  test("an open gate that has let go of everything is asked no more, until it is touched", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    expect(await keeper.sweep()).toBe(false);
    const late = behind(desk);
    expect(await keeper.sweep()).toBe(false);
    expect((await desk.row(late)).state).toBe("held");
    await keeper.reread();
    await keeper.sweep();
    expect((await desk.row(late)).state).toBe("pending");
  });

  test("what is settling, sent or done is left alone by a closed gate", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    for (const state of ["settling", "uploading", "inDoubt", "uploaded", "failed"] as const) {
      desk.put({ state, dueAt: desk.clock.now() });
    }
    const before = desk.states();
    await keeper.refused(quota, false);
    await keeper.sweep();
    expect(desk.states()).toEqual(before);
  });
});

describe("claiming a document to probe with", () => {
  /** Three documents behind a closed gate, and what becomes of claims, by the size in bytes. */
  async function claims(outcome: (bytes: number) => "claimed" | "waits" | "withProblem") {
    const desk = await SyncDesk.open();
    for (const bytes of [3, 1, 2]) behind(desk, size(bytes));
    const keeper = await desk.keeper();
    await keeper.refused(quota, false);
    const asked: number[] = [];
    const mirror = desk.mirror();
    const probed = await keeper.probe(async (document) => {
      const bytes = document.seen.sizeBytes;
      asked.push(bytes);
      const is = outcome(bytes);
      return {
        claimed: is === "claimed" ? [{ document, mirror }] : [],
        problem: is === "withProblem" ? { code: "ARCHIVE_UNREACHABLE", message: "" } : null,
      };
    });
    return { probed, asked, keeper, desk };
  }

  test("the smallest, where it can be sent", async () => {
    const { probed, asked } = await claims(() => "claimed");
    expect(asked).toEqual([1]);
    expect(probed).toMatchObject({ document: { seen: { sizeBytes: 1 } } });
  });

  test("one that has to wait lets the next one go", async () => {
    const { probed, asked } = await claims((bytes) => (bytes === 3 ? "claimed" : "waits"));
    expect(asked).toEqual([1, 2, 3]);
    expect(probed).toMatchObject({ document: { seen: { sizeBytes: 3 } } });
  });

  test("where all have to wait it ends, and comes again later", async () => {
    const { probed, asked, keeper, desk } = await claims(() => "waits");
    expect(probed).toBeUndefined();
    expect(asked.slice(0, 3)).toEqual([1, 2, 3]);
    expect(asked).toHaveLength(50);
    expect(keeper.waitMs(desk.clock.now())).toBe(5 * MINUTE);
  });

  test("an archive that cannot be asked ends it at once", async () => {
    const { probed, asked, keeper, desk } = await claims(() => "withProblem");
    expect([probed, asked]).toEqual([undefined, [1]]);
    expect(keeper.waitMs(desk.clock.now())).toBe(5 * MINUTE);
  });

  test("nothing that waits is no probe", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(quota, false);
    const never = () => Promise.reject(new Error("nothing is to be claimed"));
    expect(await keeper.probe(never)).toBe("nothing");
  });

  test("what is sent away while it is probed with ends the probe", async () => {
    const desk = await SyncDesk.open();
    const { id } = behind(desk, size(1));
    const keeper = await desk.keeper();
    await keeper.refused(quota, false);
    const gone = async () => {
      await desk.journal.apply([{ type: "note", id, at: 1, why: "gone", set: { dueAt: null } }]);
      return { claimed: [], problem: null };
    };
    expect(await keeper.probe(gone)).toBeUndefined();
  });
});

describe("the probe", () => {
  test("is the smallest document that is held", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    behind(desk, size(500));
    const small = behind(desk, size(10));
    behind(desk, size(3_000));
    behind(desk, { ...size(1), problem: odd("FOLDER_MISSING") });
    await keeper.refused(quota, false);
    expect(await new Probes(desk.context).next()).toMatchObject({ id: small.id, state: "pending" });
    expect(desk.states().filter((state) => state === "pending")).toHaveLength(1);
  });

  test("is never a document whose mirror is not configured any more", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await desk.journal.mirror("removed", "/srv/removed");
    behind(desk, { ...size(1), mirrorId: 2 });
    const ours = behind(desk, size(10));
    await keeper.refused(quota, false);
    expect(await new Probes(desk.context).next()).toMatchObject({ id: ours.id, state: "pending" });
  });

  test("is never a document whose reader is down: it could not be sent", async () => {
    const desk = await SyncDesk.open({ mirrors: [{}, {}] });
    const keeper = await desk.keeper();
    behind(desk, { ...size(1), mirrorId: 2 });
    const ours = behind(desk, size(10));
    await keeper.refused(quota, false);
    desk.readerOf(2).pid = undefined;
    expect(await new Probes(desk.context).next()).toMatchObject({ id: ours.id });
  });

  test("is never a document whose reader is silent: it would be given back", async () => {
    const desk = await SyncDesk.open({ mirrors: [{}, {}] });
    const keeper = await desk.keeper();
    behind(desk, { ...size(1), mirrorId: 2 });
    const ours = behind(desk, size(10));
    await keeper.refused(quota, false);
    desk.readerOf(2).silent = true;
    expect(await new Probes(desk.context).next()).toMatchObject({ id: ours.id });
  });

  test("is another one after a probe that told nothing, and the smallest after one that did", async () => {
    const desk = await SyncDesk.open();
    const probes = new Probes(desk.context);
    const [small, large] = [behind(desk, size(1)), behind(desk, size(10))];
    probes.astray = true;
    expect(await probes.next()).toMatchObject({ id: large.id });
    // There is no other any more.
    expect(await probes.next()).toMatchObject({ id: small.id });
    await (await desk.keeper()).refused(quota, false);
    await (await desk.keeper()).sweep();
    probes.astray = false;
    expect(await probes.next()).toMatchObject({ id: small.id });
  });

  test("is one that waits, where nothing is held", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    const { id } = desk.pending();
    await keeper.refused(quota, false);
    expect(await new Probes(desk.context).next()).toMatchObject({ id });
  });

  test("is nothing where nothing waits", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(quota, false);
    expect(await new Probes(desk.context).next()).toBeUndefined();
  });

  test("for credentials is a question that costs nothing", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(credentials, false);
    await keeper.probeFree(never);
    expect(keeper.gate.closedAt).toBeNull();
    expect(desk.archive.asked).toEqual([{ operation: "folder", about: undefined }]);
  });

  test("for credentials, anything but an answer is a bug, and ends the loop", async () => {
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(credentials, false);
    desk.archive.folder = () => Promise.reject(new Error("a bug"));
    await expect(keeper.probeFree(never)).rejects.toThrow("a bug");
  });

  test.for([
    [unauthorized(), 10 * MINUTE, "the key is still refused"],
    [unreachable(), 5 * MINUTE, "nobody answered, so nothing is known"],
    [refused("FOLDER_NOT_EXISTS"), 5 * MINUTE, "that is no word about the key"],
  ] as const)("for credentials, answered %s: %i ms to the next, because %s", async (line) => {
    const [error, waitMs] = line;
    const desk = await SyncDesk.open();
    const keeper = await desk.keeper();
    await keeper.refused(credentials, false);
    await desk.clock.advance(5 * MINUTE);
    desk.archive.fail("folder", error);
    await keeper.probeFree(never);
    expect(keeper.waitMs(desk.clock.now())).toBe(waitMs);
  });
});

test("where several daemons share the journal, another may have closed the gate a moment ago", async () => {
  const desk = await SyncDesk.open();
  const ownership = { ...FULL_OWNERSHIP, isShared: true };
  const open = () => AccountGate.open({ ...desk.context, ownership }, () => null);
  const [one, other] = [await open(), await open()];
  await one.refused(quota, false);
  const { closedAt } = await desk.journal.gate();
  desk.clock.jump(MINUTE);
  await other.refused(quota, false);
  expect((await desk.journal.gate()).closedAt).toBe(closedAt);
  await other.passed();
  expect((await desk.journal.gate()).closedAt).toBeNull();
});
