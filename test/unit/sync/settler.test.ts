import { ChannelClosed } from "../../../src/reader/rpc-channel.ts";
import { ANYWAY } from "../../../src/domain/settle.ts";
import { retryAll, retryOf } from "../../../src/sync/retry.ts";
import { NO_RULES } from "../../../src/rules/rules.ts";
import type { Document, Seen } from "../../../src/domain/document.ts";
import { failureOf } from "../../../src/domain/failure.ts";
import { joinRaw, rawOfText } from "../../../src/std/raw-path.ts";
import type { Acted } from "../../../src/source/source.ts";
import { AfterLoop, GONE_ALREADY, NO_MIRROR } from "../../../src/sync/after-loop.ts";
import { Folders, Placement } from "../../../src/sync/folders.ts";
import { Held } from "../../../src/sync/held.ts";
import { DOUBT_CODES } from "../../../src/domain/code-sets.ts";
import { describe, expect, test } from "vitest";
import { aSettler, onDisk, sent, settling } from "./a-settler.ts";
import { HOUR, MINUTE, SECOND, SyncDesk } from "./desk.ts";

describe("settler", () => {
  const MIB = 1024 * 1024;
  const EMPTY = { sizeBytes: 0, modifiedAt: 0, stamp: "d1" };

  describe("a file that is finished", () => {
    test("becomes pending with digest, name, folder and batch", async () => {
      const { desk, settler } = await aSettler();
      const { id } = settling(desk, "2026/May/scan 1.pdf", "d1");
      await desk.run(settler);
      expect(await desk.row(id)).toMatchObject({
        state: "pending",
        digest: "d1",
        sentName: "scan 1.pdf",
        targetPath: "/Scans/2026/May",
        batch: "batch-1",
        remark: null,
        dueAt: desk.clock.now(),
      });
    });

    test("under a name the archive does not take: a legal one, with a remark", async () => {
      const { desk, settler } = await aSettler();
      const { id } = settling(desk, "a:b.pdf", "d1");
      await desk.run(settler);
      const row = await desk.row(id);
      expect(row).toMatchObject({ sentName: "a_b.pdf", targetPath: "/Scans" });
      expect(row.remark).toContain("a:b.pdf");
    });

    test("is not looked at before its quiet time is over", async () => {
      const { desk, settler } = await aSettler();
      const { id } = settling(desk, "scan.pdf", "d1", { dueAt: desk.clock.now() + 3 * SECOND });
      await desk.run(settler);
      await desk.advance(2_999);
      expect(desk.reader.inspected).toEqual([]);
      await desk.advance(1);
      expect((await desk.row(id)).state).toBe("pending");
    });

    test.for([
      [HOUR, 3 * SECOND, "its time did not pass, the clock was set"],
      [100, 0, "a correction is not worth a wait"],
    ] as const)("by a clock set forward %i ms waits %i more: %s", async ([jumpMs, waitsMs]) => {
      const { desk, settler } = await aSettler();
      const { id } = settling(desk, "scan.bin", "d1", { dueAt: desk.clock.now() + 3 * SECOND });
      await desk.run(settler);
      await desk.advance(2_900);
      desk.clock.jump(jumpMs);
      desk.mirror().settling.small.notify();
      await desk.advance(Math.max(0, waitsMs - 1));
      expect((await desk.row(id)).state).toBe(waitsMs > 0 ? "settling" : "pending");
      await desk.advance(1);
      expect((await desk.row(id)).state).toBe("pending");
    });

    test.for([
      ["complete", 6 * SECOND, "it was whole all along"],
      ["unknown", 6 * SECOND, "its format says nothing"],
      ["unfinished", 10 * MINUTE + 6 * SECOND, "it is quiet for `incomplete`, and held"],
    ] as const)(
      "%s, seen by a clock that was set back a year: it is decided within %i ms, as %s",
      async (line) => {
        const [completeness, withinMs] = line;
        const { desk, settler } = await aSettler();
        const changedAt = desk.clock.now();
        const { id } = settling(desk, "scan.pdf", "d1", { file: { completeness }, changedAt });
        desk.clock.jump(-365 * 24 * HOUR);
        desk.journal.store.put({ ...(await desk.row(id)), dueAt: desk.clock.now() });
        await desk.run(settler);
        expect((await desk.row(id)).changedAt).toBe(desk.clock.now());
        await desk.advance(2 * SECOND);
        expect((await desk.row(id)).state, "but it is quiet first").toBe("settling");
        await desk.advance(withinMs);
        const decided = completeness === "unfinished" ? "held" : "pending";
        expect((await desk.row(id)).state).toBe(decided);
      },
    );

    test.for([
      [2 * 24 * HOUR, 24 * HOUR, SECOND, "the clock is put right once a day"],
      [24 * HOUR, 16 * HOUR, 8 * HOUR, "the host sleeps every night, which counts for nothing"],
      [24 * HOUR, HOUR, 300, "a clock that is always behind"],
    ] as const)(
      "of `minAge` %i, every %i ms set forward by %i: it goes at that age, as %s",
      async (line) => {
        const [minAgeMs, everyMs, jumpMs] = line;
        const rules = { ...NO_RULES, ready: { ...NO_RULES.ready, minAgeMs } };
        const { desk, settler } = await aSettler({ mirrors: [{ rules }] });
        const changedAt = desk.clock.now();
        const { id } = settling(desk, "scan.pdf", "d1", { changedAt });
        await desk.run(settler);
        const since = desk.clock.monotonic();
        while (
          (await desk.row(id)).state === "settling" &&
          desk.clock.monotonic() - since < 4 * minAgeMs
        ) {
          await desk.advance(everyMs - ((desk.clock.monotonic() - since) % everyMs));
          desk.clock.jump(jumpMs);
          await desk.advance(MINUTE);
        }
        const passedMs = desk.clock.monotonic() - since;
        expect(passedMs).toBeGreaterThanOrEqual(minAgeMs);
        expect(passedMs).toBeLessThanOrEqual(minAgeMs + everyMs + MINUTE);
      },
    );

    test("unfinished, and the clock set forward more often than `incomplete`: it is held all the same", async () => {
      const { desk, settler } = await aSettler();
      const file = { completeness: "unfinished" } as const;
      const { id } = settling(desk, "scan.pdf", "d1", { file, changedAt: desk.clock.now() });
      await desk.run(settler);
      for (let n = 0; n < 2; n++) {
        await desk.advance(4 * MINUTE);
        desk.clock.jump(HOUR);
        await desk.advance(MINUTE - SECOND);
        expect((await desk.row(id)).state).toBe("settling");
      }
      await desk.advance(MINUTE);
      expect((await desk.row(id)).state).toBe("held");
    });

    test("documents that are ready together share a batch; later ones have their own", async () => {
      const { desk, settler } = await aSettler();
      for (let n = 0; n < 100; n++) settling(desk, `scan-${n}.pdf`, `d${n}`);
      await desk.run(settler);
      await desk.advance(MINUTE);
      const late = settling(desk, "late.pdf", "late");
      desk.mirror().settling.small.notify();
      await desk.advance(0);
      const batches = await desk.journal.latestBatches(10);
      expect(batches.map(({ id, documents }) => [id, documents])).toEqual([
        ["batch-2", 1],
        ["batch-1", 100],
      ]);
      expect((await desk.row(late)).batch).toBe("batch-2");
    });

    test("a batch that was open when the daemon ended is joined again", async () => {
      const { desk, settler } = await aSettler();
      const at = desk.clock.now();
      const batch = { id: "before", mirrorId: 1, openedAt: at, joinedAt: at, documents: 3 };
      await desk.journal.apply([{ type: "batch", batch }]);
      const { id } = settling(desk, "scan.pdf", "d1");
      await desk.run(settler);
      expect((await desk.row(id)).batch).toBe("before");
    });

    test("hashing one large file does not keep small ones waiting", async () => {
      const { desk, settler } = await aSettler();
      const big = { seen: { sizeBytes: 20 * MIB, modifiedAt: 0, stamp: "big" } };
      const large = settling(desk, "large.tif", "big", { file: big });
      const inspect = desk.reader.inspect.bind(desk.reader);
      const hashed = Promise.withResolvers<void>();
      desk.reader.inspect = async (mirrorId, files) => {
        if (files.some(({ seen }) => (seen?.sizeBytes ?? 0) > MIB)) await hashed.promise;
        return inspect(mirrorId, files);
      };
      const small = settling(desk, "small.pdf", "d1");
      await desk.run(settler);
      expect((await desk.row(small)).state).toBe("pending");
      expect((await desk.row(large)).state).toBe("settling");
      hashed.resolve();
      await desk.advance(0);
      expect((await desk.row(large)).state).toBe("pending");
    });
  });

  describe("a file that is not", () => {
    test("another one at each look is not looked at all the time, even without `settle`", async () => {
      const { desk, settler } = await aSettler({ mirrors: [{ settleMs: 0 }] });
      const { seen } = settling(desk, "scan.pdf", "d1");
      const { reader } = desk;
      reader.files.set("scan.pdf", { kind: "changed", seen });
      const inspect = reader.inspect.bind(reader);
      // Nothing else would end it: a loop that spins leaves no timer its turn.
      reader.inspect = (...all) => {
        if (reader.inspected.length > 1_000) throw new Error("looked at all the time");
        return inspect(...all);
      };
      await desk.run(settler);
      await desk.advance(10 * SECOND);
      expect(reader.inspected.length).toBeLessThan(50);
    });

    test("changed since: the quiet time starts over", async () => {
      const { desk, settler } = await aSettler();
      const { id } = settling(desk, "scan.pdf", "d1");
      onDisk(desk, "scan.pdf", "d2");
      await desk.run(settler);
      expect(await desk.row(id)).toMatchObject({
        state: "settling",
        seen: { stamp: "d2" },
        dueAt: desk.clock.now() + 3 * SECOND,
      });
      await desk.advance(3 * SECOND);
      expect(await desk.row(id)).toMatchObject({ state: "pending", digest: "d2" });
    });

    test("gone: forgotten", async () => {
      const { desk, settler } = await aSettler();
      const { id } = settling(desk, "scan.pdf", "d1");
      desk.reader.files.delete("scan.pdf");
      await desk.run(settler);
      expect(await desk.journal.document(id)).toBeUndefined();
    });

    test("superseded meanwhile: forgotten, whatever the file looks like", async () => {
      const { desk, settler } = await aSettler();
      const { id } = settling(desk, "scan.pdf", "d1", { current: false });
      await desk.run(settler);
      expect(await desk.journal.document(id)).toBeUndefined();
    });

    test.for(["hold", "upload"] as const)(
      "unfinished by its format: after `incomplete` %s",
      async (stillIncomplete) => {
        const { desk, settler } = await aSettler({ mirrors: [{ stillIncomplete }] });
        const file = { completeness: "unfinished" } as const;
        const changedAt = desk.clock.now() - 3 * SECOND;
        const { id } = settling(desk, "scan.pdf", "d1", { file, changedAt });
        await desk.run(settler);
        expect(await desk.row(id)).toMatchObject({
          state: "settling",
          problem: { code: "FILE_UNFINISHED" },
        });
        await desk.advance(10 * MINUTE - 4 * SECOND);
        expect((await desk.row(id)).state).toBe("settling");
        await desk.advance(SECOND);
        const row = await desk.row(id);
        if (stillIncomplete === "hold") {
          const problem = { code: "FILE_INCOMPLETE" };
          expect(row).toMatchObject({ state: "held", problem, dueAt: null });
          return;
        }
        expect(row).toMatchObject({
          state: "pending",
          problem: null,
          attributes: { unfinished: true },
        });
        expect(row.remark).toContain("looks unfinished");
      },
    );

    test.for([
      ["held", HOUR, "nothing else sends it"],
      ["settling", 0, "its time to become whole is not over"],
    ] as const)(
      "unfinished, %s, and asked for: this content goes, as %s",
      async ([state, ageMs]) => {
        const { desk, settler } = await aSettler();
        const seen = { sizeBytes: 9, modifiedAt: desk.clock.now() - ageMs, stamp: "d1" };
        const file = { seen, completeness: "unfinished" } as const;
        const { id } = settling(desk, "scan.pdf", "d1", { file });
        await desk.run(settler);
        expect((await desk.row(id)).state).toBe(state);
        // A retry alone looks at it again, and finds what it found before.
        if (state === "held") await retryAll(desk.journal, [id], desk.clock.now());
        await desk.advance(0);
        expect((await desk.row(id)).state).toBe(state);
        await retryAll(desk.journal, [id], desk.clock.now(), true);
        desk.mirror().settling.small.notify();
        await desk.advance(0);
        const sentAnyway = { state: "pending", remark: ANYWAY, attributes: { unfinished: true } };
        expect(await desk.row(id)).toMatchObject(sentAnyway);
      },
    );

    test("asked for, and another before it went: what was asked for is not that content", async () => {
      const { desk, settler } = await aSettler();
      const old = { sizeBytes: 9, modifiedAt: desk.clock.now() - HOUR };
      const file = (stamp: string) =>
        ({ seen: { ...old, stamp }, completeness: "unfinished" }) as const;
      const { id } = settling(desk, "scan.pdf", "d1", { file: file("d1") });
      await desk.run(settler);
      await retryAll(desk.journal, [id], desk.clock.now(), true);
      onDisk(desk, "scan.pdf", "d2", file("d2"));
      desk.mirror().settling.small.notify();
      await desk.advance(10 * SECOND);
      const problem = { code: "FILE_INCOMPLETE" };
      expect(await desk.row(id)).toMatchObject({ state: "held", problem, remark: null });
      // Seen to be another before the row was asked for: the permission was for what the person saw.
      const before = await desk.row(id);
      const event = { type: "changed", at: desk.clock.now(), dueAt: desk.clock.now() } as const;
      const seen = onDisk(desk, "scan.pdf", "d3", file("d3"));
      await desk.journal.apply([{ type: "event", id, event: { ...event, seen } }]);
      await desk.journal.apply(retryOf(before, desk.clock.now(), true));
      await desk.advance(10 * SECOND);
      expect(await desk.row(id)).toMatchObject({ state: "held", remark: null });
    });

    test("asked for in the moment in which it is held: it is looked at again, and goes", async () => {
      const { desk, settler } = await aSettler();
      const seen = { sizeBytes: 9, modifiedAt: desk.clock.now() - HOUR, stamp: "d1" };
      const file = { seen, completeness: "unfinished" } as const;
      const problem = { code: "FILE_UNFINISHED", message: "looks unfinished" };
      const { id } = settling(desk, "scan.pdf", "d1", { file, problem });
      const apply = desk.journal.apply.bind(desk.journal);
      desk.journal.apply = async (changes) => {
        desk.journal.apply = apply;
        await retryAll(desk.journal, [id], desk.clock.now(), true);
        return apply(changes);
      };
      await desk.run(settler);
      expect(await desk.row(id)).toMatchObject({ state: "held", dueAt: desk.clock.now() });
    });

    test("unfinished, sent as it is, and touched: it is known, and neither sent nor held", async () => {
      const { desk, settler } = await aSettler();
      const { id: before } = sent(desk, "scan.pdf", "d1", { current: false });
      const seen = { sizeBytes: 1_000, modifiedAt: desk.clock.now() - HOUR, stamp: "d1, later" };
      const file = { seen, completeness: "unfinished" } as const;
      const { id } = settling(desk, "scan.pdf", "d1", { file, supersedes: before });
      await desk.run(settler);
      expect(await desk.journal.document(id)).toBeUndefined();
      expect(await desk.row(before)).toMatchObject({ current: true, state: "converted" });
    });

    test("due before it was quiet for long enough: it waits for that, whatever made it due", async () => {
      const { desk, settler } = await aSettler();
      const changedAt = desk.clock.now() - 2 * SECOND;
      const { id } = settling(desk, "scan.pdf", "d1", { changedAt });
      await desk.run(settler);
      const dueAt = desk.clock.now() + SECOND;
      expect(await desk.row(id)).toMatchObject({ state: "settling", dueAt });
      await desk.advance(SECOND);
      expect(await desk.row(id)).toMatchObject({ state: "pending", digest: "d1" });
    });

    test("seen before the start: whatever the clock says, it has to be quiet once more", async () => {
      const { desk, settler } = await aSettler({}, 0);
      const changedAt = desk.clock.now() - HOUR;
      const { id } = settling(desk, "scan.pdf", "d1", { changedAt });
      await desk.run(settler);
      expect(await desk.row(id)).toMatchObject({
        state: "settling",
        dueAt: desk.clock.now() + 3 * SECOND,
      });
      await desk.advance(2 * SECOND);
      onDisk(desk, "scan.pdf", "d2");
      await desk.advance(SECOND);
      expect(await desk.row(id)).toMatchObject({ state: "settling", seen: { stamp: "d2" } });
      await desk.advance(6 * SECOND - 1);
      expect((await desk.row(id)).state, "it was seen to grow for 3 s").toBe("settling");
      await desk.advance(1);
      expect(await desk.row(id)).toMatchObject({ state: "pending", digest: "d2" });
    });

    test("unfinished, but old: no short cut to sending, it is held as soon as it is known to be quiet", async () => {
      const { desk, settler } = await aSettler();
      const seen = { sizeBytes: 9, modifiedAt: desk.clock.now() - HOUR, stamp: "d1" };
      const file = { seen, completeness: "unfinished" } as const;
      const { id } = settling(desk, "scan.pdf", "d1", {
        file,
        changedAt: desk.clock.now() - 3_000,
      });
      await desk.run(settler);
      await desk.advance(3 * SECOND);
      const problem = { code: "FILE_INCOMPLETE" };
      expect(await desk.row(id)).toMatchObject({ state: "held", problem });
    });

    test("empty: it may grow for `incomplete`, then it is held for a person", async () => {
      const { desk, settler } = await aSettler();
      const seen = { sizeBytes: 0, modifiedAt: desk.clock.now(), stamp: "d1" };
      const file = { seen, completeness: "unfinished" } as const;
      const { id } = settling(desk, "scan.pdf", "d1", { file });
      await desk.run(settler);
      expect((await desk.row(id)).state).toBe("settling");
      await desk.advance(10 * MINUTE);
      expect(await desk.row(id)).toMatchObject({
        state: "held",
        problem: { code: "FILE_EMPTY" },
        dueAt: null,
      });
    });

    test("unreadable: held, with patience that grows", async () => {
      const { desk, settler } = await aSettler();
      const { id } = settling(desk, "scan.pdf", "d1");
      const problem = { code: "FILE_UNREADABLE", message: "no right to read" };
      desk.reader.files.set("scan.pdf", { kind: "unreadable", problem });
      await desk.run(settler);
      const waits = [];
      for (let round = 0; round < 4; round++) {
        const { state, dueAt } = await desk.row(id);
        expect(state).toBe("held");
        waits.push(((dueAt ?? 0) - desk.clock.now()) / SECOND);
        const event = { type: "recheck", at: desk.clock.now() } as const;
        await desk.journal.apply([{ type: "event", id, event }]);
        await desk.advance(0);
      }
      expect(waits).toEqual([30, 60, 120, 240]);
    });
  });

  describe("a reader that dies", () => {
    test.for([
      ["inspect", "while files are inspected"],
      ["look", "while it is looked where the original is"],
    ] as const)("in `%s`, %s: it is done again", async ([call]) => {
      const { desk, settler } = await aSettler();
      const original = sent(desk, "scan.pdf", "d1");
      const successor = settling(desk, "other.pdf", "d1");
      desk.reader.cutNext(call);
      await desk.run(settler);
      expect((await desk.row(successor)).state).toBe("settling");
      await desk.advance(SECOND);
      expect((await desk.row(original)).name).toBe("other.pdf");
    });

    test("with one file in hand, again and again: that file is held, and the others go on", async () => {
      const { desk, settler } = await aSettler();
      const ids = ["a", "b", "deadly", "c"].map((name) => settling(desk, `${name}.pdf`, name).id);
      const inspect = desk.reader.inspect.bind(desk.reader);
      let deaths = 0;
      desk.reader.inspect = async (mirrorId, files) => {
        if (files.some(({ path }) => path === "deadly.pdf")) {
          deaths += 1;
          throw new ChannelClosed("the reader ended: SIGKILL (did not answer)");
        }
        return inspect(mirrorId, files);
      };
      await desk.run(settler);
      await desk.advance(5 * SECOND);
      const states = await Promise.all(ids.map(async (id) => (await desk.row(id)).state));
      expect([states, deaths]).toEqual([["pending", "pending", "held", "pending"], 2]);
      const deadly = await desk.row(ids[2] ?? 0);
      expect(deadly).toMatchObject({ problem: { code: "FILE_UNREADABLE" } });
      expect(deadly.problem?.message).toMatch(/twice in a row.*did not answer/);
      expect(deadly.dueAt, "it is tried again").toBeGreaterThan(desk.clock.now());
    });

    test("what was sent while it was inspected a second time is not taken for a file that it was moved from", async () => {
      const { desk, settler } = await aSettler();
      const row = settling(desk, "scan.pdf", "d1");
      const inspect = desk.reader.inspect.bind(desk.reader);
      desk.reader.inspect = async (mirrorId, files) => {
        const { id, seen } = row;
        desk.put({ id, path: "scan.pdf", state: "uploading", digest: "d1", seen, dueAt: null });
        return inspect(mirrorId, files);
      };
      await desk.run(settler);
      expect(await desk.row(row)).toMatchObject({ state: "uploading", dir: "", name: "scan.pdf" });
    });

    test("what changed while it was inspected is not overwritten", async () => {
      const { desk, settler } = await aSettler();
      const { id } = settling(desk, "scan.pdf", "d1");
      const inspect = desk.reader.inspect.bind(desk.reader);
      desk.reader.inspect = async (mirrorId, files) => {
        const found = await inspect(mirrorId, files);
        const seen = onDisk(desk, "scan.pdf", "d2");
        const at = desk.clock.now();
        const event = { type: "changed", at, dueAt: at + 3 * SECOND, seen } as const;
        desk.reader.inspect = inspect;
        await desk.journal.apply([{ type: "event", id, event }]);
        return found;
      };
      await desk.run(settler);
      await desk.advance(3 * SECOND);
      expect(await desk.row(id)).toMatchObject({ state: "pending", digest: "d2" });
    });

    test.for([
      [
        "gone",
        "a row that is forgotten would be missed by nobody: its directory was listed with it",
      ],
      ["empty", "what is held as empty would never be looked at again"],
      ["a copy", "the new content would be taken for the one that was moved"],
    ] as const)("%s, and another by the time that this is journaled: %s", async ([was]) => {
      const { desk, settler } = await aSettler();
      const { id } = settling(desk, "scan.pdf", "d1");
      if (was === "gone") desk.reader.files.delete("scan.pdf");
      if (was === "empty") onDisk(desk, "scan.pdf", "d1", { seen: EMPTY });
      if (was === "a copy") sent(desk, "moved.pdf", "d1");
      const apply = desk.journal.apply.bind(desk.journal);
      desk.journal.apply = async (changes) => {
        desk.journal.apply = apply;
        const seen = onDisk(desk, "scan.pdf", "d2");
        const at = desk.clock.now();
        const event = { type: "changed", at, dueAt: at + 3 * SECOND, seen } as const;
        await apply([{ type: "event", id, event }]);
        return apply(changes);
      };
      await desk.run(settler);
      await desk.advance(3 * SECOND);
      expect(await desk.row(id)).toMatchObject({ state: "pending", digest: "d2" });
    });
  });
});

describe("settler archived", () => {
  describe("bytes that are in the archive already", () => {
    test("touched, not changed: nothing is sent, and the row is as it was", async () => {
      const { desk, settler } = await aSettler();
      const before = sent(desk, "scan.pdf", "d1", { current: false, goneAt: 5 });
      const seen = { sizeBytes: 1_000, modifiedAt: 9, stamp: "touched" };
      const successor = settling(desk, "scan.pdf", "d1", {
        supersedes: before.id,
        file: { seen },
      });
      await desk.run(settler);
      expect(await desk.row(before)).toEqual({ ...before, current: true, seen, goneAt: null });
      expect(await desk.journal.document(successor.id)).toBeUndefined();
    });

    test.for([
      [{ after: "done" }, "delete", "due", "it came back after it was moved or deleted"],
      [{ after: "refused" }, "delete", "due", "it was to go, and may be what was sent again"],
      [
        { after: null, afterMessage: GONE_ALREADY },
        "delete",
        "due",
        "it was to go, and was not there",
      ],
      [{ after: "due" }, "delete", "due", "it is still to go"],
      [{ after: null }, "delete", null, "it was archived under `keep`: nobody asked for it to go"],
      [{ after: "done" }, "keep", "done", "now files are kept"],
      [{ after: null }, "keep", null, "they always were"],
    ] as const)("touched, %o, after: %s: %s, since %s", async ([set, kind, expected]) => {
      const { desk, settler } = await aSettler({ mirrors: [{ after: { kind } }] });
      const before = sent(desk, "scan.pdf", "d1", { current: false, goneAt: 5, ...set });
      settling(desk, "scan.pdf", "d1", { supersedes: before.id });
      await desk.run(settler);
      expect(await desk.row(before)).toMatchObject({ after: expected, goneAt: null });
    });

    test.for([
      ["touched", "upload", () => "d1", 0],
      ["edited, which `changed: ignore` leaves alone,", "ignore", (n: number) => `edit ${n}`, 0],
      ["touched while it was being sent again", "upload", () => "d1", 1],
    ] as const)(
      "%s every night for a month: one line of history, counted",
      async ([, changed, digestIn, attempts]) => {
        const { desk, settler } = await aSettler({ mirrors: [{ changed }] });
        const { store } = desk.journal;
        const first = sent(desk, "scan.pdf", "d1");
        const rowsOf = (table: string) =>
          store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
        const size = () => ["documents", "history", "forgotten"].map(rowsOf);
        await desk.run(settler);
        const touch = async (night: number) => {
          store.put({ ...(await desk.row(first)), current: false });
          const seen = { sizeBytes: 1_000, modifiedAt: night, stamp: `night ${night}` };
          settling(desk, "scan.pdf", digestIn(night), {
            supersedes: first.id,
            attempts,
            file: { seen },
          });
          await desk.advance(24 * HOUR);
          expect(await desk.row(first)).toMatchObject({
            current: true,
            seen: { stamp: seen.stamp },
          });
        };
        await touch(1);
        const after = size();
        for (let night = 2; night <= 30; night++) await touch(night);
        expect(await desk.journal.history(first.id)).toMatchObject([{ event: "note", times: 30 }]);
        // What was sent in part tells its own story.
        expect(size()).toEqual(attempts === 0 ? after : [1, 31, 30]);
      },
    );

    test.for([
      ["/srv/scans/done/scan.pdf", "other", false, "the folder is not left out any more"],
      ["/srv/scans/done/scan.pdf; scan.pdf.yaml stayed: it is shut", "other", false, "so here"],
      ["/srv/scans/done/other.pdf", "other", true, "it is another file of the same content"],
      ["/srv/done/scan.pdf", "other", true, "the same"],
      ["/srv/done/scan.pdf", "d1", false, "it was moved back"],
      [null, "d1", true, "what was deleted can only be restored, as another document"],
    ] as const)(
      "moved or deleted at %s and found as %s in a folder of the source: sent %s, since %s",
      async ([afterMessage, stamp, isSent]) => {
        const { desk, settler } = await aSettler();
        const before = sent(desk, "scan.pdf", "d1", { after: "done", afterMessage, goneAt: 5 });
        const file = { seen: { ...before.seen, stamp } };
        const { id } = settling(desk, "done/scan.pdf", "d1", { file });
        await desk.run(settler);
        expect((await desk.journal.document(id))?.state).toBe(isSent ? "pending" : undefined);
        const moved = { dir: "done", after: "done", goneAt: null };
        expect(await desk.row(before)).toMatchObject(isSent ? before : moved);
      },
    );

    test("edited: sent as a document of its own, the one before stays", async () => {
      const { desk, settler } = await aSettler();
      const before = sent(desk, "scan.pdf", "d1", { current: false });
      const { id } = settling(desk, "scan.pdf", "d2", { supersedes: before.id });
      await desk.run(settler);
      expect(await desk.row(id)).toMatchObject({ state: "pending", digest: "d2" });
      expect(await desk.row(before)).toEqual(before);
    });

    test("edited under `changed: ignore`: not sent, with a remark; not looked at again", async () => {
      const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
      const before = sent(desk, "scan.pdf", "d1", { current: false });
      const successor = settling(desk, "scan.pdf", "d2", { supersedes: before.id });
      await desk.run(settler);
      expect(await desk.journal.document(successor.id)).toBeUndefined();
      const row = await desk.row(before);
      expect(row).toMatchObject({ current: true, seen: { stamp: "d2" }, digest: "d1" });
      expect(row.remark).toContain("changed: ignore");
    });

    test.for([
      [
        "3e8.1.1.11",
        -HOUR,
        "it was moved away before: it is followed, and what is in its place is new",
      ],
      ["3e8.5.5.12", HOUR, "written since it was sent, it is a copy"],
      ["3e8.1", -HOUR, "so on a share, where no inode tells a new file from an edit"],
      ["3e8.5", HOUR, "on a share, too, it is a copy"],
    ] as const)(
      "another file in its place under `changed: ignore`, found elsewhere as %s, modified %i ms after it was sent: %s",
      async ([stamp, afterMs, why]) => {
        const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
        const sentAt = desk.clock.now() - 2 * HOUR;
        const isShare = stamp.split(".").length === 2;
        const first = isShare ? "3e8.1" : "3e8.1.1.11";
        const was = { sizeBytes: 1_000, modifiedAt: sentAt - HOUR, stamp: first };
        const before = sent(desk, "scan.pdf", "d1", { current: false, seen: was, sentAt });
        const there = isShare ? "c8.3" : "c8.3.4.13";
        const other = { sizeBytes: 200, modifiedAt: sentAt, stamp: there };
        settling(desk, "scan.pdf", "d2", { supersedes: before.id, file: { seen: other } });
        await desk.run(settler);
        expect((await desk.row(before)).remark).toContain("changed: ignore");
        const seen = { sizeBytes: 1_000, modifiedAt: sentAt + afterMs, stamp };
        const { id } = settling(desk, "moved.pdf", "d1", { file: { seen } });
        desk.mirror().settling.small.notify();
        await desk.advance(SECOND);
        const isCopy = why.includes("copy");
        expect((await desk.journal.document(id))?.state).toBe(isCopy ? "pending" : undefined);
        const row = isCopy ? { name: "scan.pdf" } : { name: "moved.pdf", remark: null };
        expect(await desk.row(before)).toMatchObject(row);
      },
    );

    test.for([
      ["uploading", {}, "its size will tell it from others, should the reply be lost"],
      ["inDoubt", { doubtAt: 1 }, "its size tells it from others"],
      ["held", { doubtAt: 1 }, "it is in doubt all the same"],
    ] as const)("edited under `changed: ignore` while %s: waits, since %3$s", async (row) => {
      const [state, set] = row;
      const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
      const before = sent(desk, "scan.pdf", "d1", {
        state,
        current: false,
        documentId: null,
        ...set,
      });
      const { id } = settling(desk, "scan.pdf", "d2", { supersedes: before.id });
      await desk.run(settler);
      expect(await desk.row(before)).toEqual(before);
      expect((await desk.row(id)).state).toBe("settling");
      desk.journal.store.put({ ...before, state: "uploaded", documentId: 7, doubtAt: null });
      await desk.advance(10_000);
      expect(await desk.journal.document(id)).toBeUndefined();
      expect((await desk.row(before)).remark).toContain("changed: ignore");
    });

    test.for([
      ["settling", { digest: null, dueAt: 9e15 }, "its upload was torn down as the file changed"],
      ["pending", { digest: "d1", dueAt: 9e15 }, "it was given back"],
      ["held", { digest: "d1", dueAt: null }, "it was refused"],
    ] as const)("a successor of what was never sent, %s, is sent: %3$s", async ([state, set]) => {
      const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
      const never = { state, current: false, documentId: null, ...set };
      const before = sent(desk, "scan.pdf", "d1", never);
      const { id } = settling(desk, "scan.pdf", "d2", { supersedes: before.id });
      await desk.run(settler);
      expect((await desk.row(id)).state).toBe("pending");
    });

    describe("a path that is written again and again", () => {
      /** So many contents of it were sent, a minute after one another, and another one is there. */
      async function aRewrite(
        sentBefore: number,
        set: Partial<Document> = {},
        mirror: object = {},
      ) {
        const { desk, settler } = await aSettler({ mirrors: [mirror] });
        let supersedes: number | null = null;
        const now = desk.clock.now();
        for (let n = sentBefore; n > 0; n--) {
          const columns = { current: false, supersedes, sentAt: now - n * MINUTE, ...set };
          const { id }: Document = sent(desk, "state.db", `d${n}`, columns);
          supersedes = id;
        }
        const row = settling(desk, "state.db", "now", { supersedes });
        await desk.run(settler, new Held(desk.context, ...(await folders(desk))));
        return { desk, row, state: async () => (await desk.row(row)).state };
      }
      async function folders(desk: SyncDesk): Promise<[Folders, Placement]> {
        const all = new Folders(desk.archive);
        return [all, new Placement(all)];
      }

      test.for([
        [4, {}, {}, "pending", "five within an hour are sent"],
        [5, {}, {}, "held", "more are not"],
        [5, { sentAt: 1 }, {}, "pending", "they were sent long ago"],
        [5, { sentAt: 9e15 }, {}, "held", "the clock was set back since"],
        [
          5,
          { goneAt: 5 },
          {},
          "pending",
          "the name was free in between: each is a file of its own",
        ],
        [5, { after: "done" }, {}, "pending", "each was moved or deleted"],
        [5, {}, { changesPerHour: 6 }, "pending", "so it is configured"],
        [1, {}, { changesPerHour: 1 }, "held", "so it is configured"],
      ] as const)(
        "%i contents sent, %o, %o: %s, for %s",
        async ([before, set, mirror, expected]) => {
          const { desk, row, state } = await aRewrite(before, set, mirror);
          expect(await state()).toBe(expected);
          if (expected !== "held") return;
          const { problem, dueAt } = await desk.row(row);
          expect(problem?.code).toBe("CHANGED_TOO_OFTEN");
          expect(failureOf(problem?.code ?? "").hint).toMatch(/`exclude`.*`changesPerHour`/);
          expect(dueAt).toBeLessThanOrEqual(desk.clock.now() + HOUR);
        },
      );

      test("it continues automatically once the first of them was sent an hour ago", async () => {
        const { desk, state } = await aRewrite(5);
        await desk.advance(54 * MINUTE);
        expect(await state()).toBe("held");
        await desk.advance(MINUTE);
        expect(await state()).toBe("pending");
      });

      test("a person's word sends what is there; what is written after that is held again", async () => {
        const { desk, row, state } = await aRewrite(5);
        await retryAll(desk.journal, [row.id], desk.clock.now());
        await desk.advance(0);
        expect(await state()).toBe("pending");
        const { id } = row;
        const event = { at: desk.clock.now(), dueAt: desk.clock.now(), seen: row.seen } as const;
        await desk.journal.apply([{ type: "event", id, event: { type: "changed", ...event } }]);
        await desk.advance(10 * SECOND);
        expect(await state()).toBe("held");
      });
    });

    describe("what was edited under `changed: ignore`", () => {
      /** A sent file that was edited and left alone since, with the bytes `d2`. */
      async function anIgnored(changed: "ignore" | "upload" = "ignore", stamps = ["d1", "d2"]) {
        const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
        const [was, is] = stamps.map((stamp) => ({ sizeBytes: 1_000, modifiedAt: 1, stamp }));
        const set = { current: false, ...(was && { seen: was }) };
        const before = sent(desk, "2026/scan.pdf", "d1", set);
        const file = is && { seen: is };
        settling(desk, "2026/scan.pdf", "d2", { supersedes: before.id, ...(file && { file }) });
        await desk.run(settler);
        expect((await desk.row(before)).remark).toContain("changed: ignore");
        Object.assign(desk.mirror().settings, { changed });
        const again = async (path: string, digest: string, supersedes: number | null = null) => {
          const { id } = settling(desk, path, digest, { supersedes });
          desk.mirror().settling.small.notify();
          await desk.advance(SECOND);
          return (await desk.journal.document(id))?.state;
        };
        return { desk, before, again };
      }

      test.for([
        [["d1", "d2"], "edited"],
        [["3e8.1", "3e8.2"], "on a share"],
        [["3e8.1.1.11", "3e8.2.3.12"], "another file of its name"],
      ] as const)(
        "is not sent when its folder is renamed, %o, %s: its row follows, with the remark",
        async ([stamps]) => {
          const { desk, before, again } = await anIgnored("ignore", [...stamps]);
          desk.reader.files.delete("2026/scan.pdf");
          expect(await again("2027/scan.pdf", "d2")).toBeUndefined();
          const row = await desk.row(before);
          expect(row).toMatchObject({ dir: "2027", digest: "d1", current: true });
          expect(row.remark).toContain("changed: ignore");
        },
      );

      test("is not sent when a backup puts it back where it was removed", async () => {
        const { desk, before, again } = await anIgnored();
        const row = await desk.row(before);
        desk.journal.store.put({ ...row, current: false, goneAt: 5 });
        expect(await again("2026/scan.pdf", "d2", before.id)).toBeUndefined();
        expect(await desk.row(before)).toMatchObject({ current: true, goneAt: null });
      });

      test.for([
        ["d3", "ignore", "another content of another name"],
        ["d2", "upload", "edits are wanted by now"],
      ] as const)("elsewhere with %s, changed: %s, it is sent: %s", async ([digest, changed]) => {
        const { desk, again } = await anIgnored(changed);
        desk.reader.files.delete("2026/scan.pdf");
        expect(await again("2027/scan.pdf", digest)).toBe("pending");
      });

      test("is sent as a copy next to it", async () => {
        const { again } = await anIgnored();
        expect(await again("2027/scan.pdf", "d2")).toBe("pending");
      });
    });

    // Base 36: "ctime" 10 is 36 ns after 1970.
    test.for([
      ["1.20.20.7", 1, "pending", "born since, under that name"],
      ["1.20.20.8", 1, "pending", "the same, with another inode"],
      ["1.20.20.8", undefined, "pending", "born nobody knows when, with another inode"],
      ["1.20.20.7", undefined, "converted", "born nobody knows when, with the same inode"],
      ["1.20.20.7", 0.00001, "converted", "written in place"],
      ["1.20.21.8", 1, "converted", "renamed over it, as programs save"],
      ["1.20", undefined, "converted", "on a share nothing tells"],
    ] as const)(
      "under `changed: ignore`, %s born at %s is %s after 1.10.10.7: %s",
      async ([stamp, bornAt, state]) => {
        const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
        const was = { sizeBytes: 1_000, modifiedAt: 0, stamp: "1.10.10.7" };
        const before = sent(desk, "scan.pdf", "d1", { current: false, seen: was });
        const seen = { sizeBytes: 1_000, modifiedAt: desk.clock.now(), stamp };
        const file = { seen, ...(bornAt === undefined ? {} : { bornAt }) };
        settling(desk, "scan.pdf", "d2", { supersedes: before.id, file });
        await desk.run(settler);
        expect(desk.states().at(-1)).toBe(state);
      },
    );

    test("a name that was free again and is used again is no edit: it is sent", async () => {
      const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
      const before = sent(desk, "scan.pdf", "d1", { current: false, goneAt: 5 });
      const { id } = settling(desk, "scan.pdf", "d2", { supersedes: before.id });
      await desk.run(settler);
      expect((await desk.row(id)).state).toBe("pending");
    });

    test.for([
      ["2026/other.pdf", "renamed"],
      ["2027/scan.pdf", "moved"],
      ["2027/other.pdf", "both"],
    ] as const)("%s: %s, so the row follows and nothing is sent", async ([path]) => {
      const { desk, settler } = await aSettler();
      const original = sent(desk, "2026/scan.pdf", "d1");
      const successor = settling(desk, path, "d1");
      await desk.run(settler);
      expect(await desk.journal.document(successor.id)).toBeUndefined();
      expect(await desk.journal.currentAt(1, successorPath(successor))).toMatchObject({
        id: original.id,
        state: "converted",
        movedFrom: "2026/scan.pdf",
        seen: successor.seen,
      });
    });

    test("what it left is listed again: a file that comes back there just as it was is another one", async () => {
      const { desk, settler } = await aSettler();
      sent(desk, "2026/scan.pdf", "d1");
      settling(desk, "2027/scan.pdf", "d1");
      const dir = rawOfText("2026");
      await desk.journal.apply([{ type: "directory", mirrorId: 1, dir, fingerprint: "print" }]);
      await desk.run(settler);
      expect(await desk.journal.directories(1)).not.toContainEqual([dir, "print"]);
      expect(desk.reader.unlearned).toEqual([dir]);
    });

    test("a copy: the original is where it was, so it is sent too", async () => {
      const { desk, settler } = await aSettler();
      sent(desk, "scan.pdf", "d1");
      onDisk(desk, "scan.pdf", "d1");
      const copy = settling(desk, "copy.pdf", "d1");
      await desk.run(settler);
      expect((await desk.row(copy)).state).toBe("pending");
    });

    test("renamed, and copied besides: one is the original, the other is sent", async () => {
      const { desk, settler } = await aSettler();
      const original = sent(desk, "scan.pdf", "d1");
      settling(desk, "one.pdf", "d1");
      settling(desk, "two.pdf", "d1");
      await desk.run(settler);
      const rows = desk.journal.store.rows;
      expect(rows.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
        "one.pdf converted",
        "two.pdf pending",
      ]);
      expect((await desk.row(original)).name).toBe("one.pdf");
    });

    test("two that were sent are renamed at once: each is followed", async () => {
      const { desk, settler } = await aSettler();
      sent(desk, "a.pdf", "d1");
      sent(desk, "b.pdf", "d1");
      settling(desk, "c.pdf", "d1");
      settling(desk, "d.pdf", "d1");
      await desk.run(settler);
      const rows = desk.journal.store.rows;
      expect(rows.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
        "c.pdf converted",
        "d.pdf converted",
      ]);
    });

    test.for([
      ["uploading", "its upload goes on under the old name"],
      ["inDoubt", "it is looked for under the name it was sent with"],
      ["uploaded", "its conversion is followed by its id"],
    ] as const)("the one that was renamed is %s: followed, because %s", async ([state]) => {
      const { desk, settler } = await aSettler();
      const documentId = state === "uploaded" ? 9 : null;
      const original = sent(desk, "scan.pdf", "d1", { state, documentId });
      settling(desk, "other.pdf", "d1");
      await desk.run(settler);
      expect(await desk.row(original)).toMatchObject({ state, name: "other.pdf", current: true });
      expect(desk.states()).toEqual([state]);
    });

    test("renamed while its upload was torn down, it is sent under the new name, and was never moved", async () => {
      const { desk, settler } = await aSettler();
      const { id } = settling(desk, "other.pdf", "d1", { movedFrom: "scan.pdf" });
      await desk.run(settler);
      expect(await desk.row(id)).toMatchObject({ sentName: "other.pdf", movedFrom: null });
    });

    test("moved or deleted by its after-action, it is no original: the same bytes again are sent", async () => {
      const { desk, settler } = await aSettler({ mirrors: [{ after: { kind: "delete" } }] });
      sent(desk, "scan.pdf", "d1", { after: "done", goneAt: 5 });
      const { id } = settling(desk, "again.pdf", "d1");
      await desk.run(settler);
      expect((await desk.row(id)).state).toBe("pending");
    });

    test.for([
      ["Scans/scan.pdf", "Scans/SCAN.pdf", "another name in letter case alone"],
      ["Scans/scan.pdf", "scans/scan.pdf", "its folder's name"],
      ["e\u0301.pdf", "\u00e9.pdf", "another composition"],
    ] as const)(
      "%s that became %s is followed, where it is still found by %s",
      async ([was, is]) => {
        const { desk, settler } = await aSettler();
        const original = sent(desk, was, "d1");
        settling(desk, is, "d1");
        desk.reader.otherwiseSpelt.set(rawOfText(was), rawOfText(is));
        await desk.run(settler);
        const { dir, name } = await desk.row(original);
        expect(joinRaw(dir, name)).toBe(rawOfText(is));
        expect(desk.states()).toEqual(["converted"]);
      },
    );

    test("two files whose names differ in letter case alone are two documents", async () => {
      const { desk, settler } = await aSettler();
      sent(desk, "scan.pdf", "d1");
      onDisk(desk, "scan.pdf", "d1");
      const { id } = settling(desk, "SCAN.pdf", "d1");
      await desk.run(settler);
      expect((await desk.row(id)).state).toBe("pending");
    });

    test("gone before it could be moved or deleted, it was moved: followed, and moved or deleted where it is", async () => {
      const { desk, settler } = await aSettler({ mirrors: [{ after: { kind: "delete" } }] });
      const original = sent(desk, "scan.pdf", "d1", { after: null, afterMessage: GONE_ALREADY });
      settling(desk, "moved.pdf", "d1");
      await desk.run(settler);
      expect(await desk.row(original)).toMatchObject({ name: "moved.pdf", after: "due" });
      expect(desk.states()).toEqual(["converted"]);
    });

    test.for([
      [
        "moved or deleted for good",
        { kind: "done" },
        null,
        "the copy is sent as a document of its own",
      ],
      ["of other content", CHANGED, onDisk, "it is back, and so the other is a copy: it is sent"],
      ["moved", { kind: "gone" }, null, "it is the same file: nothing is sent"],
    ] as const)("the original is in hand and %s", async ([, acted, back]) => {
      const { desk, afterLoop, settler } = await inHand();
      const original = sent(desk, "scan.pdf", "d1", { state: "uploaded" });
      const ended = Promise.withResolvers<Acted>();
      desk.reader.onAct = () => ended.promise;
      await desk.run(afterLoop);
      expect(desk.reader.acted).toEqual(["scan.pdf"]);
      const { id } = settling(desk, "other.pdf", "d1");
      await desk.run(settler);
      await desk.advance(10 * SECOND);
      expect(await desk.row(id)).toMatchObject({ state: "settling" });
      back?.(desk, "scan.pdf", "d1");
      if (acted.kind === "done") desk.journal.store.put({ ...original, after: "done" });
      ended.resolve(acted);
      await desk.advance(2 * SECOND);
      const states =
        acted.kind === "gone" ? ["converted", "uploaded"] : ["converted", "uploaded", "pending"];
      expect(desk.states()).toEqual(states);
    });
  });

  const CHANGED = { kind: "refused", problem: { code: "FILE_CHANGED", message: "so" } } as const;

  /** `scan.pdf` was sent, edited, and sent again; the after-action of the first content is due. */
  async function inHand() {
    const { desk, settler, afterActions } = await aSettler({
      mirrors: [{ after: { kind: "delete" } }],
    });
    const folderId = desk.archive.addFolder("Scans");
    const documentId = desk.archive.addDocument({
      folderId,
      filename: "scan.pdf",
      status: "CONVERTED",
    });
    const earlier = { current: false, documentId, folderId, after: "due", dueAt: null } as const;
    sent(desk, "scan.pdf", "d0", earlier);
    return { desk, settler, afterLoop: new AfterLoop(desk.context, afterActions) };
  }

  function successorPath({ dir, name }: Document) {
    return (dir === "" ? name : `${dir}/${name}`) as Document["name"];
  }

  describe("archived already, and renamed since the rules ask for more", () => {
    const waiting = (code: "SIDECAR_MISSING" | "MARKER_MISSING" | "NOT_RENAMED") => ({
      kind: "waits" as const,
      problem: { code, message: "it is not there" },
    });

    test.for([
      [{ maxBytes: 10 }, {}, "larger than what is sent"],
      [{ minBytes: 10_000 }, {}, "smaller"],
      [{ minAgeMs: HOUR }, {}, "younger"],
      [{}, { completeness: "unfinished" }, "unfinished by its format"],
    ] as const)("%o, %o: its row follows, and nothing is held: %s", async ([ready, file]) => {
      const rules = { ...NO_RULES, ready: { ...NO_RULES.ready, ...ready } };
      const { desk, settler } = await aSettler({ mirrors: [{ rules }] });
      const before = sent(desk, "old.pdf", "d1");
      const { id } = settling(desk, "new.pdf", "d1", { file });
      await desk.run(settler);
      expect(await desk.journal.document(id)).toBeUndefined();
      expect(await desk.row(before)).toMatchObject({ name: "new.pdf", current: true });
    });

    test("an edit that `changed: ignore` leaves alone is not held by a rule either", async () => {
      const rules = { ...NO_RULES, ready: { ...NO_RULES.ready, maxBytes: 10 } };
      const { desk, settler } = await aSettler({ mirrors: [{ rules, changed: "ignore" }] });
      const before = sent(desk, "scan.pdf", "d1", { current: false });
      settling(desk, "scan.pdf", "d2", { supersedes: before.id });
      await desk.run(settler);
      expect(desk.states()).toEqual(["converted"]);
      expect((await desk.row(before)).remark).toContain("changed: ignore");
    });

    test.for(["SIDECAR_MISSING", "MARKER_MISSING", "NOT_RENAMED"] as const)(
      "%s: what waits for it is read once, to see whether it is archived",
      async (code) => {
        const { desk, settler } = await aSettler();
        const before = sent(desk, "old.pdf", "d1");
        for (const [name, digest] of [
          ["renamed.pdf", "d1"],
          ["new.pdf", "d2"],
        ] as const) {
          const { seen } = settling(desk, name, digest);
          desk.reader.files.set(name, { ...waiting(code), seen });
          desk.reader.alone.set(name, { seen, digest });
        }
        await desk.run(settler);
        expect(await desk.row(before)).toMatchObject({ name: "renamed.pdf", current: true });
        expect(desk.states()).toEqual(["converted", "held"]);
        expect(desk.reader.inspected.filter((path) => path === "new.pdf")).toHaveLength(2);
      },
    );
  });

  describe("bytes that another mirror of the archive has sent", () => {
    const there = { path: "/Scans" };

    test("of a former mirror, to be moved or deleted once that was back: it is due at once", async () => {
      const { desk, settler } = await aSettler({ mirrors: [{ after: { kind: "delete" } }] });
      const { id: mirrorId } = await desk.journal.mirror("former", "/srv/former");
      const dueAt = desk.clock.now() + 24 * HOUR;
      const putOff = { after: "due", afterMessage: NO_MIRROR, dueAt } as const;
      const row = sent(desk, "scan.pdf", "d1", { mirrorId, targetPath: "/Scans", ...putOff });
      settling(desk, "scan.pdf", "d1", { file: { seen: { ...row.seen, stamp: "here" } } });
      await desk.run(settler);
      const due = { mirrorId: 1, after: "due", afterMessage: null, dueAt: desk.clock.now() };
      expect(await desk.row(row)).toMatchObject(due);
    });

    const GONE = { goneAt: 5 };
    const AFTER_ACTION = {
      after: "done",
      afterMessage: "/srv/done/scan.pdf",
      seen: { sizeBytes: 1_000, modifiedAt: 0, stamp: "here" },
    } as const;

    test.for([
      [{}, GONE, "there", "moved", "moved from there, as within a mirror"],
      [{}, {}, "there", "waits", "its own scan has to tell that the file is gone"],
      [{}, GONE, "away", "held", "nobody knows for how long its source is away"],
      [
        {},
        { ...GONE, after: "done" },
        "there",
        "sent",
        "it was moved or deleted: this is another file",
      ],
      [{}, { ...GONE, ...AFTER_ACTION }, "there", "moved", "it was moved from where it was put"],
      [{}, { ...GONE, duplicateOf: 1 }, "there", "sent", "the document is another row's"],
      [{ target: { path: "/Other" } }, GONE, "there", "sent", "another folder is wanted here"],
      [{}, {}, "copied", "sent", "it is still there: this is a copy"],
      [{}, {}, "former", "moved", "that mirror is not configured any more"],
      [{ target: { path: "/Other" } }, {}, "former", "sent", "and another folder is wanted here"],
      [{}, {}, "former, and another away", "held", "there it may be, and this is a copy"],
      [{ target: { path: "/" } }, {}, "former", "moved", "merged into one over both"],
      [{}, { targetPath: "/Scans/b" }, "former", "moved", "and its document is where it would go"],
    ] as const)("%o, its row %o, %s: %s, since %s", async ([mirror, set, where, expected]) => {
      const { desk, settler } = await aSettler({
        mirrors: [
          { target: there, ...mirror },
          { source: "/srv/b", target: there },
        ],
      });
      const other = where.startsWith("former")
        ? await desk.journal.mirror("former", "/srv/former")
        : undefined;
      const mirrorId = other?.id ?? 2;
      const row = sent(desk, "a/scan.pdf", "d1", { mirrorId, targetPath: "/Scans/a", ...set });
      const file = { seen: row.seen, digest: "d1" };
      if (where === "copied") desk.readerOf(2).files.set(joinRaw(row.dir, row.name), file);
      if (where.endsWith("away")) desk.readerOf(2).silent = true;
      const seen = { ...row.seen, stamp: "here" };
      const { id } = settling(desk, "b/scan.pdf", "d1", { file: { seen } });
      await desk.run(settler);
      const now = await desk.journal.document(id);
      const at = row.targetPath === "/Scans/b" ? null : expect.any(Number);
      const follows = { mirrorId: 1, dir: "b", movedFrom: "a/scan.pdf", movedAt: at, goneAt: null };
      if (expected === "moved") expect(await desk.row(row)).toMatchObject(follows);
      else expect(await desk.row(row)).toEqual(row);
      expect(now?.state).toBe(
        { moved: undefined, waits: "settling", held: "held", sent: "pending" }[expected],
      );
    });

    test.for([
      ["away", "held", "nobody can look whether it is there"],
      ["gone", "settling", "its own scan has to tell that the file is gone"],
      ["there", "pending", "whatever it is by now, this is a copy of what it was"],
    ] as const)(
      "touched, which its mirror has not judged yet, %s: %s, since %s",
      async ([where, expected]) => {
        const mirrors = [{ target: there }, { source: "/srv/b", target: there }];
        const { desk, settler } = await aSettler({ mirrors });
        const place = { path: "scan.pdf", mirrorId: 2, targetPath: "/Scans" };
        const row = sent(desk, "scan.pdf", "d1", { ...place, current: false });
        desk.put({ ...place, state: "held", digest: null, supersedes: row.id, dueAt: null });
        const reader = desk.readerOf(2);
        const file = { seen: { ...row.seen, stamp: "touched" }, digest: "d1" };
        if (where === "there") reader.files.set(rawOfText("scan.pdf"), file);
        if (where === "away") reader.silent = true;
        const seen = { ...row.seen, stamp: "moved" };
        const { id } = settling(desk, "scan.pdf", "d1", { file: { seen } });
        await desk.run(settler);
        expect((await desk.journal.document(id))?.state).toBe(expected);
      },
    );

    test("an ignored edit of what the archive has no more, moved: it is sent, instead of being looked at on and on", async () => {
      const { desk, settler } = await aSettler({ mirrors: [{ changed: "ignore" }] });
      const failed = { state: "failed", ignoredDigest: "d2" } as const;
      const row = sent(desk, "a/scan.pdf", "d1", failed);
      const { id } = settling(desk, "b/scan.pdf", "d2", { file: { seen: row.seen } });
      await desk.run(settler);
      expect((await desk.journal.document(id))?.state).toBe("pending");
    });

    describe("which is not configured any more", () => {
      async function aFormer() {
        const { desk, settler } = await aSettler({ mirrors: [{ target: there }] });
        const { id: mirrorId } = await desk.journal.mirror("former", "/srv/former");
        return { desk, settler, former: { mirrorId, targetPath: "/Scans" } };
      }

      test.for([
        ["settling", "moved", "that mirror never saw whether its content had changed"],
        [
          "held",
          "moved",
          "it could not be read, so that nobody saw whether its content had changed",
        ],
        ["pending", "sent", "its content had changed: these bytes stand there no more"],
      ] as const)("touched as that ended, then %s: %s, since %s", async ([state, expected]) => {
        const { desk, settler, former } = await aFormer();
        const row = sent(desk, "scan.pdf", "d1", { ...former, current: false });
        const digest = state === "pending" ? "d2" : null;
        desk.put({ path: "scan.pdf", state, digest, supersedes: row.id, dueAt: null, ...former });
        const seen = { ...row.seen, stamp: "touched" };
        const { id } = settling(desk, "scan.pdf", "d1", { file: { seen } });
        await desk.run(settler);
        const now = await desk.journal.document(id);
        expect(now?.state).toBe(expected === "moved" ? undefined : "pending");
      });

      test.for([
        ["ended just now", "/srv/former", "settling", "its lease is not over"],
        ["ended long ago", "/srv/former", undefined, "nobody has that mirror"],
        ["runs", "/srv/scans", "settling", "that source has two names by now"],
        ["runs", "/srv/former", "pending", "that is another host's file"],
      ] as const)(
        "a daemon that has it %s, its source is %s: %s, since %s",
        async ([what, source, expected]) => {
          const former = { name: "former", source, target: there };
          const other = await SyncDesk.open({ instance: "other", mirrors: [former] });
          const row = sent(other, "scan.pdf", "d1", { targetPath: "/Scans" });
          if (what !== "runs") other.cluster?.die();
          if (what === "ended long ago") await other.advance(20_000);
          const mirrors = [{ name: "now", target: there }];
          const { desk, settler } = await aSettler(
            { instance: "one", beside: other, mirrors },
            10_000,
          );
          const seen = { ...row.seen, stamp: "touched" };
          desk.readerOf(2).files.set(rawOfText("scan.pdf"), { seen, digest: "d1" });
          const unknown = { digest: null, sentName: null, targetPath: null, sentAt: null };
          const changedAt = desk.clock.now() - 10_000;
          const file = { path: "scan.pdf", mirrorId: 2, seen, changedAt, ...unknown };
          const { id } = desk.put({ ...file, state: "settling" });
          await desk.run(settler);
          expect((await desk.journal.document(id))?.state).toBe(expected);
        },
      );

      test("of two rows with these bytes the one that stood here is this file", async () => {
        const { desk, settler, former } = await aFormer();
        const other = sent(desk, "other.pdf", "d1", former);
        const row = sent(desk, "scan.pdf", "d1", former);
        const file = { seen: { ...row.seen, stamp: "touched" } };
        const { id } = settling(desk, "scan.pdf", "d1", { file });
        await desk.run(settler);
        expect(await desk.journal.document(id)).toBeUndefined();
        expect(await desk.row(row)).toMatchObject({ mirrorId: 1, name: "scan.pdf" });
        expect(await desk.row(other)).toEqual(other);
      });

      test("a copy of a file that another mirror has now is not that file", async () => {
        const mirrors = [{ target: there }, { source: "/srv/b", target: there }];
        const { desk, settler } = await aSettler({ mirrors });
        const { id: mirrorId } = await desk.journal.mirror("former", "/srv/former");
        const row = sent(desk, "scan.pdf", "d1", { mirrorId, targetPath: "/Scans" });
        desk.readerOf(2).files.set(rawOfText("scan.pdf"), { seen: row.seen, digest: "d1" });
        const seen = { ...row.seen, stamp: "written later" };
        const copy = settling(desk, "scan.pdf", "d1", { file: { seen } });
        await desk.run(settler);
        expect(await desk.row(row)).toEqual(row);
        expect(await desk.row(copy)).toMatchObject({ state: "pending" });
      });

      test("a copy of a file that is in its place is not that file", async () => {
        const { desk, settler, former } = await aFormer();
        const row = sent(desk, "scan.pdf", "d1", former);
        const seen = { ...row.seen, stamp: "written later" };
        const copy = settling(desk, "copy.pdf", "d1", { file: { seen } });
        const own = settling(desk, "scan.pdf", "d1", { file: { seen: row.seen } });
        await desk.run(settler);
        expect(await desk.row(row)).toMatchObject({ mirrorId: 1, name: "scan.pdf" });
        expect(await desk.journal.document(own.id)).toBeUndefined();
        expect(await desk.row(copy)).toMatchObject({ state: "pending" });
      });
    });
  });
});

/** Names that are used again: what had one before is known elsewhere by its file, and is not sent again. */
describe("settler names", () => {
  /** A local stamp: size, mtime, ctime and inode. */
  const seenAs = (inode: string, ctime = "1", mtime = "5"): Seen => {
    return { sizeBytes: 1_000, modifiedAt: 5, stamp: `1000.${mtime}.${ctime}.${inode}` };
  };
  const network: Seen = { ...seenAs("i"), stamp: "1000.5" };

  /** `scan.pdf` was sent, and has been another file since, which is settling too. */
  function usedAgain(desk: SyncDesk, set: Partial<Document> = {}) {
    const before = sent(desk, "scan.pdf", "d1", { seen: seenAs("i"), current: false, ...set });
    const file = { seen: { ...seenAs("new"), modifiedAt: 6 } };
    const again = settling(desk, "scan.pdf", "d2", { supersedes: before.id, file });
    return { before, again };
  }

  describe("a name that is used again", () => {
    test("its file before was renamed: that row follows it, and the new content is no edit of it", async () => {
      const { desk, settler } = await aSettler();
      const { before, again } = usedAgain(desk);
      const { id } = settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2") } });
      await desk.run(settler);
      expect(await desk.journal.document(id)).toBeUndefined();
      const followed = {
        name: "kept.pdf",
        current: true,
        movedFrom: "scan.pdf",
        state: "converted",
      };
      expect(await desk.row(before)).toMatchObject(followed);
      expect(await desk.row(again)).toMatchObject({ state: "pending", supersedes: null });
    });

    // Base 36: the ctime 1 is a nanosecond after 1970.
    test.for([
      [seenAs("i", "2"), {}, false, "a rename changes the ctime alone"],
      [network, {}, false, "a network stamp knows no more"],
      [seenAs("copy", "2"), {}, true, "a copy that was given its time has another inode"],
      [seenAs("i", "2", "6"), {}, true, "its inode may have been given to another file"],
      [seenAs("i", "2", "6"), { bornAt: 1 }, true, "it was: this one was born later"],
      [seenAs("i", "2", "6"), { bornAt: 0 }, false, "it was not: it was renamed and touched"],
      [seenAs("copy", "2", "6"), { bornAt: 0 }, true, "an old file that was given its bytes"],
      [{ ...network, stamp: "1000.6" }, { bornAt: 0 }, true, "a copy has another time"],
    ] as const)("the same bytes elsewhere, %o %o: sent %s, since %s", async (line) => {
      const [seen, born, isSent] = line;
      const { desk, settler } = await aSettler();
      const { before } = usedAgain(desk);
      const { id } = settling(desk, "kept.pdf", "d1", { file: { seen, ...born } });
      await desk.run(settler);
      expect((await desk.journal.document(id))?.state).toBe(isSent ? "pending" : undefined);
      expect((await desk.row(before)).current).toBe(!isSent);
    });

    test("two sent files have changed places: each row follows, and nothing is sent", async () => {
      const { desk, settler } = await aSettler();
      const a = sent(desk, "a.pdf", "d1", { current: false, seen: seenAs("i") });
      const b = sent(desk, "b.pdf", "d2", { current: false, seen: seenAs("j") });
      settling(desk, "a.pdf", "d2", { supersedes: a.id, file: { seen: seenAs("j", "2") } });
      settling(desk, "b.pdf", "d1", { supersedes: b.id, file: { seen: seenAs("i", "2") } });
      await desk.run(settler);
      expect(desk.states()).toEqual(["converted", "converted"]);
      expect(await desk.row(a)).toMatchObject({ name: "b.pdf", current: true });
      expect(await desk.row(b)).toMatchObject({ name: "a.pdf", current: true });
    });

    test.for([
      [seenAs("new"), "5", false, "another file has its name, which is not journaled yet"],
      [seenAs("i", "2"), "5", true, "it is there: the other is a link to it"],
      [seenAs("new"), "6", false, "renamed, touched, and its name used again"],
      [seenAs("i", "2", "6"), "6", true, "touched, and linked"],
    ] as const)(
      "its name is not known to be used again, %o there, of time %s here: sent %s, since %s",
      async ([seen, mtime, isSent]) => {
        const { desk, settler } = await aSettler();
        const before = sent(desk, "scan.pdf", "d1", { seen: seenAs("i") });
        onDisk(desk, "scan.pdf", "d2", { seen });
        settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2", mtime), bornAt: 0 } });
        await desk.run(settler);
        expect(desk.states()).toEqual(isSent ? ["converted", "pending"] : ["converted"]);
        expect((await desk.row(before)).name).toBe(isSent ? "scan.pdf" : "kept.pdf");
      },
    );

    test.for([
      [{}, seenAs("i", "2"), "held", "it may be there, and this a link to it"],
      [{ goneAt: 5 }, seenAs("i", "2"), undefined, "it was gone when that could be looked at"],
      [{ goneAt: 5 }, seenAs("j"), undefined, "so it was, be it moved by a copy"],
      [{}, seenAs("copy"), "pending", "a copy is another document"],
    ] as const)(
      "its row %o, of a folder that cannot be looked at by now, and %o here: %s, since %s",
      async ([set, seen, expected]) => {
        const { desk, settler } = await aSettler();
        const before = sent(desk, "b/scan.pdf", "d1", { seen: seenAs("i"), ...set });
        desk.reader.look = async (_, paths) => paths.map(() => undefined);
        const { id } = settling(desk, "x/scan.pdf", "d1", { file: { seen } });
        await desk.run(settler);
        expect((await desk.journal.document(id))?.state).toBe(expected);
        expect((await desk.row(before)).dir).toBe(expected === undefined ? "x" : "b");
      },
    );

    test("renamed, and copied to where it was: it is followed, and the copy is sent", async () => {
      const { desk, settler } = await aSettler();
      const before = sent(desk, "scan.pdf", "d1", { seen: seenAs("i"), current: false });
      settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2") } });
      const set = { supersedes: before.id, file: { seen: seenAs("copy") } };
      const copy = settling(desk, "scan.pdf", "d1", set);
      await desk.run(settler);
      expect(await desk.row(before)).toMatchObject({ name: "kept.pdf", seen: seenAs("i", "2") });
      expect(await desk.row(copy)).toMatchObject({ state: "pending", supersedes: null });
    });

    test("touched, and copied before with its time: it stays where it is, and the copy is sent", async () => {
      const { desk, settler } = await aSettler();
      const before = sent(desk, "scan.pdf", "d1", { seen: network, current: false });
      const touched = { ...network, stamp: "1000.6" };
      settling(desk, "scan.pdf", "d1", { supersedes: before.id, file: { seen: touched } });
      const copy = settling(desk, "copy.pdf", "d1", { file: { seen: network } });
      await desk.run(settler);
      expect(await desk.row(before)).toMatchObject({
        name: "scan.pdf",
        current: true,
        seen: touched,
      });
      expect((await desk.row(copy)).state).toBe("pending");
    });

    test("what could not be moved or deleted, as another file had its name, is moved or deleted where it is", async () => {
      const { desk, settler } = await aSettler({ mirrors: [{ after: { kind: "delete" } }] });
      const { before } = usedAgain(desk, { after: "refused", afterMessage: "FILE_CHANGED: other" });
      settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2") } });
      await desk.run(settler);
      expect(await desk.row(before)).toMatchObject({ name: "kept.pdf", after: "due" });
    });

    // Base 36, nanoseconds: "wxhqxh" is 1.99 s after "5".
    test.for([
      [seenAs("i", "2"), false, "it was moved back, or mounted over"],
      [seenAs("copy", "2"), false, "it was restored with its time"],
      [seenAs("copy", "2", "wxhqxh"), false, "with its time to two seconds"],
      [seenAs("i", "2", "xhqxhqxh"), true, "it was written later: an edit that took back another"],
    ] as const)("its first content is back under its name: sent $1, since $2", async (row) => {
      const [seen, isSent] = row;
      const { desk, settler } = await aSettler();
      const first = sent(desk, "scan.pdf", "d1", { seen: seenAs("i"), current: false });
      const set = { current: false, supersedes: first.id };
      const second = sent(desk, "scan.pdf", "d2", { seen: seenAs("new", "1", "6"), ...set });
      const back = settling(desk, "scan.pdf", "d1", { supersedes: second.id, file: { seen } });
      await desk.run(settler);
      expect((await desk.journal.document(back.id))?.state).toBe(isSent ? "pending" : undefined);
      expect(await desk.row(first)).toMatchObject({ current: !isSent, movedFrom: null });
      expect((await desk.row(second)).current).toBe(false);
    });

    test("moved or deleted within the source, it is that file once that folder is seen", async () => {
      const { desk, settler } = await aSettler();
      const afterMessage = "/srv/scans/done/scan.pdf";
      const { before } = usedAgain(desk, { after: "done", afterMessage, goneAt: 5 });
      const { id } = settling(desk, "done/scan.pdf", "d1");
      await desk.run(settler);
      expect(await desk.journal.document(id)).toBeUndefined();
      expect(await desk.row(before)).toMatchObject({ dir: "done", current: true, goneAt: null });
    });

    test("while an after-action has that name in hand, it is waited for", async () => {
      const { desk, settler, afterActions } = await aSettler({
        mirrors: [{ after: { kind: "delete" } }],
      });
      const folderId = desk.archive.addFolder("Scans");
      const filename = "scan.pdf";
      const documentId = desk.archive.addDocument({ folderId, filename, status: "CONVERTED" });
      const due = { after: "due", documentId, folderId, sentName: filename } as const;
      const { before } = usedAgain(desk, due);
      const ended = Promise.withResolvers<Acted>();
      desk.reader.onAct = (path) => (path === filename ? ended.promise : { kind: "done" });
      await desk.run(new AfterLoop(desk.context, afterActions));
      const { id } = settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2") } });
      await desk.run(settler);
      expect((await desk.row(id)).state).toBe("settling");
      ended.resolve({ kind: "refused", problem: { code: "FILE_CHANGED", message: "so" } });
      await desk.advance(2 * SECOND);
      expect(await desk.journal.document(id)).toBeUndefined();
      expect(await desk.row(before)).toMatchObject({ name: "kept.pdf", after: "done" });
      expect(desk.reader.acted).toEqual(["scan.pdf", "kept.pdf"]);
    });
  });

  describe("held in doubt", () => {
    const doubted = (code: string, current: boolean) => {
      const problem = { code, message: "so" };
      const at = { seen: seenAs("i"), current, doubtAt: 1, problem };
      return { ...at, state: "held", documentId: null } as const;
    };

    test.for(DOUBT_CODES.flatMap((code) => [[code, true] as const, [code, false] as const]))(
      "for %s and renamed (its name free: %s): it is followed, and looked for under the name it was sent with",
      async ([code, isFree]) => {
        const { desk, settler } = await aSettler();
        const before = sent(desk, "scan.pdf", "d1", doubted(code, isFree));
        if (!isFree) settling(desk, "scan.pdf", "d2", { supersedes: before.id });
        const { id } = settling(desk, "kept.pdf", "d1", { file: { seen: seenAs("i", "2") } });
        await desk.run(settler);
        expect(await desk.journal.document(id)).toBeUndefined();
        const held = { state: "held", doubtAt: 1, name: "kept.pdf", sentName: "scan.pdf" };
        expect(await desk.row(before)).toMatchObject(held);
      },
    );

    test("a copy of it is another document, where duplicates are sent", async () => {
      const { desk, settler } = await aSettler();
      sent(desk, "scan.pdf", "d1", doubted("DOUBT_AMBIGUOUS", true));
      onDisk(desk, "scan.pdf", "d1", { seen: seenAs("i") });
      const { id } = settling(desk, "copy.pdf", "d1", { file: { seen: seenAs("copy") } });
      await desk.run(settler);
      expect((await desk.row(id)).state).toBe("pending");
    });
  });
});

test("the reader looks at the next 64 files while the first are journaled", async () => {
  const { desk, settler } = await aSettler();
  for (let index = 0; index < 100; index++) settling(desk, `${index}.bin`, `d${index}`);
  const apply = desk.journal.apply.bind(desk.journal);
  desk.journal.apply = async (changes) => {
    const applied = await apply(changes);
    await desk.clock.pass(500);
    return applied;
  };
  await desk.run(settler);
  expect(await desk.journal.counts()).toEqual(
    expect.arrayContaining([expect.objectContaining({ state: "pending", documents: 64 })]),
  );
  expect(desk.reader.inspected).toHaveLength(100);
  await desk.advance(1_000);
  expect(await desk.journal.counts()).toEqual([
    expect.objectContaining({ state: "pending", documents: 100 }),
  ]);
});

/** Small files are looked at in groups of 64; while more is ready than can leave, each is followed by a rest. */
describe("settler rest", () => {
  /** Two groups that are due, and a journal that takes its time to write. */
  async function twoGroups(journalMs: number) {
    const stream = {
      isSupplied: true,
      counted: 0,
      ready(documents: number) {
        this.counted += documents;
      },
    };
    const { desk, settler } = await aSettler(
      { mirrors: [{ name: "a" }, { name: "b" }] },
      undefined,
      stream,
    );
    for (let index = 0; index < 100; index++) settling(desk, `${index}.bin`, `d${index}`);
    const apply = desk.journal.apply.bind(desk.journal);
    desk.journal.apply = async (changes) => {
      const applied = await apply(changes);
      await desk.clock.pass(journalMs);
      return applied;
    };
    await desk.run(settler);
    await desk.advance(journalMs);
    expect(desk.reader.inspected).toHaveLength(64);
    return { desk, stream };
  }

  test("what became ready is told", async () => {
    const { desk, stream } = await twoGroups(20);
    expect(stream.counted).toBe(64);
    await desk.advance(1_000);
    expect(stream.counted).toBe(100);
  });

  test.for([
    [20, 60, "three times as long as the group took"],
    [500, 250, "but no longer: a slow disk needs no processor"],
  ] as const)("after %i ms it rests for %i: %s", async ([journalMs, restMs]) => {
    const { desk } = await twoGroups(journalMs);
    await desk.advance(restMs - 1);
    expect(desk.reader.inspected).toHaveLength(64);
    await desk.advance(1);
    expect(desk.reader.inspected).toHaveLength(100);
  });

  test("it ends its rest when what is ready is about to run out", async () => {
    const { desk, stream } = await twoGroups(20);
    await desk.advance(15);
    stream.isSupplied = false;
    await desk.advance(5);
    expect(desk.reader.inspected).toHaveLength(100);
  });

  test("nothing that is seen meanwhile shortens it", async () => {
    const { desk } = await twoGroups(20);
    desk.mirror(1).settling.small.notify();
    await desk.advance(30);
    desk.mirror(1).settling.small.notify();
    desk.mirror(2).settling.small.notify();
    await desk.advance(29);
    expect(desk.reader.inspected).toHaveLength(64);
  });
});
