import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoffMs } from "../../../src/domain/backoff.ts";
import { joinBatch } from "../../../src/domain/batching.ts";
import { compare } from "../../../src/domain/reconcile.ts";
import { interleave, largeSlots } from "../../../src/domain/feed.ts";
import { sentNameOf, targetPathOf, walkOf } from "../../../src/domain/naming.ts";
import { ripeness } from "../../../src/domain/settle.ts";
import { type RawPath, rawOf, rawOfText } from "../../../src/std/raw-path.ts";
import { FORBIDDEN_IN_FILENAME } from "../../../src/wire/shapes.ts";
import { aDocument } from "../../fixtures/a-document.ts";

describe("backoff", () => {
  test("stays within half and the whole of the doubled wait, and within its maximum", () => {
    fc.assert(
      fc.property(fc.nat(60), fc.double({ min: 0, max: 0.999, noNaN: true }), (tries, random) => {
        const wait = backoffMs({ initialMs: 1_000, maxMs: 300_000 }, tries, () => random);
        const full = Math.min(300_000, 1_000 * 2 ** (Math.max(1, tries) - 1));
        expect(wait).toBeGreaterThanOrEqual(Math.floor(full / 2));
        expect(wait).toBeLessThanOrEqual(full);
      }),
    );
  });
});

describe("batches", () => {
  const policy = { quietMs: 5_000, documentsMax: 3 };
  const ids = () => {
    let next = 0;
    return () => `batch-${++next}`;
  };

  test("documents that become ready within the quiet time share one", () => {
    const newId = ids();
    const first = joinBatch(undefined, { mirrorId: 1, at: 0 }, policy, newId);
    const second = joinBatch(first, { mirrorId: 1, at: 5_000 }, policy, newId);
    expect(second).toMatchObject({ id: "batch-1", documents: 2, openedAt: 0, joinedAt: 5_000 });
    const late = joinBatch(second, { mirrorId: 1, at: 10_001 }, policy, newId);
    expect(late.id).toBe("batch-2");
  });

  test("none holds more than it may", () => {
    const newId = ids();
    let batch = joinBatch(undefined, { mirrorId: 1, at: 0 }, policy, newId);
    const joined = [batch.id];
    for (let index = 1; index < 7; index++) {
      batch = joinBatch(batch, { mirrorId: 1, at: index }, policy, newId);
      joined.push(batch.id);
    }
    expect(joined).toEqual(["1", "1", "1", "2", "2", "2", "3"].map((n) => `batch-${n}`));
  });

  test("a clock that was set back does not keep one open for ever", () => {
    const newId = ids();
    const before = joinBatch(undefined, { mirrorId: 1, at: 1e9 }, policy, newId);
    expect(joinBatch(before, { mirrorId: 1, at: 0 }, policy, newId).id).toBe("batch-2");
  });
});

describe("names in the archive", () => {
  test.for<[string, string, string]>([
    ["scan.pdf", "scan.pdf", "nothing to fix"],
    ["a:b*c.pdf", "a_b_c.pdf", "the archive forbids these"],
    ["line\nbreak.pdf", "line_break.pdf", "a control character could split a header"],
    ["Mu\u0308ller.pdf", "M\u00fcller.pdf", "one spelling for one name"],
    ["   ", "document", "a name of blanks is none"],
    ["..", "document", "a hook may name it so; below a folder it is no name"],
  ])("%j becomes %j, because %s", ([local, sent]) => {
    expect(sentNameOf(rawOfText(local)).name).toBe(sent);
  });

  test("bytes that are no text are kept readable", () => {
    const raw = rawOf(Buffer.from([0x4d, 0xfc, 0x2e, 0x70, 0x64, 0x66]));
    expect(sentNameOf(raw)).toEqual({ name: "M%FC.pdf", fixed: true });
  });

  test("every local name becomes a legal one, the same each time, and keeps its extension", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
        const raw = rawOf(Buffer.concat([bytes, Buffer.from(".pdf")]));
        const { name } = sentNameOf(raw);
        expect(name.length).toBeLessThanOrEqual(255);
        expect(name).not.toMatch(FORBIDDEN_IN_FILENAME);
        expect(name).not.toMatch(/\p{Cc}|\p{Cs}/u);
        expect(name.endsWith(".pdf")).toBe(true);
        expect(sentNameOf(raw).name).toBe(name);
      }),
    );
  });
});

describe("places in the archive", () => {
  test.for([
    [{ path: "/Scans" }, "", "/Scans", "the mirror's own folder"],
    [{ path: "/Scans/" }, "a/b", "/Scans/a/b", "full depth"],
    [{ path: "/" }, "", "/", "the root"],
    [{ path: "/" }, "a", "/a", "below the root"],
    [{ id: 17 }, "", "#17", "a folder by id"],
    [{ id: 17 }, "a/b", "#17/a/b", "below a folder by id"],
  ] as const)("%o and %j is %j: %s", ([target, dir, path]) => {
    expect(targetPathOf(target, dir as RawPath)).toBe(path);
  });

  test("walking down undoes it", () => {
    expect(walkOf("/Scans/a")).toEqual({ fromId: null, names: ["Scans", "a"] });
    expect(walkOf("/")).toEqual({ fromId: null, names: [] });
    expect(walkOf("#17/a")).toEqual({ fromId: 17, names: ["a"] });
  });
});

describe("ripeness", () => {
  const quiet = {
    now: 1_000_000,
    changedAt: 990_000,
    settleMs: 3_000,
    incompleteMs: 600_000,
    stillIncomplete: "hold" as const,
  };
  const seen = { sizeBytes: 10, modifiedAt: 990_000, stamp: "" };

  test.for([
    ["complete", {}, {}, "ripe", "quiet and whole"],
    ["unknown", {}, {}, "ripe", "formats we do not know are taken at their quiet"],
    ["unfinished", {}, {}, "wait", "a scanner that pauses between pages"],
    ["unfinished", { modifiedAt: 1_000 }, { changedAt: 1_000 }, "held", "an old broken file"],
    ["unfinished", { modifiedAt: 1_000 }, {}, "held", "it was old when it was found"],
    ["unfinished", { modifiedAt: 9e9 }, {}, "wait", "an mtime in the future says nothing"],
    ["unfinished", { modifiedAt: 0 }, {}, "wait", "rsync's word for what was cut off"],
    ["unknown", { modifiedAt: 0 }, {}, "wait", "the same, of a format that tells nothing"],
    ["unknown", { modifiedAt: 0 }, { changedAt: 1_000 }, "ripe", "it is a time that it may have"],
    ["complete", { modifiedAt: 0 }, {}, "ripe", "its format says that nothing is missing"],
    ["unfinished", { modifiedAt: 0 }, { changedAt: 1_000 }, "held", "it was seen to be quiet"],
    [
      "unfinished",
      { modifiedAt: 1_000 },
      { skipped: [{ from: 2_000, to: 990_000 }] },
      "wait",
      "it only seems to be old",
    ],
    [
      "unfinished",
      { modifiedAt: 1_000 },
      { skipped: [{ from: 2_000, to: 401_000 }] },
      "held",
      "quiet for long enough without what was skipped",
    ],
    ["unfinished", { sizeBytes: 0, modifiedAt: 1 }, {}, "held", "nothing is never a document"],
  ] as const)("%s with %o, %o is %s, because %s", ([completeness, file, when, kind]) => {
    expect(ripeness({ ...seen, ...file }, completeness, { ...quiet, ...when }).kind).toBe(kind);
  });

  test("an old broken file goes with a remark, where that was chosen", () => {
    const chosen = { ...quiet, stillIncomplete: "upload" as const };
    const old = ripeness({ ...seen, modifiedAt: 1 }, "unfinished", chosen);
    expect(old).toMatchObject({ kind: "ripe", remark: expect.stringContaining("unfinished") });
    const cut = ripeness({ ...seen, modifiedAt: 0 }, "unknown", { ...quiet, changedAt: 1_000 });
    expect(cut).toMatchObject({ kind: "ripe", remark: expect.stringContaining("by its time") });
  });
});

describe("comparing a directory with its rows", () => {
  const row = (name: string, stamp: string, goneAt: number | null = null) => ({
    name: name as RawPath,
    stamp,
    goneAt,
  });
  const file = (name: string, stamp: string) => ({
    name: name as RawPath,
    seen: { sizeBytes: 1, modifiedAt: 1, stamp },
  });

  test("tells what appeared, changed, came back and vanished", () => {
    const rows = [row("a", "1"), row("b", "1"), row("c", "1"), row("d", "1", 5), row("e", "1", 5)];
    const found = compare(rows, [file("a", "1"), file("b", "2"), file("d", "1"), file("f", "1")]);
    expect(found.appeared.map(({ name }) => name)).toEqual(["f"]);
    expect(found.changed.map(({ row: { name } }) => name)).toEqual(["b"]);
    expect(found.returned.map(({ name }) => name)).toEqual(["d"]);
    expect(found.vanished.map(({ name }) => name)).toEqual(["c"]);
  });

  test("a file that one host has and another sees over the network is the same to both", () => {
    const here = "2s.abc.xyz.9";
    const rows = [row("a", here), row("b", "2s.abc"), row("c", here), row("d", "2s.abc")];
    const seen = [file("a", "2s.abc"), file("b", here), file("c", "2s.abd"), file("d", "2s")];
    const found = compare(rows, seen);
    expect(found.changed.map(({ row: { name } }) => name)).toEqual(["c", "d"]);
    const again = compare([row("a", here)], [file("a", "2s.abc.xyz.8")]);
    expect(again.changed, "of two local ones all of it counts").toHaveLength(1);
  });

  test("a directory that is as journaled differs in nothing", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 })), (names) => {
        const found = compare(
          names.map((name) => row(name, "1")),
          names.map((name) => file(name, "1")),
        );
        expect(Object.values(found).every((list) => list.length === 0)).toBe(true);
      }),
    );
  });
});

describe("the feed", () => {
  const of = (mirrorId: number, ids: number[]) =>
    ids.map((id) => aDocument({ id, mirrorId, state: "pending" }));

  test("mirrors take turns, beginning after the one that was served last", () => {
    const queues = new Map([
      [1, of(1, [10, 11, 12, 13])],
      [2, of(2, [20])],
      [3, of(3, [30, 31])],
    ]);
    expect(interleave(queues, 1, 5).map(({ id }) => id)).toEqual([20, 30, 10, 31, 11]);
    expect(interleave(queues, 3, 4).map(({ id }) => id)).toEqual([10, 20, 30, 11]);
  });

  test("nobody is left out and nothing is chosen twice", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(8), { minLength: 1, maxLength: 6 }),
        fc.nat(60),
        (sizes, limit) => {
          const queues = new Map(
            sizes.map((size, mirror) => [
              mirror,
              of(
                mirror,
                Array.from({ length: size }, (_, n) => mirror * 100 + n),
              ),
            ]),
          );
          const chosen = interleave(queues, undefined, limit);
          const all = sizes.reduce((sum, size) => sum + size, 0);
          expect(new Set(chosen).size).toBe(chosen.length);
          expect(chosen.length).toBe(Math.min(limit, all));
        },
      ),
    );
  });

  test("large files never take every slot, unless there is just one", () => {
    for (const slots of [2, 3, 4, 8, 64]) expect(largeSlots(slots)).toBeLessThan(slots);
    expect(largeSlots(1)).toBe(1);
  });
});
