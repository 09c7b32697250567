import type { Attributes } from "../../../src/domain/attributes.ts";
import { Claimer } from "../../../src/sync/claimer.ts";
import { Folders, Placement } from "../../../src/sync/folders.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { OF_ONE_REQUEST } from "../../../src/domain/lookup-failures.ts";
import { Held } from "../../../src/sync/held.ts";
import { HOLD } from "../../../src/sync/waits.ts";
import { Probes } from "../../../src/sync/probes.ts";
import { Settler } from "../../../src/sync/settler.ts";
import { unauthorized, unreachable } from "../../fakes/scripted-archive.ts";
import { describe, expect, test } from "vitest";
import {
  aSender,
  oneAtATime,
  stalled,
  statesOf,
  stored,
  answers,
  refusal,
  suspected,
  unnamed,
  notSent,
} from "./a-sender.ts";
import { HOUR, MINUTE, never, SECOND } from "./desk.ts";
import { settling } from "./a-settler.ts";

describe("sender", () => {
  const large = (n: number) => ({
    seen: { sizeBytes: 20 * 1024 * 1024, modifiedAt: 0, stamp: `${n}` },
  });

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
      const attributes: Attributes = { metadata: { title: { value: "a:b.pdf", from: "name" } } };
      bench.desk.pending({ path: "a:b.pdf", sentName: "a_b.pdf", attributes });
      await bench.desk.run(bench.sender);
      expect(bench.desk.reader.sent).toMatchObject([
        { filename: "a_b.pdf", metadata: { title: "a:b.pdf" } },
      ]);
    });
  });

  describe("conflicts", () => {
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
      const { claimed } = await claimer.claim([first, second], () => true, never);
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
      await claimer.claim([copy], () => true, never);
      expect(await desk.row(copy)).toMatchObject({ state: "pending", digest: next.digest });
      const { claimed } = await claimer.claim([next], () => true, never);
      expect(claimed.map(({ document }) => document.digest)).toEqual([next.digest]);
    });

    test.for([
      ["3e8.1.1.11", 0, "settling", "it is that file, which was moved there and back"],
      ["3e8.1.1.12", 0, "uploading", "it is a copy"],
      ["3e8.1.1.11", -HOUR, "uploading", "it was decided since, when that file was there, too"],
    ] as const)(
      "a file with the stamp %s, of a content sent from another place %i ms after it was decided, becomes %s: %s",
      async ([stamp, sentMs, state]) => {
        const { desk } = await aSender();
        const claimer = new Claimer(desk.context, new Placement(new Folders(desk.archive)));
        const settledAt = desk.clock.now();
        const seen = { sizeBytes: 1_000, modifiedAt: 1, stamp: "3e8.1.1.11" };
        const row = desk.pending({ path: "b/scan.pdf", seen, settledAt });
        const sentAt = settledAt + MINUTE + sentMs;
        const elsewhere = { ...seen, stamp };
        desk.put({ path: "y/scan.pdf", state: "converted", seen: elsewhere, sentAt });
        await desk.advance(2 * MINUTE);
        await claimer.claim([row], () => true, never);
        expect((await desk.row(row)).state).toBe(state);
      },
    );

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

    test("the same name elsewhere, or another name here, is no conflict", async () => {
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
      for (let n = 0; n < 20; n++) bench.desk.pending({ ...large(n), mirrorId: (n % count) + 1 });
      await bench.desk.run(bench.sender);
      expect(opened.flat()).toHaveLength(3);
      const small = bench.desk.pending();
      bench.desk.context.wakeups.sending.notify();
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

    test("drained while the archive hangs before a claim: that is not waited for, and claims nothing", async () => {
      const bench = await aSender();
      const { desk, sender } = bench;
      const answer = desk.archive.stall("folder");
      desk.pending();
      await desk.run(sender);
      const drained = sender.drain(never);
      await desk.advance(SECOND);
      await drained;
      answer();
      await desk.advance(SECOND);
      expect(statesOf(desk)).toEqual({ pending: 1 });
      expect((await desk.row(1)).attempts).toBe(0);
      expect(desk.reader.sent).toEqual([]);
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
          const problem = { code: "REPLY_LOST", message: "cut short" };
          cut.addEventListener("abort", () => resolve({ kind: "inDoubt", problem }));
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
});

describe("sender gate", () => {
  const quota = { code: "QUOTA_LIMIT", message: "used up" };

  describe("the gate", () => {
    test("closes for all at the first QUOTA_LIMIT; what was claimed is given back", async () => {
      const bench = await aSender();
      const { desk } = bench;
      const open = stalled(bench);
      for (let n = 0; n < 30; n++) desk.pending();
      await desk.run(bench.sender);
      open[0]?.end(refusal("QUOTA_LIMIT"));
      await desk.advance(0);
      expect(open).toHaveLength(4);
      for (const { end } of open.slice(1)) end(refusal("QUOTA_LIMIT"));
      await desk.advance(0);
      expect(statesOf(desk)).toEqual({ held: 30 });
      expect(bench.keeper.gate).toMatchObject({ probes: 0 });
      expect((await desk.row(30)).problem?.code).toBe("QUOTA_LIMIT");
    });

    test("is probed by one document at a time, ever more rarely", async () => {
      const bench = await aSender();
      const { desk } = bench;
      for (let n = 0; n < 10; n++) desk.pending();
      answers(bench, refusal("QUOTA_LIMIT"));
      await desk.run(bench.sender);
      desk.reader.sent.splice(0);
      const probes = [];
      for (let quarter = 0; quarter < 8; quarter++) {
        await desk.advance(5 * MINUTE);
        probes.push(desk.reader.sent.splice(0).length);
      }
      expect(probes).toEqual([1, 0, 1, 0, 0, 0, 1, 0]);
    });

    test("lets everything go once a probe gets through", async () => {
      const bench = await aSender();
      const { desk } = bench;
      for (let n = 0; n < 10; n++) desk.pending();
      answers(bench, refusal("QUOTA_LIMIT"));
      await desk.run(bench.sender);
      let documentId = 100;
      answers(bench, () => stored(documentId++));
      await desk.advance(5 * MINUTE);
      expect(statesOf(desk)).toEqual({ uploaded: 10 });
    });

    test("closed by credentials it is probed by a question, not by a document", async () => {
      const bench = await aSender();
      const { desk } = bench;
      desk.pending();
      desk.archive.fail("folder", unauthorized());
      await desk.run(bench.sender);
      expect(statesOf(desk)).toEqual({ held: 1 });
      await desk.advance(5 * MINUTE);
      expect(desk.reader.sent).toHaveLength(1);
      expect(statesOf(desk)).toEqual({ uploaded: 1 });
    });

    test("closed by three documents in a row that met an unknown code", async () => {
      const bench = await aSender({ config: { upload: oneAtATime() } });
      const { desk } = bench;
      for (let n = 0; n < 10; n++) desk.pending();
      answers(bench, refusal("ODD_CODE"));
      await desk.run(bench.sender);
      expect(desk.reader.sent).toHaveLength(3);
      expect(bench.keeper.gate.problem?.code).toBe("SAME_CODE_REPEATS");
      expect(statesOf(desk)).toEqual({ held: 10 });
    });

    test.for([
      ["ODD_CODE", "an answer that nobody understands is about all of them"],
      ["INVALID_ACC", "whatever it is called"],
    ] as const)("closed by three in a row that are in doubt with %s: %s", async ([code]) => {
      const bench = await aSender({ config: { upload: oneAtATime() } });
      const { desk } = bench;
      for (let n = 0; n < 10; n++) desk.pending();
      answers(bench, unnamed(code));
      await desk.run(bench.sender);
      expect(desk.reader.sent).toHaveLength(3);
      expect(bench.keeper.gate.problem?.code).toBe("SAME_CODE_REPEATS");
      expect(statesOf(desk)).toEqual({ inDoubt: 3, held: 7 });
    });

    test.for([
      ["HTTP_403", "a web application firewall's word"],
      ["HTTP_401", "the same, in other words"],
      ["INVALID_SIG", "a signature that covers this document's name"],
    ] as const)("stays open where one upload is refused with %s: %s", async ([code]) => {
      const bench = await aSender();
      const { desk } = bench;
      const rows = Array.from({ length: 10 }, (_, n) => desk.pending({ path: `letter-${n}.pdf` }));
      let documentId = 100;
      const bad = ({ filename }: { filename: string }) => filename === "letter-4.pdf";
      answers(bench, (order) => (bad(order) ? suspected(code) : stored(documentId++)));
      await desk.run(bench.sender);
      expect(statesOf(desk)).toEqual({ held: 1, uploaded: 9 });
      expect(bench.keeper.gate.closedAt).toBeNull();
      const held = await desk.row(rows[4]?.id ?? 0);
      const dueAt = desk.clock.now() + HOLD.initialMs;
      expect(held).toMatchObject({ problem: { code }, consecutiveFailures: 1, dueAt });
      expect(desk.warnings).toEqual([]);
    });

    test("is closed by one upload where a look-up is refused, too; then it waits behind it", async () => {
      const bench = await aSender();
      const { desk } = bench;
      const row = desk.pending();
      answers(bench, () => {
        desk.archive.fail("folder", unauthorized());
        return suspected("HTTP_403");
      });
      await desk.run(bench.sender);
      expect(bench.keeper.gate.problem?.code).toBe("CREDENTIALS_REFUSED");
      expect(await desk.row(row)).toMatchObject({
        state: "held",
        dueAt: null,
        problem: { code: "CREDENTIALS_REFUSED" },
      });
    });

    test("is closed likewise by one that is in doubt, which stays so: it may have been stored last", async () => {
      const bench = await aSender();
      const { desk } = bench;
      const row = desk.pending();
      answers(bench, () => {
        desk.archive.fail("folder", unauthorized());
        return { ...unnamed("LOCKED_OUT"), credentials: true } as Outcome;
      });
      await desk.run(bench.sender);
      expect(bench.keeper.gate.problem?.code).toBe("CREDENTIALS_REFUSED");
      expect(await desk.row(row)).toMatchObject({
        state: "inDoubt",
        problem: { code: "LOCKED_OUT" },
      });
    });

    test("an archive that is away just then confirms nothing", async () => {
      const bench = await aSender();
      const { desk } = bench;
      const row = desk.pending();
      answers(bench, () => {
        desk.archive.fail("folder", unreachable());
        return suspected("HTTP_403");
      });
      await desk.run(bench.sender);
      expect(bench.keeper.gate.closedAt).toBeNull();
      expect(await desk.row(row)).toMatchObject({ state: "held", problem: { code: "HTTP_403" } });
    });

    test.for([...OF_ONE_REQUEST])("stays open however many meet %s", async (code) => {
      const bench = await aSender({ config: { upload: oneAtATime() } });
      const { desk } = bench;
      const seen = { sizeBytes: 12_345_678, modifiedAt: 0, stamp: "a" };
      const large = Array.from({ length: 4 }, (_, n) =>
        desk.pending({ path: `big-${n}.pdf`, seen }),
      );
      for (let n = 0; n < 10; n++) desk.pending({ path: `letter-${n}.pdf` });
      let documentId = 100;
      answers(bench, ({ filename }) =>
        filename.startsWith("big") ? refusal(code) : stored(documentId++),
      );
      await desk.run(bench.sender);
      expect(statesOf(desk)).toEqual({ held: 4, uploaded: 10 });
      expect(bench.keeper.gate.closedAt).toBeNull();
      const { problem } = await desk.row(large[0]?.id ?? 0);
      expect(problem?.message).toContain("12.3 MB (12345678 bytes)");
    });

    test("behind it nothing is probed while paused", async () => {
      const bench = await aSender();
      const { desk, sender } = bench;
      desk.pending();
      await bench.keeper.refused(quota, false);
      await desk.journal.setPaused(true);
      await sender.reread();
      await desk.run(sender);
      await desk.advance(HOUR);
      expect(desk.reader.sent).toEqual([]);
      expect(statesOf(desk)).toEqual({ held: 1 });
    });

    test("a probe whose folder is missing answers nothing; the next one goes in its place", async () => {
      const bench = await aSender();
      const { desk } = bench;
      const small = { seen: { sizeBytes: 1, modifiedAt: 0, stamp: "a" } };
      desk.pending({ ...small, targetPath: "/Nowhere" });
      const other = desk.pending();
      await bench.keeper.refused(quota, false);
      await desk.run(bench.sender);
      await desk.advance(5 * MINUTE);
      expect(desk.reader.sent).toHaveLength(1);
      expect((await desk.row(other)).state).toBe("uploaded");
    });

    test("a probe that waits for another of its name, which only a person can tell, keeps no other", async () => {
      const bench = await aSender();
      const { desk, folderId } = bench;
      const problem = { code: "DOUBT_AMBIGUOUS", message: "so" };
      const named = { sentName: "scan.pdf" };
      desk.put({
        state: "held",
        doubtAt: 1,
        dueAt: null,
        documentId: null,
        folderId,
        problem,
        ...named,
      });
      const small = { sizeBytes: 1, modifiedAt: 0, stamp: "a" };
      const behind = desk.pending({ seen: small, ...named });
      const other = desk.pending();
      await bench.keeper.refused(quota, false);
      await desk.run(bench.sender);
      await desk.advance(5 * MINUTE);
      expect((await desk.row(other)).state).toBe("uploaded");
      expect((await desk.row(behind)).state).toBe("pending");
      expect(bench.keeper.gate.closedAt).toBeNull();
    });

    test("an archive that cannot be asked for a folder ends the probe: no other is tried", async () => {
      const bench = await aSender();
      const { desk } = bench;
      desk.pending();
      desk.pending();
      await bench.keeper.refused(quota, false);
      await desk.run(bench.sender);
      desk.archive.fail("folders", unreachable());
      await desk.advance(5 * MINUTE);
      expect(desk.reader.sent).toEqual([]);
      expect(statesOf(desk)).toEqual({ held: 2 });
    });
  });

  describe("a small document that cannot be sent", () => {
    const small = { sizeBytes: 10, modifiedAt: 0, stamp: "a" };
    const unreadable = (code: string): Outcome => ({
      kind: "unreadable",
      problem: { code, message: "EACCES" },
    });
    const changed: Outcome = { kind: "changed" };

    /** Five of them among twenty good ones; the allowance is spent until a test says otherwise. */
    async function aSpentAccount(outcome: Outcome) {
      const bench = await aSender();
      const { desk } = bench;
      const account = { isSpent: true, documentId: 100 };
      const bad = [1, 2, 3, 4, 5].map((n) => desk.pending({ path: `bad-${n}.txt`, seen: small }));
      const good = Array.from({ length: 20 }, (_, n) => desk.pending({ path: `good-${n}.pdf` }));
      answers(bench, ({ filename }) => {
        if (filename.startsWith("bad")) return outcome;
        return account.isSpent ? refusal("QUOTA_LIMIT") : stored(account.documentId++);
      });
      await bench.keeper.refused(quota, false);
      for (const { name, seen, digest } of [...bad, ...good]) {
        desk.reader.files.set(name, { seen, digest: digest ?? "" });
      }
      const folders = new Folders(desk.archive);
      const held = new Held(desk.context, folders, new Placement(folders));
      await desk.run(bench.sender, held, new Settler(desk.context));
      const sent = () =>
        desk.reader.sent.filter(({ filename }) => filename.startsWith("bad")).length;
      const uploaded = async () => {
        const rows = await Promise.all(good.map((row) => desk.row(row)));
        return rows.filter(({ state }) => state === "uploaded").length;
      };
      return { bench, desk, account, bad, sent, uploaded };
    }

    test.for([
      ["FILE_TYPE_NOT_ALLOWED", refusal("FILE_TYPE_NOT_ALLOWED")],
      ["HTTP_415", refusal("HTTP_415")],
      ["PLUGIN_REMINDER_NOT_INSTALLED", refusal("PLUGIN_REMINDER_NOT_INSTALLED")],
      ["NO_FILE_DATA", refusal("NO_FILE_DATA")],
      ["FILE_UNREADABLE", unreadable("FILE_UNREADABLE")],
      ["SOURCE_OFFLINE", unreadable("SOURCE_OFFLINE")],
      ["a change", changed],
    ] as const)("%s: keeps no gate shut once the allowance is back", async ([, outcome]) => {
      const { desk, account, sent, uploaded } = await aSpentAccount(outcome);
      await desk.advance(2 * HOUR);
      expect(await uploaded()).toBe(0);
      expect(sent()).toBeLessThan(30);
      account.isSpent = false;
      for (let n = 0; n < 24 && (await uploaded()) < 20; n++) await desk.advance(10 * MINUTE);
      expect(await uploaded()).toBe(20);
    });

    test("three of them close the gate, and the next good one opens it", async () => {
      const { desk, account, bad, sent, uploaded } = await aSpentAccount(refusal("HTTP_415"));
      account.isSpent = false;
      await desk.advance(HOUR);
      expect(await uploaded()).toBe(20);
      // Each waits on its own, ever more rarely, and keeps no other for long.
      await desk.advance(7 * 24 * HOUR);
      expect(sent()).toBeLessThan(5 * 50);
      const late = desk.pending({ path: "good-late.pdf" });
      desk.context.wakeups.sending.notify();
      await desk.advance(10 * MINUTE);
      expect((await desk.row(late)).state).toBe("uploaded");
      for (const row of bad) {
        expect(await desk.row(row)).toMatchObject({ state: "held", problem: { code: "HTTP_415" } });
      }
    });

    test("a life of the daemon for each probe does not make it the probe again", async () => {
      const { desk, account, bad } = await aSpentAccount(refusal("HTTP_415"));
      await desk.advance(6 * MINUTE);
      const tried = (await Promise.all(bad.map((row) => desk.row(row)))).filter(
        ({ problem }) => problem?.code === "HTTP_415",
      );
      expect(tried).toHaveLength(1);
      account.isSpent = false;
      // What a later life knows, it has from the journal.
      const keeper = await desk.keeper();
      for (let hour = 0; hour < 5; hour++) {
        await desk.advance(0);
        await keeper.sweep();
        const { attempts } = await desk.row(tried[0]?.id ?? 0);
        expect(attempts).toBe(1);
        const probe = await new Probes(desk.context).next();
        expect(probe?.id).not.toBe(tried[0]?.id);
        await keeper.sweep();
      }
    });

    test("alone it probes itself, in its own time", async () => {
      const bench = await aSender();
      const { desk } = bench;
      const row = desk.pending({ seen: small });
      answers(bench, refusal("HTTP_415"));
      await bench.keeper.refused(quota, false);
      const folders = new Folders(desk.archive);
      await desk.run(bench.sender, new Held(desk.context, folders, new Placement(folders)));
      await desk.advance(7 * 24 * HOUR);
      const tries = desk.reader.sent.length;
      expect(tries).toBeGreaterThan(10);
      expect(tries).toBeLessThan(50);
      answers(bench, stored(7));
      await desk.advance(13 * HOUR);
      expect((await desk.row(row)).state).toBe("uploaded");
    });
  });

  describe("a reader that is down", () => {
    test("nothing is claimed for it, others go on; once it is up, its documents go too", async () => {
      const bench = await aSender({ mirrors: [{}, {}] });
      const { desk } = bench;
      desk.reader.pid = undefined;
      const ours = desk.pending();
      const other = desk.pending({ mirrorId: 2 });
      await desk.run(bench.sender);
      await desk.advance(HOUR);
      expect(await desk.row(ours)).toMatchObject({ state: "pending", attempts: 0 });
      expect(await desk.story(ours)).toEqual([]);
      expect((await desk.row(other)).state).toBe("uploaded");
      desk.reader.pid = 4712;
      desk.context.wakeups.sending.notify();
      await desk.advance(0);
      expect((await desk.row(ours)).state).toBe("uploaded");
    });

    test("the gate is probed by a document of a reader that is up", async () => {
      const bench = await aSender({ mirrors: [{}, {}] });
      const { desk } = bench;
      desk.reader.pid = undefined;
      desk.pending({ seen: { sizeBytes: 1, modifiedAt: 0, stamp: "a" } });
      const other = desk.pending({ mirrorId: 2 });
      await bench.keeper.refused(quota, false);
      await desk.run(bench.sender);
      await desk.advance(5 * MINUTE);
      expect((await desk.row(other)).state).toBe("uploaded");
      expect(bench.keeper.gate.closedAt).toBeNull();
    });
  });
});

describe("sender outage", () => {
  describe("an archive that cannot be reached", () => {
    test("is tried by one document at a time, ever more rarely; said once", async () => {
      const bench = await aSender();
      const { desk } = bench;
      for (let n = 0; n < 40; n++) desk.pending();
      answers(bench, notSent());
      await desk.run(bench.sender);
      // Those that were claimed when it was noticed.
      const begun = desk.reader.sent.splice(0).length;
      expect(begun).toBeLessThanOrEqual(8);
      expect(bench.sender.outage).toMatchObject({ tries: 1 });
      const tries = [];
      for (let second = 0; second < 32; second++) {
        await desk.advance(SECOND);
        tries.push(desk.reader.sent.splice(0).length);
      }
      const at = tries.flatMap((count, second) => (count > 0 ? [[second + 1, count]] : []));
      expect(at).toEqual([
        [1, 1],
        [3, 1],
        [7, 1],
        [15, 1],
        [31, 1],
      ]);
      expect(desk.warnings).toHaveLength(1);
      expect(statesOf(desk)).toEqual({ pending: 40 });
    });

    test("once it answers, everything goes on at once", async () => {
      const bench = await aSender();
      const { desk } = bench;
      for (let n = 0; n < 40; n++) desk.pending();
      answers(bench, notSent());
      await desk.run(bench.sender);
      await desk.advance(5 * SECOND);
      let documentId = 100;
      answers(bench, () => stored(documentId++));
      await desk.advance(10 * SECOND);
      expect(bench.sender.outage).toBeUndefined();
      expect(statesOf(desk)).toEqual({ uploaded: 40 });
    });

    test("Retry-After is waited for, by all documents", async () => {
      const bench = await aSender();
      const { desk } = bench;
      for (let n = 0; n < 10; n++) desk.pending();
      answers(bench, refusal("ARCHIVE_BUSY", 2 * MINUTE));
      await desk.run(bench.sender);
      desk.reader.sent.splice(0);
      await desk.advance(2 * MINUTE - 1);
      expect(desk.reader.sent).toHaveLength(0);
      await desk.advance(1);
      expect(desk.reader.sent).toHaveLength(1);
    });

    test("the longest of several Retry-After counts", async () => {
      const bench = await aSender();
      const { desk } = bench;
      for (let n = 0; n < 10; n++) desk.pending();
      const waits = [null, 10 * MINUTE, 5 * SECOND];
      answers(bench, () => refusal("ARCHIVE_BUSY", waits.shift() ?? null));
      await desk.run(bench.sender);
      desk.reader.sent.splice(0);
      await desk.advance(10 * MINUTE - 1);
      expect(desk.reader.sent).toHaveLength(0);
    });

    test("an archive that stays busy is asked ever more rarely", async () => {
      const bench = await aSender();
      const { desk } = bench;
      for (let n = 0; n < 500; n++) desk.pending();
      answers(bench, refusal("ARCHIVE_BUSY"));
      await desk.run(bench.sender);
      await desk.advance(5 * MINUTE);
      expect(desk.reader.sent.length).toBeLessThan(20);
      expect(statesOf(desk)).toEqual({ pending: 500 });
    });

    test("folders that cannot be looked up are an outage too: no document is touched", async () => {
      const bench = await aSender();
      const { desk } = bench;
      const { id } = desk.pending();
      desk.archive.fail("folder", unreachable(), unreachable());
      await desk.run(bench.sender);
      expect(bench.sender.outage?.problem.code).toBe("ARCHIVE_UNREACHABLE");
      expect(await desk.row(id)).toMatchObject({ state: "pending", attempts: 0 });
      await desk.advance(5 * SECOND);
      expect((await desk.row(id)).state).toBe("uploaded");
    });
  });
});

describe("sender outcomes", () => {
  describe("what an outcome means for its document", () => {
    const lost: Outcome = { kind: "inDoubt", problem: { code: "REPLY_LOST", message: "cut" } };
    const changed: Outcome = { kind: "changed" };
    const unreadable: Outcome = {
      kind: "unreadable",
      problem: {
        code: "FILE_UNREADABLE",
        message: "no right",
      },
    };

    test.for([
      [stored(9), "uploaded", "the archive has it"],
      [lost, "inDoubt", "it may have it"],
      [changed, "settling", "the quiet time starts over"],
      [unreadable, "held", "a person gives the right; time is waited for"],
      [refusal("FILE_SIZE_TOO_BIG"), "failed", "it will never take it"],
      [refusal("INVALID_FILENAME"), "failed", "it will never take it"],
      [refusal("PLUGIN_REMINDER_NOT_INSTALLED"), "held", "it waits for the plugin"],
      [refusal("FOLDER_NOT_EXISTS"), "held", "it waits for the folder"],
      [refusal("ODD_CODE"), "held", "time may tell"],
      [refusal("QUOTA_LIMIT"), "held", "the gate is closed"],
    ] as const)("%o: %s, because %s", async ([outcome, state]) => {
      const bench = await aSender();
      const { id } = bench.desk.pending();
      answers(bench, outcome);
      await bench.desk.run(bench.sender);
      const row = await bench.desk.row(id);
      expect(row).toMatchObject({ state, attempts: 1 });
      const [attempt] = await bench.desk.journal.attempts(id);
      // What became of an attempt that is in doubt is not known yet.
      expect(attempt?.endedAt).toBe(state === "inDoubt" ? null : bench.desk.clock.now());
    });

    test("gone: it is inspected once more, and then forgotten", async () => {
      const bench = await aSender();
      const { desk } = bench;
      const { id } = desk.pending({ path: "scan.pdf" });
      answers(bench, { kind: "gone" });
      await desk.run(bench.sender, new Settler(desk.context));
      expect(await desk.journal.document(id)).toBeUndefined();
      expect(desk.reader.inspected).toEqual(["scan.pdf"]);
    });

    test("gone, but back by then: it is sent", async () => {
      const bench = await aSender();
      const { desk } = bench;
      const { id, seen } = desk.pending({ path: "scan.pdf" });
      desk.reader.files.set("scan.pdf", { seen, digest: "d2" });
      const outcomes: Outcome[] = [{ kind: "gone" }, stored(9)];
      answers(bench, () => outcomes.shift() ?? { kind: "gone" });
      await desk.run(bench.sender, new Settler(desk.context));
      // It was not there a moment ago: it has to be quiet like any other.
      expect(await desk.row(id)).toMatchObject({ state: "settling" });
      await desk.advance(3 * SECOND);
      expect(await desk.row(id)).toMatchObject({ state: "uploaded", digest: "d2" });
    });

    test("refused for its folder: the tree is read again for the next", async () => {
      const bench = await aSender();
      const { desk } = bench;
      desk.pending();
      answers(bench, refusal("FOLDER_NOT_EXISTS"));
      await desk.run(bench.sender);
      desk.archive.forgetAsked();
      desk.pending();
      desk.context.wakeups.sending.notify();
      await desk.advance(0);
      expect(desk.archive.count("folders")).toBe(1);
    });

    test("a missing folder holds its own documents alone", async () => {
      const bench = await aSender();
      const { desk } = bench;
      for (let n = 0; n < 10; n++)
        desk.pending({ targetPath: n % 2 === 0 ? "/Scans" : "/Nowhere" });
      await desk.run(bench.sender);
      expect(statesOf(desk)).toEqual({ uploaded: 5, held: 5 });
      expect(await desk.journal.waitingFolders()).toMatchObject([
        { targetPath: "/Nowhere", code: "FOLDER_MISSING", documents: 5 },
      ]);
    });
  });

  test("a file that is torn by each attempt, and found whole by each look, is sent ever more rarely", async () => {
    const bench = await aSender();
    const { desk, sender } = bench;
    answers(bench, { kind: "changed" });
    const { id } = settling(desk, "scan.pdf", "d1");
    await desk.clock.advance(MINUTE);
    await desk.run(sender, new Settler(desk.context));
    await desk.advance(6 * HOUR);
    const { attempts } = await desk.row(id);
    expect(attempts).toBeGreaterThan(60);
    expect(attempts).toBeLessThan(90);
  });
});

/** A share that hangs: its uploads wait for it, and nothing else waits for them. */
describe("sender silence", () => {
  const twoMirrors = { mirrors: [{}, { source: "/srv/other" }] };

  test("uploads stuck with a silent reader take no place from other mirrors", async () => {
    const bench = await aSender(twoMirrors);
    const { desk, sender } = bench;
    const stuck = stalled(bench, 1);
    for (let n = 0; n < 20; n++) desk.pending({ mirrorId: 1 });
    await desk.run(sender);
    expect(stuck).toHaveLength(4);
    const others = Array.from({ length: 20 }, () => desk.pending({ mirrorId: 2 }));
    await desk.advance(SECOND);
    expect(desk.readerOf(2).sent).toHaveLength(0);
    desk.readerOf(1).silent = true;
    sender.rebalance();
    await desk.advance(SECOND);
    for (const other of others) expect((await desk.row(other)).state).toBe("uploaded");
    expect(stuck).toHaveLength(4);
  });

  test("what was claimed for a silent reader is given back, and goes out when it speaks", async () => {
    const bench = await aSender(twoMirrors);
    const { desk, sender } = bench;
    const stuck = stalled(bench, 1);
    const rows = Array.from({ length: 8 }, () => desk.pending({ mirrorId: 1 }));
    await desk.run(sender);
    desk.readerOf(1).silent = true;
    sender.rebalance();
    await desk.advance(SECOND);
    const states = await Promise.all(rows.map(async (row) => (await desk.row(row)).state));
    expect(states.toSorted()).toEqual([...Array(4).fill("pending"), ...Array(4).fill("uploading")]);
    desk.readerOf(1).silent = false;
    sender.rebalance();
    for (let id = 1; stuck.length > 0; id++) {
      stuck.shift()?.end(stored(id));
      await desk.advance(SECOND);
    }
    for (const row of rows) expect((await desk.row(row)).state).toBe("uploaded");
  });

  test.for([
    [
      { kind: "inDoubt", problem: { code: "REPLY_LOST", message: "the reader ended: SIGKILL" } },
      "a reader that died with its uploads says nothing about the archive",
    ],
    [
      {
        kind: "notSent",
        problem: { code: "FILE_STALLED", message: "the file gave nothing" },
        retryAfterMs: null,
      },
      "a file that stalls is the share's problem",
    ],
  ] as const)("%# is no outage: %s", async ([outcome]) => {
    const bench = await aSender();
    const { desk, sender } = bench;
    answers(bench, outcome);
    for (let n = 0; n < 12; n++) desk.pending();
    await desk.run(sender);
    expect(desk.reader.sent.length).toBeGreaterThanOrEqual(12);
    expect(sender.outage).toBeUndefined();
    expect(desk.warnings).toEqual([]);
  });
});
