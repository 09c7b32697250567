import { describe, expect, test } from "vitest";
import { aSettler, onDisk, sent, settling } from "./a-settler.ts";
import { NO_RULES } from "../../../src/rules/rules.ts";
import { HOUR, MINUTE, SECOND } from "./desk.ts";

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
    desk.mirror().settling.small.ring();
    await desk.advance(Math.max(0, waitsMs - 1));
    expect((await desk.row(id)).state).toBe(waitsMs > 0 ? "settling" : "pending");
    await desk.advance(1);
    expect((await desk.row(id)).state).toBe("pending");
  });

  test.for([
    ["complete", 6 * SECOND, "it was whole all along"],
    ["unknown", 6 * SECOND, "its format says nothing"],
    ["unfinished", 10 * MINUTE + 6 * SECOND, "it is quiet for `incomplete`"],
  ] as const)(
    "%s, seen by a clock that was set back a year: goes within %i ms, as %s",
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
      expect((await desk.row(id)).state).toBe("pending");
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

  test("unfinished, and the clock set forward more often than `incomplete`: it goes all the same", async () => {
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
    expect((await desk.row(id)).state).toBe("pending");
  });

  test("documents that are ready together share a batch; later ones have their own", async () => {
    const { desk, settler } = await aSettler();
    for (let n = 0; n < 100; n++) settling(desk, `scan-${n}.pdf`, `d${n}`);
    await desk.run(settler);
    await desk.advance(MINUTE);
    const late = settling(desk, "late.pdf", "late");
    desk.mirror().settling.small.ring();
    await desk.advance(0);
    const batches = [...desk.journal.store.batches.values()];
    expect(batches.map(({ id, documents }) => [id, documents])).toEqual([
      ["batch-1", 100],
      ["batch-2", 1],
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

  test("unfinished by its format: waits, and goes with a remark after `incomplete`", async () => {
    const { desk, settler } = await aSettler();
    const file = { completeness: "unfinished" } as const;
    const changedAt = desk.clock.now() - 3 * SECOND;
    const { id } = settling(desk, "scan.pdf", "d1", { file, changedAt });
    await desk.run(settler);
    expect(await desk.row(id)).toMatchObject({
      state: "settling",
      trouble: { code: "FILE_UNFINISHED" },
    });
    await desk.advance(10 * MINUTE - 4 * SECOND);
    expect((await desk.row(id)).state).toBe("settling");
    await desk.advance(SECOND);
    const row = await desk.row(id);
    expect(row).toMatchObject({ state: "pending", trouble: null });
    expect(row.remark).toContain("looks unfinished");
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
    await desk.advance(3 * SECOND);
    expect(await desk.row(id)).toMatchObject({ state: "pending", digest: "d2" });
  });

  test("unfinished, but old: broken for good, so it goes as soon as it is known to be quiet", async () => {
    const { desk, settler } = await aSettler();
    const seen = { sizeBytes: 9, modifiedAt: desk.clock.now() - HOUR, stamp: "d1" };
    const file = { seen, completeness: "unfinished" } as const;
    const { id } = settling(desk, "scan.pdf", "d1", { file, changedAt: desk.clock.now() - 3_000 });
    await desk.run(settler);
    await desk.advance(3 * SECOND);
    expect((await desk.row(id)).state).toBe("pending");
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
      trouble: { code: "FILE_EMPTY" },
      dueAt: null,
    });
  });

  test("unreadable: held, with patience that grows", async () => {
    const { desk, settler } = await aSettler();
    const { id } = settling(desk, "scan.pdf", "d1");
    const trouble = { code: "FILE_UNREADABLE", message: "no right to read" };
    desk.reader.files.set("scan.pdf", { kind: "unreadable", trouble });
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
    ["gone", "a row that is forgotten would be missed by nobody: its directory was listed with it"],
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
