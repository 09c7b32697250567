import type { Slip } from "../../../src/domain/slip.ts";
import { describe, expect, test } from "vitest";
import { Claimer } from "../../../src/sync/claimer.ts";
import { Folders } from "../../../src/sync/folders.ts";
import { Placement } from "../../../src/sync/placement.ts";
import { aSender, oneAtATime, stalled, statesOf, stored } from "./a-sender.ts";
import { HOUR, MINUTE, never, SECOND } from "./desk.ts";

const LARGE = { seen: { sizeBytes: 20 * 1024 * 1024, modifiedAt: 0, stamp: "a" } };

describe("the intent", () => {
  test("is committed before anything is sent, and is what is sent", async () => {
    const bench = await aSender();
    const { desk, folderId } = bench;
    const { id } = desk.pending({ path: "2026/scan.pdf", batch: "batch-7" });
    const seen: unknown[] = [];
    desk.reader.onSend = async () => {
      const [attempt] = await desk.journal.attempts(id);
      seen.push((await desk.row(id)).state, attempt?.outcome, attempt?.folderId);
      return stored(9);
    };
    await desk.run(bench.sender);
    expect(seen).toEqual(["uploading", null, folderId]);
    expect(desk.reader.sent).toEqual([
      expect.objectContaining({
        mirrorId: 1,
        path: "2026/scan.pdf",
        filename: "scan.pdf",
        batch: "batch-7",
        folderId,
        digest: "d".repeat(64),
        metadata: {},
        expireDate: null,
      }),
    ]);
    expect(await desk.row(id)).toMatchObject({ state: "uploaded", documentId: 9, attempts: 1 });
  });

  test("a journal that refuses it: nothing is sent, and the loop ends", async () => {
    const bench = await aSender();
    bench.desk.pending();
    bench.desk.journal.apply = () => Promise.reject(new Error("disk full"));
    await expect(bench.desk.run(bench.sender)).rejects.toThrow("disk full");
    expect(bench.desk.reader.sent).toEqual([]);
  });

  test("a journal that refuses the outcome ends the loop", async () => {
    const bench = await aSender();
    bench.desk.pending();
    const { journal } = bench.desk;
    const apply = journal.apply.bind(journal);
    journal.apply = async (changes) => {
      const isOutcome = changes.some(
        (each) => each.type === "event" && each.event.type === "accepted",
      );
      if (isOutcome) throw new Error("disk full");
      return apply(changes);
    };
    await expect(bench.desk.run(bench.sender)).rejects.toThrow("disk full");
  });

  test("a local name the archive does not take goes into the title", async () => {
    const bench = await aSender();
    const slip: Slip = { metadata: { title: { value: "a:b.pdf", from: "name" } } };
    bench.desk.pending({ path: "a:b.pdf", sentName: "a_b.pdf", slip });
    await bench.desk.run(bench.sender);
    expect(bench.desk.reader.sent).toMatchObject([
      { filename: "a_b.pdf", metadata: { title: "a:b.pdf" } },
    ]);
  });
});

describe("rivals", () => {
  test("two of one name in one folder are sent one after another", async () => {
    const bench = await aSender();
    const { desk } = bench;
    const open = stalled(bench);
    desk.pending({ path: "a/scan.pdf" });
    desk.pending({ path: "b/scan.pdf" });
    await desk.run(bench.sender);
    await desk.advance(MINUTE);
    expect(open).toHaveLength(1);
    open[0]?.end(stored(9));
    await desk.advance(MINUTE / 4);
    expect(open).toHaveLength(2);
  });

  test("one that is written to while it is looked at has to be quiet for as long as any", async () => {
    const { desk } = await aSender();
    const claimer = new Claimer(desk.context, new Placement(new Folders(desk.archive)));
    const first = desk.pending({ path: "a/scan.pdf" });
    const second = desk.pending({ path: "b/scan.pdf" });
    const at = desk.clock.now();
    const seen = { sizeBytes: 5, modifiedAt: at, stamp: "half of another content" };
    const event = { type: "changed", at, dueAt: at + 3 * SECOND, seen } as const;
    await desk.journal.apply([{ type: "event", id: second.id, event }]);
    // Both were read before that.
    const { claimed } = await claimer.claim([first, second], never);
    expect(claimed.map(({ document }) => document.id)).toEqual([first.id]);
    const dueAt = at + 3 * SECOND;
    expect(await desk.row(second)).toMatchObject({ state: "settling", dueAt });
  });

  test("what was found out about one content is not done to the next one at its path", async () => {
    const { desk } = await aSender();
    const claimer = new Claimer(desk.context, new Placement(new Folders(desk.archive)));
    const digest = "d".repeat(64);
    desk.put({ path: "a/scan.pdf", state: "converted", documentId: 5, digest, dueAt: null });
    const copy = desk.pending({ path: "b/scan.pdf", digest });
    // In the middle of the look it is written to, settles, and waits to be sent with other bytes.
    const next = desk.pending({
      path: "b/scan.pdf",
      id: copy.id,
      digest: "e".repeat(64),
      seen: { ...copy.seen, stamp: "next" },
    });
    await claimer.claim([copy], never);
    expect(await desk.row(copy)).toMatchObject({ state: "pending", digest: next.digest });
    const { claimed } = await claimer.claim([next], never);
    expect(claimed.map(({ document }) => document.digest)).toEqual([next.digest]);
  });

  test("one in doubt holds back the other until it is settled", async () => {
    const bench = await aSender();
    const { desk, folderId } = bench;
    const sentAt = desk.clock.now();
    const doubted = desk.put({
      state: "inDoubt",
      path: "a/scan.pdf",
      folderId,
      sentAt,
      doubtAt: sentAt,
    });
    const other = desk.pending({ path: "b/scan.pdf" });
    await desk.run(bench.sender);
    await desk.advance(HOUR);
    expect((await desk.row(other)).state).toBe("pending");
    // Each look is journaled, and only a person may be able to settle it.
    const looks = (await desk.journal.history(other.id)).reduce(
      (sum, { times = 1 }) => sum + times,
      0,
    );
    expect(looks).toBeLessThan(80);
    const at = desk.clock.now();
    const found = { type: "found", at, dueAt: at, documentId: 7, status: null } as const;
    await desk.journal.apply([{ type: "event", id: doubted.id, event: found }]);
    await desk.advance(MINUTE);
    expect((await desk.row(other)).state).toBe("uploaded");
  });

  test("the same name elsewhere, or another name here, is no rival", async () => {
    const bench = await aSender();
    const { desk } = bench;
    desk.archive.addFolder("Other");
    const open = stalled(bench);
    desk.pending({ path: "a/scan.pdf" });
    desk.pending({ path: "b/scan.pdf", targetPath: "/Other" });
    desk.pending({ path: "b/scan-2.pdf" });
    await desk.run(bench.sender);
    expect(open).toHaveLength(3);
  });
});

describe("slots", () => {
  test("no more are sent at a time than configured; a few more are claimed", async () => {
    const bench = await aSender();
    const open = stalled(bench);
    for (let n = 0; n < 50; n++) bench.desk.pending();
    await bench.desk.run(bench.sender);
    expect(open).toHaveLength(4);
    expect(bench.sender.underWay).toBe(8);
    expect(bench.desk.states().filter((state) => state === "uploading")).toHaveLength(8);
    await bench.desk.advance(MINUTE);
    expect(open).toHaveLength(4);
  });

  test.for([
    [1, "one mirror full of large files"],
    [3, "several mirrors full of large files"],
  ] as const)("large files never take every slot: %i, %s", async ([count]) => {
    const mirrors = Array.from({ length: count }, () => ({}));
    const bench = await aSender({ mirrors });
    const opened = mirrors.map((_, index) => stalled(bench, index + 1));
    for (let n = 0; n < 20; n++) bench.desk.pending({ ...LARGE, mirrorId: (n % count) + 1 });
    await bench.desk.run(bench.sender);
    expect(opened.flat()).toHaveLength(3);
    const small = bench.desk.pending();
    bench.desk.context.bells.sending.ring();
    await bench.desk.advance(0);
    expect(opened.flat()).toHaveLength(4);
    expect((await bench.desk.row(small)).state).toBe("uploading");
    // Waiting for a slot is not spinning, and one that comes free is used.
    await bench.desk.advance(HOUR);
    expect(opened.flat()).toHaveLength(4);
    opened.flat()[0]?.end(stored(9));
    await bench.desk.advance(0);
    expect(opened.flat()).toHaveLength(5);
  });

  test("mirrors take turns, however much one of them has", async () => {
    const bench = await aSender({ mirrors: [{}, {}], config: { upload: oneAtATime() } });
    const { desk } = bench;
    for (let n = 0; n < 30; n++) desk.pending({ dueAt: desk.clock.now() - HOUR });
    for (let n = 0; n < 3; n++) desk.pending({ mirrorId: 2 });
    const order: number[] = [];
    for (const mirrorId of [1, 2]) {
      let documentId = mirrorId * 10_000;
      desk.readerOf(mirrorId).onSend = () => {
        order.push(mirrorId);
        return stored(documentId++);
      };
    }
    await desk.run(bench.sender);
    expect(order.slice(0, 7)).toEqual([1, 2, 1, 2, 1, 2, 1]);
    expect(order).toHaveLength(33);
  });
});

describe("pause and drain", () => {
  test("paused, nothing is sent, whatever comes; resumed, all of it", async () => {
    const bench = await aSender();
    const { desk, sender } = bench;
    await desk.journal.setPaused(true);
    await sender.reread();
    desk.pending();
    await desk.run(sender);
    await desk.advance(HOUR);
    expect(desk.reader.sent).toEqual([]);
    await desk.journal.setPaused(false);
    await sender.reread();
    await desk.advance(0);
    expect(desk.states()).toEqual(["uploaded"]);
  });

  test("paused in the middle: what is being sent is finished, what is only claimed is given back", async () => {
    const bench = await aSender();
    const { desk, sender } = bench;
    const open = stalled(bench);
    for (let n = 0; n < 20; n++) desk.pending();
    await desk.run(sender);
    await desk.journal.setPaused(true);
    await sender.reread();
    for (const [index, { end }] of open.entries()) end(stored(100 + index));
    await desk.advance(MINUTE);
    expect(open).toHaveLength(4);
    expect(statesOf(desk)).toEqual({ uploaded: 4, pending: 16 });
    expect((await desk.row(8)).attempts).toBe(0);
  });

  test("drained, what is being sent is finished, what is only claimed is given back", async () => {
    const bench = await aSender();
    const { desk, sender } = bench;
    const open = stalled(bench);
    for (let n = 0; n < 20; n++) desk.pending();
    await desk.run(sender);
    let isOver = false;
    const drained = sender.drain(never).then(() => {
      isOver = true;
    });
    await desk.advance(SECOND);
    expect(isOver).toBe(false);
    for (const [index, { end }] of open.entries()) end(stored(100 + index));
    await desk.advance(SECOND);
    await drained;
    expect(open).toHaveLength(4);
    expect(statesOf(desk)).toEqual({ uploaded: 4, pending: 16 });
    expect((await desk.row(8)).attempts).toBe(0);
  });

  test("drained while documents are being claimed: those are given back before it ends", async () => {
    const bench = await aSender();
    const { desk, sender } = bench;
    const answer = desk.archive.stall("folder");
    desk.pending();
    await desk.run(sender);
    let isOver = false;
    const drained = sender.drain(never).then(() => {
      isOver = true;
    });
    await desk.advance(0);
    expect(isOver).toBe(false);
    answer();
    await drained;
    expect(statesOf(desk)).toEqual({ pending: 1 });
    expect(desk.reader.sent).toEqual([]);
  });

  test("the deadline tears uploads down; what had left is in doubt", async () => {
    const bench = await aSender();
    const { desk, sender } = bench;
    desk.pending();
    desk.reader.onSend = (_, cut) =>
      new Promise((resolve) => {
        const trouble = { code: "REPLY_LOST", message: "cut short" };
        cut.addEventListener("abort", () => resolve({ kind: "lost", trouble }));
      });
    await desk.run(sender);
    const deadline = new AbortController();
    const drained = sender.drain(deadline.signal);
    await desk.advance(SECOND);
    deadline.abort();
    await drained;
    expect(desk.states()).toEqual(["inDoubt"]);
  });

  test("an upload that cannot even be torn down is not waited for", async () => {
    const bench = await aSender();
    stalled(bench);
    bench.desk.pending();
    await bench.desk.run(bench.sender);
    const drained = bench.sender.drain(AbortSignal.abort());
    await bench.desk.advance(SECOND);
    await drained;
    expect(bench.desk.states()).toEqual(["uploading"]);
  });
});

test("rows of a mirror that is not configured any more wait without spinning", async () => {
  const bench = await aSender();
  const { desk } = bench;
  await desk.journal.mirror("removed", "/srv/removed");
  desk.pending({ mirrorId: 2 });
  const ours = desk.pending({ dueAt: desk.clock.now() + MINUTE });
  await desk.run(bench.sender);
  await desk.advance(MINUTE);
  expect((await desk.row(ours)).state).toBe("uploaded");
});
