import { describe, expect, test, vi } from "vitest";
import type { Document } from "../../../src/domain/document.ts";
import { Doubts } from "../../../src/sync/doubts.ts";
import { Poller } from "../../../src/sync/poller.ts";
import { retryAll } from "../../../src/sync/retry.ts";
import { HOLD } from "../../../src/sync/waits.ts";
import { refused, unauthorized, unreachable } from "../../fakes/scripted-archive.ts";
import { answers, aSender, oneAtATime, stored as accepted } from "./a-sender.ts";
import { CHANGING_ARCHIVE, CONFIG, HOUR, MINUTE, never, SECOND, SyncDesk } from "./desk.ts";

const SIZE = 1_000;

/** A desk whose loop looks for what is in doubt in one folder. */
async function aSearch(config: NonNullable<Parameters<typeof SyncDesk.open>[0]>["config"] = {}) {
  const desk = await SyncDesk.open({ config });
  const folderId = desk.archive.addFolder("Scans");
  const keeper = await desk.keeper();
  return { desk, folderId, keeper, doubts: new Doubts(desk.context, keeper) };
}

/** The archive was seen to date documents in lists as in its replies. */
const knowDates = (desk: SyncDesk) => desk.journal.setKeyValue("dates:1", "kept");

/** A document that was sent just now, and whose reply was lost. */
function doubted(
  desk: SyncDesk,
  folderId: number,
  set: Parameters<SyncDesk["put"]>[0] = {},
): Document {
  const now = desk.clock.now();
  const columns = { state: "inDoubt", folderId, sentAt: now, doubtAt: now } as const;
  return desk.put({ path: "scan.pdf", ...columns, ...set });
}

/** Someone's document in the archive; by what is not said it may be ours. */
function stored(desk: SyncDesk, folderId: number, set: { filesize?: number; agoMs?: number } = {}) {
  const { filesize = SIZE, agoMs = 0 } = set;
  const uploadedDate = desk.clock.now() - agoMs;
  return desk.archive.addDocument({ folderId, filename: "scan.pdf", filesize, uploadedDate });
}

describe("what a look finds", () => {
  test("the document: it is uploaded, and its conversion is asked for at once", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const documentId = stored(desk, folderId);
    await desk.run(doubts);
    expect(await desk.row(id)).toMatchObject({
      state: "uploaded",
      documentId,
      archiveStatus: "UPLOADED",
      dueAt: desk.clock.now(),
      doubtAt: null,
      problem: null,
    });
  });

  test("nothing, by a clock that is set forward: the window is not over sooner", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    await desk.run(doubts);
    // As many looks as the whole window has room for are over by then.
    await desk.advance(9 * MINUTE);
    desk.clock.jump(HOUR);
    desk.context.wakeups.doubts.notify();
    await desk.advance(SECOND);
    expect((await desk.row(id)).state).toBe("inDoubt");
    await desk.advance(20 * MINUTE);
    expect((await desk.row(id)).state).toBe("pending");
  });

  test.for([
    [-MINUTE, 200, "it is among the newest"],
    [HOUR, 10_000, "its send lies ahead, and any document of the folder may be it"],
  ] as const)("sent at %i ms from now: asked for %i at a time, as %s", async ([aheadMs, size]) => {
    const { desk, folderId, doubts } = await aSearch();
    await knowDates(desk);
    doubted(desk, folderId, { sentAt: desk.clock.now() + aheadMs });
    await desk.run(doubts);
    expect(desk.archive.asked[0]?.about).toMatchObject({ paginationSize: size });
  });

  test("years of documents, the clock of which is as far behind: as many are asked for as a page may hold", async () => {
    const { desk, folderId, keeper, doubts } = await aSearch();
    const uploadedDate = desk.clock.now();
    desk.clock.jump(2 * 365 * 24 * HOUR);
    const now = desk.clock.now();
    const other = { folderId, filename: "other.pdf", uploadedDate, status: "CONVERTED" };
    const documentId = desk.archive.addDocument(other);
    const sent = {
      state: "uploaded",
      folderId,
      documentId,
      sentArchiveAt: now,
      charge: 1,
    } as const;
    desk.put({ path: "other.pdf", ...sent });
    await desk.run(new Poller(desk.context, keeper));
    desk.archive.forgetAsked();
    doubted(desk, folderId, { sentArchiveAt: now });
    await desk.run(doubts);
    expect(desk.archive.asked[0]?.about).toMatchObject({ paginationSize: 10_000 });
  });

  test("whose the documents of its name are is asked, and of no others", async () => {
    const { desk, folderId, doubts } = await aSearch();
    doubted(desk, folderId);
    const documentId = stored(desk, folderId);
    const uploadedDate = desk.clock.now();
    for (let n = 0; n < 500; n++)
      desk.archive.addDocument({ folderId, filename: `${n}.pdf`, uploadedDate });
    const claimed = vi.spyOn(desk.journal, "claimed");
    await desk.run(doubts);
    expect(claimed.mock.calls).toEqual([[[documentId]]]);
  });

  test("nothing, its reply lost by a clock that was set back since: after the window, not after the year", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    desk.clock.jump(-365 * 24 * HOUR);
    desk.journal.store.put({ ...(await desk.row(id)), dueAt: desk.clock.now() });
    await desk.run(doubts);
    await desk.advance(9 * MINUTE);
    expect((await desk.row(id)).state, "but not sooner").toBe("inDoubt");
    await desk.advance(10 * MINUTE);
    expect((await desk.row(id)).state).toBe("pending");
  });

  test("the document, sent at a time that is to come as nobody knew the archive's: it is found all the same", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId, { sentArchiveAt: null });
    desk.clock.jump(-365 * 24 * HOUR);
    desk.journal.store.put({ ...(await desk.row(id)), dueAt: desk.clock.now() });
    const documentId = stored(desk, folderId, { agoMs: HOUR });
    await desk.run(doubts);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId });
  });

  test.for(["REPLY_MISMATCHED", "DOCUMENT_ID_TAKEN"])(
    "nothing, though the archive took it (%s): only a person sends it again",
    async (code) => {
      const { desk, folderId, doubts } = await aSearch();
      const problem = { code, message: "document 7 has another filename than the one sent" };
      const { id } = doubted(desk, folderId, { problem, consecutiveFailures: 0 });
      await desk.run(doubts);
      await desk.advance(20 * MINUTE);
      expect(await desk.row(id)).toMatchObject({ state: "held", dueAt: null, problem });
      await retryAll(desk.journal, [id], desk.clock.now());
      desk.context.wakeups.doubts.notify();
      await desk.advance(SECOND);
      // The next time it is a new question.
      expect(await desk.row(id)).toMatchObject({
        state: "pending",
        doubtAt: null,
        consecutiveFailures: 0,
      });
    },
  );

  test.for([
    [{}, "its file is there: it looks for its own document"],
    [{ goneAt: 1 }, "its file is gone: a person is asked, and nothing is sent twice"],
    [{ current: false }, "its file has another content by now: the same"],
  ] as const)("itself under the id of a row, as after a restore (%j: %s)", async ([set]) => {
    const { desk, folderId, doubts } = await aSearch();
    const documentId = stored(desk, folderId);
    const before = desk.clock.now() - 24 * HOUR;
    const times = { sentAt: before, uploadedAt: before, archiveUploadedAt: before };
    const old = { path: "old.pdf", state: "converted", folderId, documentId, ...times } as const;
    const owner = desk.put({ ...old, ...set });
    const problem = { code: "DOCUMENT_ID_TAKEN", message: "accepted with another's id" };
    const { id } = doubted(desk, folderId, { problem });
    await desk.run(doubts);
    if ("goneAt" in set || "current" in set) {
      expect(await desk.row(owner.id)).toMatchObject({ state: "converted", documentId });
      for (let asked = 0; asked < 2; asked++) {
        expect(await desk.row(id)).toMatchObject({
          state: "held",
          dueAt: null,
          problem: { code: "DOCUMENT_ID_TAKEN" },
        });
        await retryAll(desk.journal, [id], desk.clock.now());
        desk.context.wakeups.doubts.notify();
        await desk.advance(20 * MINUTE);
      }
      return;
    }
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId, problem: null });
    const lost = { state: "inDoubt", documentId: null, problem: { code: "ANOTHER_DOCUMENT" } };
    expect(await desk.row(owner.id)).toMatchObject(lost);
    await desk.advance(20 * MINUTE);
    expect(await desk.row(owner.id)).toMatchObject({ state: "pending" });
  });

  test("itself under the id of a row, though its reply was lost: it is not sent again", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const documentId = stored(desk, folderId);
    const before = desk.clock.now() - 24 * HOUR;
    const times = { sentAt: before, uploadedAt: before, archiveUploadedAt: before };
    const old = { path: "old.pdf", state: "converted", folderId, documentId } as const;
    const owner = desk.put({ ...old, ...times });
    const { id } = doubted(desk, folderId);
    await desk.run(doubts);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId });
    expect(await desk.row(owner)).toMatchObject({ state: "inDoubt", documentId: null });
  });

  test("itself under the id of a row that failed, as the archive did not know it any more: that one has no id then", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const documentId = stored(desk, folderId);
    const before = desk.clock.now() - 24 * HOUR;
    const times = { sentAt: before, uploadedAt: before, archiveUploadedAt: before };
    const problem = { code: "DOC_NOT_EXIST", message: "no such document" };
    const failed = { path: "old.pdf", state: "failed", folderId, documentId, problem } as const;
    const owner = desk.put({ ...failed, ...times, goneAt: 1 });
    const taken = { code: "DOCUMENT_ID_TAKEN", message: "accepted with another's id" };
    const { id } = doubted(desk, folderId, { problem: taken });
    await desk.run(doubts);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId, problem: null });
    expect(await desk.row(owner)).toMatchObject({ state: "failed", documentId: null, problem });
  });

  test("its own, a while after that of the row whose id the reply had: that row's is not taken for it", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const documentId = stored(desk, folderId);
    const now = desk.clock.now();
    const own = { sentAt: now, uploadedAt: now, archiveUploadedAt: now, sentName: "scan.pdf" };
    const before = { path: "scan.pdf", state: "converted", folderId, documentId, ...own } as const;
    const owner = desk.put({ ...before, current: false });
    const problem = { code: "DOCUMENT_ID_TAKEN", message: "accepted with another's id" };
    const { id } = doubted(desk, folderId, { problem });
    await desk.run(doubts);
    expect(await desk.row(id)).toMatchObject({ state: "inDoubt", problem });
    const late = stored(desk, folderId);
    await desk.advance(MINUTE);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId: late });
    expect(await desk.row(owner.id)).toMatchObject({ state: "converted", documentId });
  });

  test("nothing, as its folder was removed: what the archive took may be elsewhere", async () => {
    const { desk, doubts } = await aSearch();
    const problem = { code: "REPLY_MISMATCHED", message: "document 7 has another filename" };
    const { id } = doubted(desk, 4711, { problem });
    await desk.run(doubts);
    await desk.advance(20 * MINUTE);
    expect(await desk.row(id)).toMatchObject({ state: "held", dueAt: null, problem });
  });

  test("what was taken under another name by its reply and is listed all the same is found", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const problem = { code: "REPLY_MISMATCHED", message: "document 7 has another filename" };
    const { id } = doubted(desk, folderId, { problem });
    const documentId = stored(desk, folderId);
    await desk.run(doubts);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId, problem: null });
  });

  test("nothing: it is looked for over the whole window, ever more rarely, then sent again", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const start = desk.clock.now();
    await desk.run(doubts);
    const looks = [];
    while ((await desk.row(id)).state === "inDoubt") {
      looks.push((desk.clock.now() - start) / SECOND);
      const { dueAt } = await desk.row(id);
      await desk.advance((dueAt ?? 0) - desk.clock.now());
    }
    expect(looks).toEqual([0, 1, 3, 7, 15, 31, 63, 127, 255, 511]);
    expect(desk.clock.now() - start).toBeGreaterThanOrEqual(10 * MINUTE);
    expect(await desk.row(id)).toMatchObject({ state: "pending", doubtAt: null, documentId: null });
    expect(desk.archive.count("documents")).toBe(looks.length + 1);
  });

  test("one that is committed late is found, and not sent again", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    await desk.run(doubts);
    await desk.advance(5 * MINUTE);
    const documentId = stored(desk, folderId, { agoMs: 4 * MINUTE });
    await desk.advance(10 * MINUTE);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId });
  });

  test("a stale list at first: it is found once the list shows it", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const documentId = stored(desk, folderId);
    desk.archive.unlist(documentId);
    await desk.run(doubts);
    await desk.advance(2 * MINUTE);
    expect((await desk.row(id)).state).toBe("inDoubt");
    desk.archive.unlist(documentId, false);
    await desk.advance(5 * MINUTE);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId });
  });

  test("someone's document of this name, its size not known yet: it is not taken for ours", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const documentId = stored(desk, folderId, { filesize: 0 });
    await desk.run(doubts);
    await desk.advance(5 * MINUTE);
    expect((await desk.row(id)).state).toBe("inDoubt");
    desk.archive.change(documentId, { filesize: SIZE + 1 });
    await desk.advance(10 * MINUTE);
    const held = await desk.row(id);
    expect(held).toMatchObject({ state: "held", documentId: null });
    expect(held.problem?.message).toContain(`${documentId} (${SIZE + 1} bytes)`);
  });

  test("two that fit: held with both ids, looked at again until one is certain", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const first = stored(desk, folderId, { filesize: 0 });
    const second = stored(desk, folderId, { filesize: 0 });
    await desk.run(doubts);
    await desk.advance(20 * MINUTE);
    const { state, problem, dueAt } = await desk.row(id);
    expect(state).toBe("held");
    expect(problem).toMatchObject({ code: "DOUBT_AMBIGUOUS" });
    for (const candidate of [first, second]) expect(problem?.message).toContain(String(candidate));
    expect(dueAt).toBeGreaterThan(desk.clock.now() - 20 * MINUTE);
    // Conversion tells the sizes; one is not ours.
    desk.archive.change(first, { filesize: 5 });
    desk.archive.change(second, { filesize: SIZE });
    const event = { type: "lookAgain", at: desk.clock.now() } as const;
    await desk.journal.apply([{ type: "event", id, event }]);
    await desk.advance(SECOND);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId: second });
  });
});

describe("a document of which every reply is lost", () => {
  /** Sent by a sender to an archive, or a proxy, that answers other documents. */
  async function aLostOne() {
    const upload = { ...oneAtATime(), doubt: { windowMs: MINUTE, toleranceMs: MINUTE } };
    const bench = await aSender({ config: { upload } });
    const { desk } = bench;
    const problem = { code: "HTTP_504", message: "answered with nothing" };
    answers(bench, ({ filename }) =>
      filename === "huge.pdf" ? { kind: "inDoubt", problem } : accepted(100),
    );
    const huge = desk.pending({ path: "huge.pdf" });
    await desk.run(bench.sender, new Doubts(desk.context, bench.keeper));
    const sent = () => desk.reader.sent.filter(({ filename }) => filename === "huge.pdf").length;
    return { bench, desk, huge, sent };
  }

  test("is looked for twice as long each time, and is a person's after eight in a row", async () => {
    const { desk, huge, sent } = await aLostOne();
    const times: number[] = [];
    const start = desk.clock.now();
    for (let minute = 0; minute < 24 * 60; minute++) {
      while (times.length < sent()) times.push(Math.floor((desk.clock.now() - start) / MINUTE));
      await desk.advance(MINUTE);
    }
    expect(times).toEqual([0, 2, 4, 8, 16, 32, 65, 132]);
    const row = await desk.row(huge);
    expect(row).toMatchObject({ state: "held", dueAt: null, problem: { code: "REPLIES_LOST" } });
    expect(row.problem?.message).toBe(
      "sent 8 times in a row, each time without an answer that proves anything, and not found: answered with nothing",
    );
  });

  test("says so while it waits, and is found however late it is stored", async () => {
    const { bench, desk, huge, sent } = await aLostOne();
    await desk.advance(40 * MINUTE);
    expect(sent()).toBe(6);
    expect((await desk.row(huge)).problem?.code).toBe("HTTP_504");
    const { folderId } = bench;
    const set = { filename: "huge.pdf", filesize: huge.seen.sizeBytes };
    const uploadedDate = desk.clock.now();
    const documentId = desk.archive.addDocument({ folderId, ...set, uploadedDate });
    await desk.advance(HOUR);
    expect(sent()).toBe(6);
    expect(await desk.row(huge)).toMatchObject({
      state: "uploaded",
      documentId,
      consecutiveFailures: 0,
    });
  });

  test("is sent again at once when a person asks, and may be lost as often again", async () => {
    const { bench, desk, huge, sent } = await aLostOne();
    await desk.advance(24 * HOUR);
    await retryAll(desk.journal, [huge.id], desk.clock.now());
    await desk.advance(2 * MINUTE);
    expect(sent()).toBe(10);
    answers(bench, accepted(7));
    await desk.advance(HOUR);
    expect(await desk.row(huge)).toMatchObject({
      state: "uploaded",
      documentId: 7,
      consecutiveFailures: 0,
    });
  });
});

describe("two that fit", () => {
  test.for([
    [null, 1, "the first time"],
    ["REPLY_LOST", 1, "its problem was another"],
    ["DOUBT_AMBIGUOUS", 4, "a person was told three times"],
  ] as const)("after %s it is held for %i times the first wait: %s", async ([code, times]) => {
    const { desk, folderId, doubts } = await aSearch();
    const problem = code && { code, message: "before" };
    const before = { problem, consecutiveFailures: 2, looks: 99, doubtAt: desk.clock.now() - HOUR };
    const { id } = doubted(desk, folderId, before);
    const [first, second] = [5, 6].map((filesize) => stored(desk, folderId, { filesize }));
    const at = desk.clock.now();
    await desk.run(doubts);
    expect(await desk.row(id)).toMatchObject({
      state: "held",
      dueAt: at + times * HOLD.initialMs,
      problem: {
        code: "DOUBT_AMBIGUOUS",
        message: `sent, reply lost; the archive has ${second} (6 bytes), ${first} (5 bytes) of this name`,
      },
    });
  });
});

describe("what is no look", () => {
  test("an archive that cannot be asked is asked again soon, and the row says why", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    desk.archive.fail("documents", unreachable());
    const at = desk.clock.now();
    await desk.run(doubts);
    expect((await desk.row(id)).dueAt).toBe(at + 4 * SECOND);
    expect((await desk.story(id)).at(-1)).toMatch(/^note: could not look: ./);
  });

  test("an outage that lasts is asked into ever more rarely, until the first look that succeeds", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    desk.archive.fail("documents", ...Array.from({ length: 50 }, unreachable));
    await desk.run(doubts);
    await desk.advance(HOUR);
    expect(desk.archive.count("documents")).toBeLessThan(25);
    await desk.advance(4 * HOUR);
    const { looks } = await desk.row(id);
    expect(looks).toBeGreaterThan(0);
    desk.archive.fail("documents", unreachable());
    doubted(desk, folderId, { path: "another.pdf" });
    desk.context.wakeups.doubts.notify();
    const at = desk.clock.now();
    await desk.advance(0);
    expect((await desk.row(2)).dueAt).toBe(at + 4 * SECOND);
  });

  test("a pause that the archive asked for is waited out, and nothing is journaled meanwhile", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const problem = { code: "ARCHIVE_BUSY", message: "busy" };
    await desk.context.pace.learn(
      { kind: "refused", pressed: true, retryAfterMs: HOUR, problem },
      0,
    );
    await desk.run(doubts);
    await desk.advance(HOUR - SECOND);
    expect(desk.archive.count()).toBe(0);
    expect(await desk.story(id)).toEqual([]);
    await desk.advance(SECOND);
    expect(desk.archive.count("documents")).toBe(1);
  });

  test("anything but an answer of the archive is a bug, and ends the loop", async () => {
    const { desk, folderId, doubts } = await aSearch();
    doubted(desk, folderId);
    // The paging asks through this one call.
    desk.archive.documents = () => Promise.reject(new Error("a bug"));
    await expect(desk.run(doubts)).rejects.toThrow("a bug");
  });

  test("being stopped amid a look is no problem of the archive's", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const stopping = new AbortController();
    desk.archive.documents = () => {
      stopping.abort(new Error("stopped"));
      return Promise.reject(unreachable());
    };
    await expect(doubts.run(stopping.signal)).rejects.toThrow("stopped");
    expect((await desk.row(id)).dueAt).toBe(desk.clock.now());
  });

  test.for([
    [unreachable(), "nobody answered"],
    [refused("INVALID_SORT_BY"), "the archive answered something else"],
  ] as const)(
    "a list that fails (%s) decides nothing, however often, because %s",
    async ([error]) => {
      const { desk, folderId, doubts } = await aSearch();
      const { id } = doubted(desk, folderId);
      desk.archive.fail("documents", ...Array.from({ length: 1_000 }, () => error));
      await desk.run(doubts);
      await desk.advance(30 * MINUTE);
      expect(await desk.row(id)).toMatchObject({ state: "inDoubt", looks: 0 });
      expect(desk.archive.count("documents")).toBeLessThan(1_000);
    },
  );

  test("after an outage longer than the window it still takes all the looks that succeed", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId, { doubtAt: desk.clock.now() - HOUR });
    await desk.run(doubts);
    expect(await desk.row(id)).toMatchObject({ state: "inDoubt", looks: 1 });
    await desk.advance(10 * SECOND);
    expect((await desk.row(id)).state).toBe("inDoubt");
    await desk.advance(10 * MINUTE);
    expect((await desk.row(id)).state).toBe("pending");
  });

  test("what is stored while a slow list is read is found by the next look, and not sent again", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const doubtAt = desk.clock.now() - (10 * MINUTE - SECOND);
    const { id } = doubted(desk, folderId, { doubtAt, sentAt: doubtAt, looks: 20 });
    const read = Promise.withResolvers<void>();
    const list = desk.archive.documents.bind(desk.archive);
    desk.archive.documents = async (query, signal) => {
      const page = await list(query, signal);
      await read.promise;
      return page;
    };
    await desk.run(doubts);
    const documentId = stored(desk, folderId);
    await desk.advance(2 * SECOND);
    read.resolve();
    await desk.advance(10 * MINUTE);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId });
  });

  test("a folder that was removed from the archive leaves it to a person: what it held may have been moved", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    desk.archive.removeFolder(folderId);
    await desk.run(doubts);
    await desk.advance(15 * MINUTE);
    const problem = { code: "DOUBT_FOLDER_GONE" };
    expect(await desk.row(id)).toMatchObject({ state: "held", dueAt: null, problem });
    await desk.advance(24 * HOUR);
    expect((await desk.row(id)).state).toBe("held");
    await retryAll(desk.journal, [id], desk.clock.now());
    desk.context.wakeups.doubts.notify();
    await desk.advance(SECOND);
    expect(await desk.row(id)).toMatchObject({ state: "pending", doubtAt: null });
  });

  test("one of its name and size in another folder may be it, filed there: only a person has it sent again", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const filed = stored(desk, desk.archive.addFolder("Filed"), { filesize: SIZE });
    await desk.run(doubts);
    await desk.advance(15 * MINUTE);
    const row = await desk.row(id);
    expect(row).toMatchObject({ state: "held", dueAt: null, problem: { code: "DOUBT_ELSEWHERE" } });
    expect(row.problem?.message).toMatch(
      new RegExp(`has ${filed} \\(1000 bytes, in folder \\d+\\)`),
    );
    expect(desk.archive.count("search")).toBe(1);
    await retryAll(desk.journal, [id], desk.clock.now());
    desk.context.wakeups.doubts.notify();
    await desk.advance(SECOND);
    expect(await desk.row(id)).toMatchObject({ state: "pending", doubtAt: null });
  });

  test.for([
    ["of another size", { filesize: 7 }, false],
    ["from before it was sent", { filesize: SIZE, agoMs: 25 * HOUR }, false],
    ["that is another row's", { filesize: SIZE }, true],
  ] as const)("one in another folder %s is not it", async ([, set, isOwned]) => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const documentId = stored(desk, desk.archive.addFolder("Filed"), set);
    if (isOwned) desk.put({ path: "other.pdf", state: "converted", documentId });
    await desk.run(doubts);
    await desk.advance(15 * MINUTE);
    expect((await desk.row(id)).state).toBe("pending");
  });

  test("one in another folder may be that of a row whose reply is still to come: it is waited for", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const folder = desk.archive.addFolder("Other");
    const documentId = stored(desk, folder, { filesize: SIZE });
    const { sentName } = await desk.row(id);
    const other = desk.put({ path: "b/x.pdf", state: "uploading", folderId: folder, sentName });
    await desk.run(doubts);
    await desk.advance(15 * MINUTE);
    expect((await desk.row(id)).state).toBe("inDoubt");
    const at = desk.clock.now();
    await desk.journal.apply([
      {
        type: "event",
        id: other.id,
        event: { type: "accepted", at, dueAt: at, documentId, status: null },
      },
    ]);
    await desk.advance(2 * MINUTE);
    expect((await desk.row(id)).state).toBe("pending");
  });

  test("or that of a row that is held until it is looked at again: it is waited for, too", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const folder = desk.archive.addFolder("Other");
    const documentId = stored(desk, folder, { filesize: SIZE });
    const problem = { code: "DOUBT_AMBIGUOUS", message: "its size is not known yet" };
    const until = { state: "held", dueAt: desk.clock.now() + HOUR, problem } as const;
    const other = doubted(desk, folder, { path: "b/scan.pdf", ...until });
    await desk.run(doubts);
    await desk.advance(15 * MINUTE);
    expect((await desk.row(id)).state).toBe("inDoubt");
    await retryAll(desk.journal, [other.id], desk.clock.now());
    desk.context.wakeups.doubts.notify();
    await desk.advance(15 * MINUTE);
    expect(await desk.row(other)).toMatchObject({ state: "uploaded", documentId });
    expect((await desk.row(id)).state).toBe("pending");
  });

  test("but one that stays ambiguous is not waited for: it takes a person itself", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const folder = desk.archive.addFolder("Other");
    stored(desk, folder, { filesize: SIZE });
    const problem = { code: "DOUBT_AMBIGUOUS", message: "there are two" };
    const until = { state: "held", dueAt: desk.clock.now() + HOUR, problem } as const;
    doubted(desk, folder, { path: "b/scan.pdf", consecutiveFailures: 5, ...until });
    await desk.run(doubts);
    await desk.advance(15 * MINUTE);
    expect(await desk.row(id)).toMatchObject({
      state: "held",
      problem: { code: "DOUBT_ELSEWHERE" },
    });
  });

  test("two in other folders may be one whose id is another document's: a person chooses", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId, { archiveUploadedAt: desk.clock.now() });
    const two = ["Filed", "Moved"].map((name) =>
      stored(desk, desk.archive.addFolder(name), { filesize: SIZE }),
    );
    await desk.run(doubts);
    await desk.advance(15 * MINUTE);
    const { state, problem } = await desk.row(id);
    expect([state, problem?.code]).toEqual(["held", "DOUBT_ELSEWHERE"]);
    expect(problem?.message).toMatch(/^its id is another document's by now; /);
    for (const each of two) expect(problem?.message).toContain(`${each} (`);
  });

  test("an archive that changes documents may have it elsewhere in another size", async () => {
    const { desk, folderId, doubts } = await aSearch({ archive: CHANGING_ARCHIVE });
    const { id } = doubted(desk, folderId);
    stored(desk, desk.archive.addFolder("Filed"), { filesize: 7 });
    await desk.run(doubts);
    await desk.advance(15 * MINUTE);
    expect(await desk.row(id)).toMatchObject({ problem: { code: "DOUBT_ELSEWHERE" } });
  });

  test("a bug in the search ends the loop", async () => {
    const { desk, folderId, doubts } = await aSearch();
    doubted(desk, folderId);
    desk.archive.search = () => Promise.reject(new Error("a bug"));
    const failed = doubts.run(never).catch((error: unknown) => error);
    await desk.advance(15 * MINUTE);
    expect(await failed).toEqual(new Error("a bug"));
  });

  test("a search that fails is asked again, for a day; one that is refused tells nothing", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    desk.archive.fail("search", ...Array.from({ length: 1_000 }, unreachable));
    await desk.run(doubts);
    await desk.advance(23 * HOUR);
    expect((await desk.row(id)).state).toBe("inDoubt");
    await desk.advance(2 * HOUR);
    expect((await desk.row(id)).state).toBe("pending");
    const other = await aSearch();
    const row = doubted(other.desk, other.folderId);
    other.desk.archive.fail("search", refused("HTTP_404"));
    await other.desk.run(other.doubts);
    await other.desk.advance(15 * MINUTE);
    expect((await other.desk.row(row.id)).state).toBe("pending");
  });

  test("an archive that is down closes no gate", async () => {
    const { desk, folderId, keeper, doubts } = await aSearch();
    doubted(desk, folderId);
    desk.archive.fail("documents", unreachable());
    await desk.run(doubts);
    expect(keeper.gate.closedAt).toBeNull();
  });

  test("credentials that are refused already are no probe: the wait does not grow", async () => {
    const { desk, folderId, keeper, doubts } = await aSearch();
    doubted(desk, folderId);
    await keeper.refused({ code: "CREDENTIALS_REFUSED", message: "refused" }, false);
    desk.archive.fail("documents", unauthorized());
    await desk.run(doubts);
    expect(keeper.gate.probes).toBe(0);
  });

  test("refused credentials close the gate", async () => {
    const { desk, folderId, keeper, doubts } = await aSearch();
    doubted(desk, folderId);
    desk.archive.fail("documents", unauthorized());
    await desk.run(doubts);
    expect(keeper.gate.problem).toMatchObject({ code: "CREDENTIALS_REFUSED" });
  });

  test("a clock set forward does not make one look enough", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    desk.clock.jump(24 * HOUR);
    await desk.run(doubts);
    expect((await desk.row(id)).state).toBe("inDoubt");
  });
});

describe("candidates", () => {
  test("one whose state the archive does not say is one all the same", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const documentId = stored(desk, folderId);
    const list = desk.archive.documents.bind(desk.archive);
    desk.archive.documents = async (...asked) => {
      const { documents, ...page } = await list(...asked);
      for (const each of documents) delete each.status;
      return { ...page, documents };
    };
    await desk.run(doubts);
    expect(await desk.row(id)).toMatchObject({
      state: "uploaded",
      documentId,
      archiveStatus: null,
    });
  });

  test("two documents in doubt of one name never take the same candidate", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const first = doubted(desk, folderId, { current: false });
    const second = doubted(desk, folderId);
    const documentId = stored(desk, folderId);
    await desk.run(doubts);
    const rows = [await desk.row(first), await desk.row(second)];
    expect(rows.map(({ state }) => state)).toEqual(["uploaded", "inDoubt"]);
    expect(rows.map((row) => row.documentId)).toEqual([documentId, null]);
  });

  test("of several in doubt, the one that was sent first is looked for as far back as its send", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const sentAt = desk.clock.now() - 3 * HOUR;
    const old = doubted(desk, folderId, { path: "old.pdf", sentAt, doubtAt: sentAt });
    doubted(desk, folderId);
    const uploadedDate = sentAt + SECOND;
    const set = { folderId, filename: "old.pdf", filesize: SIZE, uploadedDate };
    const documentId = desk.archive.addDocument(set);
    await desk.run(doubts);
    expect(await desk.row(old)).toMatchObject({ state: "uploaded", documentId });
  });

  test("a document that another row owns is not ours", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const documentId = stored(desk, folderId);
    desk.put({ state: "converted", path: "before/scan.pdf", documentId, folderId });
    const { id } = doubted(desk, folderId);
    await desk.run(doubts);
    expect((await desk.row(id)).state).toBe("inDoubt");
  });

  test("a folder's list is asked for once, however many are looked for in it", async () => {
    const { desk, folderId, doubts } = await aSearch();
    const rows = [];
    for (let n = 0; n < 100; n++) {
      rows.push(doubted(desk, folderId, { sentName: `scan-${n}.pdf`, current: false }));
      const uploadedDate = desk.clock.now();
      const filename = `scan-${n}.pdf`;
      desk.archive.addDocument({ folderId, filename, uploadedDate, filesize: SIZE });
    }
    await desk.run(doubts);
    expect(desk.archive.count("documents")).toBe(1);
    expect(desk.states()).toEqual(Array(100).fill("uploaded"));
    expect(rows).toHaveLength(100);
  });

  test.for([
    // our clock is behind by, uploaded before the send by their clock, taken, because
    [0, 30 * SECOND, true, "clocks differ by up to the tolerance"],
    [0, 2 * MINUTE, false, "it was there before ours was sent"],
    [HOUR, -HOUR + 30 * SECOND, true, "the archive's clock is an hour ahead of ours"],
    [HOUR, 0, false, "by their clock that was an hour before the send"],
    [-HOUR, HOUR, true, "the archive's clock is an hour behind"],
  ] as const)("offset %i ms, uploaded %i ms ago: taken %s, because %s", async (line) => {
    const [offsetMs, agoMs, isTaken] = line;
    const { desk, folderId, doubts } = await aSearch();
    desk.archive.clockOffsetMs = offsetMs;
    const { id } = doubted(desk, folderId);
    stored(desk, folderId, { agoMs });
    await desk.run(doubts);
    expect((await desk.row(id)).state).toBe(isTaken ? "uploaded" : "inDoubt");
  });

  test.for([
    [30 * SECOND, "uploaded", "clocks differ by up to the tolerance"],
    [10 * MINUTE, "held", "it may have been there before ours was sent"],
  ] as const)("of an archive that tells no time, uploaded %i ms ago: %s, as %s", async (line) => {
    const [agoMs, state] = line;
    const { desk, folderId, doubts } = await aSearch();
    await knowDates(desk);
    desk.archive.clockOffsetMs = undefined;
    const { id } = doubted(desk, folderId);
    stored(desk, folderId, { agoMs });
    await desk.run(doubts);
    await desk.advance(20 * MINUTE);
    expect((await desk.row(id)).state).toBe(state);
  });

  /** Once its window is over: sent again, or held next to the one document that it may be. */
  async function expectOutcome(
    desk: SyncDesk,
    at: { doubts: Doubts; id: number; documentId: number; state: "held" | "pending" },
  ) {
    await desk.run(at.doubts);
    await desk.advance(20 * MINUTE);
    const { state, problem } = await desk.row(at.id);
    expect(state).toBe(at.state);
    if (state === "held") expect(problem?.message).toContain(`${at.documentId} (${SIZE} bytes`);
  }

  test.for([
    [90 * SECOND, "known", "held", "nobody can tell whether it is ours"],
    [20 * MINUTE, "known", "pending", "no clock is so wrong"],
    [5 * HOUR, "unknown", "held", "it may date by local time"],
    [23 * HOUR, "unknown", "held", "it may date by the day"],
    [25 * HOUR, "unknown", "pending", "nothing dates so"],
  ] as const)("replies dated %i ms ahead of documents, %s to be so: %s, as %s", async (line) => {
    const [skewMs, dates, state] = line;
    const { desk, folderId, doubts } = await aSearch();
    if (dates === "known") await knowDates(desk);
    const sentArchiveAt = desk.clock.now() + skewMs;
    const { id } = doubted(desk, folderId, { sentArchiveAt });
    const documentId = stored(desk, folderId);
    await expectOutcome(desk, { doubts, id, documentId, state });
  });

  test.for([
    ["SCAN.PDF", SIZE, "held", "the archive may have changed its name"],
    ["scan.pdf.pdf", SIZE, "pending", "it is another name"],
    ["SCAN.PDF", SIZE + 1, "pending", "it is another document"],
  ] as const)("one named %s of %i bytes: %s, as %s", async ([filename, filesize, state]) => {
    const { desk, folderId, doubts } = await aSearch();
    const { id } = doubted(desk, folderId);
    const uploadedDate = desk.clock.now();
    const documentId = desk.archive.addDocument({ folderId, filename, filesize, uploadedDate });
    await expectOutcome(desk, { doubts, id, documentId, state });
    if (state === "held")
      expect((await desk.row(id)).problem?.message).toContain(`named ${filename})`);
  });

  test("of an archive whose replies have no date it is learned by our clock how far its documents are behind", async () => {
    const { desk, folderId, keeper, doubts } = await aSearch();
    await knowDates(desk);
    const sentAt = desk.clock.now();
    const uploadedDate = sentAt - 5 * HOUR;
    const other = { folderId, filename: "other.pdf", uploadedDate, status: "CONVERTED" };
    const otherId = desk.archive.addDocument(other);
    const sent = { state: "uploaded", folderId, documentId: otherId, sentAt, charge: 1 } as const;
    desk.put({ path: "other.pdf", ...sent });
    await desk.run(new Poller(desk.context, keeper));
    const { id } = doubted(desk, folderId);
    const documentId = stored(desk, folderId, { agoMs: 5 * HOUR });
    await expectOutcome(desk, { doubts, id, documentId, state: "held" });
  });

  test.for([
    [1, "held", "the clocks of the archive are known to differ by as much"],
    [null, "pending", "when someone else uploaded it says nothing of clocks"],
  ] as const)(
    "another document dated 20 minutes before it was sent, at a charge of %s: %s, as %s",
    async ([charge, state]) => {
      const { desk, folderId, keeper, doubts } = await aSearch();
      await knowDates(desk);
      const sentArchiveAt = desk.clock.now() + 20 * MINUTE;
      const other = { folderId, filename: "other.pdf", uploadedDate: desk.clock.now() };
      const otherId = desk.archive.addDocument({ ...other, status: "CONVERTED" });
      const sent = {
        state: "uploaded",
        folderId,
        documentId: otherId,
        sentArchiveAt,
        charge,
      } as const;
      desk.put({ path: "other.pdf", ...sent });
      await desk.run(new Poller(desk.context, keeper));
      const { id } = doubted(desk, folderId, { sentArchiveAt });
      const documentId = stored(desk, folderId);
      await expectOutcome(desk, { doubts, id, documentId, state });
    },
  );

  test.for([
    [[4, 20, 4], 20, "one that was further back than others of the same round is not forgotten"],
    [[10], 20, "an archive that dates by the day is further behind the later it is"],
  ] as const)(
    "others dated %j hours before they were sent, this one %i: held, as %s",
    async ([hours, ownHours]) => {
      const { desk, folderId, keeper, doubts } = await aSearch();
      const uploadedDate = desk.clock.now();
      for (const [n, ago] of [...hours, 0, 0].entries()) {
        const filename = `other-${n}.pdf`;
        const documentId = desk.archive.addDocument({
          folderId,
          filename,
          uploadedDate,
          status: "CONVERTED",
        });
        const sentArchiveAt = uploadedDate + ago * HOUR;
        const sent = { state: "uploaded", folderId, documentId, sentArchiveAt, charge: 1 } as const;
        desk.put({ path: filename, ...sent });
      }
      await desk.run(new Poller(desk.context, keeper));
      const sentArchiveAt = uploadedDate + ownHours * HOUR;
      const { id } = doubted(desk, folderId, { sentArchiveAt });
      const documentId = stored(desk, folderId);
      await expectOutcome(desk, { doubts, id, documentId, state: "held" });
    },
  );

  test("replies dated ahead of the documents by no more than a tolerance that was set for that: found", async () => {
    const doubt = { windowMs: 10 * MINUTE, toleranceMs: 2 * MINUTE };
    const upload = { ...CONFIG.upload, doubt };
    const desk = await SyncDesk.open({ config: { upload } });
    const folderId = desk.archive.addFolder("Scans");
    const sentArchiveAt = desk.clock.now() + 90 * SECOND;
    const { id } = doubted(desk, folderId, { sentArchiveAt });
    const documentId = stored(desk, folderId);
    await desk.run(new Doubts(desk.context, await desk.keeper()));
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId });
  });

  test("the first list tells the archive's clock, and is judged by it", async () => {
    const { desk, folderId, doubts } = await aSearch();
    desk.archive.clockOffsetMs = undefined;
    desk.archive.offsetToLearn = 0;
    const { id } = doubted(desk, folderId);
    stored(desk, folderId, { agoMs: 10 * MINUTE });
    await desk.run(doubts);
    expect((await desk.row(id)).state).toBe("inDoubt");
  });

  test("old documents of a full folder are not read to the end", async () => {
    const { desk, folderId, doubts } = await aSearch();
    for (let n = 0; n < 2_000; n++) stored(desk, folderId, { agoMs: HOUR + n });
    doubted(desk, folderId);
    await desk.run(doubts);
    expect(desk.archive.count("documents")).toBeLessThanOrEqual(2);
  });
});
